"""The ranking pages: players by rank, from any rank on, and players by a variable that the setting `ranked` names."""

from typing import NamedTuple

from gamekeeper.console.frame import list_page, pages
from gamekeeper.console.frame.list_page import (
    ASCENDING,
    DESCENDING,
    HOLDERS_SIZES,
    PAGE_SIZE,
    HoldersQuery,
    ListPage,
    RankingQuery,
)
from gamekeeper.console.frame.menu import GAME, PLAYERS
from gamekeeper.console.frame.routes import page_route
from gamekeeper.console.frame.texts import gettext
from gamekeeper.console.players.players import read_players
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import NoSuchVariable
from gamekeeper.game.insight import economy_reports as reports
from gamekeeper.game.lists.list_index import RANK
from gamekeeper.http.server import paging, queries
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight import holdings
from gamekeeper.store.insight.holdings import VARIABLE
from gamekeeper.store.players.players import RecordRow


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
        "lists/ranking.html",
        ranked=list(zip(ranks, read_players(request, stretch.records), strict=True)),
        part=_make_page(request, stretch),
        rank=stretch.first,
        worst=worst,
        turned=list_page.build_url(request, sortdirection=DESCENDING if worst else ASCENDING, rank=""),
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
    start, before, after = list_page.build_url(request, rank=""), "", ""
    if stretch.first != top:
        behind = stretch.first - stretch.step * size
        outside = behind <= 1 if stretch.step > 0 else behind >= stretch.total
        before = start if outside else list_page.build_url(request, rank=str(behind))
    if stretch.records and last != end:
        after = list_page.build_url(request, rank=str(last + stretch.step))
    return ListPage(stretch.first, last, stretch.total, start, before, after)


def _choose_page_size(request: Request) -> int:
    return min(PAGE_SIZE, request.services.keeper.settings.max_page_size)


async def show_variable(request: Request) -> Response:
    """Show a page of the players who have the highest values of a variable, or how to rank it."""
    if to := list_page.find_jump(request):
        return pages.redirect(to)
    variable_id = lookup.parse_guid(request.params[0])
    if variable_id is None:
        raise NoSuchVariable
    query, keeper = queries.decode(HoldersQuery, request.query), request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)

    async def read(tx: Reading) -> dict[str, object]:
        found = await reports.report_holders(tx, VARIABLE, variable_id, page)
        return {
            "name": (await reports.require_variable(tx, variable_id)).name or gettext("(no name)"),
            "holders": found,
            "is_ranked": await holdings.find_list(tx, VARIABLE, variable_id) is not None,
            "part": list_page.make_page(request, page, found.total, found.count),
        }

    return pages.render(
        request,
        "lists/ranked_variable.html",
        id=variable_id,
        sizes=HOLDERS_SIZES,
        size=query.pageSize,
        here=build_variable_address(variable_id),
        **await keeper.economy.read(read),
    )


def build_variable_address(variable_id: str) -> str:
    return f"/console/economy/variables/{variable_id}"


PAGES = (
    page_route("/ranking", show, PLAYERS)
    .in_menu("Ranking", GAME, 50, "ranking")
    .with_help("Players by level and experience, from any rank."),
    page_route("/economy/variables/[variableId]", show_variable, PLAYERS).with_help(
        "Players by the value of one variable. The setting GAMEKEEPER_RANKED names the variables.", "economy"
    ),
)
