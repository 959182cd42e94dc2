"""The doctor's checks of the audit log: of item totals, which it compares with the slots, and of times."""

from collections import Counter

import msgspec

from gamekeeper.doctor import findings
from gamekeeper.doctor.findings import ERROR, MAX_SHOWN, NOTE, REPAIR_ADVICE, DoctorFinding, Findings, Progress
from gamekeeper.game.core.change import Codec
from gamekeeper.store.core import ledger
from gamekeeper.store.core.ledger import NoEpoch, read_state
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import items
from gamekeeper.store.world import catalogue

BACKWARD_STEP_MS = 60_000  # shorter steps of the audit log's time are not reported: clocks of processes differ a little
CLOCK_ADVICE = "A command ran with another clock beside a server: correct the clocks. The audit log stays as it is."


async def check_epoch(tx: Reading) -> list[DoctorFinding]:
    try:
        await read_state(tx)
    except NoEpoch as problem:
        return [DoctorFinding(ERROR, "ledger", str(problem))]
    return []


async def check(tx: Reading, found: Findings, spelling: Codec, progress: Progress) -> None:
    """Check that the audit log gives every item the total quantity of the slots, and that its time never goes back."""
    brought = await _add_up(tx, found, spelling, progress)
    held = await items.sum_quantities(tx)
    wrong = sorted(item for item in brought.keys() | held.keys() if brought.get(item, 0) != held.get(item, 0))
    named = await catalogue.find_by_ids(tx, "items", wrong[:MAX_SHOWN])
    for item in wrong:
        name = f"{named[item].name} ({item})" if item in named else item
        wanted, there = brought.get(item, 0), held.get(item, 0)
        message = f"The slots hold {there} of item {name}; the audit log accounts for {wanted} ({there - wanted:+})."
        found.add(ERROR, "ledger", f"{message} {REPAIR_ADVICE}")
    for seq, step in await ledger.find_backward_steps(tx, BACKWARD_STEP_MS):
        message = f"The time of change {seq} is {step // 1000} s before that of the change before it."
        found.add(NOTE, "clock", f"{message} {CLOCK_ADVICE}")


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
