"""The doctor's check of the economy: compare its sums with the slots and with the audit log, as of one change."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from gamekeeper.doctor.findings import (
    NOTE,
    PAGE_ROWS,
    Check,
    DoctorFinding,
    Examination,
    Findings,
    Fix,
    Progress,
    compare,
    list_ranges,
    read_later,
)
from gamekeeper.game.core.change import Codec
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.insight import flows
from gamekeeper.game.insight.economy import read_actual, read_variables
from gamekeeper.game.insight.flows import KEY, STAFF, find_day
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.players.changes import PlayersLoaded
from gamekeeper.store.audit.history import NEVER
from gamekeeper.store.core import ledger
from gamekeeper.store.engine.interface import Reading, Snapshot
from gamekeeper.store.engine.statements import as_column
from gamekeeper.store.insight import economy, holdings
from gamekeeper.store.insight.economy import CountedChange, EconomyState, Flow, GiftFlow, ItemDay
from gamekeeper.store.insight.holdings import ITEM, Holding

WINDOW_DAYS = 31  # days whose sums are in memory at a time
FLOWS_ADVICE = (
    "Nothing counts it again; only reports of this day show it. Restore a backup if you need the right number."
)
KEY_OR_STAFF = f"{KEY} or {STAFF}"
Sums = Counter[tuple[int, str, str, str]]  # day, item, source or giver, name of the number


async def check_flows(it: Examination, state: EconomyState) -> None:
    """Count flows and gifts again, and compare them, unless the audit log was trimmed: then some changes are gone."""
    tx = it.tx
    if await ledger.read_trimmed_number(tx):
        return
    items, key_givers = await tx.column(economy.SQL.flow_items), await tx.column(economy.SQL.key_givers)
    counted = _Differences(it.codec, items, frozenset(key_givers))
    seq = start = newest = first = 0
    while page := await economy.read_changes(tx, seq, state.seq, PAGE_ROWS):
        counted.count(page)
        newest, first = max(newest, *(find_day(each.at) for each in page)), first or find_day(page[0].at)
        if newest - first >= WINDOW_DAYS:
            await counted.take_off(tx, start, newest)
            start = first = newest
        seq = page[-1].seq
        it.progress(ECONOMY, seq, state.seq)
    await counted.take_off(tx, start, NEVER)
    counted.report(it.found)


class _Differences:
    """Counted minus stored numbers. What is equal is not kept, so memory has only the days that are being counted."""

    def __init__(self, codec: Codec, items: Sequence[str], key_givers: Collection[str]) -> None:
        self._codec = codec
        self._items = items
        self._key_givers = key_givers
        self._owners: dict[str, str] = {}  # API key that is gone → its account
        self._flows: Sums = Counter()
        self._gifts: Sums = Counter()

    def count(self, changes: Sequence[CountedChange]) -> None:
        tally = flows.count(changes, self._codec, frozenset())
        self._add(tally.list_flows(), tally.list_gifts(), 1)
        for each in changes:
            if each.token_id in self._key_givers and not each.is_key and each.actor_id:
                self._owners[each.token_id or ""] = each.actor_id

    async def take_off(self, tx: Reading, first: int, end: int) -> None:
        """Take off the stored numbers of the days from `first` to the one before `end`."""
        items = as_column("id", self._items)
        stored = await tx.rows(Flow, economy.SQL.flows_between, items, first, end)
        self._add(stored, await tx.rows(GiftFlow, economy.SQL.gifts_between, first, end), -1)
        self._flows = Counter({key: number for key, number in self._flows.items() if number})
        self._gifts = Counter({key: number for key, number in self._gifts.items() if number})

    def report(self, found: Findings) -> None:
        gifts: Sums = Counter()
        for (day, item, giver, name), number in self._gifts.items():
            # the keys of an erased account are gone: what is counted for them now is that account's
            gifts[day, item, f"giver {self._owners.get(giver, giver)}", name] += number
        for (day, item, whose, name), number in sorted([*self._flows.items(), *gifts.items()]):
            if not number:
                continue
            message = f"Item {item}, day {day}: {name} by {whose} is {-number:+} compared with the count"
            found.error(ECONOMY, f"{message} by the audit log.", FLOWS_ADVICE)

    def _add(self, some: Sequence[Flow], gifts: Sequence[GiftFlow], sign: int) -> None:
        for flow in some:
            # compared together: changes by a key that is gone count as staff's
            source = KEY_OR_STAFF if flow.source in (KEY, STAFF) else flow.source
            self._flows[flow.day, flow.item_id, source, "created"] += sign * flow.created
            self._flows[flow.day, flow.item_id, source, "destroyed"] += sign * flow.destroyed
        for gift in gifts:
            self._gifts[gift.day, gift.item_id, gift.giver_id, "given"] += sign * gift.given
            self._gifts[gift.day, gift.item_id, gift.giver_id, "taken"] += sign * gift.taken


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


async def check_days(it: Examination, state: EconomyState, cause: str) -> None:
    """Report wrong days. `cause` is the advice if the numbers that judge them are not known to be right, or empty."""
    for each in await find_wrong_days(it, state):
        if each.message:
            it.found.error(ECONOMY, each.message, cause or (FIX_ADVICE if each.alone else NO_ADVICE))


async def find_wrong_days(it: Examination, state: EconomyState) -> list[WrongDay]:
    """Go back from the present totals, day by day. Quantities follow from the flows, which are kept forever.

    Holders follow from the changes of each player. They are known since the last bulk load, which does not say who
    got what, and as far as the audit log goes back.
    """
    first = await _find_first_day(it.tx, state)
    steps, totals = await _count_holders(it, state, first), await economy.read_totals(it.tx)
    found: list[WrongDay] = []
    for item in await it.tx.column(economy.SQL.flow_items):
        days = await _compare(it.tx, item, totals.get(item, (0, 0)), first, steps.get(item, Counter()))
        found += _list_wrong(item, days)
    return found


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
    for row in map(ItemDay._make, reversed(await tx.all(economy.SQL.all_days, item))):
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
    loaded = await tx.value(ledger.SQL.last_time, PlayersLoaded.kind) or 0
    return max(find_day(state.at) - HOLDER_DAYS, find_day(loaded), *(find_day(each.at) for each in kept))


async def _count_holders(it: Examination, state: EconomyState, first: int) -> Steps:
    """Count by item and day how many players got it and had none before, minus those who lost it."""
    steps: Steps = defaultdict(Counter)
    gains: dict[str, Counter[int]] = defaultdict(Counter)  # of one player: item → day → gain
    position, done = (ZERO_GUID, 0), 0
    limits = state.seq, first * flows.DAY_MS, PAGE_ROWS
    while page := await it.tx.rows(CountedChange, economy.SQL.changes_by_player, *position, *limits):
        for change in page:
            if change.player_id != position[0]:
                await _add_player(it.tx, steps, position[0], gains)
                gains.clear()
            position = (change.player_id or "", change.seq)
            for item_id, gain in flows.count_gains(change.before, change.after, it.codec).items():
                gains[item_id][find_day(change.at)] += gain
        done += len(page)
        it.progress("holders", done, done)
    await _add_player(it.tx, steps, position[0], gains)
    return steps


async def _add_player(tx: Reading, steps: Steps, player_id: str, gains: Mapping[str, Counter[int]]) -> None:
    keys = [Holding(player_id, ITEM, item_id) for item_id in gains]
    held = await holdings.read_held(tx, keys) if keys else {}
    for key in keys:
        quantity = held.get(key, 0)
        for day, gain in sorted(gains[key.thing_id].items(), reverse=True):
            steps[key.thing_id][day] += (quantity > 0) - (quantity - gain > 0)
            quantity -= gain


ECONOMY = "economy"
BATCH_DAYS = 500  # totals corrected in one transaction, which keeps servers from counting
ADVICE = "Count it again: gamekeeper economy --recount"


async def check(it: Examination) -> None:
    """Compare totals, holdings, flows and gifts with what they were counted from, unless nothing was counted yet."""
    state = await economy.read_state(it.tx)
    if state is None:
        return
    try:
        if state.swept is None:
            await check_days(it, state, await _check_present(it, state))
        else:
            await check_flows(it, state)
    except (msgspec.DecodeError, ValueError):
        return  # a change that cannot be read: the check of item totals reports it


async def fix(keeper: Keeper, progress: Progress) -> list[DoctorFinding]:
    """Correct single wrong totals at the ends of days, if all numbers that judge them were compared and are right."""
    work = partial(_find_single_wrong_days, keeper=keeper, progress=progress)
    corrections, done = [(each.item_id, each.stored, each.counted) for each in await keeper.store.read(work)], 0
    for start in range(0, len(corrections), BATCH_DAYS):
        batch = corrections[start : start + BATCH_DAYS]
        done += await keeper.store.write(partial(flows.correct, corrections=batch))
    message = f"Corrected {done} totals of items at the ends of days."
    return [DoctorFinding(NOTE, ECONOMY, message)] if corrections else []


async def _find_single_wrong_days(tx: Snapshot, keeper: Keeper, progress: Progress) -> Sequence[WrongDay]:
    it, state = Examination(tx, Findings(), keeper, progress), await economy.read_state(tx)
    try:
        if state is None or state.swept is not None or await _check_present(it, state):
            return ()
        return [each for each in await find_wrong_days(it, state) if each.alone]
    except (msgspec.DecodeError, ValueError):
        return ()


async def _check_present(it: Examination, state: EconomyState) -> str:
    """Check the numbers that judge the totals at the ends of days: present totals, holdings and flows.

    Return empty text if all of them were compared and are right. Otherwise wrong days may only seem wrong, and must
    stay as they are: return the advice for them.
    """
    before = it.found.all()
    later = await read_later(economy.read_changes, it.tx, state.seq)
    await _check_totals(it.tx, it.found)
    await _check_holdings(it, state, later)
    totals_differ = it.found.all() != before
    before = it.found.all()
    await check_flows(it, state)
    if totals_differ:
        return f"The present total may be the cause. {ADVICE}"
    compared = not _has_bulk_load(later) and not await ledger.read_trimmed_number(it.tx)
    return "" if compared and it.found.all() == before else NO_ADVICE


def _has_bulk_load(changes: Iterable[CountedChange]) -> bool:
    return any(each.kind == flows.PlayersLoaded.kind for each in changes)


async def _check_totals(tx: Reading, found: Findings) -> None:
    """Compare the totals of items and of ranked lists with the holdings."""
    held = {item: (quantity, holders) for item, quantity, holders in await tx.all(holdings.SQL.sums)}
    counted = await economy.read_totals(tx)
    for item, there, said in compare(held, counted, (0, 0)):
        message = f"Item {item}: {there[1]} players hold {there[0]}; the total says {said[0]} of {said[1]} players."
        found.error(ECONOMY, message, ADVICE)
    buckets = await holdings.sum_buckets(tx)
    lengths = await tx.all(holdings.SQL.list_sums)
    ours = {(kind, thing_id): length for kind, thing_id, length in lengths if (kind, thing_id) in buckets}
    for (kind, thing_id), there, said in compare(ours, buckets, 0):
        message = f"The ranking by {kind} {thing_id} has {there} players; its buckets count {said}."
        found.error(ECONOMY, message, ADVICE)


async def _check_holdings(it: Examination, state: EconomyState, later: Sequence[CountedChange]) -> None:
    """Compare what each player has with slots and variables, without the changes that are not counted yet."""
    if _has_bulk_load(later):
        return
    variables = read_variables(state)
    async for players in list_ranges(it.tx):
        actual: dict[Holding, int | None] = {**await read_actual(it.tx, it.codec, variables, players, later)}
        for key, there, said in compare(actual, await holdings.read_held_between(it.tx, *players), None):
            place = "in the slots" if key.kind == ITEM else "as value"
            message = f"Player {key.player_id} has {there or 0} of {key.kind} {key.thing_id} {place}"
            it.found.error(ECONOMY, f"{message}; the economy says {said or 0}.", ADVICE)


CHECKS = (Check(40, (ECONOMY,), check),)
FIXES = (Fix(30, fix),)
