"""Undo of changes of accounts, with their permissions and roles."""

from typing import Any, cast

from gamekeeper.game.access import roles
from gamekeeper.game.access.changes import PowersChanged, RolesChanged, UserResumed, UserSuspended
from gamekeeper.game.access.refusals import UnknownRole
from gamekeeper.game.accounts import accounts, moderation
from gamekeeper.game.accounts.changes import EmailChanged, UserBanned, UserMuted, UserRenamed, UserUnbanned, UserUnmuted
from gamekeeper.game.accounts.moderation import ModerationRequest
from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Change, ChangeSide, Unlogged
from gamekeeper.game.core.refusals import BadField, NoSuchUser
from gamekeeper.game.core.undo import UndoContext, undoes
from gamekeeper.game.core.values import require_email
from gamekeeper.game.core.writes import Decision
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.accounts import moderation as penalties
from gamekeeper.store.accounts import users
from gamekeeper.store.accounts.moderation import Penalty
from gamekeeper.store.accounts.users import User
from gamekeeper.store.audit import history
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading

NOT_RECORDED = "the audit log does not have the former value"
SUSPENSIONS = {UserSuspended.kind, UserResumed.kind}


@undoes(EmailChanged.kind)
async def undo_email(tx: Reading, context: UndoContext) -> list[Change]:
    user = await _lock_user(tx, context)
    if user.email != context.after.user.get("email"):
        raise context.make_conflict("the account's email was changed again since")
    former = _require_former_text(context, "email")
    try:
        require_email(former, "email")
    except BadField:  # the former email may be invalid: an import accepts invalid addresses of the other server
        raise context.make_conflict("the former email is not a valid address") from None
    return _list_ledger_changes(await accounts.change_email(tx, user.id, former, None))


@undoes(UserRenamed.kind)
async def undo_rename(tx: Reading, context: UndoContext) -> list[Change]:
    user = await _lock_user(tx, context)
    if user.name != context.after.user.get("name"):
        raise context.make_conflict("the account was renamed again since")
    return _list_ledger_changes(await accounts.rename(tx, user.id, _require_former_text(context, "name")))


@undoes(PowersChanged.kind)
async def undo_powers(tx: Reading, context: UndoContext) -> list[Change]:
    user = await _lock_user(tx, context)
    if user.powers != read_powers(context.after):
        raise context.make_conflict("the account's powers were changed again since")
    former = read_powers(context.before)
    await roles.require_may_change(tx, user, former, context.actor)
    return _list_ledger_changes(await roles.set_powers(tx, user.id, former))


@undoes(RolesChanged.kind)
async def undo_roles(tx: Reading, context: UndoContext) -> list[Change]:
    user = await _lock_user(tx, context)
    now, then = (read_grants(each) for each in (context.after, context.before))
    if (set(user.grants.roles), user.grants.direct) != now:
        raise context.make_conflict("the account's roles were changed again since")
    wanted = roles.RoleRequest(then[0] - now[0], now[0] - then[0], then[1] - now[1], now[1] - then[1])
    try:
        return _list_ledger_changes(await roles.change_account(tx, user.id, wanted, context.actor))
    except UnknownRole:
        raise context.make_conflict("a role that the account had was deleted since") from None


@undoes(UserBanned.kind)
async def undo_ban(tx: Reading, context: UndoContext) -> list[Change]:
    user = await _lock_user(tx, context)
    there = await penalties.find_ban(tx, user.id) if user.ban_reason is not None else None
    await _require_unchanged_penalty(tx, context, there, "ban_reason", {UserBanned.kind, UserUnbanned.kind})
    return _list_ledger_changes(await moderation.unban(tx, _make_request(context)))


@undoes(UserUnbanned.kind)
async def undo_unban(tx: Reading, context: UndoContext) -> list[Change]:
    return _list_ledger_changes(await moderation.ban(tx, await _make_restoring_request(tx, context, "ban_reason")))


@undoes(UserMuted.kind)
async def undo_mute(tx: Reading, context: UndoContext) -> list[Change]:
    user = await _lock_user(tx, context)
    there = await penalties.find_mute(tx, user.id) if user.mute_reason is not None else None
    await _require_unchanged_penalty(tx, context, there, "mute_reason", {UserMuted.kind, UserUnmuted.kind})
    return _list_ledger_changes(await moderation.unmute(tx, _make_request(context)))


@undoes(UserUnmuted.kind)
async def undo_unmute(tx: Reading, context: UndoContext) -> list[Change]:
    return _list_ledger_changes(await moderation.mute(tx, await _make_restoring_request(tx, context, "mute_reason")))


@undoes(UserSuspended.kind)
async def undo_suspension(tx: Reading, context: UndoContext) -> list[Change]:
    await _require_last_suspension(tx, context)
    return _list_ledger_changes(await moderation.resume(tx, context.user_id, context.actor))


@undoes(UserResumed.kind)
async def undo_resumption(tx: Reading, context: UndoContext) -> list[Change]:
    await _require_last_suspension(tx, context)
    return _list_ledger_changes(await moderation.suspend(tx, context.user_id, context.actor))


async def _lock_user(tx: Reading, context: UndoContext) -> User:
    try:
        return await lookup.lock_user(tx, context.user_id)
    except NoSuchUser:
        raise context.make_conflict("the account was deleted since") from None


async def _require_last_suspension(tx: Reading, context: UndoContext) -> None:
    """Refuse an undo if the account was suspended or resumed again."""
    user = await _lock_user(tx, context)
    same = (user.suspended) == context.after.user.get("suspended")
    if not same or await history.find_account_change(
        tx, context.user_id, context.change.seq, SUSPENSIONS, context.undo_chain
    ):
        raise context.make_conflict("the account was suspended or resumed again since")


async def _require_unchanged_penalty(
    tx: Reading, context: UndoContext, there: Penalty | None, of: str, kinds: set[str]
) -> None:
    """Refuse an undo unless the ban or mute is as it was imposed, with no later change of these kinds (ban, unban …).

    The name of the moderator may be missing: their account may have been erased since.
    """
    told = context.after.user
    same = there is not None and (
        (there.reason, there.ends_at) == (told.get(of), told.get("ends_at"))
        and there.moderator in ("", told.get("moderator"))
    )
    if not same or await history.find_account_change(
        tx, context.user_id, context.change.seq, kinds, context.undo_chain
    ):
        raise context.make_conflict("it has ended, or was replaced by another")


async def _make_restoring_request(tx: Reading, context: UndoContext, of: str) -> ModerationRequest:
    """Make a request that imposes a lifted ban or mute again, with its former reason and end."""
    await _lock_user(tx, context)
    lifted = context.before.user
    if "ends_at" not in lifted:
        raise context.make_conflict(NOT_RECORDED)
    ends_at = lifted["ends_at"]
    if isinstance(ends_at, int) and ends_at <= await clock.now(tx):
        raise context.make_conflict("its end has passed by now")
    ends = ends_at if isinstance(ends_at, int) else None
    moderator = str(lifted.get("moderator") or "")
    holder = await users.find_by_fold(tx, lookup.fold(moderator)) if moderator else None
    # if no account has this name now, it may be that of an erased moderator, which must not come back
    given = Penalty(_require_former_text(context, of), moderator if holder else "", ends, holder.id if holder else None)
    return _make_request(context)._replace(restored=given)


def _make_request(context: UndoContext) -> ModerationRequest:
    said = f"undoes change {context.change.seq}"
    return ModerationRequest(context.user_id, reason=said, moderator=context.actor.name, actor=context.actor)


def read_grants(side: ChangeSide) -> tuple[set[str], set[str]]:
    """Return the roles and the directly granted permissions of one side of a change."""
    held = (side.user.get(name) for name in ("roles", "permissions"))
    roles, direct = ({str(each) for each in cast("list[object]", some or [])} for some in held)
    return roles, direct


def read_powers(side: ChangeSide) -> Powers:
    return Powers(**{name: bool(side.user.get(name)) for name in Powers._fields})


def _require_former_text(context: UndoContext, name: str) -> str:
    """Return an account's value from before the change. Refuse if its entry, of an old version or erased, has none."""
    found = context.before.user.get(name)
    if not isinstance(found, str):
        raise context.make_conflict(NOT_RECORDED)
    return found


def _list_ledger_changes(decision: Decision[Any]) -> list[Change]:
    return [each for each in decision.changes if not isinstance(each, Unlogged)]
