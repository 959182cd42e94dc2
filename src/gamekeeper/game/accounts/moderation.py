"""Bans, mutes, kicks and suspensions of accounts, and the notices that the game reads in the feed.

A ban ends the tokens of the account (`UserBanned` in changes.py), and so does a suspension. A suspended account cannot
log in; in the game it plays on. Callers cannot suspend or resume themselves, nor an account that outranks them. The
command line may do both.
"""

from collections.abc import Mapping
from typing import NamedTuple

from gamekeeper.game.access import permissions, tokens
from gamekeeper.game.access.changes import UserResumed, UserSuspended
from gamekeeper.game.access.permissions import NO_PERMISSION, can_act_on, make_outranked, read_permissions
from gamekeeper.game.access.roles import require_no_quota
from gamekeeper.game.accounts.changes import (
    GameNotified,
    UserBanned,
    UserMuted,
    UserUnbanned,
    UserUnmuted,
    list_penalty_fields,
)
from gamekeeper.game.core import lookup, values
from gamekeeper.game.core.change import Actor, SubjectIds
from gamekeeper.game.core.refusals import AlreadyBanned, AlreadyMuted, BadField, Outranked, OwnAccount, UserNotOnline
from gamekeeper.game.core.writes import Decision
from gamekeeper.ground.instants import MINUTE_MS
from gamekeeper.store.access import roles
from gamekeeper.store.accounts import moderation, users
from gamekeeper.store.accounts.moderation import Penalty
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading

DAY_MINUTES = 24 * 60
# longest ban or mute in days: game engines send 999,999 for a permanent ban; its end has a year of four digits
MAX_DAYS = 999_999


class ModerationRequest(NamedTuple):
    """What a moderator asks for: the account, the duration and the reason."""

    key: str
    minutes: int = 0  # duration of the ban or mute; 0: permanent, unless `until` is given
    reason: str = ""
    moderator: str = ""
    actor: Actor | None = None  # the moderator; None: the command line, which may act on every account
    key_is_player: bool = False  # whether `key` names a player, whose account is meant
    restored: Penalty | None = None  # a lifted ban or mute to impose again unchanged, for an undo
    until: int | None = None  # end of the ban or mute, instead of a duration


async def ban(tx: Reading, order: ModerationRequest) -> Decision[str]:
    """Ban an account. Return the name of the player or account that the request named."""
    name, user, about = await _lock_target(tx, order)
    # an account cannot ban itself: its tokens would be revoked, and perhaps no other account could unban it
    if order.actor is not None and user.id == order.actor.id:
        raise OwnAccount(act="ban")
    if user.ban_reason is not None:
        raise AlreadyBanned(name=name)
    await permissions.require_manager_left(tx, await permissions.lock_if_staff(tx, user), None)
    given = await _make_penalty(tx, order)
    told = await _notify_game(tx, user, UserBanned.kind, list_penalty_fields("ban_reason", given))
    return Decision([UserBanned(user, given), *told], name, about)


async def mute(tx: Reading, order: ModerationRequest) -> Decision[str]:
    name, user, about = await _lock_target(tx, order)
    if user.mute_reason is not None:
        raise AlreadyMuted(name=name)
    given = await _make_penalty(tx, order)
    told = await _notify_game(tx, user, UserMuted.kind, list_penalty_fields("mute_reason", given))
    return Decision([UserMuted(user, given), *told], name, about)


async def unban(tx: Reading, order: ModerationRequest) -> Decision[str]:
    """Lift an account's ban, if there is one. The game gets no notice: a banned account is not online."""
    name, user, about = await _lock_target(tx, order)
    lifted = await moderation.find_ban(tx, user.id)
    if user.ban_reason is None or lifted is None:
        return Decision([], name, about)
    return Decision([UserUnbanned(user, lifted, _make_details(order))], name, about)


async def unmute(tx: Reading, order: ModerationRequest) -> Decision[str]:
    """Lift an account's mute, if there is one."""
    name, user, about = await _lock_target(tx, order)
    lifted = await moderation.find_mute(tx, user.id)
    if user.mute_reason is None or lifted is None:
        return Decision([], name, about)
    told = await _notify_game(tx, user, UserUnmuted.kind, {"mute_reason": None, **_make_details(order)})
    return Decision([UserUnmuted(user, lifted, _make_details(order)), *told], name, about)


async def kick(tx: Reading, order: ModerationRequest) -> Decision[str]:
    name, user, about = await _lock_target(tx, order)
    told = await _notify_game(tx, user, "user_kicked", _make_details(order))
    if not told:
        raise UserNotOnline
    return Decision(told, name, about)


async def _lock_target(tx: Reading, order: ModerationRequest) -> tuple[str, User, SubjectIds]:
    """Find and lock the account to moderate, so that it gets no token meanwhile; refuse if it outranks the caller."""
    values.require_text(order.reason, "reason", values.MAX_REASON_CHARACTERS)
    owner = await lookup.find_owner(tx, order.key) if order.key_is_player else None
    user = await lookup.lock_user(tx, owner.user_id if owner else order.key)
    if order.actor is not None and not can_act_on(await read_permissions(tx, order.actor), user):
        raise Outranked(problem=NO_PERMISSION)
    if owner:
        return owner.player, user, (owner.player_id, user.id)
    return user.name, user, (None, user.id)


async def _make_penalty(tx: Reading, order: ModerationRequest) -> Penalty:
    if order.restored:
        return order.restored
    now = await clock.now(tx)
    if order.until is not None and order.until <= now:
        raise BadField(field="until", problem="must be in the future")
    ends_at = now + order.minutes * MINUTE_MS if order.minutes else order.until
    return Penalty(order.reason, order.moderator, ends_at, await _find_moderator(tx, order))


async def _find_moderator(tx: Reading, order: ModerationRequest) -> str | None:
    """Find the account that the moderator's name belongs to, which may be another one than the caller's."""
    if order.actor and order.moderator == order.actor.name:
        return order.actor.id
    found = await users.find_by_fold(tx, lookup.fold(order.moderator)) if order.moderator else None
    return found.id if found else None


def _make_details(order: ModerationRequest) -> dict[str, object]:
    return {"reason": order.reason, "moderator": order.moderator}


async def _notify_game(tx: Reading, user: User, kind: str, said: Mapping[str, object]) -> list[GameNotified]:
    """Return a notice for each online player of a moderated account: the feed has only entries of players."""
    online = await moderation.find_online_of_user(tx, user.id)
    return [GameNotified(user, kind, player_id, said, (server,)) for player_id, server in online]


async def end_sessions(tx: Reading, key: str, actor: Actor) -> Decision[User]:
    """End the console sessions of an account: the caller's own, or one that does not outrank the caller."""
    user = await lookup.lock_user(tx, key)
    if user.id != actor.id and not permissions.can_act_on(await read_permissions(tx, actor), user):
        raise make_outranked(user)
    return await tokens.revoke_sessions(tx, user.id)


async def suspend(tx: Reading, key: str, actor: Actor | None) -> Decision[User]:
    """Suspend an account. `actor`: the caller; None: the command line."""
    user = await _lock_with_staff(tx, key, actor, "suspend")
    if user.suspended:
        return Decision([], user, subject=(None, user.id))
    await permissions.require_manager_left(tx, user, None)
    return Decision([UserSuspended(user)], user._replace(suspended=True), subject=(None, user.id))


async def resume(tx: Reading, key: str, actor: Actor | None) -> Decision[User]:
    """End the suspension of an account. It must log in again: its former tokens stay revoked.

    Refuse callers whose gifts have a limit if the account may give items again.
    """
    user = await _lock_with_staff(tx, key, actor, "resume")
    if actor is not None and user.suspended:
        await require_no_quota(tx, {user.name: permissions.list_held(user)}, actor)
    changes = [UserResumed(user)] if user.suspended else []
    return Decision(changes, user._replace(suspended=False), subject=(None, user.id))


async def _lock_with_staff(tx: Reading, key: str, actor: Actor | None, act: str) -> User:
    """Lock the account, the caller's and the staff; return the account. Refuse if it outranks the caller."""
    found = await lookup.find_user(tx, key)
    for each in sorted({found.id, *((actor.id,) if actor else ())}):
        await users.lock(tx, each)
    await roles.lock_staff(tx)
    user = await lookup.find_user(tx, found.id)
    if actor is not None and user.id == actor.id:
        raise OwnAccount(act=act)
    if actor is not None and not permissions.can_act_on(await read_permissions(tx, actor), user):
        raise make_outranked(user)
    return user
