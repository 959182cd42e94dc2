"""The doctor's check of the economy: compares its sums with the slots and with the audit log, as of one change."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

import msgspec

from gamekeeper.doctor import economy_sums, item_days
from gamekeeper.doctor.findings import ERROR, NOTE, PAGE_ROWS, DoctorFinding, Findings, Progress
from gamekeeper.doctor.item_days import WrongDay
from gamekeeper.game import flows
from gamekeeper.game import item_days as days
from gamekeeper.game.codec import Codec
from gamekeeper.game.economy import LAST_GUID, read_variables
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.store import economy, holdings, ledger
from gamekeeper.store.economy import CountedChange, EconomyState
from gamekeeper.store.engine import Reading
from gamekeeper.store.holdings import ITEM, Holding

ECONOMY = "economy"
LATEST = 2**62
BATCH_DAYS = 500  # totals corrected in one transaction, which keeps servers from counting
ADVICE = "Count it again: gamekeeper economy --recount"


async def check(tx: Reading, found: Findings, codec: Codec, progress: Progress) -> None:
    """Compare totals, holdings, flows and gifts with what they were counted from, unless nothing was counted yet."""
    state = await economy.read_state(tx)
    if state is None:
        return
    try:
        if state.swept is None:
            cause = await _check_present(tx, found, codec, state, progress)
            await item_days.check(tx, found, codec, state, progress, cause)
        else:
            await economy_sums.check(tx, found, codec, state, progress)
    except (msgspec.DecodeError, ValueError):
        return  # a change that cannot be read: the check of item totals reports it


async def fix(keeper: Keeper, progress: Progress) -> list[DoctorFinding]:
    """Correct single wrong totals at the ends of days, if all numbers that judge them were compared and are right."""
    wrong = await keeper.store.read(lambda tx: _find_single_wrong_days(tx, keeper.changes.codec, progress))
    if not wrong:
        return []
    corrections, done = [(each.item_id, each.stored, each.counted) for each in wrong], 0
    for start in range(0, len(corrections), BATCH_DAYS):
        batch = corrections[start : start + BATCH_DAYS]
        done += await keeper.store.write(partial(days.correct, corrections=batch))
    return [DoctorFinding(NOTE, ECONOMY, f"Corrected {done} totals of items at the ends of days.")]


async def _find_single_wrong_days(tx: Reading, codec: Codec, progress: Progress) -> Sequence[WrongDay]:
    state = await economy.read_state(tx)
    if state is None or state.swept is not None:
        return ()
    try:
        if await _check_present(tx, Findings(), codec, state, progress):
            return ()
        return [each for each in await item_days.find_wrong(tx, codec, state, progress) if each.alone]
    except (msgspec.DecodeError, ValueError):
        return ()


async def _check_present(tx: Reading, found: Findings, codec: Codec, state: EconomyState, progress: Progress) -> str:
    """Check the numbers that judge the totals at the ends of days: present totals, holdings and flows.

    Return empty text if all of them were compared and are right. Otherwise wrong days may only seem wrong, and must
    stay as they are: return the advice for them.
    """
    before = found.all()
    later = await _read_later(tx, state)
    await _check_totals(tx, found)
    await _check_holdings(tx, found, codec, state, later)
    totals_differ = found.all() != before
    before = found.all()
    await economy_sums.check(tx, found, codec, state, progress)
    if totals_differ:
        return f"The present total may be the cause. {ADVICE}"
    compared = not _has_bulk_load(later) and not await ledger.read_trimmed_number(tx)
    return "" if compared and found.all() == before else item_days.NO_ADVICE


def _has_bulk_load(changes: Iterable[CountedChange]) -> bool:
    return any(each.kind == flows.PlayersLoaded.kind for each in changes)


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


async def _check_holdings(
    tx: Reading, found: Findings, codec: Codec, state: EconomyState, later: Sequence[CountedChange]
) -> None:
    """Compare what each player has with slots and variables, without the changes that are not counted yet."""
    variables = read_variables(state)
    gains: Counter[Holding] = Counter()
    values: dict[Holding, int | None] = {}  # of variables, before the changes that are not counted yet
    for change in reversed(later):
        for item_id, gain in flows.count_gains(change.before, change.after, codec).items() if change.player_id else ():
            gains[Holding(change.player_id or "", ITEM, item_id)] += gain
        values |= flows.read_values_before(change, codec, variables)
    first = ZERO_GUID
    while not _has_bulk_load(later):
        players = await holdings.read_players_after(tx, first, PAGE_ROWS)
        last = players[-1] if len(players) == PAGE_ROWS else LAST_GUID
        sums = Counter(await holdings.sum_slots_between(tx, first, last))
        sums.subtract({key: gain for key, gain in gains.items() if first < key.player_id <= last})
        actual: dict[Holding, int | None] = {key: quantity for key, quantity in sums.items() if quantity}
        if variables:
            actual |= await holdings.read_variables_between(tx, first, last, sorted(variables))
            actual |= {key: value for key, value in values.items() if first < key.player_id <= last}
        held = await holdings.read_held_between(tx, first, last)
        for key in sorted(actual.keys() | held.keys()):
            if actual.get(key) != held.get(key):
                place = "in the slots" if key.kind == ITEM else "as value"
                message = f"Player {key.player_id} has {actual.get(key) or 0} of {key.kind} {key.thing_id} {place}"
                found.add(ERROR, ECONOMY, f"{message}; the economy says {held.get(key) or 0}. {ADVICE}")
        if last == LAST_GUID:
            return
        first = last


async def _read_later(tx: Reading, state: EconomyState) -> list[CountedChange]:
    found: list[CountedChange] = []
    seq = state.seq
    while page := await economy.read_changes(tx, seq, LATEST, PAGE_ROWS):
        found += page
        seq = page[-1].seq
    return found
