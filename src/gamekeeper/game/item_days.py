"""Totals of items at the ends of UTC days, also when changes are not counted in the order of their times.

On PostgreSQL a change has the time at which its transaction began. So after midnight a change of the day before may
have a higher number than the first changes of the new day. It belongs to the day of its own time: the totals at the
end of both days are corrected.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from gamekeeper.game import flows
from gamekeeper.game.codec import Codec
from gamekeeper.game.flows import Tally, find_day
from gamekeeper.store import economy, holdings, rollups
from gamekeeper.store.economy import CountedChange, EconomyState, ItemDay
from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.history import NEVER
from gamekeeper.store.holdings import ITEM, Holding
from gamekeeper.store.rollups import Checkpoint

# checkpoint: the newest day of which a change was counted, and the number of its first counted change
NEWEST_DAY = "economy_day"
MOST_LATER = 500  # changes of the newest day that are read for a batch of the day before


async def correct(tx: Writing, corrections: Iterable[tuple[str, ItemDay, ItemDay]]) -> int:
    """Correct totals of items at the ends of days: for each item the stored numbers and the right ones.

    Totals that changed since they were read stay as they are. Return how many were corrected. The lock comes first:
    a server may count meanwhile.
    """
    await economy.wait_for_lock(tx)
    return await economy.correct_days(tx, corrections)


async def save(tx: Writing, codec: Codec, state: EconomyState, changes: Sequence[CountedChange], tally: Tally) -> None:
    """Store the totals after a batch of changes of one day. `state` is that before the batch.

    Where the holders at the end of a day cannot be known, the day's totals are deleted. Reports then find the quantity
    by the flows, and the number of holders is unknown.
    """
    day, newest = find_day(changes[0].at), find_day(state.at)
    if day > newest:
        await rollups.save(tx, NEWEST_DAY, Checkpoint(day, changes[0].seq))
    items = sorted(tally.list_items())
    if not items:
        return
    if state.swept is not None:  # totals are not known: those of the day are stored when the sweep ends
        await economy.delete_days(tx, items, day, NEVER)
    elif day >= newest:
        await economy.save_days(tx, day, items)
    else:
        steps = await _count_late(tx, codec, state, tally, day) if day == newest - 1 else None
        if steps is None:
            await economy.delete_days(tx, items, day, newest)
        else:
            await economy.add_to_day(tx, day, steps)
        await economy.save_days(tx, newest, items)


async def _count_late(
    tx: Reading, codec: Codec, state: EconomyState, tally: Tally, day: int
) -> dict[str, ItemDay] | None:
    """Return by how much late changes change the totals of items at the end of the day before the newest one.

    Some players may have changes of the newest day that were counted already. None: they are too many to read, or it
    is not known where they begin.
    """
    newest = await rollups.find(tx, NEWEST_DAY)
    gains = {key: gain for key, gain in tally.gains.items() if gain}
    players = sorted({key.player_id for key in gains})
    if newest.position != day + 1:
        return None
    later = await economy.read_changes_of(tx, players, newest.value, state.seq, MOST_LATER)
    if len(later) == MOST_LATER:
        return None
    held = Counter(await holdings.read_held(tx, gains) if gains else {})
    for change in later:
        if find_day(change.at) > day:
            for item_id, gain in flows.count_gains(change.before, change.after, codec).items():
                held[Holding(change.player_id or "", ITEM, item_id)] -= gain
    quantities, holders = Counter[str](), Counter[str]()
    for key, gain in gains.items():
        quantities[key.thing_id] += gain
        holders[key.thing_id] += (held[key] > 0) - (held[key] - gain > 0)
    return {item_id: ItemDay(day, quantities[item_id], holders[item_id]) for item_id in quantities}
