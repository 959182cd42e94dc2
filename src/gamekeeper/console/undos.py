"""Decide which changes get an Undo button: those that the rules of undo would accept, as far as a cheap check can tell.

Items, spells and variables are not compared here: the dry run of the undo does that.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gamekeeper.game import moderation, undo
from gamekeeper.game.codec import ChangeSide
from gamekeeper.game.effects import (
    EmailChanged,
    PlayerChanged,
    PlayerCreated,
    PlayerDeleted,
    PowersChanged,
    UserBanned,
    UserMuted,
    UserRenamed,
    UserUnbanned,
    UserUnmuted,
)
from gamekeeper.game.players import Player
from gamekeeper.http.request import Request
from gamekeeper.store import clock, players, users
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import HistoryChange
from gamekeeper.store.users import Powers, User

# kinds of changes of a player's own fields, not only of its items, spells or variables
RECORD_KINDS = {PlayerChanged.kind, PlayerCreated.kind}


class Current(NamedTuple):
    """The current state of the caller and of the accounts and players that the changes are about."""

    at: int  # current time by the database's clock, in milliseconds since 1970
    me: User | None
    accounts: Mapping[str, User]
    players: Mapping[str, Player]


class DecodedChange(NamedTuple):
    told: HistoryChange
    before: ChangeSide
    after: ChangeSide


# (change of an account, the account, the caller, current time in ms) → whether an undo would be accepted
AccountRule = Callable[[DecodedChange, User, User, int], bool]


async def find_undoable(
    request: Request, changes: Sequence[HistoryChange], undone: Mapping[int, int]
) -> frozenset[int]:
    """Return the numbers of the changes that get an Undo button."""
    permissions, read = request.caller.permissions, request.services.keeper.changes.codec.decode_side
    allowed = [
        DecodedChange(each, read(each.before or "{}"), read(each.after or "{}"))
        for each in changes
        if each.seq not in undone and undo.is_undoable(each) and undo.list_permissions(each) <= permissions
    ]
    now = await request.services.keeper.store.read(lambda tx: _load_current(tx, request, allowed)) if allowed else None
    return frozenset(each.told.seq for each in allowed if now and _can_undo(each, now))


async def _load_current(tx: Reading, request: Request, changes: Sequence[DecodedChange]) -> Current:
    read, me = request.services.keeper.changes.codec.decode_player, request.caller.account_id
    owners = {each.told.user_id for each in changes if each.told.user_id and each.told.kind in ACCOUNT_RULES}
    changed = {each.told.player_id for each in changes if each.told.player_id and each.told.kind in RECORD_KINDS}
    accounts = {each.id: each for each in await users.read_by_ids(tx, owners | {me})} if owners else {}
    records = await players.read_records_of_ids(tx, changed) if changed else {}
    found = {each: read(record.document, record.last_online) for each, record in records.items()}
    return Current(await clock.now(tx), accounts.get(me), accounts, found)


def _can_undo(change: DecodedChange, now: Current) -> bool:
    told = change.told
    if undo.unknown_fields(told.kind, change.before, change.after):
        return False
    if told.kind in ACCOUNT_RULES:
        user = now.accounts.get(told.user_id or "")
        return user is not None and now.me is not None and ACCOUNT_RULES[told.kind](change, user, now.me, now.at)
    if told.kind == PlayerDeleted.kind:
        return told.player is None
    if told.player is None:
        return False
    player = now.players.get(told.player_id or "")
    return player is None or _is_unchanged(change, player)


def _is_unchanged(change: DecodedChange, player: Player) -> bool:
    """Tell whether the player still has the values that the change set; a creation set all values."""
    fields = (change.before.player or change.after.player).keys() - {undo.MOVED_BY_PRESENCE}
    return all(getattr(player, name) == change.after.player.get(name) for name in fields)


def _can_undo_powers(change: DecodedChange, user: User, me: User, _: int) -> bool:
    before, after = _read_powers(change.before), _read_powers(change.after)
    held = all(was == became or mine for was, became, mine in zip(before, after, me.powers, strict=True))
    return user.id != me.id and user.powers == after and held and moderation.can_act_on(me.powers, user.powers)


def _read_powers(side: ChangeSide) -> Powers:
    return Powers(**{name: bool(side.user.get(name)) for name in Powers._fields})


def _can_undo_email(change: DecodedChange, user: User, *_: object) -> bool:
    return user.email == change.after.user.get("email")


def _can_undo_name(change: DecodedChange, user: User, *_: object) -> bool:
    return user.name == change.after.user.get("name")


def _make_penalty_rule(reason: str) -> AccountRule:
    """Make the rule for a ban or a mute: it can be undone while it is in force."""

    def is_in_force(change: DecodedChange, user: User, me: User, _: int) -> bool:
        same = getattr(user, reason) is not None and getattr(user, reason) == change.after.user.get(reason)
        return same and moderation.can_act_on(me.powers, user.powers)

    return is_in_force


def _make_pardon_rule(reason: str) -> AccountRule:
    """Make the rule for the end of a ban or a mute: it can be undone until the ban or mute would have expired."""

    def can_return(change: DecodedChange, user: User, me: User, now: int) -> bool:
        ends_at = change.before.user.get("ends_at")
        lasts = not isinstance(ends_at, int) or ends_at > now
        return getattr(user, reason) is None and lasts and moderation.can_act_on(me.powers, user.powers)

    return can_return


ACCOUNT_RULES: Mapping[str, AccountRule] = {
    PowersChanged.kind: _can_undo_powers,
    EmailChanged.kind: _can_undo_email,
    UserRenamed.kind: _can_undo_name,
    UserBanned.kind: _make_penalty_rule("ban_reason"),
    UserMuted.kind: _make_penalty_rule("mute_reason"),
    UserUnbanned.kind: _make_pardon_rule("ban_reason"),
    UserUnmuted.kind: _make_pardon_rule("mute_reason"),
}
