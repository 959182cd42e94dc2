"""Paging, sorting and filtering of lists, saved views, and the query parameters of pages, decoded like the API's.

The page URL contains the page number, sort order, filter and search text.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial, reduce
from typing import Annotated, Literal, NamedTuple
from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.console.frame import pages, sessions
from gamekeeper.console.frame.formats import DATE_LENGTH
from gamekeeper.console.frame.refusals import NoSuchPage
from gamekeeper.console.frame.texts import gettext
from gamekeeper.game.access.permissions import STAFF
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.lists import saved_views
from gamekeeper.game.lists.account_filters import ALL_SORTS as ACCOUNT_SORTS
from gamekeeper.game.lists.search import PLAYERS, R, Sort
from gamekeeper.http.accounts.account_shapes import MailsBefore
from gamekeeper.http.audit.history_shapes import Cursor, find_start
from gamekeeper.http.contract.shapes import Direction, Guid, PageQuery, PageSize, Positive, Search
from gamekeeper.http.insight.signals import SignalRule
from gamekeeper.http.players.player_shapes import Order
from gamekeeper.http.server import paging, queries, query_values
from gamekeeper.http.server.paging import PageRange
from gamekeeper.http.server.query_values import MailCursor
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.http.world.catalogue_shapes import GuildSort, MemberSort
from gamekeeper.store.insight.economy import ItemSort
from gamekeeper.store.lists.search import PART_LETTERS, SavedView

PAGE_SIZE = 50  # records per page of a list
HOLDERS_SIZES = (20, 50, 100)  # holders of an item or a variable per page; the first is the default
ReportDays = Annotated[Positive, Meta(le=92)]  # UTC days of a report about the economy, with the present one


class SearchQuery(Struct, frozen=True):
    search: Search = ""


class CatalogueQuery(PageQuery, frozen=True):
    pageSize: PageSize = PAGE_SIZE  # noqa: N815 - name of the API's query parameter
    search: Search = ""


class EconomyListQuery(PageQuery, frozen=True):
    pageSize: PageSize = PAGE_SIZE  # noqa: N815 - name of the API's query parameter
    days: ReportDays = 7


class EconomyItemsQuery(EconomyListQuery, frozen=True):
    sortBy: ItemSort = "name"  # noqa: N815 - name of the API's query parameter
    sortDirection: Direction = "Ascending"  # noqa: N815 - name of the API's query parameter


class GiftsPageQuery(EconomyListQuery, frozen=True):
    giver: Guid | UnsetType = UNSET  # id of an account or an API key


class HoldersQuery(PageQuery, frozen=True):
    pageSize: PageSize = HOLDERS_SIZES[0]  # noqa: N815 - name of the API's query parameter


class ItemQuery(HoldersQuery, frozen=True):
    days: ReportDays = 30


class ListQuery(CatalogueQuery, frozen=True):
    sortDirection: Direction = "Ascending"  # noqa: N815 - name of the API's query parameter


class JumpQuery(Struct, frozen=True):
    jump: Positive = 1


class GuildListQuery(ListQuery, frozen=True):
    sortBy: GuildSort = "name"  # noqa: N815 - name of the API's query parameter


class RosterQuery(ListQuery, frozen=True):
    sortBy: MemberSort = "guildrank"  # noqa: N815 - name of the API's query parameter


class RankingQuery(Struct, frozen=True):
    rank: Positive | UnsetType = UNSET
    sortDirection: Order = "Descending"  # noqa: N815 - name of the API's query parameter


class SignalsPageQuery(Struct, frozen=True):
    state: Literal["open", "acknowledged", "all"] = "open"
    rule: SignalRule | UnsetType = UNSET
    before: MailsBefore = query_values.START


class BeforeChange(Struct, frozen=True):
    before: Cursor | UnsetType = UNSET


class BeforeMark(Struct, frozen=True):
    before: MailsBefore = query_values.START


def find_cursor(request: Request) -> int | None:
    """Return the number of the change before which a page of the history starts; None: it starts with the newest."""
    return find_start(queries.decode(BeforeChange, request.query).before)


ASCENDING, DESCENDING = "ascending", "descending"
ALL_SORTS = {*PLAYERS, *ACCOUNT_SORTS}  # sort keys of all lists
ALL_VALUE = "all"  # URL value of the option that switches a filter off


class ListPage(NamedTuple):
    """One page of a list: its range, and the URLs of the first, previous and next pages."""

    first: int  # position of this page's first record in the whole list, counted from 1
    last: int
    total: int
    start: str
    previous: str  # URL of the previous page; empty on the first page
    next: str  # URL of the next page; empty on the last page
    is_truncated: bool = False  # the search stopped at its limit, so `total` may be too low
    pages: int = 0  # number of pages
    number: int = 0  # number of this page, counted from 1
    kept: Mapping[str, str] = {}  # query parameters that the form for another page sends again


class SortableColumn(NamedTuple):
    """A column that the list can be sorted by. Its link sorts by it, or reverses the direction."""

    url: str
    direction: str  # current sort direction; empty if the list is sorted by another column


async def search_list(request: Request, sorts: Mapping[str, Sort[R]]) -> tuple[Sequence[R], dict[str, object]]:
    """Return the records of the requested page, and the template variables of a searchable, sortable list."""
    request = _drop_foreign_sort(request, sorts)
    query = queries.decode(ListQuery, request.query)
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    sort = sorts.get(request.query.get("sortby", "").lower() or next(iter(sorts)))
    if sort is None:
        raise BadField(field="sortBy", problem=gettext("must be %(choices)s", choices=join_choices(sorts)))
    sought, ascending = query.search, query.sortDirection == "Ascending"
    total, records, cut = await paging.load_page(request, page, sort, sought, descending=not ascending)
    beside: dict[str, object] = {
        "part": make_page(request, page, total, len(records), cut=cut),
        "heads": make_columns(request, list(sorts), ascending=ascending),
        "sought": sought,
        "short": 0 < len(lookup.fold(sought)) < PART_LETTERS,
        "kept": keep_query(request, "sortby", "sortdirection"),
    }
    return records, beside


def make_page(
    request: Request, page: PageRange, total: int, shown: int, *, cut: bool = False, anchor: str = ""
) -> ListPage:
    """Make one page of a list. `anchor`: fragment, such as `#holders`, with which links to other pages open at it."""
    before = build_url(request, page=str(page.number - 1) if page.number > 1 else "") + anchor if page.number else ""
    after = build_url(request, page=str(page.number + 1)) + anchor if page.offset + shown < total and shown else ""
    start = build_url(request, page="") + anchor
    kept = {name: value for name, value in request.query.items() if name not in {"page", "jump"}}
    pages = -(-total // page.size)
    first, number = page.offset + 1, page.number + 1
    return ListPage(first, page.offset + shown, total, start, before, after, cut, pages, number, kept)


def read_choice(request: Request, name: str, words: Mapping[str, str]) -> str:
    """Return the value of a parameter that filters the list, out of `words`; empty: the list is not filtered."""
    chosen = request.query.get(name, "").lower()
    if chosen == ALL_VALUE:
        chosen = ""
    if chosen and chosen not in words:
        raise BadField(field=name, problem=gettext("must be %(choices)s, or left out", choices=join_choices(words)))
    return chosen


def make_chips(request: Request, described: Iterable[tuple[str, Iterable[str]]]) -> list[tuple[str, str]]:
    """Return the label of each condition in force with the address of the list without it.

    `described`: the label and the query parameters of each.
    """
    without = partial(build_url, request, page="", cursor="")
    return [(label, without(**dict.fromkeys(names, ""))) for label, names in described]


def make_columns(request: Request, orders: Sequence[str], *, ascending: bool) -> dict[str, SortableColumn]:
    """Make the sortable columns of a list, by sort key. The first key is the default sort order."""
    chosen = request.query.get("sortby", "").lower() or orders[0]
    now = ASCENDING if ascending else DESCENDING
    return {by: make_column(request, by, now if by == chosen else "") for by in orders}


def build_url(request: Request, **changed: str) -> str:
    """Build the URL of this page with some query parameters changed. Empty parameters are left out."""
    query = {name: value for name, value in {**request.query, **changed}.items() if value}
    path = request.route.path
    if "[" in path:  # a page with a parameter in its path, such as a guild
        path = request.raw_path.partition(b"?")[0].decode("latin-1")
    return f"{path}?{urlencode(query)}" if query else path


def link_by_time(request: Request, following: tuple[int, str] | None) -> dict[str, str]:
    """Return the addresses of a list's newest and next older entries. `following`: where those start; None: the end."""
    newest = build_url(request, before="") if "before" in request.query else ""
    return {"newest": newest, "older": build_url(request, before=str(MailCursor(*following))) if following else ""}


def expand_days(query: Mapping[str, str], first: str, last: str) -> dict[str, str]:
    """Return a query with times instead of days: the start of the day `first`, and the end of the day `last`."""
    expanded = dict(query)
    for name, rest in ((first, "T00:00:00Z"), (last, "T23:59:59Z")):
        if len(expanded.get(name, "")) == DATE_LENGTH:
            expanded[name] += rest
    return expanded


def build_address(path: str, sought: Mapping[str, str], **more: str) -> str:
    """Build an address whose query holds the filter, without its empty fields."""
    return f"{path}?{urlencode({name: text for name, text in {**sought, **more}.items() if text})}".rstrip("?")


def find_jump(request: Request) -> str:
    """Return the address of the page whose number the form of the pager sent, counted from 1; empty: none."""
    if not request.query.get("jump"):
        return ""
    number = queries.decode(JumpQuery, request.query).jump
    return build_url(request, page=str(number - 1) if number > 1 else "", jump="")


def keep_query(request: Request, *names: str) -> dict[str, str]:
    """Return those of the named query parameters that are set, for the hidden fields of a form."""
    return {name: request.query[name] for name in names if request.query.get(name)}


def join_choices(names: Iterable[str]) -> str:
    return reduce(lambda first, second: gettext("%(first)s or %(second)s", first=first, second=second), names)


def _drop_foreign_sort(request: Request, sorts: Mapping[str, object]) -> Request:
    """Drop a sort key that only other lists have, so that this list uses its default order."""
    if request.query.get("sortby", "").lower() not in ALL_SORTS - sorts.keys():
        return request
    return msgspec.structs.replace(
        request, query={name: value for name, value in request.query.items() if name != "sortby"}
    )


def make_column(request: Request, by: str, direction: str) -> SortableColumn:
    turned = DESCENDING if direction == ASCENDING else ASCENDING
    return SortableColumn(build_url(request, sortby=by, sortdirection=turned, page="", cursor=""), direction)


VIEWED_LISTS = {"players": "/console/characters", "accounts": "/console/accounts"}
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


async def load_views(request: Request, listed: str) -> ViewBar:
    me, query = request.caller.account_id, _keep_query(request.query.items())
    found = await saved_views.load(request.services.keeper.store, me, listed)
    links = [
        ViewLink(each, f"{VIEWED_LISTS[listed]}?{each.query}", each.user_id == me, each.query == query)
        for each in found
    ]
    held = request.caller.permissions
    return ViewBar(listed, links, query, held >= saved_views.SHARE, STAFF in held)


async def save_view(request: Request, raw: bytes) -> Response:
    """Save the present list under a name."""
    fields = sessions.verify_form(request, raw)
    listed, query = fields.get("list", ""), _keep_query(parse_qsl(fields.get("query", "")))
    shared = bool(fields.get("shared"))
    me, store = request.caller.actor, request.services.keeper.store
    await saved_views.save(store, me, listed, fields.get("name", ""), query, shared=shared)
    return pages.redirect(f"{VIEWED_LISTS[listed]}?{query}")


async def change_view(request: Request, raw: bytes) -> Response:
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


def _keep_query(query: Iterable[tuple[str, str]]) -> str:
    """Return a query as a view keeps it: sorted, each parameter once, without empty ones."""
    values = {name.lower(): text for name, text in query if text}
    return urlencode(sorted(each for each in values.items() if each[0] not in NOT_KEPT))
