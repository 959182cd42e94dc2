"""The ranking page: players by rank, from any rank on, best or worst first."""

from typing import NamedTuple

from gamekeeper.console import lists, pages
from gamekeeper.console.lists import ASCENDING, DESCENDING, ListPage
from gamekeeper.console.players import read_players
from gamekeeper.console.queries import PAGE_SIZE, RankingQuery
from gamekeeper.game.list_definitions import RANK
from gamekeeper.http import queries
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store.players import RecordRow


class RankRange(NamedTuple):
    """A page of the ranking, from rank `first` on. `step` is 1, or -1 if the worst rank comes first."""

    total: int
    first: int
    step: int
    records: list[RecordRow]


async def show(request: Request) -> Response:
    query = queries.decode(RankingQuery, request.query)
    worst = query.sortDirection == "Ascending"
    stretch = await _load_range(request, query.rank or 0, worst=worst)
    ranks = [stretch.first + number * stretch.step for number in range(len(stretch.records))]
    return pages.render(
        request,
        "ranking.html",
        ranked=list(zip(ranks, read_players(request, stretch.records), strict=True)),
        part=_make_page(request, stretch),
        rank=stretch.first,
        worst=worst,
        turned=lists.build_url(request, sortdirection=DESCENDING if worst else ASCENDING, rank=""),
    )


async def _load_range(request: Request, asked: int, *, worst: bool) -> RankRange:
    """Load a page of the ranking from rank `asked` on (0: from the start). `worst`: sort by the worst rank first.

    With `worst`, ranks are counted from the total that is read with the rows, because players may come and go.
    """
    keeper = request.services.keeper
    size = _choose_page_size(request)
    if not worst:
        first = asked or 1
        total, records = await keeper.lists.load_page(RANK, first - 1, size, descending=True)
        return RankRange(total, first, 1, records)
    offset = max(await keeper.lists.count(RANK) - asked, 0) if asked else 0
    total, records = await keeper.lists.load_page(RANK, offset, size)
    return RankRange(total, total - offset, -1, records)


def _make_page(request: Request, stretch: RankRange) -> ListPage:
    size = _choose_page_size(request)
    top, end = (1, stretch.total) if stretch.step > 0 else (stretch.total, 1)
    last = stretch.first + stretch.step * (len(stretch.records) - 1)
    start, before, after = lists.build_url(request, rank=""), "", ""
    if stretch.first != top:
        behind = stretch.first - stretch.step * size
        outside = behind <= 1 if stretch.step > 0 else behind >= stretch.total
        before = start if outside else lists.build_url(request, rank=str(behind))
    if stretch.records and last != end:
        after = lists.build_url(request, rank=str(last + stretch.step))
    return ListPage(stretch.first, last, stretch.total, start, before, after)


def _choose_page_size(request: Request) -> int:
    return min(PAGE_SIZE, request.services.keeper.settings.max_page_size)
