"""Roles, permissions and staff: edit roles, give roles and permissions to accounts, suspend staff accounts.

Roles are listed, created, edited and deleted. Staff are the accounts with permissions; ending their sessions is here
too.
"""

from collections.abc import Sequence
from functools import partial

import msgspec
from msgspec import UNSET, UnsetType

from gamekeeper.game.access import api_keys, permissions, roles
from gamekeeper.game.access import refusals as role_no
from gamekeeper.game.access.api_keys import ChangedOwner, WeakenedKey
from gamekeeper.game.access.permissions import StaffMember
from gamekeeper.game.access.refusals import HeldByRole, LastManager, NoSuchRole, RoleBeyondQuota
from gamekeeper.game.access.roles import RoleDraft, RoleRequest
from gamekeeper.game.accounts import moderation
from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.http.access import role_shapes
from gamekeeper.http.contract import examples, shapes
from gamekeeper.http.contract.operation import MANAGE, MANY, OF_ONE_OWNER, QUERY, STAFF, Group
from gamekeeper.http.contract.path_parameters import PathParameter
from gamekeeper.http.contract.records import make_record
from gamekeeper.http.server.paging import join_pieces
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.access import roles as rows
from gamekeeper.store.access.roles import Role
from gamekeeper.store.accounts.users import User

GROUP = Group("Roles", "Roles, and the roles and permissions of accounts.", place=170, permissions=STAFF)
EDIT_REFUSALS = (no.BadField, role_no.UnknownPermission, role_no.RoleOutOfReach, role_no.RoleBeyondQuota)


PathParameter("role", "The role's name.", examples.ROLE, NoSuchRole)


@GROUP.operation(
    "GET /api/keeper/v1/roles",
    permissions=QUERY,
    answer=role_shapes.RoleList,
    rows=MANY,
    gated=True,
)
async def list_roles(request: Request) -> bytes:
    """List all roles with their permissions."""

    async def read() -> bytes:
        found = await rows.read_all(request.services.keeper.store)
        return shapes.encode(role_shapes.RoleList([_make_record(each) for each in found.values()]))

    return await request.run_through_gate(read)


@GROUP.operation(
    "POST /api/keeper/v1/roles",
    answer=role_shapes.RoleRecord,
    refusals=(*EDIT_REFUSALS, role_no.RoleExists),
    example_body=role_shapes.CreateRole("quartermaster", "Hands out items.", ["players.read", "items.give"]),
)
async def create_role(request: Request, body: role_shapes.CreateRole) -> Response:
    """Create a role, with permissions that the caller has."""
    draft = RoleDraft(body.about, body.permissions or (), body.readonly, _read_quotas(body.quotas))
    decide = partial(roles.save, name=body.name, draft=draft, actor=request.caller.actor, is_new=True)
    return await request.change(decide, _make_record)


@GROUP.operation(
    "PUT /api/keeper/v1/roles/[role]",
    answer=role_shapes.RoleRecord,
    refusals=(*EDIT_REFUSALS, role_no.OwnRole, role_no.LastManager, role_no.BuiltinRole),
    example_body=role_shapes.SaveRole(
        permissions=["players.read", "moderation.mute"], quotas=[role_shapes.RoleQuota(examples.DRAUGHT, 50)]
    ),
)
async def save_role(request: Request, body: role_shapes.SaveRole) -> Response:
    """Edit a role. Callers need its permissions, before and after, and must not have the role."""
    draft = RoleDraft(
        None if body.about is UNSET else body.about,
        None if body.permissions is UNSET else body.permissions,
        None if body.readonly is UNSET else body.readonly,
        _read_quotas(body.quotas),
    )
    decide = partial(roles.save, name=request.params[0], draft=draft, actor=request.caller.actor, is_new=False)
    return await request.change(
        decide, _make_record, clear_callers=True
    )  # the cached callers still have the role's old permissions


@GROUP.operation(
    "DELETE /api/keeper/v1/roles/[role]",
    answer=role_shapes.RoleRecord,
    refusals=(role_no.RoleOutOfReach, role_no.OwnRole, role_no.BuiltinRole, role_no.RoleInUse),
)
async def delete_role(request: Request) -> Response:
    """Delete a role that no account has."""
    decide = partial(roles.delete, name=request.params[0], actor=request.caller.actor)
    return await request.change(decide, _make_record)


@GROUP.operation(
    "GET /api/keeper/v1/users/[lookupKey]/roles",
    permissions=QUERY,
    answer=role_shapes.HeldRoles,
    rows=OF_ONE_OWNER,
)
async def get_user_roles(request: Request) -> bytes:
    """Get the roles and the permissions of an account."""
    user = await lookup.find_user(request.services.keeper.store, request.params[0])
    pieces = (shapes.encode(_make_held(each)) for each in (user,))
    return await join_pieces(request, len(permissions.list_roles(user)), pieces)


@GROUP.operation(
    "POST /api/keeper/v1/users/[lookupKey]/roles",
    permissions=QUERY | STAFF,
    answer=role_shapes.HeldRoles,
    refusals=(
        *(no.Outranked, no.OwnPowers, role_no.UnknownRole, role_no.UnknownPermission),
        *(role_no.RoleOutOfReach, role_no.RoleBeyondQuota, role_no.OwnRole, role_no.HeldByRole),
        role_no.LastManager,
    ),
    example_body=role_shapes.ChangeRoles(give=["moderator"]),
)
async def change_user_roles(request: Request, body: role_shapes.ChangeRoles) -> Response:
    """Give and take roles and permissions of an account. The caller must have each of them."""
    wanted = RoleRequest(body.give or (), body.take or (), body.grant or (), body.revoke or ())

    rule = partial(roles.change_account, key=request.params[0], wanted=wanted, actor=request.caller.actor)
    return await request.change(
        partial(api_keys.decide_with_losses, rule=rule), lambda done: _make_held(*done), clear_callers=True
    )  # the cached callers still have the account's old permissions


def _read_quotas(sent: list[role_shapes.RoleQuota] | UnsetType) -> dict[str, int] | None:
    if sent is UNSET:
        return None
    found = {each.ItemId: each.PerDay for each in sent}
    if len(found) < len(sent):
        raise no.BadField(field="quotas", problem="has the same item twice")
    return found


def _make_record(role: Role) -> role_shapes.RoleRecord:
    quotas = [role_shapes.RoleQuota(*each) for each in role.quotas]
    held = sorted(roles.list_permissions(role))
    return make_record(role_shapes.RoleRecord, role, Permissions=held, BuiltIn=role.builtin, Quotas=quotas)


def _make_held(user: User, losses: Sequence[WeakenedKey] = ()) -> role_shapes.HeldRoles:
    return make_record(
        *(role_shapes.HeldRoles, user),
        **list_values(user),
        Permissions=sorted(permissions.list_held(user)),
        WeakenedKeys=losses,
    )


POWERS_GROUP = Group("Powers", "Permissions of accounts.", place=160)


@POWERS_GROUP.operation(
    "POST /api/keeper/v1/users/[lookupKey]/powers",
    permissions=MANAGE,
    answer=role_shapes.HeldPowers,
    refusals=(no.Outranked, no.OwnPowers, RoleBeyondQuota, HeldByRole, LastManager),
    example_body=role_shapes.ChangePowers(mute=True),
)
async def change_powers(request: Request, body: role_shapes.ChangePowers) -> Response:
    """Grant or revoke an account's permissions. The caller must have each of them."""
    sent = msgspec.structs.asdict(body)
    given = {role_shapes.RIGHTS.get(name, name): flag for name, flag in sent.items() if flag is not UNSET}
    rule = partial(roles.change_powers, key=request.params[0], given=given, actor=request.caller.actor)
    return await request.change(
        partial(api_keys.decide_with_losses, rule=rule), _make_powers, clear_callers=True
    )  # the cached callers still have the account's old permissions


def _make_powers(changed: ChangedOwner) -> role_shapes.HeldPowers:
    powers = permissions.find_powers(changed.user)
    return make_record(role_shapes.HeldPowers, changed.user, powers, WeakenedKeys=changed.losses)


STAFF_GROUP = Group("Staff", "Accounts of staff.", place=180, permissions=QUERY | STAFF)
GROUPS = (GROUP, POWERS_GROUP, STAFF_GROUP)


@STAFF_GROUP.operation("GET /api/keeper/v1/staff", rows=200)
async def list_staff(request: Request, query: role_shapes.StaffQuery) -> role_shapes.StaffList:
    """List accounts with roles or directly granted permissions, by name; the first 4,000."""
    page = await request.services.keeper.store.read(
        lambda tx: permissions.load_staff_page(tx, query.offset, query.limit)
    )
    return role_shapes.StaffList([_make_member(each) for each in page.members], page.next)


@STAFF_GROUP.operation(
    "DELETE /api/keeper/v1/users/[lookupKey]/sessions",
    answer=role_shapes.EndedSessions,
    refusals=(no.Outranked,),
)
async def end_sessions(request: Request) -> Response:
    """End all sessions of an account in the console. Tokens of programs stay valid."""
    decide = partial(moderation.end_sessions, key=request.params[0], actor=request.caller.actor)
    return await request.change(decide, partial(make_record, role_shapes.EndedSessions), clear_callers=True)


@STAFF_GROUP.operation(
    "POST /api/keeper/v1/users/[lookupKey]/suspend",
    answer=role_shapes.Suspension,
    refusals=(no.Outranked, no.OwnAccount, LastManager),
)
async def suspend_user(request: Request) -> Response:
    """Suspend an account: its tokens are revoked, and it cannot log in. The game is not affected."""
    rule = partial(moderation.suspend, key=request.params[0], actor=request.caller.actor)
    return await request.change(
        partial(api_keys.decide_with_losses, rule=rule), lambda done: _make_suspension(*done), clear_callers=True
    )


@STAFF_GROUP.operation(
    "POST /api/keeper/v1/users/[lookupKey]/resume",
    answer=role_shapes.Suspension,
    refusals=(no.Outranked, no.OwnAccount, RoleBeyondQuota),
)
async def resume_user(request: Request) -> Response:
    """End the suspension of an account; also 200 if it is not suspended."""
    decide = partial(moderation.resume, key=request.params[0], actor=request.caller.actor)
    return await request.change(decide, _make_suspension)


def _make_suspension(user: User, losses: Sequence[WeakenedKey] = ()) -> role_shapes.Suspension:
    return make_record(role_shapes.Suspension, user, WeakenedKeys=losses)


def list_values(user: User) -> dict[str, object]:
    """List the values of `Roles` and `Granted` of an account."""
    granted = permissions.list_granted(user.powers, user.grants)
    return {"Roles": list(permissions.list_roles(user)), "Granted": sorted(granted)}


def _make_member(member: StaffMember) -> role_shapes.StaffMember:
    last, sessions, has_second_factor = member.activity
    activity = {"LastSignIn": last, "Sessions": sessions, "SecondFactor": has_second_factor}
    return make_record(role_shapes.StaffMember, member.user, **list_values(member.user), **activity)
