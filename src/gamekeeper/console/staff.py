"""The page of staff: accounts with roles or permissions, their last sign-in and sessions, and open invitations."""

from typing import NamedTuple

from gamekeeper.console import lists, pages
from gamekeeper.console.account import is_below
from gamekeeper.game import permissions, staff
from gamekeeper.game.invitations import MOST_OPEN
from gamekeeper.game.roles import list_permissions
from gamekeeper.game.staff import StaffPage
from gamekeeper.http import queries, wire
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import invitations, roles, users
from gamekeeper.store.engine import Reading
from gamekeeper.store.invitations import Invitation
from gamekeeper.store.roles import Role
from gamekeeper.store.staff import StaffActivity
from gamekeeper.store.users import User

STAFF_PER_PAGE = 50


class StaffRow(NamedTuple):
    user: User
    activity: StaffActivity
    roles: list[tuple[str, bool]]  # name of each role, and whether the viewer may take it away
    granted: list[str]  # directly granted permissions
    offered: list[str]  # roles that the viewer may give
    is_below: bool  # the viewer may suspend the account and end its sessions


class StaffView(NamedTuple):
    page: StaffPage
    viewer: User | None
    roles: dict[str, Role]
    invitations: list[Invitation]


async def show(request: Request) -> Response:
    offset = queries.decode(wire.staff.StaffQuery, request.query).offset
    sight = await request.services.keeper.store.read(lambda tx: _load(tx, request, offset))
    usable = _list_usable_roles(request, sight)
    return pages.render(
        request,
        "staff.html",
        staff=[_make_row(sight, *each, usable) for each in sight.page.members],
        invitations=sight.invitations,
        offered=usable,
        can_invite=bool(request.services.keeper.settings.public_url),
        mail_set_up=bool(request.services.keeper.settings.smtp_url),
        first=lists.build_url(request, offset="") if offset else "",
        later=lists.build_url(request, offset=str(sight.page.next)) if sight.page.next else "",
    )


async def _load(tx: Reading, request: Request, offset: int) -> StaffView:
    page = await staff.load_page(tx, offset, STAFF_PER_PAGE)
    return StaffView(
        page,
        await users.find_by_id(tx, request.caller.account_id),
        await roles.read_all(tx),
        await invitations.read_open(tx, MOST_OPEN),
    )


def _list_usable_roles(request: Request, sight: StaffView) -> list[str]:
    """Return the roles that the viewer may give and take: those with permissions that they have, except their own."""
    mine, own = request.caller.permissions, sight.viewer.grants.roles if sight.viewer else ()
    return [each.name for each in sight.roles.values() if list_permissions(each) <= mine and each.name not in own]


def _make_row(sight: StaffView, user: User, activity: StaffActivity, usable: list[str]) -> StaffRow:
    below, held = is_below(sight.viewer, user), permissions.list_roles(user)
    return StaffRow(
        user,
        activity,
        [(each, below and each in usable) for each in held],
        sorted(permissions.list_granted(user.powers, user.grants)),
        [each for each in usable if each not in held] if below else [],
        below,
    )
