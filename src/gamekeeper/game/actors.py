"""The account that asks for a change, with the permissions of the credential that it uses."""

from collections.abc import Callable
from typing import NamedTuple

from gamekeeper.game import permissions
from gamekeeper.game.refusals import Outranked
from gamekeeper.store import users
from gamekeeper.store.engine import Reading
from gamekeeper.store.users import User

NO_PERMISSION = "You do not have the permission to do this."


class Actor(NamedTuple):
    id: str
    name: str
    permissions: frozenset[str]  # permissions of the credential; the account may have more
    require: Callable[[frozenset[str]], None]  # raises if the credential lacks one of the given permissions
    has_gift_limits: bool = False  # gifts of the credential have a limit, such as that of an API key


def make_outranked(user: User) -> Outranked:
    """Return the refusal of a change of an account that outranks the caller."""
    problem = f"{user.name} has permissions that you do not have, so you cannot change this account."
    return Outranked(problem=problem)


async def read_permissions(tx: Reading, actor: Actor) -> frozenset[str]:
    """Return which permissions of the credential the account has now. Refuse an account that was deleted since."""
    user = await users.find_by_id(tx, actor.id)
    if user is None:
        raise Outranked(problem=NO_PERMISSION)
    return permissions.list_held(user) & actor.permissions
