"""Saved views of the lists of players and accounts: the links above a list, and the forms that save and change them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from gamekeeper.console.frame import pages, sessions
from gamekeeper.console.frame.refusals import NoSuchPage
from gamekeeper.game.access.permissions import STAFF
from gamekeeper.game.core import lookup
from gamekeeper.game.lists import saved_views
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.lists.saved_views import SavedView

ADDRESSES = {"players": "/console/characters", "accounts": "/console/accounts"}
# parameters that a view does not keep: positions, and the search, which may name a person
NOT_KEPT = {"search", "page", "cursor", "jump", "done"}


class ViewLink(NamedTuple):
    view: SavedView
    url: str
    is_own: bool
    is_current: bool


class ViewBar(NamedTuple):
    """The saved views above a list."""

    listed: str
    links: Sequence[ViewLink]
    query: str  # of the present list, to be saved; empty: it is the list without a filter
    may_share: bool  # the viewer may show views to all staff
    may_delete: bool  # the viewer may delete views that others share


async def load(request: Request, listed: str) -> ViewBar:
    me, query = request.caller.account_id, _keep(request.query.items())
    found = await saved_views.load(request.services.keeper.store, me, listed)
    links = [
        ViewLink(each, f"{ADDRESSES[listed]}?{each.query}", each.user_id == me, each.query == query) for each in found
    ]
    held = request.caller.permissions
    return ViewBar(listed, links, query, held >= saved_views.SHARE, STAFF in held)


async def save(request: Request, raw: bytes) -> Response:
    """Save the present list under a name."""
    fields = sessions.verify_form(request, raw)
    listed, query = fields.get("list", ""), _keep(parse_qsl(fields.get("query", "")))
    shared = bool(fields.get("shared"))
    me, store = request.caller.actor, request.services.keeper.store
    await saved_views.save(store, me, listed, fields.get("name", ""), query, shared=shared)
    return pages.redirect(f"{ADDRESSES[listed]}?{query}")


async def change(request: Request, raw: bytes) -> Response:
    """Rename or delete a view."""
    fields, (view_id, what) = sessions.verify_form(request, raw), request.params
    me, store, known = request.caller.actor, request.services.keeper.store, lookup.parse_guid(view_id)
    if known is None or what not in {"rename", "delete"}:
        raise NoSuchPage
    if what == "rename":
        await saved_views.rename(store, known, me, fields.get("name", ""))
    else:
        await saved_views.delete(store, known, me)
    return pages.redirect(pages.keep_console_path(fields.get("back", "")))


def _keep(query: Iterable[tuple[str, str]]) -> str:
    """Return a query as a view keeps it: sorted, each parameter once, without empty ones."""
    values = {name.lower(): text for name, text in query if text}
    return urlencode(sorted(each for each in values.items() if each[0] not in NOT_KEPT))
