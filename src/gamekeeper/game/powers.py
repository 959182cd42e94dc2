"""Granting and revoking permissions: callers need those permissions themselves, and cannot change their own."""

from collections.abc import Mapping

from gamekeeper.game import accounts, lookup, moderation
from gamekeeper.game.changes import Decision
from gamekeeper.game.refusals import BadField, Outranked, OwnPowers
from gamekeeper.store import users
from gamekeeper.store.engine import Reading
from gamekeeper.store.users import Powers, User


async def change(tx: Reading, key: str, given: Mapping[str, bool], actor_id: str) -> Decision[User]:
    """Change an account's permissions. `given`: permission → whether the account has it; others stay unchanged."""
    found = await lookup.find_user(tx, key)
    await lock_both(tx, found.id, actor_id)
    user = await lookup.find_user(tx, found.id)
    wanted = apply_powers(user.powers, given)
    await require_may_change(tx, user, wanted, actor_id)
    return await accounts.change_powers(tx, user.id, wanted)


async def lock_both(tx: Reading, user_id: str, actor_id: str) -> None:
    """Lock the account and the caller's, in order of id: if two accounts revoke each other's permissions, one fails."""
    for each in sorted({user_id, actor_id}):
        await users.lock(tx, each)


def apply_powers(powers: Powers, given: Mapping[str, bool]) -> Powers:
    if given.get("users.manage") and not given.get("users.query", True):
        raise BadField(field="users.manage", problem="can only be held with users.query; give or take both")
    for right, held in given.items():
        powers = accounts.grant(powers, right) if held else accounts.revoke(powers, right)
    return powers


async def require_may_change(tx: Reading, user: User, wanted: Powers, actor_id: str) -> None:
    """Refuse callers that lack a permission they grant or revoke, and callers that the account outranks."""
    if user.id == actor_id:
        raise OwnPowers(name=user.name)
    actor = await users.find_by_id(tx, actor_id)
    if actor is None or not moderation.can_act_on(actor.powers, user.powers):
        raise Outranked
    if any(was != shall and not held for was, shall, held in zip(user.powers, wanted, actor.powers, strict=True)):
        raise Outranked
