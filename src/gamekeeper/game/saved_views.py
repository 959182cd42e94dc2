"""Views of the console's lists that staff save under a name. The audit log does not have them."""

from gamekeeper.game import lookup
from gamekeeper.game.refusals import BadField
from gamekeeper.store import clock, saved_views
from gamekeeper.store.engine import Store, Writing
from gamekeeper.store.saved_views import NewView, SavedView

LISTS = ("players", "accounts")
MAX_VIEWS = 30  # views of one account, and shared views of others that are shown
LONGEST_NAME, LONGEST_QUERY = 60, 2000  # characters


async def load(store: Store, user_id: str, listed: str) -> list[SavedView]:
    return await saved_views.read_of_viewer(store, user_id, listed, MAX_VIEWS)


async def save(store: Store, user_id: str, listed: str, name: str, query: str, *, shared: bool) -> None:
    """Save a view; one of the same name is replaced."""
    name = require_name(name)
    if listed not in LISTS or len(query) > LONGEST_QUERY or not query.isascii() or not query.isprintable():
        raise BadField(field="query", problem="is not the query of a list")

    async def write(tx: Writing) -> None:
        if await saved_views.count(tx, user_id) >= MAX_VIEWS:
            raise BadField(field="name", problem=f"cannot be saved: an account has at most {MAX_VIEWS} views")
        new = NewView(lookup.new_guid(), user_id, listed, name, query, shared, await clock.now(tx))
        saved_views.save(tx, new)

    await store.write(write)


async def rename(store: Store, view_id: str, user_id: str, name: str) -> None:
    name = require_name(name)

    async def write(tx: Writing) -> None:
        if await saved_views.has_name(tx, view_id, user_id, name):
            raise BadField(field="name", problem="is the name of another view")
        saved_views.rename(tx, view_id, user_id, name)

    await store.write(write)


async def delete(store: Store, view_id: str, user_id: str) -> None:
    async def write(tx: Writing) -> None:
        saved_views.delete(tx, view_id, user_id)

    await store.write(write)


def require_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise BadField(field="name", problem=f"must have 1 to {LONGEST_NAME} printable characters")
    return name
