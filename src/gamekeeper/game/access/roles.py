"""Rules for roles and permissions of accounts: who may edit, give and take them.

Callers need the permissions themselves that they give or take, and cannot change their own. One account must keep the
permission to manage staff.
"""

import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from gamekeeper.game.access import permissions
from gamekeeper.game.access.changes import PowersChanged, RoleDeleted, RoleSaved, RolesChanged
from gamekeeper.game.access.permissions import (
    ADMIN,
    API,
    COLUMNS,
    NO_PERMISSION,
    POWER_FLAGS,
    list_permissions,
    make_outranked,
    read_permissions,
)
from gamekeeper.game.access.refusals import (
    BuiltinRole,
    HeldByRole,
    LastManager,
    NoSuchRole,
    OwnRole,
    RoleBeyondQuota,
    RoleExists,
    RoleInUse,
    RoleOutOfReach,
    UnknownPermission,
)
from gamekeeper.game.core import lookup, values
from gamekeeper.game.core.change import Actor, Change
from gamekeeper.game.core.refusals import BadField, Outranked, OwnPowers
from gamekeeper.game.core.request import DailyLimit
from gamekeeper.game.core.writes import Decision
from gamekeeper.store.access import api_keys
from gamekeeper.store.access import roles as rows
from gamekeeper.store.access.roles import NO_ROLE, Grants, Powers, Role
from gamekeeper.store.accounts import users
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import items

NAME = re.compile(r"[a-z][a-z0-9 _-]{0,38}[a-z0-9]")
NAME_RULE = "must have 2 to 40 characters out of a-z, 0-9, space, _ and -, with a letter first and no space at the end"
MAX_ABOUT = 200  # characters of a role's description
GIVE, TAKE, EDIT, DELETE = "give", "take", "edit", "delete"  # acts
ITEMS_GIVE = "items.give"  # the permission
COMMANDS: Mapping[str, str] = {  # act → command that does it on the server
    GIVE: "users give NAME {role}",
    TAKE: "users take NAME {role}",
    EDIT: "roles save {role}",
    DELETE: "roles delete {role}",
}


class RoleRequest(NamedTuple):
    """What to change about an account: roles to give and to take, permissions to grant and to revoke directly."""

    give: Collection[str] = ()
    take: Collection[str] = ()
    grant: Collection[str] = ()
    revoke: Collection[str] = ()


class RoleDraft(NamedTuple):
    """A role as a caller wants it. None: as it is, or empty for a new role."""

    about: str | None = None
    permissions: Collection[str] | None = None
    read_only: bool | None = None
    quotas: Mapping[str, int] | None = None  # id of an item, zeros for every other → the most of it per UTC day


async def change_account(tx: Reading, key: str, wanted: RoleRequest, actor: Actor | None) -> Decision[User]:
    """Give and take roles and permissions of an account. `actor`: the caller; None: the command line."""
    found = await lookup.find_user(tx, key)
    for each in sorted({found.id, *((actor.id,) if actor else ())}):
        await users.lock(tx, each)
    await rows.lock_staff(tx)
    user, table = await lookup.find_user(tx, found.id), await rows.read_all(tx)
    require_known(wanted.grant, wanted.revoke)
    permissions.require_roles((*wanted.give, *wanted.take), table)
    if both := {*wanted.give} & {*wanted.take} or {*wanted.grant} & {*wanted.revoke}:
        raise BadField(field="take", problem=f"names {min(both)}, which is also to be given")
    after = apply_request(user, wanted, table)
    if actor is not None:
        touched = [(GIVE, table[each]) for each in wanted.give] + [(TAKE, table[each]) for each in wanted.take]
        await _require_reach(tx, user, touched, (*wanted.grant, *wanted.revoke), actor)
        given = {each: list_permissions(table[each]) for each in wanted.give}
        await require_no_quota(tx, given | {each: permissions.include({each}) for each in wanted.grant}, actor)
    _require_direct(user, wanted.revoke, table)
    await permissions.require_manager_left(tx, user, after)
    changes = list[Change]()
    if after.powers != user.powers:
        changes.append(PowersChanged(user, after.powers))
    if (after.grants.roles, after.grants.direct) != (user.grants.roles, user.grants.direct):
        changes.append(RolesChanged(user, after))
    return Decision(changes, after, subject=(None, user.id))


def require_known(*names: Iterable[str]) -> None:
    """Refuse names that are no permissions."""
    for each in (name for some in names for name in some):
        if each not in permissions.PERMISSIONS:
            raise UnknownPermission(permission=each, known=", ".join(permissions.PERMISSIONS))


def apply_request(user: User, wanted: RoleRequest, table: dict[str, Role]) -> User:
    """Return the account with these roles and permissions given and taken."""
    powers = user.powers._replace(api=(user.powers.api or API in wanted.give) and API not in wanted.take)
    for each in wanted.grant:
        powers = permissions.grant(powers, permissions.FLAGS[each]) if each in permissions.FLAGS else powers
    for each in wanted.revoke:
        powers = permissions.revoke(powers, permissions.FLAGS[each]) if each in permissions.FLAGS else powers
    held = ({*user.grants.roles, *wanted.give} - {*wanted.take}) - {API}
    direct = (user.grants.direct | {*wanted.grant} - permissions.FLAGS.keys()) - {*wanted.revoke}
    return permissions.compute_grants(user._replace(powers=powers), held, direct, table)


async def _require_reach(
    tx: Reading, user: User, touched: Iterable[tuple[str, Role]], named: Iterable[str], actor: Actor
) -> None:
    """Refuse callers that lack a permission which they give or take, and callers that the account outranks."""
    if user.id == actor.id:
        raise OwnPowers(name=user.name)
    held = await read_permissions(tx, actor)
    if not permissions.can_act_on(held, user):
        raise make_outranked(user)
    own_roles = (await lookup.find_user(tx, actor.id)).grants.roles
    for act, role in touched:
        _require_role_in_reach(act, role, held, own_roles)
    if not permissions.include(named) <= held:
        raise Outranked(problem=NO_PERMISSION)


async def require_can_give(tx: Reading, given: Iterable[Role], actor: Actor) -> None:
    """Refuse callers that lack a permission of one of these roles, or have one of them."""
    held, own_roles = await read_permissions(tx, actor), (await lookup.find_user(tx, actor.id)).grants.roles
    roles = list(given)
    for role in roles:
        _require_role_in_reach(GIVE, role, held, own_roles)
    await require_no_quota(tx, {role.name: list_permissions(role) for role in roles}, actor)


async def require_no_quota(tx: Reading, given: Mapping[str, frozenset[str]], actor: Actor) -> None:
    """Refuse callers whose own gifts have a limit to let others give items.

    Another account has a limit of its own, or none: with enough of them the caller could give more than its quota.
    `given`: name of a role, permission or account → all permissions that it gives.
    """
    giving = [name for name, held in given.items() if ITEMS_GIVE in held]
    if not giving:
        return
    caller = await lookup.find_user(tx, actor.id)
    if actor.has_gift_limits or await find_daily_limit(tx, caller.id, caller.grants) is not None:
        raise RoleBeyondQuota(role=min(giving))


def _require_role_in_reach(act: str, role: Role, held: frozenset[str], own_roles: Collection[str]) -> None:
    if lacking := list_permissions(role) - held:
        raise RoleOutOfReach(role=role.name, permission=min(lacking))
    # the role api is not staff: like the flag `api` of the operation `change_powers`, its holders may give it
    if role.name in own_roles:
        raise OwnRole(problem=describe_own_role(act, role.name))


def describe_own_role(act: str, role: str) -> str:
    """Tell callers that they cannot change a role which they have, and what to do instead."""
    command = COMMANDS[act].format(role=shlex.quote(role))
    return f"You have the role '{role}' yourself, so you cannot {act} it. On the server: gamekeeper {command}"


def _require_direct(user: User, revoked: Iterable[str], table: dict[str, Role]) -> None:
    """Refuse to revoke a permission that the account has only by a role."""
    held = permissions.list_held(user) - permissions.list_direct(user)
    for each in revoked:
        if each in held:
            raise HeldByRole(name=user.name, permission=each, role=find_granting_role(user, each, table))


def find_granting_role(user: User, permission: str, table: dict[str, Role]) -> str:
    """Return a role by which an account has a permission; any of its roles for `api`, which means the log-in."""
    names = [each for each in permissions.list_roles(user) if each in table]
    return next((each for each in names if permission in list_permissions(table[each])), min(names, default=""))


async def create(tx: Reading, name: str, draft: RoleDraft, actor: Actor | None) -> Decision[Role]:
    await rows.lock_staff(tx)
    if name in await rows.read_all(tx):
        raise RoleExists(role=name)
    return await save(tx, name, draft, actor)


async def edit(tx: Reading, name: str, draft: RoleDraft, actor: Actor | None) -> Decision[Role]:
    await rows.lock_staff(tx)
    if name not in await rows.read_all(tx):
        raise NoSuchRole(role=name)
    return await save(tx, name, draft, actor)


async def save(tx: Reading, name: str, draft: RoleDraft, actor: Actor | None) -> Decision[Role]:
    """Create or edit a role."""
    if not NAME.fullmatch(name):
        raise BadField(field="name", problem=NAME_RULE)
    require_known(draft.permissions or ())
    values.require_text(draft.about or "", "about", MAX_ABOUT)
    await rows.lock_staff(tx)
    before = (await rows.read_all(tx)).get(name)
    if name == ADMIN:
        raise BuiltinRole(role=name, act="edited")
    was = before or Role(name, "", frozenset())
    after = was._replace(
        about=was.about if draft.about is None else draft.about,
        permissions=was.permissions if draft.permissions is None else frozenset(draft.permissions),
        read_only=was.read_only if draft.read_only is None else draft.read_only,
        quotas=was.quotas if draft.quotas is None else tuple(sorted(draft.quotas.items())),
    )
    if after.read_only and (writing := after.permissions - permissions.READING):
        raise BadField(field="readonly", problem=f"cannot be true for a role with the permission {min(writing)}")
    await _require_editable(tx, EDIT, (was, after), actor)
    if actor is not None:
        # also the former ones: whoever has the role, or a key by it, would give again once they are put back
        await require_no_quota(tx, {name: list_permissions(was) | list_permissions(after)}, actor)
    if permissions.STAFF in list_permissions(was) - list_permissions(after):
        await _require_manager_without(tx, name)
    return Decision([RoleSaved(before, after)] if after != before else [], after, subject=(None, None))


async def delete(tx: Reading, name: str, actor: Actor | None) -> Decision[Role]:
    """Delete a role that no account has."""
    await rows.lock_staff(tx)
    role = (await rows.read_all(tx)).get(name)
    if role is None:
        raise NoSuchRole(role=name)
    if role.builtin:
        raise BuiltinRole(role=name, act="deleted")
    await _require_editable(tx, DELETE, (role,), actor)
    if await rows.has_holder(tx, name) or await api_keys.has_role(tx, name):
        raise RoleInUse(role=name)
    return Decision([RoleDeleted(role)], role, subject=(None, None))


async def _require_editable(tx: Reading, act: str, versions: Iterable[Role], actor: Actor | None) -> None:
    if actor is None:
        return
    held = await read_permissions(tx, actor)
    own_roles = permissions.list_roles(await lookup.find_user(tx, actor.id))
    for role in versions:
        _require_role_in_reach(act, role, held, own_roles)


async def _require_manager_without(tx: Reading, role: str) -> None:
    """Refuse to take the permission out of a role by which the last accounts have it."""
    if await rows.has_another_manager(tx, None, NO_ROLE) and not await rows.has_another_manager(tx, None, role):
        raise LastManager


async def change_powers(tx: Reading, key: str, given: Mapping[str, bool], actor: Actor) -> Decision[User]:
    """Change an account's permissions. `given`: permission → whether the account has it; others stay unchanged."""
    found = await lookup.find_user(tx, key)
    await lock_both(tx, found.id, actor.id)
    await rows.lock_staff(tx)
    user = await lookup.find_user(tx, found.id)
    wanted = apply_powers(user, given)
    await require_may_change(tx, user, wanted, actor)
    decision = await set_powers(tx, user.id, wanted)
    await _require_revoked(tx, decision.result, given)
    return decision


async def lock_both(tx: Reading, user_id: str, actor_id: str) -> None:
    """Lock the account and the caller's, in order of id: if two accounts revoke each other's permissions, one fails."""
    for each in sorted({user_id, actor_id}):
        await users.lock(tx, each)


def apply_powers(user: User, given: Mapping[str, bool]) -> Powers:
    """Return the flags to store. What the account has already, directly or by a role, is not granted again."""
    if given.get("users.manage") and not given.get("users.query", True):
        raise BadField(field="users.manage", problem="can only be held with users.query; give or take both")
    powers, had = user.powers, permissions.find_powers(user)
    for right, held in given.items():
        if held != getattr(had, POWER_FLAGS[right]):
            powers = permissions.grant(powers, right) if held else permissions.revoke(powers, right)
    return powers


async def require_may_change(tx: Reading, user: User, wanted: Powers, actor: Actor) -> None:
    """Refuse callers that lack a permission they grant or revoke, and callers that the account outranks."""
    if user.id == actor.id:
        raise OwnPowers(name=user.name)
    held = await read_permissions(tx, actor)
    if not permissions.can_act_on(held, user):
        raise make_outranked(user)
    flags = zip(Powers._fields, user.powers, wanted, strict=True)
    changed = {COLUMNS[flag] for flag, was, shall in flags if was != shall and flag in COLUMNS}
    # also the included permissions: a credential may have users.manage without the guarded ones that it includes
    if not permissions.include(changed) <= held:
        raise Outranked(problem=NO_PERMISSION)
    if wanted.api and not user.powers.api:
        of_role = list_permissions((await rows.read_all(tx))[permissions.API])
        await require_no_quota(tx, {permissions.API: of_role}, actor)


async def _require_revoked(tx: Reading, after: User, given: Mapping[str, bool]) -> None:
    """Refuse to revoke a permission that the account keeps by a role."""
    kept = permissions.find_powers(after)
    for right, held in given.items():
        if not held and getattr(kept, POWER_FLAGS[right]):
            permission = COLUMNS.get(POWER_FLAGS[right], right)
            table = await rows.read_all(tx)
            role = find_granting_role(after, permission, table)
            raise HeldByRole(name=after.name, permission=permission, role=role)


async def set_powers(tx: Reading, key: str, powers: Powers) -> Decision[User]:
    """Change the flags of an account."""
    user = await permissions.lock_if_staff(tx, await lookup.lock_user(tx, key))
    after = await permissions.apply_powers(tx, user, powers)
    await permissions.require_manager_left(tx, user, after)
    changes = [PowersChanged(user, powers)] if user.powers != powers else []
    return Decision(changes, after, subject=(None, user.id))


async def find_daily_limit(tx: Reading, user_id: str, grants: Grants) -> DailyLimit | None:
    """Return the daily limit of an account by its roles; None if it may give items by a role without a quota."""
    if ITEMS_GIVE in grants.direct:
        return None
    quotas = await items.read_quotas_of_user(tx, user_id)
    return DailyLimit(user_id, tuple(quotas)) if quotas and all(quotas) else None
