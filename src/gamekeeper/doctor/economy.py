"""The doctor's check of the economy: compares its sums with the slots and with the audit log, as of one change."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from gamekeeper.doctor.findings import ERROR, PAGE_ROWS, REPAIR_ADVICE, Findings, Progress
from gamekeeper.game import flows
from gamekeeper.game.codec import Codec
from gamekeeper.game.economy import LAST_GUID
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.store import economy, holdings, ledger
from gamekeeper.store.economy import CountedChange, EconomyState, Flow
from gamekeeper.store.engine import Reading
from gamekeeper.store.holdings import ITEM, Holding

ECONOMY = "economy"
LATEST = 2**62
KEY_OR_STAFF = f"{flows.KEY} or {flows.STAFF}"
ADVICE = "Count it again: gamekeeper economy --recount"


async def check(tx: Reading, found: Findings, codec: Codec, progress: Progress) -> None:
    """Compare totals, holdings and flows with what they were counted from, unless nothing was counted yet."""
    state = await economy.read_state(tx)
    if state is None:
        return
    try:
        if state.swept is None:
            await _check_totals(tx, found)
            await _check_holdings(tx, found, codec, await _read_later(tx, state))
        await _check_flows(tx, found, codec, state, progress)
    except (msgspec.DecodeError, ValueError):
        return  # a change that cannot be read: the check of item totals reports it


async def _check_totals(tx: Reading, found: Findings) -> None:
    """Compare the totals of items and of ranked lists with the holdings."""
    held, counted = await holdings.sum_by_item(tx), await economy.read_totals(tx)
    for item in sorted(held.keys() | counted.keys()):
        there, said = held.get(item, (0, 0)), counted.get(item, (0, 0))
        if there != said:
            message = f"Item {item}: {there[1]} players hold {there[0]}; the total says {said[0]} of {said[1]} players."
            found.add(ERROR, ECONOMY, f"{message} {ADVICE}")
    lengths, buckets = await holdings.count_by_list(tx), await holdings.sum_buckets(tx)
    for kind, thing_id in sorted(buckets):
        there, said = lengths.get((kind, thing_id), 0), buckets[kind, thing_id]
        if there != said:
            message = f"The ranking by {kind} {thing_id} has {there} players; its buckets count {said}."
            found.add(ERROR, ECONOMY, f"{message} {ADVICE}")


async def _check_holdings(tx: Reading, found: Findings, codec: Codec, later: Sequence[CountedChange]) -> None:
    """Compare what each player holds with the slots, without the changes that are not counted yet."""
    gains: Counter[Holding] = Counter()
    for change in later:
        for item_id, gain in flows.count_gains(change.before, change.after, codec).items() if change.player_id else ():
            gains[Holding(change.player_id or "", ITEM, item_id)] += gain
    loaded = any(each.kind == flows.PlayersLoaded.kind for each in later)
    first = ZERO_GUID
    while not loaded:
        players = await holdings.read_players_after(tx, first, PAGE_ROWS)
        last = players[-1] if len(players) == PAGE_ROWS else LAST_GUID
        actual = Counter(await holdings.sum_slots_between(tx, first, last))
        actual.subtract({key: gain for key, gain in gains.items() if first < key.player_id <= last})
        stored = await holdings.read_held_between(tx, first, last)
        held = {key: quantity for key, quantity in stored.items() if key.kind == ITEM}
        for key in sorted(actual.keys() | held.keys()):
            if actual.get(key, 0) != held.get(key, 0):
                message = f"Player {key.player_id} has {actual.get(key, 0)} of item {key.thing_id} in the slots"
                found.add(ERROR, ECONOMY, f"{message}; the economy says {held.get(key, 0)}. {ADVICE}")
        if last == LAST_GUID:
            return
        first = last


async def _check_flows(tx: Reading, found: Findings, codec: Codec, state: EconomyState, progress: Progress) -> None:
    """Count the flows again and compare them, unless the audit log was trimmed: then some changes are gone.

    Flows of API keys and staff are compared together: an erased account's keys are gone, and count as staff then.
    """
    if await ledger.read_trimmed_number(tx):
        return
    counted: Counter[tuple[str, int, str, str]] = Counter()
    seq = 0
    while page := await economy.read_changes(tx, seq, state.seq, PAGE_ROWS):
        for flow in flows.count(page, codec, frozenset()).list_flows():
            _add(counted, flow)
        seq = page[-1].seq
        progress(ECONOMY, seq, state.seq)
    stored: Counter[tuple[str, int, str, str]] = Counter()
    for flow in await economy.read_all_flows(tx):
        _add(stored, flow)
    for key in sorted(counted.keys() | stored.keys()):
        item, day, source, what = key
        if counted[key] != stored[key]:
            message = f"Item {item}, day {day}: {source} {what} {counted[key]} by the audit log"
            found.add(ERROR, ECONOMY, f"{message}, {stored[key]} by the economy. {REPAIR_ADVICE}")


def _add(sums: Counter[tuple[str, int, str, str]], flow: Flow) -> None:
    source = KEY_OR_STAFF if flow.source in (flows.KEY, flows.STAFF) else flow.source
    sums[flow.item_id, flow.day, source, "created"] += flow.created
    sums[flow.item_id, flow.day, source, "destroyed"] += flow.destroyed


async def _read_later(tx: Reading, state: EconomyState) -> list[CountedChange]:
    found: list[CountedChange] = []
    seq = state.seq
    while page := await economy.read_changes(tx, seq, LATEST, PAGE_ROWS):
        found += page
        seq = page[-1].seq
    return found
