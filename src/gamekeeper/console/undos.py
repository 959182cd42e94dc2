"""Decide which changes get an Undo button: those that the rules of undo would accept, as far as a cheap check can tell.

Items, spells and variables are compared only for created players: otherwise the dry run of the undo does that.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

from gamekeeper.console.differences import NO_VALUES, DecodedSides
from gamekeeper.game import history, item_undo, moderation, player_edits, undo
from gamekeeper.game.account_effects import (
    EmailChanged,
    PowersChanged,
    RolesChanged,
    UserBanned,
    UserMuted,
    UserRenamed,
    UserResumed,
    UserSuspended,
    UserUnbanned,
    UserUnmuted,
)
from gamekeeper.game.codec import ChangeSide, Codec
from gamekeeper.game.permissions import find_powers, list_held
from gamekeeper.game.player_effects import PlayerChanged, PlayerCreated, PlayerDeleted
from gamekeeper.http.outlines import PlayerOutline, has_same_record
from gamekeeper.http.request import Request
from gamekeeper.store import clock, players, users
from gamekeeper.store import history as rows
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import OF_PLAYER, HistoryChange, HistoryFilter
from gamekeeper.store.powers import Powers
from gamekeeper.store.users import User

# kinds of changes of a player's own fields, not only of its items, spells or variables
RECORD_KINDS = {PlayerChanged.kind, PlayerCreated.kind}


class Current(NamedTuple):
    """The current state of the caller and of the accounts and players that the changes are about."""

    at: int  # current time by the database's clock, in milliseconds since 1970
    me: User | None
    accounts: Mapping[str, User]
    players: Mapping[str, players.StoredPlayer]
    refused: frozenset[int] = frozenset()  # numbers of changes that the items, spells or variables of today rule out


class DecodedChange(NamedTuple):
    told: HistoryChange
    before: ChangeSide
    after: ChangeSide
    outline: PlayerOutline | None  # a created or deleted player whose values were not decoded


# (change of an account, the account, the caller, current time in ms) → whether an undo would be accepted
AccountRule = Callable[[DecodedChange, User, User, int], bool]


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
        if told.kind != PlayerChanged.kind or set(each.before.player) != {item_undo.EQUIPMENT}:
            continue
        wanted = HistoryFilter(within=OF_PLAYER, whose=told.player_id)
        for other in await rows.read_page(tx, wanted, told.seq, 1, 1):
            if other.kind in item_undo.ITEM_KINDS and other.request_id == told.request_id:
                takes[told.seq] = other.seq
    undone = await history.find_undone(tx, takes.values()) if takes else {}
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
    owners = {each.told.user_id for each in changes if each.told.user_id and each.told.kind in ACCOUNT_RULES}
    changed = {each.told.player_id for each in changes if each.told.player_id and each.told.kind in RECORD_KINDS}
    accounts = {each.id: each for each in await users.read_by_ids(tx, owners | {me})} if owners else {}
    records = await players.read_records_of_ids(tx, changed) if changed else {}
    codec = request.services.keeper.changes.codec
    refused = await _find_following_items(tx, changes) | await _find_used(tx, changes, codec)
    return Current(await clock.now(tx), accounts.get(me), accounts, records, frozenset(refused))


def _can_undo(change: DecodedChange, now: Current, codec: Codec) -> bool:
    told = change.told
    after = ChangeSide(unknown=change.outline.unknown) if change.outline else change.after
    if undo.find_unknown_fields(told.kind, change.before, after):
        return False
    if told.kind in ACCOUNT_RULES:
        user = now.accounts.get(told.user_id or "")
        return user is not None and now.me is not None and ACCOUNT_RULES[told.kind](change, user, now.me, now.at)
    if told.kind == PlayerDeleted.kind:
        return told.player is None
    if told.player is None:
        return False
    player = now.players.get(told.player_id or "")
    return player is None or _is_unchanged(change, player, codec)


def _is_unchanged(change: DecodedChange, stored: players.StoredPlayer, codec: Codec) -> bool:
    """Tell whether the player still has the values that the change set; a creation set all values."""
    before, after = change.before.player, change.after.player
    if change.outline and change.told.after:
        if has_same_record(change.outline, stored.document):
            return True
        after = codec.decode_side(change.told.after).player
    player = codec.decode_player(stored.document, stored.last_online)
    fields = (before or after).keys() - {undo.MOVED_BY_PRESENCE}
    return all(getattr(player, name) == after.get(name) for name in fields)


def _can_undo_powers(change: DecodedChange, user: User, me: User, _: int) -> bool:
    before, after = _read_powers(change.before), _read_powers(change.after)
    held = all(was == became or mine for was, became, mine in zip(before, after, find_powers(me), strict=True))
    return user.id != me.id and user.powers == after and held and moderation.can_act_on(list_held(me), user)


def _read_powers(side: ChangeSide) -> Powers:
    return Powers(**{name: bool(side.user.get(name)) for name in Powers._fields})


def _can_undo_roles(change: DecodedChange, user: User, me: User, _: int) -> bool:
    now = {"roles": user.grants.roles, "permissions": tuple(sorted(user.grants.direct))}
    touched = {
        str(each)
        for side in (change.before, change.after)
        for each in cast("tuple[str, ...]", side.user.get("roles", ()))
    }
    same = all(change.after.user.get(name) == value for name, value in now.items())
    return user.id != me.id and same and not touched & {*me.grants.roles} and moderation.can_act_on(list_held(me), user)


def _can_undo_email(change: DecodedChange, user: User, *_: object) -> bool:
    return user.email == change.after.user.get("email")


def _can_undo_name(change: DecodedChange, user: User, *_: object) -> bool:
    return user.name == change.after.user.get("name")


def _can_undo_suspension(change: DecodedChange, user: User, me: User, _: int) -> bool:
    same = (user.suspended) == change.after.user.get("suspended")
    return user.id != me.id and same and moderation.can_act_on(list_held(me), user)


def _make_penalty_rule(reason: str) -> AccountRule:
    """Make the rule for a ban or a mute: it can be undone while it is in force."""

    def is_in_force(change: DecodedChange, user: User, me: User, _: int) -> bool:
        same = getattr(user, reason) is not None and getattr(user, reason) == change.after.user.get(reason)
        return same and moderation.can_act_on(list_held(me), user)

    return is_in_force


def _make_pardon_rule(reason: str) -> AccountRule:
    """Make the rule for the end of a ban or a mute: it can be undone until the ban or mute would have expired."""

    def can_return(change: DecodedChange, user: User, me: User, now: int) -> bool:
        ends_at = change.before.user.get("ends_at")
        lasts = not isinstance(ends_at, int) or ends_at > now
        return getattr(user, reason) is None and lasts and moderation.can_act_on(list_held(me), user)

    return can_return


ACCOUNT_RULES: Mapping[str, AccountRule] = {
    PowersChanged.kind: _can_undo_powers,
    RolesChanged.kind: _can_undo_roles,
    EmailChanged.kind: _can_undo_email,
    UserRenamed.kind: _can_undo_name,
    UserSuspended.kind: _can_undo_suspension,
    UserResumed.kind: _can_undo_suspension,
    UserBanned.kind: _make_penalty_rule("ban_reason"),
    UserMuted.kind: _make_penalty_rule("mute_reason"),
    UserUnbanned.kind: _make_pardon_rule("ban_reason"),
    UserUnmuted.kind: _make_pardon_rule("mute_reason"),
}
# kinds of changes that are compared with the current state of their player or account
COMPARED_KINDS = RECORD_KINDS | ACCOUNT_RULES.keys()
NO_SIDES = (NO_VALUES, NO_VALUES)
NOTHING_READ = Current(0, None, {}, {})
