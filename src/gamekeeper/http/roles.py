"""Roles: list, create, edit and delete them; give them to accounts and take them away."""

from collections.abc import Iterable
from functools import partial

from msgspec import UNSET, UnsetType

from gamekeeper.game import key_losses, lookup, permissions, roles
from gamekeeper.game import refusals as no
from gamekeeper.game import role_refusals as role_no
from gamekeeper.game.key_losses import KeyLoss
from gamekeeper.game.roles import RoleDraft, RoleRequest
from gamekeeper.http import samples, weakened_keys, wire
from gamekeeper.http.answered_rows import MANY, OF_ONE_OWNER
from gamekeeper.http.long_lists import join_pieces
from gamekeeper.http.operation import NO_STORE, QUERY, READ, STAFF, WRITE, Group
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import roles as rows
from gamekeeper.store.roles import Role
from gamekeeper.store.users import User

GROUP = Group("Roles", "Roles, and the roles and permissions of accounts.")
EDIT_REFUSALS = (no.BadField, role_no.UnknownPermission, role_no.RoleOutOfReach, role_no.RoleBeyondQuota)


@GROUP.operation(
    "GET /api/keeper/v1/roles",
    name="list_roles",
    permissions=QUERY,
    access=READ,
    cache=NO_STORE,
    answer=wire.roles.RoleList,
    rows=MANY,
    gated=True,
    refusals=(no.TooManyLongReads,),
    example_answer=wire.roles.RoleList([samples.ROLE_RECORD]),
)
async def list_roles(request: Request) -> bytes:
    """List all roles with their permissions."""

    async def read() -> bytes:
        found = await rows.read_all(request.services.keeper.store)
        return wire.encode(wire.roles.RoleList([_make_record(each) for each in found.values()]))

    return await request.run_through_gate(read)


@GROUP.operation(
    "POST /api/keeper/v1/roles",
    name="create_role",
    permissions=STAFF,
    access=WRITE,
    body=wire.roles.CreateRole,
    answer=wire.roles.RoleRecord,
    refusals=(*EDIT_REFUSALS, role_no.RoleExists),
    example_body=wire.roles.CreateRole("quartermaster", "Hands out items.", ["players.read", "items.give"]),
    example_answer=wire.roles.RoleRecord(
        "quartermaster", "Hands out items.", ["items.give", "players.read"], ReadOnly=False, BuiltIn=False
    ),
)
async def create_role(request: Request, body: wire.roles.CreateRole) -> Response:
    """Create a role, with permissions that the caller has."""
    draft = RoleDraft(body.about, body.permissions or (), body.readonly, _read_quotas(body.quotas))
    decide = partial(roles.create, name=body.name, draft=draft, actor=request.caller.actor)
    return await request.change(decide, _encode_record)


@GROUP.operation(
    "PUT /api/keeper/v1/roles/[role]",
    name="save_role",
    permissions=STAFF,
    access=WRITE,
    body=wire.roles.SaveRole,
    answer=wire.roles.RoleRecord,
    refusals=(*EDIT_REFUSALS, role_no.OwnRole, role_no.LastManager, role_no.BuiltinRole),
    example_body=wire.roles.SaveRole(permissions=["players.read", "moderation.mute"]),
    example_answer=samples.ROLE_RECORD,
)
async def save_role(request: Request, body: wire.roles.SaveRole) -> Response:
    """Edit a role. Callers need its permissions, before and after, and must not have the role."""
    draft = RoleDraft(
        None if body.about is UNSET else body.about,
        None if body.permissions is UNSET else body.permissions,
        None if body.readonly is UNSET else body.readonly,
        _read_quotas(body.quotas),
    )
    decide = partial(roles.edit, name=request.params[0], draft=draft, actor=request.caller.actor)
    answer = await request.change(decide, _encode_record)
    request.services.callers.clear_cache()  # the cached callers still have the role's old permissions
    return answer


@GROUP.operation(
    "DELETE /api/keeper/v1/roles/[role]",
    name="delete_role",
    permissions=STAFF,
    access=WRITE,
    answer=wire.roles.RoleRecord,
    refusals=(role_no.RoleOutOfReach, role_no.OwnRole, role_no.BuiltinRole, role_no.RoleInUse),
    example_answer=samples.ROLE_RECORD,
)
async def delete_role(request: Request) -> Response:
    """Delete a role that no account has."""
    decide = partial(roles.delete, name=request.params[0], actor=request.caller.actor)
    return await request.change(decide, _encode_record)


@GROUP.operation(
    "GET /api/keeper/v1/users/[lookupKey]/roles",
    name="get_user_roles",
    permissions=QUERY,
    access=READ,
    cache=NO_STORE,
    answer=wire.roles.HeldRoles,
    rows=OF_ONE_OWNER,
    refusals=(no.TooManyLongReads,),
    example_answer=samples.HELD_ROLES,
)
async def get_user_roles(request: Request) -> bytes:
    """Get the roles and the permissions of an account."""
    user = await lookup.find_user(request.services.keeper.store, request.params[0])
    return await join_pieces(request, len(permissions.list_roles(user)), map(_encode_held, (user,)))


@GROUP.operation(
    "POST /api/keeper/v1/users/[lookupKey]/roles",
    name="change_user_roles",
    permissions=QUERY | STAFF,
    access=WRITE,
    body=wire.roles.ChangeRoles,
    answer=wire.roles.HeldRoles,
    refusals=(
        *(no.Outranked, no.OwnPowers, role_no.UnknownRole, role_no.UnknownPermission),
        *(role_no.RoleOutOfReach, role_no.RoleBeyondQuota, role_no.OwnRole, role_no.HeldByRole),
        role_no.LastManager,
    ),
    example_body=wire.roles.ChangeRoles(give=["moderator"]),
    example_answer=samples.HELD_ROLES,
)
async def change_user_roles(request: Request, body: wire.roles.ChangeRoles) -> Response:
    """Give and take roles and permissions of an account. The caller must have each of them."""
    wanted = RoleRequest(body.give or (), body.take or (), body.grant or (), body.revoke or ())

    rule = partial(roles.change_account, key=request.params[0], wanted=wanted, actor=request.caller.actor)
    answer = await request.change(partial(key_losses.decide, rule=rule), lambda changed: _encode_held(*changed))
    request.services.callers.clear_cache()  # the cached callers still have the account's old permissions
    return answer


def _read_quotas(sent: list[wire.roles.RoleQuota] | UnsetType) -> dict[str, int] | None:
    if sent is UNSET:
        return None
    found = {each.ItemId: each.PerDay for each in sent}
    if len(found) < len(sent):
        raise no.BadField(field="quotas", problem="has the same item twice")
    return found


def _make_record(role: Role) -> wire.roles.RoleRecord:
    return wire.roles.RoleRecord(
        role.name,
        role.about,
        sorted(roles.list_permissions(role)),
        ReadOnly=role.read_only,
        BuiltIn=role.builtin,
        Quotas=[wire.roles.RoleQuota(*each) for each in role.quotas],
    )


def _encode_record(role: Role) -> bytes:
    return wire.encode(_make_record(role))


def _encode_held(user: User, losses: Iterable[KeyLoss] = ()) -> bytes:
    direct, held = permissions.list_granted(user.powers, user.grants), permissions.list_held(user)
    names, weakened = list(permissions.list_roles(user)), weakened_keys.make_list(losses)
    return wire.encode(wire.roles.HeldRoles(user.id, user.name, names, sorted(direct), sorted(held), weakened))
