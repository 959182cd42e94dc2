"""API keys that lose permissions when their owner is demoted, suspended or banned."""

from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

from gamekeeper.game import api_keys
from gamekeeper.game.account_effects import PowersChanged, RolesChanged, UserSuspended
from gamekeeper.game.changes import Decision
from gamekeeper.store import api_keys as rows
from gamekeeper.store import roles
from gamekeeper.store.api_keys import ApiKey
from gamekeeper.store.engine import Reading
from gamekeeper.store.users import User

Rule = Callable[[Reading], Coroutine[Any, Any, Decision[User]]]
DEMOTIONS = PowersChanged | RolesChanged | UserSuspended


class KeyLoss(NamedTuple):
    key: ApiKey
    lost: frozenset[str]  # permissions that the key loses


class ChangedOwner(NamedTuple):
    """An account after a change, and its API keys that the change weakens."""

    user: User
    losses: list[KeyLoss]


async def decide(tx: Reading, rule: Rule) -> Decision[ChangedOwner]:
    """Decide a change of an account's permissions or its suspension, and find the keys that lose something."""
    made = await rule(tx)
    before = next((each.user for each in made.changes if isinstance(each, DEMOTIONS)), made.result)
    changed = ChangedOwner(made.result, await find(tx, before, made.result))
    return Decision(made.changes, changed, subject=made.subject, events=made.events)


async def find(tx: Reading, before: User, after: User) -> list[KeyLoss]:
    """Find the keys of an account that lose permissions when the account changes, in order of their names."""
    owned = await rows.read_live_of_user(tx, before.id) if before != after else []
    if not owned:
        return []
    table = await roles.read_all(tx)
    losses = [
        KeyLoss(key, api_keys.find_held(key, before, table) - api_keys.find_held(key, after, table)) for key in owned
    ]
    return [each for each in losses if each.lost]


async def find_of_ban(tx: Reading, user: User) -> list[KeyLoss]:
    """Find the keys that stop working when their owner is banned."""
    return await find(tx, user, user._replace(ban_reason=""))
