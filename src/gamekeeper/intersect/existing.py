"""Look up which ids, names, email addresses and bags the target database has or had."""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, NamedTuple

from gamekeeper.game.world_effects import CataloguePut
from gamekeeper.intersect.key_set import KeySet
from gamekeeper.store import (
    catalogue,
    guild_variables,
    guilds,
    imports,
    items,
    ledger,
    leftovers,
    player_texts,
    players,
    presence,
    server_variables,
    users,
)
from gamekeeper.store.catalogue import CatalogueEntry
from gamekeeper.store.engine import Reading

USER, USER_NAME, EMAIL, PLAYER, PLAYER_NAME, BAG = "user", "user name", "email", "player", "player name", "bag"
DELETED_USER, DELETED_PLAYER = "deleted user", "deleted player"
GUILD, GUILD_NAME, LEFTOVER = "guild", "guild name", "leftover"
ACTIVITY, TRADE = "activity", "trade"
SERVER_VARIABLE, GUILD_VARIABLE = "server variable", "guild variable"
_FIND: Mapping[str, Callable[[Reading, Iterable[str]], Coroutine[Any, Any, set[str]]]] = {
    USER: users.find_known_ids,
    USER_NAME: users.find_known_folds,
    EMAIL: users.find_known_emails,
    PLAYER: presence.find_known_players,
    PLAYER_NAME: players.find_known_folds,
    BAG: items.find_known_bags,
    DELETED_USER: ledger.find_deleted_users,
    DELETED_PLAYER: ledger.find_deleted_players,
    GUILD: guilds.find_known_ids,
    GUILD_NAME: guilds.find_known_folds,
    ACTIVITY: imports.find_known_activity,
    TRADE: imports.find_known_trades,
    SERVER_VARIABLE: server_variables.find_known_ids,
    GUILD_VARIABLE: guild_variables.find_known_ids,
}
COMPLETED = "it existed without its further fields: they were added"


class ExistingKeys:
    async def find(self, tx: Reading | None, kind: str, keys: Iterable[str]) -> set[str]:
        asked = list(keys)
        return await _FIND[kind](tx, asked) if tx and asked else set()

    async def find_entries(self, tx: Reading | None, kind: str, ids: Iterable[str]) -> dict[str, CatalogueEntry]:
        """Return the entries that the catalogue has, by id, and lock this kind until the transaction ends."""
        if tx is None:
            return {}
        await catalogue.lock_kind(tx, kind)
        found = await catalogue.find_by_ids(tx, kind, ids)
        return {entry.id: entry for entry in await catalogue.add_details(tx, kind, [*found.values()])}

    async def find_leftovers(self, tx: Reading | None, owners: str, ids: Iterable[str]) -> set[tuple[str, str]]:
        """Return owner and kind of the leftovers that these accounts, players or guilds have."""
        return await leftovers.find_known(tx, owners, ids) if tx else set()

    def note(self, kind: str, keys: Iterable[str]) -> None:
        """Do nothing with the imported ids and names: after the commit they are in the database."""


class DryRunKeys(ExistingKeys):
    """Existing ids and names, in a dry run: also those that a real import would have added by now."""

    def __init__(self) -> None:
        self._seen = KeySet()

    async def find(self, tx: Reading | None, kind: str, keys: Iterable[str]) -> set[str]:
        asked = list(keys)
        return await super().find(tx, kind, asked) | self._seen.find_known(kind, asked)

    def note(self, kind: str, keys: Iterable[str]) -> None:
        self._seen.add(kind, keys)


def complete_entries(
    kind: str, entries: Mapping[str, CatalogueEntry], existing: Mapping[str, CatalogueEntry]
) -> tuple[list[CataloguePut], list[str]]:
    """Plan the new entries of the catalogue, and the details of stored entries that have none.

    Return the changes, and the ids of the stored entries that get details.
    """
    bare = [each for own_id, each in existing.items() if each.details is None and entries[own_id].details is not None]
    completed = [each._replace(details=entries[each.id].details) for each in bare]
    new = [each for own_id, each in entries.items() if own_id not in existing]
    changes = [CataloguePut(kind, bare, [*completed, *new])] if completed or new else []
    return changes, [each.id for each in bare]


class OwnedKeys(NamedTuple):
    """What existing players have of the data that an import adds to them."""

    members: set[str]  # players who are in a guild
    texts: set[tuple[str, str]]  # player and variable of texts and decimals


async def find_owned(tx: Reading | None, player_ids: set[str]) -> OwnedKeys:
    if tx is None or not player_ids:
        return OwnedKeys(set(), set())
    texts = await player_texts.read_between(tx, min(player_ids), max(player_ids))
    return OwnedKeys(
        set(await guilds.read_memberships(tx, player_ids)), {(each.player_id, each.variable_id) for each in texts}
    )
