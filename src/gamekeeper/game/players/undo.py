"""Undo of changes of players, except for those of items, which `undo_items.py` undoes."""

import msgspec
from msgspec.structs import replace

from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Attachments, Change, ChangeSide
from gamekeeper.game.core.player import DEFAULTS, REQUIRED, make_player
from gamekeeper.game.core.refusals import NoSuchUser
from gamekeeper.game.core.undo import UndoContext, lock_player, undoes
from gamekeeper.game.core.values import is_same_value
from gamekeeper.game.players import player_edits, undo_items, variables
from gamekeeper.game.players.changes import (
    SPELL_KINDS,
    SPELLS_SET,
    PlayerChanged,
    PlayerCreated,
    PlayerDeleted,
    PlayerState,
    SpellsChanged,
    VariablesSet,
)
from gamekeeper.store.audit import history as rows
from gamekeeper.store.engine.interface import Locking, Reading
from gamekeeper.store.players import players
from gamekeeper.store.players import variables as variable_rows
from gamekeeper.store.world import guilds

MOVED_BY_PRESENCE = "last_online"


@undoes(*SPELL_KINDS)
async def undo_spells(tx: Reading, context: UndoContext) -> list[Change]:
    player = await lock_player(tx, context)
    known = await players.read_known_spells(tx, player.id)
    now = {slot: known.get(slot) for slot in context.after.spells}
    if now != dict(context.after.spells):
        raise context.make_conflict("the spell's slot holds something else now")
    elsewhere = {spell for slot, spell in known.items() if slot not in context.after.spells}
    if elsewhere & {spell for spell in context.before.spells.values() if spell}:
        raise context.make_conflict("the player has learnt the spell again")
    return [SpellsChanged(SPELLS_SET, player.id, now, context.before.spells)]


@undoes(VariablesSet.kind)
async def undo_variables(tx: Reading, context: UndoContext) -> list[Change]:
    player = await lock_player(tx, context)
    now = {row.variable_id: variables.read_value(row) for row in await variable_rows.read_of_player(tx, player.id)}
    for each, became in context.after.variables.items():
        if not is_same_value(now.get(each), became):
            raise context.make_conflict("the variable has another value now")
    held = {each: now.get(each) for each in context.after.variables}
    return [VariablesSet(player.id, held, context.before.variables)]


@undoes(PlayerChanged.kind)
async def undo_record(tx: Reading, context: UndoContext) -> list[Change]:
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


@undoes(PlayerCreated.kind)
async def undo_creation(tx: Locking, context: UndoContext) -> list[Change]:
    player = await lock_player(tx, context)
    _, change = await player_edits.plan_deletion(tx, player.id, context.codec)
    now = context.codec.decode_side(context.codec.encode_side(change.state.make_side(player)))
    if _drop_presence(now) != _drop_presence(context.after):
        raise context.make_conflict("the player has changed since; delete it if that is what you want")
    return [change]


@undoes(PlayerDeleted.kind)
async def undo_deletion(tx: Reading, context: UndoContext) -> list[Change]:
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
