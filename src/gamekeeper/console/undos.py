"""Which undos a page offers: none that the rules would refuse, as far as that is known without trying.

What a character holds is not compared here: whether a gift can be taken back is found out by the dry run.
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

OF_RECORDS = {PlayerChanged.kind, PlayerCreated.kind}


class Now(NamedTuple):
    """The caller, and those whom the changes are about, as they are now."""

    at: int
    me: User | None
    accounts: Mapping[str, User]
    characters: Mapping[str, Player]


class Change(NamedTuple):
    told: HistoryChange
    before: ChangeSide
    after: ChangeSide


async def offered(request: Request, changes: Sequence[HistoryChange], undone: Mapping[int, int]) -> frozenset[int]:
    """The numbers of those changes that get an Undo button."""
    rights, read = request.caller.rights, request.services.keeper.changes.codec.decode_side
    allowed = [
        Change(each, read(each.before or "{}"), read(each.after or "{}"))
        for each in changes
        if each.seq not in undone and undo.is_undoable(each) and undo.list_permissions(each) <= rights
    ]
    now = await request.services.keeper.store.read(lambda tx: _look(tx, request, allowed)) if allowed else None
    return frozenset(each.told.seq for each in allowed if now and _can_work(each, now))


async def _look(tx: Reading, request: Request, changes: Sequence[Change]) -> Now:
    read, me = request.services.keeper.changes.codec.decode_player, request.caller.account_id
    owners = {each.told.user_id for each in changes if each.told.user_id and each.told.kind in OF_ACCOUNTS}
    moved = {each.told.player_id for each in changes if each.told.player_id and each.told.kind in OF_RECORDS}
    accounts = {each.id: each for each in await users.read_by_ids(tx, owners | {me})} if owners else {}
    records = await players.read_records_of_ids(tx, moved) if moved else []
    characters = [read(each.document, each.last_online) for each in records]
    return Now(await clock.now(tx), accounts.get(me), accounts, {each.id: each for each in characters})


def _can_work(change: Change, now: Now) -> bool:
    told = change.told
    if undo.unknown_fields(told.kind, change.before, change.after):
        return False
    if told.kind in OF_ACCOUNTS:
        user = now.accounts.get(told.user_id or "")
        return user is not None and now.me is not None and OF_ACCOUNTS[told.kind](change, user, now.me, now.at)
    if told.kind == PlayerDeleted.kind:
        return told.player is None
    if told.player is None:
        return False
    player = now.characters.get(told.player_id or "")
    return player is None or _is_as_left(change, player)


def _is_as_left(change: Change, player: Player) -> bool:
    """Tell whether the player's record still has what the change gave it; a creation gave it everything."""
    fields = (change.before.player or change.after.player).keys() - {undo.MOVED_BY_PRESENCE}
    return all(getattr(player, name) == change.after.player.get(name) for name in fields)


def _powers(change: Change, user: User, me: User, _: int) -> bool:
    before, after = _powers_of(change.before), _powers_of(change.after)
    held = all(was == became or mine for was, became, mine in zip(before, after, me.powers, strict=True))
    return user.id != me.id and user.powers == after and held and moderation.can_act_on(me.powers, user.powers)


def _powers_of(side: ChangeSide) -> Powers:
    return Powers(**{name: bool(side.user.get(name)) for name in Powers._fields})


def _email(change: Change, user: User, *_: object) -> bool:
    return user.email == change.after.user.get("email")


def _name(change: Change, user: User, *_: object) -> bool:
    return user.name == change.after.user.get("name")


def _imposed(reason: str) -> Callable[[Change, User, User, int], bool]:
    """A ban or a mute, which must be in force."""

    def stands(change: Change, user: User, me: User, _: int) -> bool:
        same = getattr(user, reason) is not None and getattr(user, reason) == change.after.user.get(reason)
        return same and moderation.can_act_on(me.powers, user.powers)

    return stands


def _lifted(reason: str) -> Callable[[Change, User, User, int], bool]:
    """The end of one, which must not have come by itself meanwhile."""

    def can_return(change: Change, user: User, me: User, now: int) -> bool:
        ends_at = change.before.user.get("ends_at")
        lasts = not isinstance(ends_at, int) or ends_at > now
        return getattr(user, reason) is None and lasts and moderation.can_act_on(me.powers, user.powers)

    return can_return


OF_ACCOUNTS: Mapping[str, Callable[[Change, User, User, int], bool]] = {
    PowersChanged.kind: _powers,
    EmailChanged.kind: _email,
    UserRenamed.kind: _name,
    UserBanned.kind: _imposed("ban_reason"),
    UserMuted.kind: _imposed("mute_reason"),
    UserUnbanned.kind: _lifted("ban_reason"),
    UserUnmuted.kind: _lifted("mute_reason"),
}
