"""Undo of changes. An undo is refused if the values that the change set have been changed again since.

Stacks of items are the exception: the undo gives or takes the difference, if the stack is large enough. An undo is a
change itself, so it can be undone too.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

import msgspec
from msgspec.structs import replace

from gamekeeper.game.access import roles
from gamekeeper.game.access.permissions import Actor
from gamekeeper.game.audit import undo_accounts, undo_items
from gamekeeper.game.audit.refusals import AlreadyUndone, NotUndoable
from gamekeeper.game.audit.undo_context import Rule, UndoContext, lock_player, read_side
from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Attachments, Change, ChangeSide, Codec
from gamekeeper.game.core.refusals import HistoryTrimmed, NoSuchChange, NoSuchUser
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.players import player_edits, variables
from gamekeeper.game.players.changes import (
    PlayerChanged,
    PlayerCreated,
    PlayerDeleted,
    PlayerState,
    SpellsChanged,
    VariablesSet,
)
from gamekeeper.game.players.inventory import Capacity
from gamekeeper.game.players.players import DEFAULTS, REQUIRED, make_player
from gamekeeper.game.world import guilds as game_guilds
from gamekeeper.game.world import server_variables
from gamekeeper.game.world.changes import GuildVariablesSet, ServerVariablesSet
from gamekeeper.store.audit import history as rows
from gamekeeper.store.audit.history import HistoryChange
from gamekeeper.store.core import ledger
from gamekeeper.store.engine.interface import Locking, Reading
from gamekeeper.store.players import players
from gamekeeper.store.players import spells as spell_rows
from gamekeeper.store.players import variables as variable_rows
from gamekeeper.store.world import guilds

LINK = frozenset({"game.link"})
MOST_DEPTH = 100  # longest chain of undos of undos, which `store/history` follows down to the first change
MAX_UNDOS = 1_000  # undos in one chain: undos of a change, undos of those undos, and so on
MOVED_BY_PRESENCE = "last_online"


class UndoResult(NamedTuple):
    """The undone change, and the changes that undo it."""

    change: HistoryChange
    changes: list[Change]


async def require_change(tx: Reading, seq: int) -> HistoryChange:
    told = await rows.find_change(tx, seq)
    if told is None:
        raise NoSuchChange(seq=seq)
    return told


async def undo(
    tx: Locking, seq: int, actor: Actor, codec: Codec, room: Capacity, trade_ms: int
) -> Decision[UndoResult]:
    # every undo first locks the trim position of the audit log, so that no deadlock is possible
    trimmed = await ledger.read_trimmed(tx)
    told = await require_change(tx, seq)
    actor.require(list_permissions(told))
    rule = _find_rule(told)
    # the change is too old: an earlier undo of it, or later changes, may have been trimmed from the audit log
    if told.first <= trimmed:
        raise HistoryTrimmed(trimmed=trimmed)
    # the lock prevents that another transaction undoes the same change from here on
    await _lock_subject(tx, told, actor)
    by = await rows.find_undos(tx, [told.first])
    _require_not_undone(by, seq)
    kin = frozenset({told.first, *(each for numbers in by.values() for each in numbers)})
    sides = read_side(told.before, codec), read_side(told.after, codec)
    context = UndoContext(told, *sides, codec, room, actor, trade_ms, kin)
    if told.depth >= MOST_DEPTH or len(kin) > MAX_UNDOS:
        raise context.make_conflict(
            f"it is an undo of an undo {MOST_DEPTH} levels deep, or the change was undone and redone "
            f"{MAX_UNDOS} times; make the change you want"
        )
    if unknown := find_unknown_fields(told.kind, *sides):
        raise context.make_conflict(f"this version of Gamekeeper does not know {', '.join(unknown)}; use a newer one")
    changes = await rule(tx, context)
    if not changes:
        raise context.make_conflict("everything already is as it was before the change")
    return Decision(changes, UndoResult(told, changes), subject=(told.player_id, told.user_id), undoes=seq)


def _require_not_undone(by: Mapping[int, Sequence[int]], seq: int) -> None:
    """Refuse an undo if this change, or a change that it undoes in turn, would then be undone twice."""
    if standing := rows.resolve_undos(by, [seq]).get(seq):
        raise AlreadyUndone(seq=seq, by=standing)
    if twice := rows.find_double_undos(by, [seq]).get(seq):
        raise AlreadyUndone(seq=twice[0], by=twice[1])


async def _undo_spells(tx: Reading, context: UndoContext) -> list[Change]:
    player = await lock_player(tx, context)
    known = await spell_rows.read_known(tx, player.id)
    now = {slot: known.get(slot) for slot in context.after.spells}
    if now != dict(context.after.spells):
        raise context.make_conflict("the spell's slot holds something else now")
    elsewhere = {spell for slot, spell in known.items() if slot not in context.after.spells}
    if elsewhere & {spell for spell in context.before.spells.values() if spell}:
        raise context.make_conflict("the player has learnt the spell again")
    return [SpellsChanged("spells_set", player.id, now, context.before.spells)]


async def _undo_variables(tx: Reading, context: UndoContext) -> list[Change]:
    player = await lock_player(tx, context)
    now = {row.variable_id: variables.read_value(row) for row in await variable_rows.read_of_player(tx, player.id)}
    for each, became in context.after.variables.items():
        there = now.get(each)
        if there is not None if became is None else not variables.is_same_value(there, became):
            raise context.make_conflict("the variable has another value now")
    held = {each: now.get(each) for each in context.after.variables}
    return [VariablesSet(player.id, held, context.before.variables)]


async def _undo_record(tx: Reading, context: UndoContext) -> list[Change]:
    player = await lock_player(tx, context)
    wanted = {name: value for name, value in context.before.player.items() if name != MOVED_BY_PRESENCE}
    for name in wanted:
        if getattr(player, name) != context.after.player.get(name):
            raise context.make_conflict(f"its {name.replace('_', ' ')} was changed again since")
    former = msgspec.structs.replace(player, **wanted)
    named = former.name != player.name
    if named:
        await player_edits.require_free_name(tx, former.name, player.id)
    if "user_id" in wanted:
        await _require_user(tx, context, former.user_id)
    if "equipment" in wanted:
        await undo_items.require_same_equipment(tx, context, former, set(former.equipment) - set(player.equipment))
    return [PlayerChanged(player, former, claims_name=named)] if former != player else []


async def _undo_creation(tx: Locking, context: UndoContext) -> list[Change]:
    player = await lock_player(tx, context)
    _, change = await player_edits.plan_deletion(tx, player.id, context.codec)
    now = context.codec.decode_side(context.codec.encode_side(change.state.make_side(player)))
    if _drop_presence(now) != _drop_presence(context.after):
        raise context.make_conflict("the player has changed since; delete it if that is what you want")
    return [change]


async def _undo_deletion(tx: Reading, context: UndoContext) -> list[Change]:
    held = context.before
    # audit log entries of an erased account have no names, so the player cannot be restored
    if not held.player.keys() >= REQUIRED:
        raise context.make_conflict("the player's data was erased from the audit log")
    player = make_player(held.player, held.unknown)
    await _require_user(tx, context, player.user_id)
    if await players.lock_by_id(tx, player.id):
        raise context.make_conflict("the player exists again")
    if since := await rows.find_following(tx, player.id, context.change.seq, context.undo_chain):
        raise context.make_conflict(f"the player existed again since, as change {since} shows; undo its last deletion")
    await player_edits.require_free_name(tx, player.name, player.id)
    await undo_items.require_free_bags(tx, context, held.bags)
    await undo_items.require_not_traded(tx, context)
    world = PlayerState(
        {spot: stack for spot, stack in held.slots.items() if stack},
        held.bags,
        {slot: spell for slot, spell in held.spells.items() if spell},
        {each: value for each, value in held.variables.items() if value is not None},
        await _keep_existing_guild(tx, held.attached),
    )
    return [PlayerCreated(player, world)]


async def _keep_existing_guild(tx: Reading, attached: Attachments) -> Attachments:
    """Leave out the membership of a guild that has ended since."""
    joined = attached.membership
    return attached._replace(membership=None) if joined and not await guilds.find(tx, joined.guild_id) else attached


UNDO = frozenset({"audit.undo"})
NO_PERMISSIONS: frozenset[str] = frozenset()
SPELLS, DELETE = frozenset({"spells.write"}), frozenset({"players.delete"})
WORLD = frozenset({"world.write"})
PROGRESS, RENAME, NAME_FIELD = frozenset({"players.progress"}), frozenset({"players.rename"}), '"Name":'
# kind of change → permissions of the operation that makes such changes, and the rule of the undo
RULES: Mapping[str, tuple[frozenset[str], Rule]] = {
    "items_given": (frozenset({"items.give"}), undo_items.undo_items),
    "items_taken": (frozenset({"items.take"}), undo_items.undo_items),
    "items_set": (frozenset({"items.give", "items.take"}), undo_items.undo_items),
    "spell_taught": (SPELLS, _undo_spells),
    "spell_forgotten": (SPELLS, _undo_spells),
    "spells_set": (SPELLS, _undo_spells),
    VariablesSet.kind: (frozenset({"variables.write"}), _undo_variables),
    PlayerChanged.kind: (NO_PERMISSIONS, _undo_record),  # depends on the fields, see `list_permissions`
    PlayerCreated.kind: (DELETE, _undo_creation),
    PlayerDeleted.kind: (DELETE, _undo_deletion),
    ServerVariablesSet.kind: (WORLD, server_variables.undo),
    GuildVariablesSet.kind: (WORLD, game_guilds.undo_variables),
    **undo_accounts.RULES,
}
WHY_NOT = {
    "password_changed": "the old password is not stored",
    "user_registered": "delete the account instead",
    "user_deleted": "the data of an erased account is not stored",
    "player_killed": "the game has carried it out",
    "player_warped": "the game has carried it out",
    "chat_sent": "the message may have been read",
    "user_kicked": "the player may have come back since",
    "reset_requested": "the mail may have been read; the code expires by itself",
    "mail_retried": "the mail may have been sent; its code expires by itself",
    "catalogue_put": "let the game send the catalogue again",
    "item_picture_put": "let the game send the picture again",
    "guild_saved": "change the guild in the game",
    "guild_deleted": "found the guild again in the game",
    "second_factors_changed": "the secret is not stored in the audit log",
    "second_factors_reset": "the account sets up a new second factor instead",
    "identities_changed": "the account links or removes the sign-in itself",
    "role_saved": "edit the role again",
    "change_approved": "undo the approved change instead",
    "bulk_job_changed": "pause, cancel or undo the job instead",
    "note_added": "delete the note instead",
    "note_deleted": "write the note again",
    "tags_set": "set the tags again",
    "board_saved": "edit or delete the board instead",
    "board_deleted": "create the board again; its seasons are not stored",
    "season_saved": "edit the season instead",
    "account_hidden": "show or hide the account again",
    "signal_raised": "acknowledge the signal instead",
    "signal_acknowledged": "a signal stays acknowledged; if it happens again there is a new one",
    "role_deleted": "create the role again",
    "invitation_sent": "withdraw the invitation instead",
    "invitation_withdrawn": "invite the person again",
}
GAME_NOTICE = "it is only the notice for the game; undo the change of the account"
BULK_LOAD = "it is a bulk load or a trim of many rows"


def is_undoable(told: HistoryChange) -> bool:
    """Tell whether a kind of change can be undone at all; later changes may still prevent it."""
    stands = told.later_changes_kept and told.depth < MOST_DEPTH and not told.barred and not told.erased
    return told.kind in RULES and not told.is_game_notice and stands


def find_unknown_fields(kind: str, before: ChangeSide, after: ChangeSide) -> list[str]:
    """Return the fields of a newer version that the change set: this version has no undo rule for them.

    A created or deleted player has all fields of its record, so those need no rule. Only lists of objects do: they
    stand for tables that this version does not know.
    """
    if not (before.unknown or after.unknown):
        return []
    values = {**before.unknown, **after.unknown}
    changed = sorted(name for name in values if before.unknown.get(name) != after.unknown.get(name))
    if kind not in {PlayerCreated.kind, PlayerDeleted.kind}:
        return changed
    return [name for name in changed if _is_list_of_objects(values[name])]


def _is_list_of_objects(value: object) -> bool:
    """Tell whether a JSON value is a list of objects, as items and spells are; fields of the record never are."""
    found: object = msgspec.json.decode(cast("msgspec.Raw", value))
    return isinstance(found, list) and any(isinstance(each, dict) for each in cast("list[object]", found))


def list_permissions(told: HistoryChange) -> frozenset[str]:
    """Return the permissions needed to undo a change, or to be told why it cannot be undone."""
    needs, _ = RULES.get(told.kind, (NO_PERMISSIONS, None))
    if told.kind == PlayerChanged.kind:
        needs = RENAME if _sets_name(told) else PROGRESS
    return (
        UNDO
        | needs
        | (undo_accounts.QUERY if told.about_account else NO_PERMISSIONS)
        | (LINK if told.from_game else NO_PERMISSIONS)
    )


def _sets_name(told: HistoryChange) -> bool:
    """Tell whether a change of a player's record set its name: the field stands in it. Cheaper than to decode it."""
    after = told.after or ""
    return NAME_FIELD in (after if isinstance(after, str) else after.decode())


def _find_rule(told: HistoryChange) -> Rule:
    if told.kind not in RULES:
        raise NotUndoable(kind=told.kind, why=WHY_NOT.get(told.kind, BULK_LOAD))
    if told.is_game_notice:
        raise NotUndoable(kind=told.kind, why=GAME_NOTICE)
    return RULES[told.kind][1]


async def _lock_subject(tx: Reading, told: HistoryChange, actor: Actor) -> None:
    """Lock the player of the change to undo; if there is none, or it is deleted, the account and the caller's."""
    locked = await players.lock_by_id(tx, told.player_id) if told.player_id else None
    if locked is None and told.user_id:
        await roles.lock_both(tx, told.user_id, actor.id)


async def _require_user(tx: Reading, context: UndoContext, user_id: str) -> None:
    try:
        await lookup.lock_user(tx, user_id)
    except NoSuchUser:
        raise context.make_conflict("the account that owned the player was deleted since") from None


def _drop_presence(side: ChangeSide) -> ChangeSide:
    """Prepare one side of a change for comparison: without the time last online, with defaults for missing fields.

    Without attachments too: a guild that a player has joined does not prevent the undo, whose own undo restores it.
    """
    values = {**DEFAULTS, **side.player}
    kept = {name: value for name, value in values.items() if name != MOVED_BY_PRESENCE}
    return replace(side, player=kept, attached=Attachments())
