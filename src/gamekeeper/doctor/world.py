"""The doctor's check of guilds: the number of members that triggers keep."""

from gamekeeper.doctor.findings import ERROR, NOTE, DoctorFinding, Findings
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.game.world.changes import recount_members
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.world import guilds

ADVICE = "Count them again: gamekeeper doctor --fix"


async def fix(keeper: Keeper) -> list[DoctorFinding]:
    fixed = await keeper.store.write(recount_members)
    return [DoctorFinding(NOTE, "guilds", f"Counted the members of {fixed} guilds again.")] if fixed else []


async def check(tx: Reading, found: Findings) -> None:
    for each in await guilds.find_miscounted(tx):
        message = f"Guild {each.id} ({each.name}) counts {each.members} members, but has {each.counted}."
        found.add(ERROR, "guilds", f"{message} {ADVICE}")
