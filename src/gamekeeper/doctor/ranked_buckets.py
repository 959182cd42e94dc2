"""The doctor's check of blocks: each is the sum of its buckets, in ranked lists and in seasons of boards."""

from gamekeeper.doctor.findings import ERROR, NOTE, DoctorFinding, Findings
from gamekeeper.game import standings
from gamekeeper.game.keeper import Keeper
from gamekeeper.store import ranked_buckets
from gamekeeper.store.engine import Reading

BLOCKS = "blocks"
ADVICE = "Add them up again: gamekeeper doctor --fix"


async def check(tx: Reading, found: Findings) -> None:
    for (kind, thing_id), wrong in (await ranked_buckets.count_wrong_blocks(tx)).items():
        message = f"The ranking by {kind} {thing_id} has {wrong} blocks that are not the sums of their buckets."
        found.add(ERROR, BLOCKS, f"{message} {ADVICE}")


async def fix(keeper: Keeper) -> list[DoctorFinding]:
    fixed = await keeper.store.write(standings.fix_blocks)
    return [DoctorFinding(NOTE, BLOCKS, "Added up the blocks of all ranked lists and boards again.")] if fixed else []
