"""Granting and revoking permissions: callers need those permissions themselves, and cannot change their own.

The flags tell what an account may do, directly or by a role. A change grants or revokes directly.
"""

from collections.abc import Mapping

from gamekeeper.game import accounts, lookup, moderation, permissions, roles
from gamekeeper.game.accounts import FLAGS
from gamekeeper.game.actors import NO_PERMISSION, Actor, make_outranked, read_permissions
from gamekeeper.game.changes import Decision
from gamekeeper.game.permissions import COLUMNS
from gamekeeper.game.refusals import BadField, Outranked, OwnPowers
from gamekeeper.game.role_refusals import HeldByRole
from gamekeeper.store import roles as role_rows
from gamekeeper.store import users
from gamekeeper.store.engine import Reading
from gamekeeper.store.powers import Powers
from gamekeeper.store.users import User


async def change(tx: Reading, key: str, given: Mapping[str, bool], actor: Actor) -> Decision[User]:
    """Change an account's permissions. `given`: permission → whether the account has it; others stay unchanged."""
    found = await lookup.find_user(tx, key)
    await lock_both(tx, found.id, actor.id)
    await role_rows.lock_staff(tx)
    user = await lookup.find_user(tx, found.id)
    wanted = apply_powers(user, given)
    await require_may_change(tx, user, wanted, actor)
    decision = await accounts.change_powers(tx, user.id, wanted)
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
        if held != getattr(had, FLAGS[right]):
            powers = accounts.grant(powers, right) if held else accounts.revoke(powers, right)
    return powers


async def require_may_change(tx: Reading, user: User, wanted: Powers, actor: Actor) -> None:
    """Refuse callers that lack a permission they grant or revoke, and callers that the account outranks."""
    if user.id == actor.id:
        raise OwnPowers(name=user.name)
    held = await read_permissions(tx, actor)
    if not moderation.can_act_on(held, user):
        raise make_outranked(user)
    flags = zip(Powers._fields, user.powers, wanted, strict=True)
    changed = {COLUMNS[flag] for flag, was, shall in flags if was != shall and flag in COLUMNS}
    # also the included permissions: a credential may have users.manage without the guarded ones that it includes
    if not permissions.include(changed) <= held:
        raise Outranked(problem=NO_PERMISSION)
    if wanted.api and not user.powers.api:
        of_role = roles.list_permissions((await role_rows.read_all(tx))[permissions.API])
        await roles.require_no_quota(tx, {permissions.API: of_role}, actor)


async def _require_revoked(tx: Reading, after: User, given: Mapping[str, bool]) -> None:
    """Refuse to revoke a permission that the account keeps by a role."""
    kept = permissions.find_powers(after)
    for right, held in given.items():
        if not held and getattr(kept, FLAGS[right]):
            permission = COLUMNS.get(FLAGS[right], right)
            table = await role_rows.read_all(tx)
            role = roles.find_granting_role(after, permission, table)
            raise HeldByRole(name=after.name, permission=permission, role=role)
