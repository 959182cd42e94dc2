"""Decide which changes get an Undo button, and word the dialog of an undo: what it does, and to whom.

A change gets the button if the rules of undo would accept it, as far as a cheap check can tell. Items, spells and
variables are compared only for created players: otherwise the dry run of the undo does that.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from gamekeeper.console.frame import differences
from gamekeeper.console.frame.differences import NO_VALUES, DecodedSides, Undo, UndoTitle
from gamekeeper.console.frame.texts import gettext, translate
from gamekeeper.game.access.changes import PowersChanged, RolesChanged, UserResumed, UserSuspended
from gamekeeper.game.access.permissions import can_act_on, find_powers, list_held
from gamekeeper.game.accounts.changes import EmailChanged, UserBanned, UserMuted, UserRenamed, UserUnbanned, UserUnmuted
from gamekeeper.game.accounts.undo import read_grants, read_powers
from gamekeeper.game.audit import undo
from gamekeeper.game.core.change import ChangeSide, Codec
from gamekeeper.game.core.undo import find_undone
from gamekeeper.game.players import player_edits
from gamekeeper.game.players.changes import ITEM_KINDS, PlayerChanged, PlayerCreated, PlayerDeleted
from gamekeeper.game.players.undo import MOVED_BY_PRESENCE
from gamekeeper.game.players.undo_items import EQUIPMENT
from gamekeeper.ground import rooms
from gamekeeper.http.audit.codec import PlayerOutline, has_same_record
from gamekeeper.http.server.request import Request
from gamekeeper.store.accounts import users
from gamekeeper.store.accounts.users import User
from gamekeeper.store.audit import history as rows
from gamekeeper.store.audit.history import OF_PLAYER, HistoryChange, HistoryFilter
from gamekeeper.store.core.ledger import LedgerEntry
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import players as stored_players

# kinds of changes of a player's own fields, not only of its items, spells or variables
RECORD_KINDS = {PlayerChanged.kind, PlayerCreated.kind}


class Current(NamedTuple):
    """The current state of the caller and of the accounts and players that the changes are about."""

    at: int  # current time by the database's clock, in milliseconds since 1970
    me: User | None
    accounts: Mapping[str, User]
    players: Mapping[str, stored_players.StoredPlayer]
    refused: frozenset[int] = frozenset()  # numbers of changes that the items, spells or variables of today rule out


class DecodedChange(NamedTuple):
    told: HistoryChange
    before: ChangeSide
    after: ChangeSide
    outline: PlayerOutline | None  # a created or deleted player whose values were not decoded


async def find_undoable(
    request: Request,
    changes: Sequence[HistoryChange],
    undone: Mapping[int, int],
    sides: Mapping[int, DecodedSides],
    outlines: Mapping[int, PlayerOutline],
) -> frozenset[int]:
    """Return the numbers of the changes that get an Undo button.

    `sides` has the values of each change by its number, `outlines` those of created and deleted players instead.
    """
    permissions = request.caller.permissions
    allowed = [
        DecodedChange(each, *sides.get(each.seq, NO_SIDES), outlines.get(each.seq))
        for each in changes
        if each.seq not in undone and undo.is_undoable(each) and undo.list_permissions(each) <= permissions
    ]
    now = NOTHING_READ
    if any(each.told.kind in COMPARED_KINDS for each in allowed):
        now = await request.services.keeper.store.read(lambda tx: _load_current(tx, request, allowed))
    codec = request.services.keeper.changes.codec
    return frozenset(
        each.told.seq for each in allowed if each.told.seq not in now.refused and _can_undo(each, now, codec)
    )


async def _find_following_items(tx: Reading, changes: Sequence[DecodedChange]) -> set[int]:
    """Return the changes that only unequipped what their request took: the undo of the take equips it again.

    The take is the change of the player right before. It need not be on the same page or match the page's filter.
    """
    takes: dict[int, int] = {}
    for each in changes:
        told = each.told
        if told.kind != PlayerChanged.kind or set(each.before.player) != {EQUIPMENT}:
            continue
        wanted = HistoryFilter(within=OF_PLAYER, whose=told.player_id)
        for other in await rows.read_page(tx, wanted, told.seq, 1, 1):
            if other.kind in ITEM_KINDS and other.request_id == told.request_id:
                takes[told.seq] = other.seq
    undone = await find_undone(tx, takes.values()) if takes else {}
    return {seq for seq, take in takes.items() if take not in undone}


async def _find_used(tx: Reading, changes: Sequence[DecodedChange], codec: Codec) -> set[int]:
    """Return the creations of players whose items, spells or variables have changed since."""
    found: set[int] = set()
    for each in changes:
        told = each.told
        if told.kind != PlayerCreated.kind or told.player_id is None:
            continue
        if await rows.find_following(tx, told.player_id, told.seq, ()) is None:
            continue
        now, then = await player_edits.load_state(tx, told.player_id), codec.decode_side(told.after or b"{}")
        if (now.slots, now.bags, now.spells, now.variables) != (then.slots, then.bags, then.spells, then.variables):
            found.add(told.seq)
    return found


async def _load_current(tx: Reading, request: Request, changes: Sequence[DecodedChange]) -> Current:
    me = request.caller.account_id
    owners = {each.told.user_id for each in changes if each.told.user_id and each.told.kind in ACCOUNT_KINDS}
    changed = {each.told.player_id for each in changes if each.told.player_id and each.told.kind in RECORD_KINDS}
    accounts = {each.id: each for each in await users.read_by_ids(tx, owners | {me})} if owners else {}
    records = await stored_players.read_records_of_ids(tx, changed) if changed else {}
    codec = request.services.keeper.changes.codec
    refused = await _find_following_items(tx, changes) | await _find_used(tx, changes, codec)
    return Current(await clock.now(tx), accounts.get(me), accounts, records, frozenset(refused))


def _can_undo(change: DecodedChange, now: Current, codec: Codec) -> bool:
    told = change.told
    after = ChangeSide(unknown=change.outline.unknown) if change.outline else change.after
    if undo.find_unknown_fields(told.kind, change.before, after):
        return False
    if told.kind in ACCOUNT_KINDS:
        user = now.accounts.get(told.user_id or "")
        return user is not None and now.me is not None and _can_undo_account(change, user, now.me, now.at)
    if told.kind == PlayerDeleted.kind:
        return told.player is None
    if told.player is None:
        return False
    player = now.players.get(told.player_id or "")
    return player is None or _is_unchanged(change, player, codec)


def _is_unchanged(change: DecodedChange, stored: stored_players.StoredPlayer, codec: Codec) -> bool:
    """Tell whether the player still has the values that the change set; a creation set all values."""
    before, after = change.before.player, change.after.player
    if change.outline and change.told.after:
        if has_same_record(change.outline, stored.document):
            return True
        after = codec.decode_side(change.told.after).player
    player = codec.decode_player(stored.document, stored.last_online)
    fields = (before or after).keys() - {MOVED_BY_PRESENCE}
    return all(getattr(player, name) == after.get(name) for name in fields)


def _can_undo_account(change: DecodedChange, user: User, me: User, now: int) -> bool:
    kind, before, after = change.told.kind, change.before.user, change.after.user
    if kind not in OWN_DATA and not can_act_on(list_held(me), user):
        return False
    if field := CURRENT_FIELDS.get(kind):
        value = getattr(user, field)
        return value is not None and value == after.get(field) and (user.id != me.id or field != SUSPENDED)
    if field := LIFTED_FIELDS.get(kind):  # the end of a ban or mute: until the ban or mute would have expired
        ends_at = before.get("ends_at")
        return getattr(user, field) is None and (not isinstance(ends_at, int) or ends_at > now)
    return user.id != me.id and (_has_same_roles if kind == RolesChanged.kind else _has_same_powers)(change, user, me)


def _has_same_powers(change: DecodedChange, user: User, me: User) -> bool:
    """Tell whether the account still has the permissions that the change set, and the caller those that it changed."""
    before, after = read_powers(change.before), read_powers(change.after)
    held = all(was == became or mine for was, became, mine in zip(before, after, find_powers(me), strict=True))
    return user.powers == after and held


def _has_same_roles(change: DecodedChange, user: User, me: User) -> bool:
    """Tell whether the account still has the roles that the change set, and none of them is the caller's."""
    then, now = read_grants(change.before), read_grants(change.after)
    return (set(user.grants.roles), user.grants.direct) == now and not (then[0] | now[0]) & {*me.grants.roles}


SUSPENDED = "suspended"
OWN_DATA = {EmailChanged.kind, UserRenamed.kind}
# kind of change of an account → the field that must still have the value that the change set
CURRENT_FIELDS: Mapping[str, str] = {
    EmailChanged.kind: "email",
    UserRenamed.kind: "name",
    UserSuspended.kind: SUSPENDED,
    UserResumed.kind: SUSPENDED,
    UserBanned.kind: "ban_reason",
    UserMuted.kind: "mute_reason",
}
LIFTED_FIELDS: Mapping[str, str] = {UserUnbanned.kind: "ban_reason", UserUnmuted.kind: "mute_reason"}
ACCOUNT_KINDS = {*CURRENT_FIELDS, *LIFTED_FIELDS, PowersChanged.kind, RolesChanged.kind}
# kinds of changes that are compared with the current state of their player or account
COMPARED_KINDS = RECORD_KINDS | ACCOUNT_KINDS
NO_SIDES = (NO_VALUES, NO_VALUES)
NOTHING_READ = Current(0, None, {}, {})


@cache
def _list_titles() -> Mapping[str, UndoTitle]:
    return {each.kind: each for each in rooms.collect("console", "UNDO_TITLES")}


async def describe_undo(request: Request, seq: int, entries: Sequence[LedgerEntry]) -> tuple[str, str]:
    """Return title and button for the undo of change `seq`; `entries` are the changes that the undo makes."""
    read, store = request.services.keeper.changes.codec.decode_side, request.services.keeper.store
    first = entries[0]
    before, after = read(first.before or "{}"), read(first.after or "{}")
    text = _list_titles().get(first.kind) or _list_titles()[PlayerChanged.kind]
    name = (
        translate(text.about)
        if text.about
        else await differences.find_subject_name(store, first.player_id, first.user_id)
    )
    # a player that the undo restores is not in the database yet
    name = name or str((before.player or after.player).get("name", ""))
    undo = Undo(before, after, await differences.load_names(store, [before, after]), name)
    title = gettext("Undo change %(seq)s of %(name)s", seq=seq, name=name)
    return title, text.describe(undo)
