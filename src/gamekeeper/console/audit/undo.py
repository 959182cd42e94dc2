"""Decide which changes get an Undo button, and word the dialog of an undo: what it does, and to whom.

A change gets the button if the rules of undo would accept it, as far as a cheap check can tell. Items, spells and
variables are compared only for created players: otherwise the dry run of the undo does that.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

from gamekeeper.console.frame import differences
from gamekeeper.console.frame.differences import NO_VALUES, TIMES_SIGN, DecodedSides, Names
from gamekeeper.console.frame.formats import format_number
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.console.frame.texts import translate as _
from gamekeeper.game.access.permissions import find_powers, list_held
from gamekeeper.game.accounts import moderation
from gamekeeper.game.accounts.account_changes import (
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
from gamekeeper.game.audit import history, undo, undo_items
from gamekeeper.game.core.change import ChangeSide, Codec
from gamekeeper.game.players import player_edits
from gamekeeper.game.players.changes import PlayerChanged, PlayerCreated, PlayerDeleted, VariablesSet
from gamekeeper.game.world.changes import GuildVariablesSet, ServerVariablesSet
from gamekeeper.http.audit.side_decoder import PlayerOutline, has_same_record
from gamekeeper.http.server.request import Request
from gamekeeper.store.access.roles import Powers
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
        if told.kind != PlayerChanged.kind or set(each.before.player) != {undo_items.EQUIPMENT}:
            continue
        wanted = HistoryFilter(within=OF_PLAYER, whose=told.player_id)
        for other in await rows.read_page(tx, wanted, told.seq, 1, 1):
            if other.kind in undo_items.ITEM_KINDS and other.request_id == told.request_id:
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
    records = await stored_players.read_records_of_ids(tx, changed) if changed else {}
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


def _is_unchanged(change: DecodedChange, stored: stored_players.StoredPlayer, codec: Codec) -> bool:
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


SERVER_NAMES = PerLanguage(
    lambda: {
        ServerVariablesSet.kind: gettext("the server"),
        GuildVariablesSet.kind: gettext("a guild"),
    }
)  # kinds of changes that are about no player or account


class Undo(NamedTuple):
    """The change that an undo makes, and the name of the player or account that it is about."""

    before: ChangeSide
    after: ChangeSide
    names: Names
    name: str


async def describe_undo(request: Request, seq: int, entries: Sequence[LedgerEntry]) -> tuple[str, str]:
    """Return title and button for the undo of change `seq`; `entries` are the changes that the undo makes."""
    read, store = request.services.keeper.changes.codec.decode_side, request.services.keeper.store
    first = entries[0]
    before, after = read(first.before or "{}"), read(first.after or "{}")
    name = SERVER_NAMES().get(first.kind) or await _find_name(request, first)
    name = name or str((before.player or after.player).get("name", ""))
    undo = Undo(before, after, await differences.load_names(store, [before, after]), name)
    title = gettext("Undo change %(seq)s of %(name)s", seq=seq, name=name)
    return title, BUTTONS().get(first.kind, _restore_values)(undo)


async def _find_name(request: Request, entry: LedgerEntry) -> str:
    """Return the name of the player or account; a player that the undo restores is not in the database yet."""
    store = request.services.keeper.store
    if entry.player_id:
        return next((each.name for each in await stored_players.read_summaries(store, {entry.player_id})), "")
    return next((each.name for each in await users.read_by_ids(store, {entry.user_id or ""})), "")


def _restore_items(undo: Undo) -> str:
    gained = _count_items(undo.after)
    gained.subtract(_count_items(undo.before))
    moved = {item: count for item, count in gained.items() if count}
    if len(moved) != 1:
        return gettext("Undo: restore the items of %(name)s", name=undo.name)
    [(item, count)] = moved.items()
    text = _("Undo: give back %(items)s to %(name)s") if count > 0 else _("Undo: take back %(items)s from %(name)s")
    return text % {
        "items": f"{format_number(abs(count))} {TIMES_SIGN} {undo.names.find_name('items', item)}",
        "name": undo.name,
    }


def _count_items(side: ChangeSide) -> Counter[str]:
    counts: Counter[str] = Counter()
    for stack in side.slots.values():
        if stack:
            counts[stack.item_id] += stack.quantity
    return counts


def _restore_spells(undo: Undo) -> str:
    known, wanted = ({each for each in side.spells.values() if each} for side in (undo.before, undo.after))
    gained, lost = wanted - known, known - wanted
    if len(gained) + len(lost) != 1:
        return gettext("Undo: restore the spells of %(name)s", name=undo.name)
    text = _("Undo: teach %(spell)s to %(name)s again") if gained else _("Undo: remove %(spell)s from %(name)s")
    return text % {"spell": undo.names.find_name("spells", *(gained or lost)), "name": undo.name}


def _restore_variables(undo: Undo) -> str:
    if len(undo.after.variables) != 1:
        return gettext("Undo: restore the variables of %(name)s", name=undo.name)
    [(each, value)] = undo.after.variables.items()
    is_cleared = value is None
    text = (
        _("Undo: clear %(variable)s of %(name)s")
        if is_cleared
        else _("Undo: set %(variable)s of %(name)s back to %(value)s")
    )
    facts = {"variable": undo.names.find_name("variables", each), "value": differences.describe_value(value)}
    return text % {**facts, "name": undo.name}


def _restore_server_variables(undo: Undo) -> str:
    [each, *others] = undo.after.server_variables
    if others:
        return gettext("Undo: restore the variables of the server")
    facts = {"variable": undo.names.find_name("servervariables", each)}
    if undo.after.server_variables[each] is None:
        return gettext("Undo: clear %(variable)s of the server", **facts)
    return gettext("Undo: set %(variable)s of the server back to its former value", **facts)


def _restore_values(undo: Undo) -> str:
    before, after, name = undo.before.player, undo.after.player, undo.name
    wanted = {field: value for field, value in after.items() if before.get(field) != value}
    if wanted.keys() == {"name"}:
        return gettext("Undo: rename %(name)s back to %(former)s", name=name, former=wanted["name"])
    if "level" in wanted and wanted.keys() <= {"level", "exp"}:
        return gettext("Undo: set %(name)s back to level %(level)s", name=name, level=wanted["level"])
    if wanted.keys() == {"class_id"}:
        former = undo.names.find_name("classes", str(wanted["class_id"]))
        return gettext("Undo: set the class of %(name)s back to %(former)s", name=name, former=former)
    return gettext("Undo: restore the values of %(name)s", name=name)


def _fill(text: str) -> Callable[[Undo], str]:
    """Return a function that fills the name of the undo's player or account, and an account's old data, into `text`."""
    return lambda undo: text % {"name": undo.name, **{f"former_{key}": value for key, value in undo.after.user.items()}}


BUTTONS = PerLanguage[Mapping[str, Callable[[Undo], str]]](
    lambda: {  # text of the button, by the kind of change that the undo makes
        "items_given": _restore_items,
        "items_taken": _restore_items,
        "items_set": _restore_items,
        "spell_taught": _restore_spells,
        "spell_forgotten": _restore_spells,
        "spells_set": _restore_spells,
        VariablesSet.kind: _restore_variables,
        ServerVariablesSet.kind: _restore_server_variables,
        GuildVariablesSet.kind: lambda _: gettext("Undo: restore the variables of a guild"),
        PlayerChanged.kind: _restore_values,
        PlayerCreated.kind: _fill(_("Undo: restore %(name)s")),
        PlayerDeleted.kind: _fill(_("Undo: delete %(name)s with everything it owns")),
        UserBanned.kind: _fill(_("Undo: ban %(name)s again")),
        UserUnbanned.kind: _fill(_("Undo: end the ban of %(name)s")),
        UserSuspended.kind: _fill(_("Undo: suspend %(name)s again")),
        UserResumed.kind: _fill(_("Undo: end the suspension of %(name)s")),
        UserMuted.kind: _fill(_("Undo: mute %(name)s again")),
        UserUnmuted.kind: _fill(_("Undo: end the mute of %(name)s")),
        UserRenamed.kind: _fill(_("Undo: rename %(name)s back to %(former_name)s")),
        EmailChanged.kind: _fill(_("Undo: change the email of %(name)s back to %(former_email)s")),
        PowersChanged.kind: _fill(_("Undo: restore the permissions of %(name)s")),
        RolesChanged.kind: _fill(_("Undo: restore the roles of %(name)s")),
    }
)
