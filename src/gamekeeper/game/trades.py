"""Finds out whether an item that a game took from a player went to another player: an undo would then duplicate it.

A game reports a trade, or a drop and a pick-up, as two changes: one player loses the item, another gains it. Their
order is not known, and nothing links them but the item itself and the time.
"""

from collections import Counter
from collections.abc import AsyncIterator

from gamekeeper.game.codec import ChangeSide
from gamekeeper.game.history import find_undone
from gamekeeper.game.inventory import Stack
from gamekeeper.game.undo_context import UndoContext, read_side
from gamekeeper.game.undo_refusals import ItemMovedOn
from gamekeeper.store import history as rows
from gamekeeper.store.engine import Reading

WINDOW_CHANGES = 1_000  # change numbers that one statement searches for a trade
# windows of changes searched for a trade in each direction: limits the search, however busy the game is
MAX_WINDOWS = 20
MINUTE_MS = 60_000


async def require_not_traded(tx: Reading, context: UndoContext) -> None:
    """Refuse an undo if a game reported that the player lost the items, and that another player gained them then.

    For an undo of an undo, the report is the first change of the chain.
    """
    report = await rows.find_change(tx, context.change.first) if context.trade_ms and context.change.from_game else None
    lost = _find_gained(context.after, context.before) & _find_lost(report, context) if report else None
    if not report or not lost:
        return
    times = report.at - context.trade_ms, report.at + context.trade_ms
    items = {stack.item_id for stack in lost}
    async for numbers in _iterate_windows(tx, context, report.seq, times):
        gains = [
            each
            for each in await rows.find_reported_of_others(tx, context.player_id, numbers, times, items)
            if lost & _find_gained(read_side(each.before, context.codec), read_side(each.after, context.codec))
        ]
        undone = await find_undone(tx, [each.seq for each in gains])
        for each in gains:
            if each.seq not in undone:
                who = each.player or each.player_id
                raise _make_refusal(context, f"{who} gained the same item by change {each.seq}")


async def _iterate_windows(tx: Reading, context: UndoContext, seq: int, times: tuple[int, int]) -> AsyncIterator[range]:
    """Yield ranges of change numbers between two times: first those after change `seq`, then those before it."""
    start = seq + 1
    for _ in range(MAX_WINDOWS):
        first = await rows.find_first_from(tx, start)
        if first is None or first[1] > times[1]:
            break
        yield range(first[0], first[0] + WINDOW_CHANGES)
        start = first[0] + WINDOW_CHANGES
    else:
        raise _make_too_many_refusal(context)
    stop = seq
    for _ in range(MAX_WINDOWS):
        start = max(stop - WINDOW_CHANGES, 0)
        yield range(start, stop)
        first = await rows.find_first_from(tx, start)
        if not start or first is None or first[1] < times[0]:
            return
        stop = start
    raise _make_too_many_refusal(context)


def _find_lost(report: rows.HistoryChange, context: UndoContext) -> set[Stack]:
    return _find_gained(read_side(report.after, context.codec), read_side(report.before, context.codec))


def _find_gained(before: ChangeSide, after: ChangeSide) -> set[Stack]:
    """Return the items, with buffs and bag, of which the player has more after the change, as stacks of one.

    The id of an empty bag is ignored: Gamekeeper makes a new one when the game does not name it.
    """
    filled = {place for place, _ in (*before.slots, *after.slots)}
    sums: Counter[Stack] = Counter()
    for slots, sign in ((before.slots, -1), (after.slots, 1)):
        for stack in slots.values():
            if stack:
                bag_id = stack.bag_id if stack.bag_id in filled else None
                sums[stack._replace(quantity=1, bag_id=bag_id)] += sign * stack.quantity
    return {stack for stack, quantity in sums.items() if quantity > 0}


def _make_too_many_refusal(context: UndoContext) -> ItemMovedOn:
    most = f"{WINDOW_CHANGES * MAX_WINDOWS:,}"
    return _make_refusal(context, f"more than {most} changes, too many to search for a trade, were made")


def _make_refusal(context: UndoContext, trade: str) -> ItemMovedOn:
    return ItemMovedOn(seq=context.change.seq, trade=trade, minutes=context.trade_ms // MINUTE_MS)
