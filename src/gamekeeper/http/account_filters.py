"""Filtered lists of accounts: by state, role and last sign-in."""

from msgspec import UNSET

from gamekeeper.game import account_filters
from gamekeeper.game import refusals as no
from gamekeeper.game.account_filters import AccountFilter
from gamekeeper.game.role_refusals import PermissionMissing
from gamekeeper.http import paging, samples, search, staff, wire
from gamekeeper.http.instants import format_instant
from gamekeeper.http.operation import NO_STORE, QUERY, READ, Group
from gamekeeper.http.request import Request
from gamekeeper.http.wire.account_filters import (
    AccountConditions,
    FilteredUser,
    FilteredUsers,
    FilteredUsersQuery,
)
from gamekeeper.settings import MOST_PAGE_ROWS
from gamekeeper.store import search as rows
from gamekeeper.store.users import User

GROUP = Group("Account filters", "Accounts by state, role and last sign-in.")
SIGN_INS = frozenset({"audit.read"})  # needed to know when somebody signed in


@GROUP.operation(
    "GET /api/keeper/v1/users",
    name="filter_users",
    permissions=QUERY,
    access=READ,
    cache=NO_STORE,
    query=FilteredUsersQuery,
    answer=FilteredUsers,
    rows=MOST_PAGE_ROWS,
    refusals=(no.SearchNotReady, no.TooManyLongReads, PermissionMissing),
    example_answer=FilteredUsers(1, Complete=True, Values=[samples.FILTERED_ACCOUNT]),
)
async def filter_users(request: Request, query: FilteredUsersQuery) -> bytes:
    """List accounts that match a filter: at most 1000 matches."""
    sorts = account_filters.make_sorts(read_filter(request, query))
    by = query.sortBy or next(iter(sorts))
    if by not in sorts:
        raise no.BadField(field="sortBy", problem="newest needs a ban, a mute or a time of the sign-in")
    size = min(query.pageSize, request.services.keeper.settings.max_page_size)
    page = paging.PageRange(query.page, size, size)
    descending = query.sortDirection == "Descending"
    total, found, is_cut = await search.load_page(request, page, sorts[by], query.search, descending=descending)
    last = await load_last_sign_ins(request, [each.id for each in found])
    values = [_make_account(each, last.get(each.id)) for each in found]
    return wire.encode(FilteredUsers(total, Complete=not is_cut, Values=values))


def read_filter(request: Request, query: AccountConditions) -> AccountFilter:
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
    return FilteredUser(
        *staff.list_values(user),
        IsBanned=user.ban_reason is not None,
        IsMuted=user.mute_reason is not None,
        RegistrationDate=format_instant(user.created_at),
        LastSignIn=None if last is None else format_instant(last),
    )
