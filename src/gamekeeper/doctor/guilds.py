"""The doctor's check of guilds: the number of members that triggers keep."""

from gamekeeper.doctor.findings import ERROR, NOTE, DoctorFinding, Findings
from gamekeeper.game.guild_effects import recount_members
from gamekeeper.game.keeper import Keeper
from gamekeeper.store import guilds
from gamekeeper.store.engine import Reading

ADVICE = "Count them again: gamekeeper doctor --fix"


async def fix(keeper: Keeper) -> list[DoctorFinding]:
    fixed = await keeper.store.write(recount_members)
    return [DoctorFinding(NOTE, "guilds", f"Counted the members of {fixed} guilds again.")] if fixed else []


async def check(tx: Reading, found: Findings) -> None:
    for each in await guilds.find_miscounted(tx):
        message = f"Guild {each.id} ({each.name}) counts {each.members} members, but has {each.counted}."
        found.add(ERROR, "guilds", f"{message} {ADVICE}")
