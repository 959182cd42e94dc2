"""Undo of changes. An undo is refused if the values that the change set have been changed again since.

Stacks of items are the exception: the undo gives or takes the difference, if the stack is large enough. An undo is a
change itself, so it can be undone too.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

import msgspec

from gamekeeper.game.access import roles
from gamekeeper.game.audit.history import KINDS
from gamekeeper.game.audit.refusals import AlreadyUndone, NotUndoable
from gamekeeper.game.core.change import Actor, Change, ChangeSide, Codec
from gamekeeper.game.core.player import Capacity
from gamekeeper.game.core.refusals import HistoryTrimmed, NoSuchChange
from gamekeeper.game.core.undo import RULES, Rule, UndoContext, read_side
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.players.changes import (
    PlayerCreated,
    PlayerDeleted,
)
from gamekeeper.ground.rooms import import_modules
from gamekeeper.store.audit import history as rows
from gamekeeper.store.audit.history import HistoryChange
from gamekeeper.store.core import ledger
from gamekeeper.store.engine.interface import Locking, Reading
from gamekeeper.store.players import players

LINK = frozenset({"game.link"})
MOST_DEPTH = 100  # longest chain of undos of undos, which `store/audit/history` follows down to the first change
MAX_UNDOS = 1_000  # undos in one chain: undos of a change, undos of those undos, and so on
NO_PERMISSIONS: frozenset[str] = frozenset()
QUERY, UNDO = frozenset({"users.query"}), frozenset({"audit.undo"})
GAME_NOTICE = "it is only the notice for the game; undo the change of the account"
BULK_LOAD = "it is a bulk load or a trim of many rows"
import_modules("game")  # modules of the rooms register the rules


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
    known = KINDS[kind].fields if kind in KINDS else NO_PERMISSIONS
    changed = sorted(name for name in values.keys() - known if before.unknown.get(name) != after.unknown.get(name))
    if kind not in {PlayerCreated.kind, PlayerDeleted.kind}:
        return changed
    return [name for name in changed if _is_list_of_objects(values[name])]


def _is_list_of_objects(value: object) -> bool:
    """Tell whether a JSON value is a list of objects, as items and spells are; fields of the record never are."""
    found: object = msgspec.json.decode(cast("msgspec.Raw", value))
    return isinstance(found, list) and any(isinstance(each, dict) for each in cast("list[object]", found))


def list_permissions(told: HistoryChange) -> frozenset[str]:
    """Return the permissions needed to undo a change, or to be told why it cannot be undone."""
    needs = KINDS[told.kind].needs if told.kind in RULES else NO_PERMISSIONS
    return (
        UNDO.union(needs(told) if callable(needs) else needs)
        | (QUERY if told.about_account else NO_PERMISSIONS)
        | (LINK if told.from_game else NO_PERMISSIONS)
    )


def _find_rule(told: HistoryChange) -> Rule:
    if told.kind not in RULES:
        kind = KINDS.get(told.kind)
        why = kind.why_not if kind and kind.why_not else BULK_LOAD
        raise NotUndoable(kind=told.kind, why=why)
    if told.is_game_notice:
        raise NotUndoable(kind=told.kind, why=GAME_NOTICE)
    return RULES[told.kind]


async def _lock_subject(tx: Reading, told: HistoryChange, actor: Actor) -> None:
    """Lock the player of the change to undo; if there is none, or it is deleted, the account and the caller's."""
    locked = await players.lock_by_id(tx, told.player_id) if told.player_id else None
    if locked is None and told.user_id:
        await roles.lock_both(tx, told.user_id, actor.id)
