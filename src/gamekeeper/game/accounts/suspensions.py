"""Suspension of accounts, and the end of their sessions.

A suspended account cannot log in, and has no tokens; in the game it plays on. Callers cannot suspend or resume
themselves, nor an account that outranks them. The command line may do both.
"""

from gamekeeper.game.access import permissions, tokens
from gamekeeper.game.access.permissions import Actor, make_outranked, read_permissions
from gamekeeper.game.access.roles import require_no_quota
from gamekeeper.game.accounts import moderation
from gamekeeper.game.accounts.account_changes import UserResumed, UserSuspended
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import OwnAccount
from gamekeeper.game.core.writes import Decision
from gamekeeper.store.access import roles
from gamekeeper.store.accounts import users
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading


async def end_sessions(tx: Reading, key: str, actor: Actor) -> Decision[User]:
    """End the console sessions of an account: the caller's own, or one that does not outrank the caller."""
    user = await lookup.lock_user(tx, key)
    if user.id != actor.id and not moderation.can_act_on(await read_permissions(tx, actor), user):
        raise make_outranked(user)
    return await tokens.revoke_sessions(tx, user.id)


async def suspend(tx: Reading, key: str, actor: Actor | None) -> Decision[User]:
    """Suspend an account. `actor`: the caller; None: the command line."""
    user = await _lock_target(tx, key, actor, "suspend")
    if user.suspended:
        return Decision([], user, subject=(None, user.id))
    await permissions.require_manager_left(tx, user, None)
    return Decision([UserSuspended(user)], user._replace(suspended=True), subject=(None, user.id))


async def resume(tx: Reading, key: str, actor: Actor | None) -> Decision[User]:
    """End the suspension of an account. It must log in again: its former tokens stay revoked.

    Refuse callers whose gifts have a limit if the account may give items again.
    """
    user = await _lock_target(tx, key, actor, "resume")
    if actor is not None and user.suspended:
        await require_no_quota(tx, {user.name: permissions.list_held(user)}, actor)
    changes = [UserResumed(user)] if user.suspended else []
    return Decision(changes, user._replace(suspended=False), subject=(None, user.id))


async def _lock_target(tx: Reading, key: str, actor: Actor | None, act: str) -> User:
    """Lock the account, the caller's and the staff; return the account. Refuse if it outranks the caller."""
    found = await lookup.find_user(tx, key)
    for each in sorted({found.id, *((actor.id,) if actor else ())}):
        await users.lock(tx, each)
    await roles.lock_staff(tx)
    user = await lookup.find_user(tx, found.id)
    if actor is not None and user.id == actor.id:
        raise OwnAccount(act=act)
    if actor is not None and not moderation.can_act_on(await read_permissions(tx, actor), user):
        raise make_outranked(user)
    return user
