"""Taking back what was done to an account, as undo.py has it for characters."""

from collections.abc import Mapping
from typing import Any

from gamekeeper.game import accounts, lookup, moderation, powers
from gamekeeper.game.changes import Decision
from gamekeeper.game.effects import (
    Change,
    EmailChanged,
    PowersChanged,
    Untraced,
    UserBanned,
    UserMuted,
    UserRenamed,
    UserUnbanned,
    UserUnmuted,
)
from gamekeeper.game.moderation import Order
from gamekeeper.game.refusals import BadField, NoSuchUser
from gamekeeper.game.spelling import Trace
from gamekeeper.game.undoing import Rule, Undoing
from gamekeeper.store import clock, history, users
from gamekeeper.store import moderation as penalties
from gamekeeper.store.engine import Reading
from gamekeeper.store.moderation import Penalty
from gamekeeper.store.users import Powers, User

QUERY, MANAGE = frozenset({"users.query"}), frozenset({"users.query", "users.manage"})
UNKNOWN = "the ledger does not say what it was"
BAN, MUTE = QUERY | {"ban"}, QUERY | {"mute"}


async def _email(tx: Reading, undoing: Undoing) -> list[Change]:
    user = await _locked(tx, undoing)
    if user.email != undoing.after.user.get("email"):
        raise undoing.conflict("the account has another address by now")
    former = _text(undoing, "email")
    try:
        accounts.require_email(former, "email")
    except BadField:  # an import takes what another server had
        raise undoing.conflict("what it was is no address") from None
    return _changes(await accounts.change_email(tx, user.id, former, None))


async def _name(tx: Reading, undoing: Undoing) -> list[Change]:
    user = await _locked(tx, undoing)
    if user.name != undoing.after.user.get("name"):
        raise undoing.conflict("the account has another name by now")
    return _changes(await accounts.rename(tx, user.id, _text(undoing, "name")))


async def _powers(tx: Reading, undoing: Undoing) -> list[Change]:
    user = await _locked(tx, undoing)
    if user.powers != _powers_of(undoing.after):
        raise undoing.conflict("the account has other powers by now")
    former = _powers_of(undoing.before)
    await powers.require_may_change(tx, user, former, undoing.actor.id)
    return [PowersChanged(user, former)]


async def _ban(tx: Reading, undoing: Undoing) -> list[Change]:
    user = await _locked(tx, undoing)
    there = await penalties.find_ban(tx, user.id) if user.ban_reason is not None else None
    await _require_same(tx, undoing, there, "ban_reason", {UserBanned.kind, UserUnbanned.kind})
    return _changes(await moderation.unban(tx, _order(undoing)))


async def _unban(tx: Reading, undoing: Undoing) -> list[Change]:
    return _changes(await moderation.ban(tx, await _again(tx, undoing, "ban_reason")))


async def _mute(tx: Reading, undoing: Undoing) -> list[Change]:
    user = await _locked(tx, undoing)
    there = await penalties.find_mute(tx, user.id) if user.mute_reason is not None else None
    await _require_same(tx, undoing, there, "mute_reason", {UserMuted.kind, UserUnmuted.kind})
    return _changes(await moderation.unmute(tx, _order(undoing)))


async def _unmute(tx: Reading, undoing: Undoing) -> list[Change]:
    return _changes(await moderation.mute(tx, await _again(tx, undoing, "mute_reason")))


RULES: Mapping[str, tuple[frozenset[str], Rule]] = {
    EmailChanged.kind: (MANAGE, _email),
    UserRenamed.kind: (MANAGE, _name),
    PowersChanged.kind: (MANAGE, _powers),
    UserBanned.kind: (BAN, _ban),
    UserUnbanned.kind: (BAN, _unban),
    UserMuted.kind: (MUTE, _mute),
    UserUnmuted.kind: (MUTE, _unmute),
}


async def _locked(tx: Reading, undoing: Undoing) -> User:
    try:
        return await lookup.locked_user(tx, undoing.user_id)
    except NoSuchUser:
        raise undoing.conflict("the account is not there any more") from None


async def _require_same(tx: Reading, undoing: Undoing, there: Penalty | None, of: str, kinds: set[str]) -> None:
    """As it was imposed, but for a moderator who was erased since; and with nothing of `kinds` after it."""
    told = undoing.after.user
    same = there is not None and (
        (there.reason, there.ends_at) == (told.get(of), told.get("ends_at"))
        and there.moderator in ("", told.get("moderator"))
    )
    if not same or await history.find_account_change(tx, undoing.user_id, undoing.told.seq, kinds, undoing.kin):
        raise undoing.conflict("it ended, or another took its place")


async def _again(tx: Reading, undoing: Undoing, of: str) -> Order:
    """What was lifted, with the reason and the end that it had."""
    await _locked(tx, undoing)
    lifted = undoing.before.user
    if "ends_at" not in lifted:
        raise undoing.conflict(UNKNOWN)
    ends_at = lifted["ends_at"]
    if isinstance(ends_at, int) and ends_at <= await clock.now(tx):
        raise undoing.conflict("it would have ended by itself by now")
    ends = ends_at if isinstance(ends_at, int) else None
    moderator = str(lifted.get("moderator") or "")
    if moderator and not await users.find_by_fold(tx, lookup.fold(moderator)):
        moderator = ""  # who was erased stays so
    return _order(undoing)._replace(again=Penalty(_text(undoing, of), moderator, ends))


def _order(undoing: Undoing) -> Order:
    said = f"undoes change {undoing.told.seq}"
    return Order(undoing.user_id, reason=said, moderator=undoing.actor.name, actor_id=undoing.actor.id)


def _powers_of(side: Trace) -> Powers:
    return Powers(**{name: bool(side.user.get(name)) for name in Powers._fields})


def _text(undoing: Undoing, name: str) -> str:
    """Rows from before a version that kept it, and those of an erased person, do not have it."""
    found = undoing.before.user.get(name)
    if not isinstance(found, str):
        raise undoing.conflict(UNKNOWN)
    return found


def _changes(decision: Decision[Any]) -> list[Change]:
    return [each for each in decision.changes if not isinstance(each, Untraced)]
