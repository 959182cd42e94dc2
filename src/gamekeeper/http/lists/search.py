"""The search, and lists of players and accounts that match a filter."""

from functools import partial

from msgspec import UNSET

from gamekeeper.game.access.refusals import PermissionMissing
from gamekeeper.game.core import refusals as no
from gamekeeper.game.lists import account_filters, player_filters, search
from gamekeeper.game.lists.account_filters import AccountFilter
from gamekeeper.game.lists.player_filters import PageWanted, PlayersPage
from gamekeeper.game.lists.player_walks import PlayerFilter
from gamekeeper.ground.settings import MOST_PAGE_ROWS
from gamekeeper.http.access import roles
from gamekeeper.http.contract.operation import QUERY, READ_PLAYERS, Group
from gamekeeper.http.contract.records import make_record
from gamekeeper.http.lists import search_shapes
from gamekeeper.http.lists.search_shapes import (
    AccountConditions,
    FilteredPlayers,
    FilteredPlayersQuery,
    FilteredUser,
    FilteredUsers,
    FilteredUsersQuery,
)
from gamekeeper.http.players import players
from gamekeeper.http.server import paging
from gamekeeper.http.server.request import Request
from gamekeeper.store.accounts.users import User
from gamekeeper.store.lists import search as rows

PLAYERS_GROUP = Group("Filters", "Players by class, map, level, last time online, ban and item.", place=20)
DIRECTIONS = {False: "Ascending", True: "Descending"}


@PLAYERS_GROUP.operation(
    "GET /api/keeper/v1/players",
    permissions=READ_PLAYERS,
    answer=FilteredPlayers,
    rows=MOST_PAGE_ROWS,
    refusals=(no.SearchNotReady, no.TooManyLongReads, no.RoleMissing),
)
async def filter_players(request: Request, query: FilteredPlayersQuery) -> bytes:
    """List players that match a filter. A page compares at most 2000; the next one goes on."""
    found = await load_page(request, query)
    following = search_shapes.encode_cursor(found.next) if found.next else None
    direction = DIRECTIONS[found.order.descending]
    page = FilteredPlayers(found.total, found.searched, found.order.by, direction, following, [])
    return search_shapes.encode_filtered(page, players.encode_records(found.records))


async def load_page(request: Request, query: FilteredPlayersQuery) -> PlayersPage:
    keeper, wanted = request.services.keeper, paging.read_player_filter(request, query)
    page = PageWanted(
        min(query.pageSize, keeper.settings.max_page_size),
        query.sortBy or None,
        None if query.sortDirection is UNSET else query.sortDirection == "Descending",
        query.page,
        query.cursor or None,
    )
    if wanted == PlayerFilter() and not page.cursor:
        return await player_filters.load_page(keeper.lists, keeper.changes.codec, wanted, page)
    return await request.run_through_gate(
        lambda: player_filters.load_page(keeper.lists, keeper.changes.codec, wanted, page)
    )


ACCOUNTS_GROUP = Group("Account filters", "Accounts by state, role and last sign-in.", place=90)
SIGN_INS = frozenset({"audit.read"})  # needed to know when somebody signed in


@ACCOUNTS_GROUP.operation(
    "GET /api/keeper/v1/users",
    permissions=QUERY,
    rows=MOST_PAGE_ROWS,
    refusals=(no.SearchNotReady, no.TooManyLongReads, PermissionMissing),
)
async def filter_users(request: Request, query: FilteredUsersQuery) -> FilteredUsers:
    """List accounts that match a filter: at most 1000 matches."""
    sorts = account_filters.make_sorts(read_account_filter(request, query))
    by = query.sortBy or next(iter(sorts))
    if by not in sorts:
        raise no.BadField(field="sortBy", problem="newest needs a ban, a mute or a time of the sign-in")
    size = min(query.pageSize, request.services.keeper.settings.max_page_size)
    page = paging.PageRange(query.page, size, size)
    descending = query.sortDirection == "Descending"
    total, found, is_cut = await paging.load_page(request, page, sorts[by], query.search, descending=descending)
    last = await load_last_sign_ins(request, [each.id for each in found])
    values = [_make_account(each, last.get(each.id)) for each in found]
    return FilteredUsers(total, Complete=not is_cut, Values=values)


def read_account_filter(request: Request, query: AccountConditions) -> AccountFilter:
    """Make the filter of a query; check that the caller may know when somebody signed in."""
    wanted = AccountFilter(
        query.state or "",
        query.role,
        None if query.signedInFrom is UNSET else query.signedInFrom,
        None if query.signedInTo is UNSET else query.signedInTo,
    )
    if wanted.has_times:
        request.caller.require(SIGN_INS)
    return wanted


async def load_last_sign_ins(request: Request, ids: list[str]) -> dict[str, int]:
    """Load the last sign-in of each account; none if the caller may not know it."""
    if not request.caller.permissions >= SIGN_INS:
        return {}
    return await rows.read_last_sign_ins(request.services.keeper.store, ids)


def _make_account(user: User, last: int | None) -> FilteredUser:
    return make_record(
        *(FilteredUser, user),
        **roles.list_values(user),
        IsBanned=user.ban_reason is not None,
        IsMuted=user.mute_reason is not None,
        RegistrationDate=user.created_at,
        LastSignIn=last,
    )


GROUP = Group("Finder", "Search players, accounts, the catalogue and changes.", place=390)
GROUPS = (PLAYERS_GROUP, ACCOUNTS_GROUP, GROUP)


@GROUP.operation(
    "GET /api/keeper/v1/search",
    name="search",
    permissions=READ_PLAYERS,
    rows=50,
    gated=True,
)
async def find(request: Request, query: search_shapes.FindQuery) -> search_shapes.Finds:
    """Search players, accounts, the catalogue and changes by id, name or email, best match first."""
    sight, keeper = search.Sight.from_permissions(request.caller.permissions), request.services.keeper
    find = partial(search.find, text=query.q, most=query.limit, codec=keeper.changes.codec, sight=sight)
    found = await request.run_through_gate(lambda: keeper.store.read(find))
    return search_shapes.Finds(query.q, [make_record(search_shapes.Found, each) for each in found])
