"""Taking a change back: what it changed must still be as it left it, or nothing is done.

A stack that has grown or shrunk since is given or taken the difference, as long as that much is there: nothing is
invented. An undo is a change like others, so it can be undone too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import msgspec

from gamekeeper.game import account_undo, characters, item_undo, lookup, powers, trades, variables
from gamekeeper.game.changes import Decision
from gamekeeper.game.effects import (
    Change,
    PlayerChanged,
    PlayerCreated,
    PlayerDeleted,
    SpellsChanged,
    VariablesSet,
    World,
)
from gamekeeper.game.inventory import Sizes
from gamekeeper.game.players import DEFAULTS, REQUIRED, player_of
from gamekeeper.game.refusals import AlreadyUndone, HistoryTrimmed, NoSuchChange, NoSuchUser, NotUndoable
from gamekeeper.game.spelling import Spelling, Trace
from gamekeeper.game.undoing import Actor, Rule, Undoing, locked, side
from gamekeeper.store import history as rows
from gamekeeper.store import ledger, players
from gamekeeper.store import spells as spell_rows
from gamekeeper.store import variables as variable_rows
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import HistoryChange

LINK = frozenset({"game.link"})
DEEPEST = 100  # an undo of an undo of an undo…
MOST = 1_000  # undos of one change, of those, and so on
MOVED_BY_PRESENCE = "last_online"


class Taken(NamedTuple):
    """The change that is taken back, and the changes that do it."""

    told: HistoryChange
    changes: list[Change]


async def require(tx: Reading, seq: int) -> HistoryChange:
    told = await rows.find_change(tx, seq)
    if told is None:
        raise NoSuchChange(seq=seq)
    return told


async def undo(tx: Reading, seq: int, actor: Actor, spelling: Spelling, room: Sizes, trade_ms: int) -> Decision[Taken]:
    trimmed = await ledger.read_trimmed(
        tx
    )  # the first lock of every undo, so that none waits for one that waits for it
    told = await require(tx, seq)
    actor.require(needed(told))
    rule = _rule(told)
    if told.first <= trimmed:  # what took it back may be gone, and so may what came after it
        raise HistoryTrimmed(trimmed=trimmed)
    await _lock(tx, told, actor)  # from here on nobody else undoes the same
    by = await rows.find_undos(tx, [told.first])
    _require_once(by, seq)
    kin = frozenset({told.first, *(each for numbers in by.values() for each in numbers)})
    sides = side(told.before, spelling), side(told.after, spelling)
    undoing = Undoing(told, *sides, spelling, room, actor, trade_ms, kin)
    if told.depth >= DEEPEST or len(kin) > MOST:
        raise undoing.conflict(
            f"it takes back what takes back another, {DEEPEST} times, or one change was taken back and made again "
            f"{MOST} times; make the change you want"
        )
    if unknown := unknown_fields(told.kind, *sides):
        raise undoing.conflict(f"this version of Gamekeeper does not know {', '.join(unknown)}; use a newer one")
    changes = await rule(tx, undoing)
    if not changes:
        raise undoing.conflict("everything is as it was before it already")
    return Decision(changes, Taken(told, changes), about=(told.player_id, told.user_id), undoes=seq)


def _require_once(by: Mapping[int, Sequence[int]], seq: int) -> None:
    """Neither it nor, through it, any other change is taken back by two."""
    if standing := rows.resolve_undos(by, [seq]).get(seq):
        raise AlreadyUndone(seq=seq, by=standing)
    if twice := rows.find_double_undos(by, [seq]).get(seq):
        raise AlreadyUndone(seq=twice[0], by=twice[1])


async def _spells(tx: Reading, undoing: Undoing) -> list[Change]:
    player = await locked(tx, undoing)
    known = await spell_rows.read_known(tx, player.id)
    now = {slot: known.get(slot) for slot in undoing.after.spells}
    if now != dict(undoing.after.spells):
        raise undoing.conflict("the spell's slot holds something else by now")
    elsewhere = {spell for slot, spell in known.items() if slot not in undoing.after.spells}
    if elsewhere & {spell for spell in undoing.before.spells.values() if spell}:
        raise undoing.conflict("the player has learnt the spell again")
    return [SpellsChanged("spells_set", player.id, now, undoing.before.spells)]


async def _variables(tx: Reading, undoing: Undoing) -> list[Change]:
    player = await locked(tx, undoing)
    now = {row.variable_id: variables.typed(row) for row in await variable_rows.read_of_player(tx, player.id)}
    for each, became in undoing.after.variables.items():
        there = now.get(each)
        if there is not None if became is None else not variables.same(there, became):
            raise undoing.conflict("the variable has another value by now")
    held = {each: now.get(each) for each in undoing.after.variables}
    return [VariablesSet(player.id, held, undoing.before.variables)]


async def _record(tx: Reading, undoing: Undoing) -> list[Change]:
    player = await locked(tx, undoing)
    wanted = {name: value for name, value in undoing.before.player.items() if name != MOVED_BY_PRESENCE}
    for name in wanted:
        if getattr(player, name) != undoing.after.player.get(name):
            raise undoing.conflict(f"its {name.replace('_', ' ')} is another by now")
    former = replace(player, **wanted)
    named = former.name != player.name
    if named:
        await characters.require_free(tx, former.name, player.id)
    if "user_id" in wanted:
        await _require_user(tx, undoing, former.user_id)
    if "equipment" in wanted:
        await item_undo.require_worn(tx, undoing, former, set(former.equipment) - set(player.equipment))
    return [PlayerChanged(player, former, named=named)] if former != player else []


async def _creation(tx: Reading, undoing: Undoing) -> list[Change]:
    player = await locked(tx, undoing)
    _, change = await characters.deleted(tx, player.id, undoing.spelling)
    now = undoing.spelling.read_trace(undoing.spelling.trace(change.world.trace(player)))
    if _lasting(now) != _lasting(undoing.after):
        raise undoing.conflict("the player has changed since; delete it if that is what you want")
    return [change]


async def _deletion(tx: Reading, undoing: Undoing) -> list[Change]:
    held = undoing.before
    if not held.player.keys() >= REQUIRED:  # an erased person's rows have lost the name
        raise undoing.conflict("the ledger no longer says who it was")
    player = player_of(held.player, held.unknown)
    await _require_user(tx, undoing, player.user_id)
    if await players.lock_by_id(tx, player.id):
        raise undoing.conflict("the player is there again")
    if since := await rows.find_following(tx, player.id, undoing.told.seq, undoing.kin):
        raise undoing.conflict(f"the player was there again since, as change {since} says; undo its last deletion")
    await characters.require_free(tx, player.name, player.id)
    await item_undo.require_nobodys(tx, undoing, held.bags)
    await trades.require_not_traded(tx, undoing)
    world = World(
        {spot: stack for spot, stack in held.slots.items() if stack},
        held.bags,
        {slot: spell for slot, spell in held.spells.items() if spell},
        {each: value for each, value in held.variables.items() if value is not None},
    )
    return [PlayerCreated(player, world)]


ANYBODY: frozenset[str] = frozenset()
RULES: Mapping[str, tuple[frozenset[str], Rule]] = {
    "items_given": (ANYBODY, item_undo.items_back),
    "items_taken": (ANYBODY, item_undo.items_back),
    "items_set": (ANYBODY, item_undo.items_back),
    "spell_taught": (ANYBODY, _spells),
    "spell_forgotten": (ANYBODY, _spells),
    "spells_set": (ANYBODY, _spells),
    VariablesSet.kind: (ANYBODY, _variables),
    PlayerChanged.kind: (ANYBODY, _record),
    PlayerCreated.kind: (ANYBODY, _creation),
    PlayerDeleted.kind: (ANYBODY, _deletion),
    **account_undo.RULES,
}
WHY_NOT = {
    "password_changed": "the old password is kept nowhere",
    "user_registered": "delete the account instead",
    "user_deleted": "who was erased is kept nowhere",
    "user_kicked": "they may have come back since",
    "reset_requested": "the mail may have been read; the code runs out by itself",
    "mail_retried": "the mail may be on its way; its code runs out by itself",
    "catalogue_put": "let the game send the catalogue again",
}
TOLD_TO_GAME = "it only told a game what was done to the account; undo that change"
LOADED = "it brought in, or threw away, very many rows at once"


def undoable(told: HistoryChange) -> bool:
    """Whether there is a way back at all; it may be too late for it."""
    stands = told.later_changes_kept and told.depth < DEEPEST and not told.barred and not told.erased
    return told.kind in RULES and not _told_to_game(told) and stands


def unknown_fields(kind: str, before: Trace, after: Trace) -> list[str]:
    """Fields of a newer version that the change set: this version has no rule for them.

    When a player came or went, the fields of its record came and went together, so no rule is needed for those.
    Its belongings are in tables that this version does not know.
    """
    values = {**before.unknown, **after.unknown}
    changed = sorted(name for name in values if before.unknown.get(name) != after.unknown.get(name))
    if kind not in {PlayerCreated.kind, PlayerDeleted.kind}:
        return changed
    return [name for name in changed if _lists_objects(values[name])]


def _lists_objects(value: object) -> bool:
    """Tell belongings, such as items and spells, from fields of the record: only belongings are lists of objects."""
    found: object = msgspec.json.decode(cast("msgspec.Raw", value))
    return isinstance(found, list) and any(isinstance(each, dict) for each in cast("list[object]", found))


def needed(told: HistoryChange) -> frozenset[str]:
    """Which roles and powers it takes to undo it, or to hear why that cannot be."""
    needs, _ = RULES.get(told.kind, (ANYBODY, None))
    return needs | (account_undo.QUERY if told.about_account else ANYBODY) | (LINK if told.from_game else ANYBODY)


def _rule(told: HistoryChange) -> Rule:
    if told.kind not in RULES:
        raise NotUndoable(kind=told.kind, why=WHY_NOT.get(told.kind, LOADED))
    if _told_to_game(told):
        raise NotUndoable(kind=told.kind, why=TOLD_TO_GAME)
    return RULES[told.kind][1]


def _told_to_game(told: HistoryChange) -> bool:
    return told.kind.startswith("user_") and told.player_id is not None


async def _lock(tx: Reading, told: HistoryChange, actor: Actor) -> None:
    """The character; of one that is gone, its account."""
    locked = await players.lock_by_id(tx, told.player_id) if told.player_id else None
    if locked is None and told.user_id:
        await powers.lock(tx, told.user_id, actor.id)


async def _require_user(tx: Reading, undoing: Undoing, user_id: str) -> None:
    try:
        await lookup.locked_user(tx, user_id)
    except NoSuchUser:
        raise undoing.conflict("the account that owned it is not there any more") from None


def _lasting(side: Trace) -> Trace:
    """Presence is not a change, and a field that is newer than the change has its default."""
    values = {**DEFAULTS, **side.player}
    return replace(side, player={name: value for name, value in values.items() if name != MOVED_BY_PRESENCE})
