"""Views of the console's lists that staff save under a name. The audit log does not have them.

All staff read the name of a shared view, so sharing one needs the permission for notes.
"""

from gamekeeper.game.access.permissions import STAFF
from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Actor
from gamekeeper.game.core.refusals import BadField
from gamekeeper.store.accounts import users
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Store, Writing
from gamekeeper.store.lists.search import SQL, SavedView

LISTS = {"players": frozenset({"players.read"}), "accounts": frozenset({"users.query"})}  # list → what it needs
SHARE = frozenset({"notes.write"})
MAX_VIEWS = 30  # views of one account, and shared views of others that are shown
LONGEST_NAME, LONGEST_QUERY = 60, 2000  # characters


async def load(store: Store, user_id: str, listed: str) -> list[SavedView]:
    """Load the views of an account, then those that others share."""
    return await store.rows(SavedView, SQL.of_viewer, user_id, listed, MAX_VIEWS)


async def save(store: Store, actor: Actor, listed: str, name: str, query: str, *, shared: bool) -> None:
    """Save a view; one of the same name is replaced."""
    name = require_name(name)
    if listed not in LISTS or len(query) > LONGEST_QUERY or not query.isascii() or not query.isprintable():
        raise BadField(field="query", problem="is not the query of a list")
    actor.require(LISTS[listed] | SHARE if shared else LISTS[listed])

    async def write(tx: Writing) -> None:
        await users.lock(tx, actor.id)  # so that no other view is saved while they are counted
        if await tx.value(SQL.count_others, actor.id, listed, name) >= MAX_VIEWS:
            raise BadField(field="name", problem=f"cannot be saved: an account has at most {MAX_VIEWS} views")
        tx.defer(SQL.save, lookup.new_guid(), actor.id, listed, name, query, shared, await clock.now(tx))

    await store.write(write)


async def rename(store: Store, view_id: str, actor: Actor, name: str) -> None:
    name = require_name(name)

    async def write(tx: Writing) -> None:
        if await tx.one(SQL.is_shared, view_id, actor.id):
            actor.require(SHARE)
        if await tx.one(SQL.same_name, view_id, actor.id, name):
            raise BadField(field="name", problem="is the name of another view")
        tx.defer(SQL.rename, view_id, actor.id, name)

    await store.write(write)


async def delete(store: Store, view_id: str, actor: Actor) -> None:
    """Delete an own view. Those who manage staff also delete shared ones: their owners may have left."""

    async def write(tx: Writing) -> None:
        tx.defer(SQL.delete, view_id, actor.id, STAFF in actor.permissions)

    await store.write(write)


def require_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise BadField(field="name", problem=f"must have 1 to {LONGEST_NAME} printable characters")
    return name
