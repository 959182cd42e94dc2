"""The doctor's check of item totals: compares the audit log with the slots."""

from collections import Counter

import msgspec

from gamekeeper.doctor import findings
from gamekeeper.doctor.findings import ERROR, MAX_SHOWN, REPAIR_ADVICE, DoctorFinding, Findings, Progress
from gamekeeper.game.core.change import Codec
from gamekeeper.store.core import ledger
from gamekeeper.store.core.ledger import NoEpoch, read_state
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import items
from gamekeeper.store.world import catalogue


async def check_epoch(tx: Reading) -> list[DoctorFinding]:
    try:
        await read_state(tx)
    except NoEpoch as problem:
        return [DoctorFinding(ERROR, "ledger", str(problem))]
    return []


async def check(tx: Reading, found: Findings, spelling: Codec, progress: Progress) -> None:
    """Check for every item that its total quantity by the audit log equals the total in the slots."""
    brought = await _add_up(tx, found, spelling, progress)
    held = await items.sum_quantities(tx)
    wrong = sorted(item for item in brought.keys() | held.keys() if brought.get(item, 0) != held.get(item, 0))
    named = await catalogue.find_by_ids(tx, "items", wrong[:MAX_SHOWN])
    for item in wrong:
        name = f"{named[item].name} ({item})" if item in named else item
        wanted, there = brought.get(item, 0), held.get(item, 0)
        message = f"The slots hold {there} of item {name}; the audit log accounts for {wanted} ({there - wanted:+})."
        found.add(ERROR, "ledger", f"{message} {REPAIR_ADVICE}")


async def _add_up(tx: Reading, found: Findings, spelling: Codec, progress: Progress) -> dict[str, int]:
    sums: Counter[str] = Counter()
    last, seq = await ledger.read_last(tx), 0
    while page := await ledger.read_item_changes_after(tx, seq, findings.PAGE_ROWS):
        for seq, before, after in page:
            try:
                sums.subtract(spelling.count_items(before))
                sums.update(spelling.count_items(after))
            except msgspec.DecodeError as error:
                found.add(ERROR, "ledger", f"Change {seq} of the audit log cannot be read: {error}. {REPAIR_ADVICE}")
        progress("ledger", seq, last)
    return sums
