"""The doctor's check of the totals of items at the ends of days: quantities by the flows, holders by the audit log."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gamekeeper.doctor.findings import ERROR, PAGE_ROWS, Findings, Progress
from gamekeeper.game import flows
from gamekeeper.game.codec import Codec
from gamekeeper.game.effects import PlayersLoaded
from gamekeeper.game.flows import find_day
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.store import economy, holdings, ledger
from gamekeeper.store.economy import EconomyState
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import NEVER
from gamekeeper.store.holdings import ITEM, Holding

ECONOMY = "economy"
HOLDER_DAYS = 92  # days whose holders are counted again: memory has a number for each item and day
ADVICE = "Delete the wrong totals, so that reports follow the flows: gamekeeper doctor --fix"
Steps = dict[str, Counter[int]]  # item → day → players who have it at its end, minus those at the end of the day before


class WrongDay(NamedTuple):
    item_id: str
    day: int
    message: str
    follows: bool = False  # the next stored day is wrong by as much: one wrong flow, or total, is one finding


async def check(tx: Reading, found: Findings, codec: Codec, state: EconomyState, progress: Progress) -> None:
    for each in await find_wrong(tx, codec, state, progress):
        if not each.follows:
            found.add(ERROR, ECONOMY, f"{each.message} {ADVICE}")


async def find_wrong(tx: Reading, codec: Codec, state: EconomyState, progress: Progress) -> list[WrongDay]:
    """Go back from the present totals, day by day. Quantities follow from the flows, which are kept forever.

    Holders follow from the changes of each player. They are known since the last bulk load, which does not say who
    got what, and as far as the audit log goes back.
    """
    first = await _find_first_day(tx, state)
    steps = await _count_holders(tx, codec, state, first, progress)
    totals = await economy.read_totals(tx)
    return [
        wrong
        for item in await economy.read_flow_items(tx)
        for wrong in await _check_item(tx, item, totals.get(item, (0, 0)), first, steps.get(item, Counter()))
    ]


async def _check_item(
    tx: Reading, item: str, total: tuple[int, int], first: int, steps: Mapping[int, int]
) -> Sequence[WrongDay]:
    found: list[WrongDay] = []
    gains: Counter[int] = Counter()
    for flow in await economy.read_flows(tx, item, 0, NEVER):
        gains[flow.day] += flow.created - flow.destroyed
    (quantity, holders), off = total, 0
    later, stepped = sorted(gains), sorted(steps)
    for row in reversed(await economy.read_all_days(tx, item)):
        while later and later[-1] > row.day:
            quantity -= gains[later.pop()]
        while stepped and stepped[-1] > row.day:
            holders -= steps[stepped.pop()]
        where = f"Item {item}, day {row.day}"
        if row.quantity != quantity:
            message = f"{where}: the stored total is {row.quantity}; the flows give {quantity}."
            found.append(WrongDay(item, row.day, message, follows=row.quantity - quantity == off))
        off = row.quantity - quantity
        if row.day >= first and row.holders != holders:
            message = f"{where}: {row.holders} players are stored as holders; the changes of players give {holders}."
            found.append(WrongDay(item, row.day, message))
    return found


async def _find_first_day(tx: Reading, state: EconomyState) -> int:
    """Return the first day at whose end the holders can be counted."""
    trimmed = await ledger.read_trimmed_number(tx)
    kept = await economy.read_changes(tx, trimmed, NEVER, 1) if trimmed else []
    loaded = await ledger.find_last_time(tx, PlayersLoaded.kind)
    return max(find_day(state.at) - HOLDER_DAYS, find_day(loaded), *(find_day(each.at) for each in kept))


async def _count_holders(tx: Reading, codec: Codec, state: EconomyState, first: int, progress: Progress) -> Steps:
    """Count by item and day how many players got it and had none before, minus those who lost it."""
    steps: Steps = defaultdict(Counter)
    gains: dict[str, Counter[int]] = defaultdict(Counter)  # of one player: item → day → gain
    position, done = (ZERO_GUID, 0), 0
    while page := await economy.read_changes_by_player(tx, position, state.seq, first * flows.DAY_MS, PAGE_ROWS):
        for change in page:
            if change.player_id != position[0]:
                await _add_player(tx, steps, position[0], gains)
                gains.clear()
            position = (change.player_id or "", change.seq)
            for item_id, gain in flows.count_gains(change.before, change.after, codec).items():
                gains[item_id][find_day(change.at)] += gain
        done += len(page)
        progress("holders", done, done)
    await _add_player(tx, steps, position[0], gains)
    return steps


async def _add_player(tx: Reading, steps: Steps, player_id: str, gains: Mapping[str, Counter[int]]) -> None:
    keys = [Holding(player_id, ITEM, item_id) for item_id in gains]
    held = await holdings.read_held(tx, keys) if keys else {}
    for key in keys:
        quantity = held.get(key, 0)
        for day, gain in sorted(gains[key.thing_id].items(), reverse=True):
            steps[key.thing_id][day] += (quantity > 0) - (quantity - gain > 0)
            quantity -= gain
