"""Lists of the players that match a filter."""

from msgspec import UNSET

from gamekeeper.game import player_filters
from gamekeeper.game import refusals as no
from gamekeeper.game.player_filters import PageWanted, PlayersPage
from gamekeeper.game.player_walks import PlayerFilter
from gamekeeper.http import player_cursor, player_records, samples, wire
from gamekeeper.http.operation import NO_STORE, READ, READ_PLAYERS, Group
from gamekeeper.http.request import Request
from gamekeeper.http.wire.player_filters import FilteredPlayers, FilteredPlayersQuery, PlayerConditions
from gamekeeper.settings import MOST_PAGE_ROWS

GROUP = Group("Filters", "Players by class, map, level, last time online, ban and item.")
ACCOUNTS = frozenset({"users.query"})
DIRECTIONS = {False: "Ascending", True: "Descending"}


@GROUP.operation(
    "GET /api/keeper/v1/players",
    name="filter_players",
    permissions=READ_PLAYERS,
    access=READ,
    cache=NO_STORE,
    query=FilteredPlayersQuery,
    answer=FilteredPlayers,
    rows=MOST_PAGE_ROWS,
    refusals=(no.SearchNotReady, no.TooManyLongReads, no.RoleMissing),
    example_answer=FilteredPlayers(48, 48, "name", "Ascending", samples.PLAYER_CURSOR, [samples.RECORD]),
)
async def filter_players(request: Request, query: FilteredPlayersQuery) -> bytes:
    """List players that match a filter. A page compares at most 2000; the next one goes on."""
    found = await load_page(request, query)
    following = player_cursor.encode(found.next) if found.next else None
    direction = DIRECTIONS[found.order.descending]
    page = FilteredPlayers(found.total, found.searched, found.order.by, direction, following, [])
    return wire.player_filters.encode_filtered(page, player_records.encode_records(found.records))


async def load_page(request: Request, query: FilteredPlayersQuery) -> PlayersPage:
    keeper, wanted = request.services.keeper, read_filter(request, query)
    page = PageWanted(
        min(query.pageSize, keeper.settings.max_page_size),
        query.sortBy or None,
        None if query.sortDirection is UNSET else query.sortDirection == "Descending",
        query.page,
        query.cursor or None,
    )
    if wanted == PlayerFilter() and not page.cursor:
        return await player_filters.load_page(keeper, wanted, page)
    return await request.run_through_gate(lambda: player_filters.load_page(keeper, wanted, page))


def read_filter(request: Request, query: PlayerConditions) -> PlayerFilter:
    """Make the filter of a query; check that the caller may know who is banned."""
    if query.banned is not UNSET:
        request.caller.require(ACCOUNTS)
    return PlayerFilter(
        query.classId or None,
        query.mapId or None,
        query.levelFrom or None,
        query.levelTo or None,
        None if query.seenFrom is UNSET else query.seenFrom,
        None if query.seenTo is UNSET else query.seenTo,
        None if query.banned is UNSET else query.banned,
        None if query.online is UNSET else query.online,
        query.itemId or None,
        query.search,
    )
