"""Look up which ids, names, email addresses and bags the target database has or had."""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from gamekeeper.intersect.key_set import KeySet
from gamekeeper.store import catalogue, items, ledger, players, presence, users
from gamekeeper.store.engine import Reading

USER, USER_NAME, EMAIL, PLAYER, PLAYER_NAME, BAG = "user", "user name", "email", "player", "player name", "bag"
DELETED_USER, DELETED_PLAYER = "deleted user", "deleted player"
_FIND: Mapping[str, Callable[[Reading, Iterable[str]], Coroutine[Any, Any, set[str]]]] = {
    USER: users.find_known_ids,
    USER_NAME: users.find_known_folds,
    EMAIL: users.find_known_emails,
    PLAYER: presence.find_known_players,
    PLAYER_NAME: players.find_known_folds,
    BAG: items.find_known_bags,
    DELETED_USER: ledger.find_deleted_users,
    DELETED_PLAYER: ledger.find_deleted_players,
}


class ExistingKeys:
    async def find(self, tx: Reading | None, kind: str, keys: Iterable[str]) -> set[str]:
        asked = list(keys)
        return await _FIND[kind](tx, asked) if tx and asked else set()

    async def find_entries(self, tx: Reading | None, kind: str, ids: Iterable[str]) -> set[str]:
        """Return which of `ids` the catalogue has, and lock its entries of this kind until the transaction ends."""
        if tx is None:
            return set()
        await catalogue.lock_kind(tx, kind)
        return set(await catalogue.find_by_ids(tx, kind, ids))

    def note(self, kind: str, keys: Iterable[str]) -> None:
        """Do nothing with the imported ids and names: after the commit they are in the database."""


class DryRunKeys(ExistingKeys):
    """Existing ids and names, in a dry run: also those that a real import would have added by now."""

    def __init__(self) -> None:
        self._seen = KeySet()

    async def find(self, tx: Reading | None, kind: str, keys: Iterable[str]) -> set[str]:
        asked = list(keys)
        return await super().find(tx, kind, asked) | self._seen.among(kind, asked)

    def note(self, kind: str, keys: Iterable[str]) -> None:
        self._seen.add(kind, keys)
