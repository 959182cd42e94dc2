"""The pages of roles and of staff: what each role allows, with a form to edit it, and the accounts that have roles.

The page of staff shows accounts with roles or permissions, their last sign-in and sessions, and open invitations.
"""

from collections.abc import Mapping
from typing import NamedTuple

from gamekeeper.console.frame import list_page, pages
from gamekeeper.console.frame.differences import UndoTitle
from gamekeeper.console.frame.menu import ADMINISTRATION, STAFF
from gamekeeper.console.frame.routes import Dialog, page_route
from gamekeeper.game.access import permissions
from gamekeeper.game.access.changes import PowersChanged, RolesChanged, UserResumed, UserSuspended
from gamekeeper.game.access.permissions import ADMIN, PERMISSIONS, StaffPage
from gamekeeper.game.access.refusals import NoSuchRole
from gamekeeper.game.access.roles import list_permissions
from gamekeeper.game.accounts.accounts import MOST_OPEN
from gamekeeper.http.access import role_shapes
from gamekeeper.http.server import queries
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.access import roles
from gamekeeper.store.access.roles import Role, StaffActivity
from gamekeeper.store.accounts import invitations, users
from gamekeeper.store.accounts.invitations import Invitation
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading

MODERATION_ACTS = frozenset({"ban", "kick", "mute"})


class RoleView(NamedTuple):
    role: Role
    held: frozenset[str]  # permissions
    can_edit: bool


async def show(request: Request) -> Response:
    viewer, table = await request.services.keeper.store.read(lambda tx: load_roles(tx, request))
    shown = [_make_role_view(request, each, viewer) for each in table.values()]
    return pages.render(request, "access/roles.html", roles=shown, permissions=PERMISSIONS)


async def show_role(request: Request) -> Response:
    viewer, table = await request.services.keeper.store.read(lambda tx: load_roles(tx, request))
    role = table.get(request.params[0])
    if role is None:
        raise NoSuchRole(role=request.params[0])
    view = _make_role_view(request, role, viewer)
    return pages.render(request, "access/role.html", view=view, permissions=PERMISSIONS)


async def load_roles(tx: Reading, request: Request) -> tuple[User | None, dict[str, Role]]:
    return await users.find_by_id(tx, request.caller.account_id), await roles.read_all(tx)


def _make_role_view(request: Request, role: Role, viewer: User | None) -> RoleView:
    """Describe a role. Callers edit roles whose permissions they have, but not their own ones, as the rules demand."""
    held = list_permissions(role)
    mine = permissions.list_roles(viewer) if viewer else ()
    can_edit = role.name != ADMIN and role.name not in mine and held <= request.caller.permissions
    return RoleView(role, held & PERMISSIONS.keys(), can_edit and not request.caller.read_only)


STAFF_PER_PAGE = 50


class StaffRow(NamedTuple):
    user: User
    activity: StaffActivity
    roles: list[tuple[str, bool]]  # name of each role, and whether the viewer may take it away
    granted: list[str]  # directly granted permissions
    offered: list[str]  # roles that the viewer may give
    is_below: bool  # the viewer may suspend the account and end its sessions


async def show_staff(request: Request) -> Response:
    offset, settings = queries.decode(role_shapes.StaffQuery, request.query).offset, request.services.keeper.settings

    async def read(tx: Reading) -> tuple[StaffPage, User | None, list[str], list[Invitation]]:
        page = await permissions.load_staff_page(tx, offset, STAFF_PER_PAGE)
        viewer, table = await load_roles(tx, request)
        return page, viewer, list_usable(request, viewer, table), await invitations.read_open(tx, MOST_OPEN)

    page, viewer, usable, opened = await request.services.keeper.store.read(read)
    return pages.render(
        request,
        "access/staff.html",
        staff=[_make_staff_row(viewer, *each, usable) for each in page.members],
        invitations=opened,
        offered=usable,
        can_invite=bool(settings.public_url),
        mail_set_up=bool(settings.smtp_url),
        first=list_page.build_url(request, offset="") if offset else "",
        later=list_page.build_url(request, offset=str(page.next)) if page.next else "",
    )


def list_usable(request: Request, viewer: User | None, table: Mapping[str, Role]) -> list[str]:
    """Return the roles that the viewer may give and take: those with permissions that they have, except their own."""
    mine, own = request.caller.permissions, viewer.grants.roles if viewer else ()
    return [each.name for each in table.values() if list_permissions(each) <= mine and each.name not in own]


def _make_staff_row(viewer: User | None, user: User, activity: StaffActivity, usable: list[str]) -> StaffRow:
    below, held = is_below(viewer, user), permissions.list_roles(user)
    return StaffRow(
        user,
        activity,
        [(each, below and each in usable) for each in held],
        sorted(permissions.list_granted(user.powers, user.grants)),
        [each for each in usable if each not in held] if below else [],
        below,
    )


def find_allowed_acts(request: Request, looker: User | None, user: User | None) -> frozenset[str]:
    """Return which of the actions ban, kick and mute the viewer may take on the account."""
    if not is_below(looker, user):
        return frozenset()
    return frozenset(each for each in MODERATION_ACTS if f"moderation.{each}" in request.caller.permissions)


def is_below(looker: User | None, user: User | None) -> bool:
    """Return whether the viewer may moderate the account. An account may not moderate itself."""
    if looker is None or user is None or looker.id == user.id:
        return False
    return permissions.can_act_on(permissions.list_held(looker), user)


DIALOGS = (
    Dialog("change_powers", "Change the permissions of %(name)s"),
    Dialog("change_user_roles", "Change the roles of %(name)s"),
    Dialog("create_role", "Create the role %(new_name)s"),
    Dialog("save_role", "Edit the role %(role)s"),
    Dialog("delete_role", "Delete the role %(role)s"),
    Dialog("suspend_user", "Suspend %(name)s"),
    Dialog("resume_user", "End the suspension of %(name)s"),
)
UNDO_TITLES = (
    UndoTitle(UserSuspended.kind, "Undo: suspend %(name)s again"),
    UndoTitle(UserResumed.kind, "Undo: end the suspension of %(name)s"),
    UndoTitle(PowersChanged.kind, "Undo: restore the permissions of %(name)s"),
    UndoTitle(RolesChanged.kind, "Undo: restore the roles of %(name)s"),
)
PAGES = (
    page_route("/staff", show_staff, STAFF)
    .in_menu("Staff", ADMINISTRATION, 10, "staff")
    .with_help(
        "Accounts with a role. Invite people, give and take roles, suspend them, and end their sessions.", "staff"
    ),
    page_route("/roles", show, STAFF)
    .in_menu("Roles", ADMINISTRATION, 20, "role")
    .with_help(
        "A role is a named set of permissions. Give each person the smallest one that is enough.", "permissions"
    ),
    page_route("/roles/[role]", show_role, STAFF).with_help(
        "The permissions of one role. A change applies to everybody who has it, at once.", "permissions"
    ),
)
