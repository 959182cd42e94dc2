"""The ranking pages: players by rank, from any rank on, and players by a variable that the setting `ranked` names."""

from gamekeeper.console.frame import list_page, pages
from gamekeeper.console.frame.list_page import HOLDERS_SIZES, PAGE_SIZE, HoldersQuery, ListPage, RankingQuery
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


async def show(request: Request) -> Response:
    """Show a page of the ranking, best or worst rank first.

    From the worst rank on, ranks are counted from the total that is read with the rows: players may come and go.
    """
    query, keeper = queries.decode(RankingQuery, request.query), request.services.keeper
    worst, asked = query.sortDirection == "Ascending", query.rank or 0
    size = min(PAGE_SIZE, keeper.settings.max_page_size)
    offset = max(asked - 1, 0)
    if worst:
        offset = max(await keeper.lists.count(RANK) - asked, 0) if asked else 0
    total, records = await keeper.lists.load_page(RANK, offset, size, descending=not worst)
    first, step = (total - offset, -1) if worst else (offset + 1, 1)
    ranks = range(first, first + step * len(records), step)
    return pages.render(
        request,
        "lists/ranking.html",
        ranked=list(zip(ranks, read_players(request, records), strict=True)),
        part=_make_page(request, total, ranks, size),
        rank=first,
        worst=worst,
        turned=list_page.build_url(
            request, sortdirection=list_page.DESCENDING if worst else list_page.ASCENDING, rank=""
        ),
    )


def _make_page(request: Request, total: int, ranks: range, size: int) -> ListPage:
    top, end = (1, total) if ranks.step > 0 else (total, 1)
    last = ranks.start + ranks.step * (len(ranks) - 1)
    start, before, after = list_page.build_url(request, rank=""), "", ""
    if ranks.start != top:
        behind = ranks.start - ranks.step * size
        outside = behind <= 1 if ranks.step > 0 else behind >= total
        before = start if outside else list_page.build_url(request, rank=str(behind))
    if ranks and last != end:
        after = list_page.build_url(request, rank=str(last + ranks.step))
    return ListPage(ranks.start, last, total, start, before, after)


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
        **await keeper.store.read(read),
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
