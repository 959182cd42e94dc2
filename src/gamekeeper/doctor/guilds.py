"""The doctor's check of guilds: the number of members that triggers keep."""

from gamekeeper.doctor.findings import ERROR, REPAIR_ADVICE, Findings
from gamekeeper.store import guilds
from gamekeeper.store.engine import Reading


async def check(tx: Reading, found: Findings) -> None:
    for each in await guilds.find_miscounted(tx):
        message = f"Guild {each.id} ({each.name}) counts {each.members} members, but has {each.counted}."
        found.add(ERROR, "guilds", f"{message} {REPAIR_ADVICE}")
