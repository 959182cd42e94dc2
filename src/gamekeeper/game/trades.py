"""Whether an item that a game took from a player went to another player: then giving it back would make a second one.

A game reports a trade, or a drop and a pick-up, as two changes: one player loses the item, another gains it. Their
order is not known, and nothing links them but the item itself and the time.
"""

from collections import Counter
from collections.abc import AsyncIterator

from gamekeeper.game.history import undone_by
from gamekeeper.game.inventory import Stack
from gamekeeper.game.refusals import ItemMovedOn
from gamekeeper.game.spelling import Trace
from gamekeeper.game.undoing import Undoing, side
from gamekeeper.store import history as rows
from gamekeeper.store.engine import Reading

WINDOW = 1_000  # numbers of changes in one statement
WINDOWS = 20  # in each direction: so many are looked at, however busy the game is
MINUTE_MS = 60_000


async def require_not_traded(tx: Reading, undoing: Undoing) -> None:
    """Reject the undo if a game's report took what it gives back, and another player gained that about then.

    Of an undo of an undo, the game's report is the first change of the chain.
    """
    report = await rows.find_change(tx, undoing.told.first) if undoing.trade_ms and undoing.told.from_game else None
    lost = _gained(undoing.after, undoing.before) & _lost(report, undoing) if report else None
    if not report or not lost:
        return
    times = report.at - undoing.trade_ms, report.at + undoing.trade_ms
    items = {stack.item_id for stack in lost}
    async for numbers in _windows(tx, undoing, report.seq, times):
        gains = [
            each
            for each in await rows.find_reported_of_others(tx, undoing.player_id, numbers, times, items)
            if lost & _gained(side(each.before, undoing.spelling), side(each.after, undoing.spelling))
        ]
        undone = await undone_by(tx, [each.seq for each in gains])
        for each in gains:
            if each.seq not in undone:
                who = each.player or each.player_id
                raise _moved_on(undoing, f"{who} gained the same item by change {each.seq}")


async def _windows(tx: Reading, undoing: Undoing, seq: int, times: tuple[int, int]) -> AsyncIterator[range]:
    """Numbers of the changes between two times, a window at a time: those after change `seq`, then those before it."""
    start = seq + 1
    for _ in range(WINDOWS):
        first = await rows.find_first_from(tx, start)
        if first is None or first[1] > times[1]:
            break
        yield range(first[0], first[0] + WINDOW)
        start = first[0] + WINDOW
    else:
        raise _too_many(undoing)
    stop = seq
    for _ in range(WINDOWS):
        start = max(stop - WINDOW, 0)
        yield range(start, stop)
        first = await rows.find_first_from(tx, start)
        if not start or first is None or first[1] < times[0]:
            return
        stop = start
    raise _too_many(undoing)


def _lost(report: rows.HistoryChange, undoing: Undoing) -> set[Stack]:
    return _gained(side(report.after, undoing.spelling), side(report.before, undoing.spelling))


def _gained(before: Trace, after: Trace) -> set[Stack]:
    """Each item, with its buffs and its bag, of which there are more afterwards; as a stack of one.

    An empty bag is like any other of its kind: Gamekeeper gives it a new id where the game names none.
    """
    filled = {place for place, _ in (*before.slots, *after.slots)}
    sums: Counter[Stack] = Counter()
    for slots, sign in ((before.slots, -1), (after.slots, 1)):
        for stack in slots.values():
            if stack:
                bag_id = stack.bag_id if stack.bag_id in filled else None
                sums[stack._replace(quantity=1, bag_id=bag_id)] += sign * stack.quantity
    return {stack for stack, quantity in sums.items() if quantity > 0}


def _too_many(undoing: Undoing) -> ItemMovedOn:
    most = f"{WINDOW * WINDOWS:,}"
    return _moved_on(undoing, f"more than {most} changes, too many to look for a trade, were made")


def _moved_on(undoing: Undoing, trade: str) -> ItemMovedOn:
    return ItemMovedOn(seq=undoing.told.seq, trade=trade, minutes=undoing.trade_ms // MINUTE_MS)
