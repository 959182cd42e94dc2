"""Lists that live in their address: which part is shown, and where the other parts and orders are."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from gamekeeper.game import lookup
from gamekeeper.game.search import SEARCHED, R, Sort
from gamekeeper.http import paging, search
from gamekeeper.http.paging import Page
from gamekeeper.http.request import Request
from gamekeeper.store.search import PART

SIZE = 50
ASCENDING, DESCENDING = "ascending", "descending"


class Part(NamedTuple):
    """What is shown of a list, and the addresses of what comes before and after it."""

    first: int  # counted from 1
    last: int
    total: int
    start: str
    before: str
    after: str
    ceiling: bool = False  # there may be more than are counted


class Head(NamedTuple):
    """A column that a list can be ordered by."""

    address: str
    direction: str  # empty: the list is ordered by another


async def searched(request: Request, sorts: Mapping[str, Sort[R]]) -> tuple[Sequence[R], dict[str, object]]:
    """Those of the page, and what a list that can be searched and ordered shows beside them."""
    page, total, records = await search.found(request, sorts, SIZE)
    sought = search.text(request)
    short = 0 < len(lookup.fold(sought)) < PART
    most = SEARCHED if sought and not short else paging.MOST
    beside: dict[str, object] = {
        "part": part(request, page, total, len(records), most),
        "heads": heads(request, sorts),
        "sought": sought,
        "short": short,
        "kept": kept(request, "sortby", "sortdirection"),
    }
    return records, beside


def part(request: Request, page: Page, total: int, shown: int, most: int = paging.MOST) -> Part:
    """`most`: as many as are ever counted."""
    before = address(request, page=str(page.number - 1) if page.number > 1 else "") if page.number else ""
    after = address(request, page=str(page.number + 1)) if page.offset + shown < total and shown else ""
    start = address(request, page="")
    return Part(page.offset + 1, page.offset + shown, total, start, before, after, ceiling=total >= most)


def heads(request: Request, orders: Iterable[str]) -> dict[str, Head]:
    """By what the list can be ordered; by name when nothing is said."""
    chosen = request.query.get("sortby", "").lower() or "name"
    now = ASCENDING if paging.ascending(request.query, ASCENDING) else DESCENDING
    return {by: _head(request, by, now if by == chosen else "") for by in orders}


def address(request: Request, **changed: str) -> str:
    """This page with other words in its address; an empty one is left out."""
    query = {name: value for name, value in {**request.query, **changed}.items() if value}
    return f"{request.path}?{urlencode(query)}" if query else request.path


def kept(request: Request, *names: str) -> dict[str, str]:
    """What a form of this page sends along."""
    return {name: request.query[name] for name in names if request.query.get(name)}


def _head(request: Request, by: str, direction: str) -> Head:
    turned = DESCENDING if direction == ASCENDING else ASCENDING
    return Head(address(request, sortby=by, sortdirection=turned, page=""), direction)
