"""The page of a variable that the setting `ranked` names: players by its value."""

from gamekeeper.console import lists, pages
from gamekeeper.console.queries import HOLDERS_SIZES, HoldersQuery
from gamekeeper.console.texts import gettext
from gamekeeper.game import economy_reports as reports
from gamekeeper.game import lookup
from gamekeeper.game.refusals import NoSuchVariable
from gamekeeper.http import paging, queries
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import holdings
from gamekeeper.store.holdings import VARIABLE


async def show(request: Request) -> Response:
    """Show a page of the players who have the highest values of a variable, or how to rank it."""
    if to := lists.find_jump(request):
        return pages.redirect(to)
    variable_id = lookup.parse_guid(request.params[0])
    if variable_id is None:
        raise NoSuchVariable
    query, keeper = queries.decode(HoldersQuery, request.query), request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)
    found = await reports.report_holders(keeper.store, keeper.economy, VARIABLE, variable_id, page.limit, page.offset)
    return pages.render(
        request,
        "ranked_variable.html",
        name=found.name or gettext("(no name)"),
        id=variable_id,
        holders=list(enumerate(found.page.holders, start=page.offset + 1)),
        is_counted=found.page.is_ranked,
        is_ranked=await holdings.find_list(keeper.store, VARIABLE, variable_id) is not None,
        part=lists.make_page(request, page, found.page.total, len(found.page.holders)),
        sizes=HOLDERS_SIZES,
        size=query.pageSize,
        state=found.state,
        here=build_address(variable_id),
    )


def build_address(variable_id: str) -> str:
    return f"/console/economy/variables/{variable_id}"
