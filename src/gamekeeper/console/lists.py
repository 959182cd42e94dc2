"""Lists that live in their address: which part is shown, and where the other parts and orders are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlencode

from gamekeeper.console.queries import ListQuery
from gamekeeper.console.texts import gettext
from gamekeeper.game import lookup
from gamekeeper.game.refusals import BadField
from gamekeeper.game.search import ACCOUNTS, PLAYERS, STATES, R, Sort
from gamekeeper.http import paging, queries, search
from gamekeeper.http.paging import PageRange
from gamekeeper.http.request import Request
from gamekeeper.store.search import PART_LETTERS

ASCENDING, DESCENDING = "ascending", "descending"
ALL_SORTS = {by for sorts in (PLAYERS, ACCOUNTS, *STATES.values()) for by in sorts}  # that some list has
ALL_VALUE = "all"  # as the list to choose from calls what leaves nothing out


class ListPage(NamedTuple):
    """What is shown of a list, and the addresses of what comes before and after it."""

    first: int  # counted from 1
    last: int
    total: int
    start: str
    previous: str
    next: str
    is_truncated: bool = False  # there may be more than are counted


class ListFilter(NamedTuple):
    """A word of the address that leaves some of a list; an empty one leaves all."""

    name: str
    labels: Mapping[str, str]  # what there is to choose, as people read it
    chosen: str


class SortableColumn(NamedTuple):
    """A column that a list can be ordered by."""

    url: str
    direction: str  # empty: the list is ordered by another


async def search_list(request: Request, sorts: Mapping[str, Sort[R]]) -> tuple[Sequence[R], dict[str, object]]:
    """Those of the page, and what a list that can be searched and ordered shows beside them."""
    request = _drop_foreign_sort(request, sorts)
    query = queries.decode(ListQuery, request.query)
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    sort, sought, ascending = _choose_sort(request, sorts), query.search, query.sortDirection == "Ascending"
    total, records, cut = await search.load_page(request, page, sort, sought, descending=not ascending)
    beside: dict[str, object] = {
        "part": make_page(request, page, total, len(records), cut=cut),
        "heads": make_columns(request, list(sorts), ascending=ascending),
        "sought": sought,
        "short": 0 < len(lookup.fold(sought)) < PART_LETTERS,
        "kept": keep_query(request, "sortby", "sortdirection"),
    }
    return records, beside


def make_page(request: Request, page: PageRange, total: int, shown: int, *, cut: bool = False) -> ListPage:
    before = build_url(request, page=str(page.number - 1) if page.number > 1 else "") if page.number else ""
    after = build_url(request, page=str(page.number + 1)) if page.offset + shown < total and shown else ""
    start = build_url(request, page="")
    return ListPage(page.offset + 1, page.offset + shown, total, start, before, after, cut)


def read_filter(request: Request, name: str, words: Mapping[str, str]) -> ListFilter:
    chosen = request.query.get(name, "").lower()
    if chosen == ALL_VALUE:
        chosen = ""
    if chosen and chosen not in words:
        raise BadField(field=name, problem=gettext("must be %(choices)s, or left out", choices=" or ".join(words)))
    return ListFilter(name, words, chosen)


def make_columns(request: Request, orders: Sequence[str], *, ascending: bool) -> dict[str, SortableColumn]:
    """By what the list can be ordered; by the first when nothing is said."""
    chosen = request.query.get("sortby", "").lower() or orders[0]
    now = ASCENDING if ascending else DESCENDING
    return {by: _make_column(request, by, now if by == chosen else "") for by in orders}


def build_url(request: Request, **changed: str) -> str:
    """This page with other words in its address; an empty one is left out."""
    query = {name: value for name, value in {**request.query, **changed}.items() if value}
    path = request.route.path
    return f"{path}?{urlencode(query)}" if query else path


def keep_query(request: Request, *names: str) -> dict[str, str]:
    """What a form of this page sends along."""
    return {name: request.query[name] for name in names if request.query.get(name)}


def _choose_sort(request: Request, sorts: Mapping[str, Sort[R]]) -> Sort[R]:
    """Choose the order that the address names, or the first when it names none."""
    found = sorts.get(request.query.get("sortby", "").lower() or next(iter(sorts)))
    if found is None:
        raise BadField(field="sortBy", problem=gettext("must be %(choices)s", choices=" or ".join(sorts)))
    return found


def _drop_foreign_sort(request: Request, sorts: Mapping[str, object]) -> Request:
    """An order that only another list has is left out: then it is this list's first."""
    if request.query.get("sortby", "").lower() not in ALL_SORTS - sorts.keys():
        return request
    return replace(request, query={name: value for name, value in request.query.items() if name != "sortby"})


def _make_column(request: Request, by: str, direction: str) -> SortableColumn:
    turned = DESCENDING if direction == ASCENDING else ASCENDING
    return SortableColumn(build_url(request, sortby=by, sortdirection=turned, page=""), direction)
