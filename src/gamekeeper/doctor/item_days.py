"""The doctor's check of the totals of items at the ends of days: quantities by the flows, holders by the audit log."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gamekeeper.doctor.findings import ERROR, PAGE_ROWS, Findings, Progress
from gamekeeper.game import flows
from gamekeeper.game.codec import Codec
from gamekeeper.game.flows import find_day
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.game.player_effects import PlayersLoaded
from gamekeeper.store import economy, holdings, ledger
from gamekeeper.store.economy import EconomyState, ItemDay
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import NEVER
from gamekeeper.store.holdings import ITEM, Holding

ECONOMY = "economy"
HOLDER_DAYS = 92  # days whose holders are counted again: memory has a number for each item and day
FIX_ADVICE = "Correct it by the flows and the changes of players: gamekeeper doctor --fix"
NO_ADVICE = "Nothing repairs it; only reports of days show it. Restore a backup if you need the right number."
Steps = dict[str, Counter[int]]  # item → day → players who have it at its end, minus those at the end of the day before


class WrongDay(NamedTuple):
    item_id: str
    stored: ItemDay
    counted: ItemDay
    message: str  # empty if the next stored day is wrong by as much: one wrong flow, or total, is one finding
    alone: bool  # the stored days before and after are right: a wrong flow or total would make them wrong, too


class _Compared(NamedTuple):
    stored: ItemDay
    counted: ItemDay
    has_holders: bool  # the holders of that day could be counted; otherwise `counted` has the stored number


async def check(
    tx: Reading, found: Findings, codec: Codec, state: EconomyState, progress: Progress, cause: str
) -> None:
    """Report wrong days. `cause` is the advice if the numbers that judge them are not known to be right, or empty."""
    for each in await find_wrong(tx, codec, state, progress):
        if each.message:
            found.add(ERROR, ECONOMY, f"{each.message} {cause or (FIX_ADVICE if each.alone else NO_ADVICE)}")


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
        for wrong in _list_wrong(
            item, await _compare(tx, item, totals.get(item, (0, 0)), first, steps.get(item, Counter()))
        )
    ]


async def _compare(
    tx: Reading, item: str, total: tuple[int, int], first: int, steps: Mapping[int, int]
) -> Sequence[_Compared]:
    """Count the totals of an item at the end of each stored day, newest first."""
    gains: Counter[int] = Counter()
    for flow in await economy.read_flows(tx, item, 0, NEVER):
        gains[flow.day] += flow.created - flow.destroyed
    found: list[_Compared] = []
    quantity, holders = total
    later, stepped = sorted(gains), sorted(steps)
    for row in reversed(await economy.read_all_days(tx, item)):
        while later and later[-1] > row.day:
            quantity -= gains[later.pop()]
        while stepped and stepped[-1] > row.day:
            holders -= steps[stepped.pop()]
        known = row.day >= first
        found.append(_Compared(row, ItemDay(row.day, quantity, holders if known else row.holders), known))
    return found


def _list_wrong(item: str, days: Sequence[_Compared]) -> Iterable[WrongDay]:
    off = 0
    for number, (stored, counted, _) in enumerate(days):
        where, texts = f"Item {item}, day {stored.day}", list[str]()
        if stored.quantity - counted.quantity not in (0, off):
            texts.append(f"{where}: the stored total is {stored.quantity}; the flows give {counted.quantity}.")
        if stored.holders != counted.holders:
            texts.append(
                f"{where}: {stored.holders} players are stored as holders; "
                f"the changes of players give {counted.holders}."
            )
        if stored != counted:
            yield WrongDay(item, stored, counted, " ".join(texts), _is_alone(days, number))
        off = stored.quantity - counted.quantity


def _is_alone(days: Sequence[_Compared], number: int) -> bool:
    """Return whether the stored days before and after this one are right. After the newest one is the present total."""
    if number + 1 == len(days):
        return False  # nothing before it confirms the flows and the changes that lead to it
    this, before = days[number], days[number + 1]
    neighbours = [before, *days[max(number - 1, 0) : number]]
    confirmed = this.stored.holders == this.counted.holders or before.has_holders
    return confirmed and all(each.stored == each.counted for each in neighbours)


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
