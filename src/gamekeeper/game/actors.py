"""The account that asks for a change, with the permissions of the credential that it uses."""

from collections.abc import Callable
from typing import NamedTuple

from gamekeeper.game import permissions
from gamekeeper.game.refusals import Outranked
from gamekeeper.store import users
from gamekeeper.store.engine import Reading


class Actor(NamedTuple):
    id: str
    name: str
    permissions: frozenset[str]  # permissions of the credential; the account may have more
    require: Callable[[frozenset[str]], None]  # raises if the credential lacks one of the given permissions


async def read_permissions(tx: Reading, actor: Actor) -> frozenset[str]:
    """Return which permissions of the credential the account has now. Refuse an account that was deleted since."""
    user = await users.find_by_id(tx, actor.id)
    if user is None:
        raise Outranked
    return permissions.list_held(user) & actor.permissions
