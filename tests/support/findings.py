"""Run the doctor without showing progress."""

from gamekeeper.doctor.examination import collect, examine
from gamekeeper.doctor.findings import ERROR, Check, DoctorFinding, LateCheck
from gamekeeper.game.keeper import Keeper
from world import World

# names under which the doctor itself reports, besides the checks that its modules register
OWN_WORDS = frozenset(
    {"integrity", "privileges", "schema", "imports", "durability", "settings", "disk", "guilds", "ledger"}
)


def unseen(_what: str, _done: int, _total: int | None) -> None:
    """Ignore a progress message of the doctor."""


def findings(world: World, check: str | None = None, *, fix: bool = False) -> list[DoctorFinding]:
    """Return all findings of the doctor, or those of one check."""
    found = world.run(examine(world.keeper, unseen, fix=fix))
    registered = [*collect(Check, "CHECKS"), *collect(LateCheck, "LATE_CHECKS")]
    assert {each.check for each in found} <= OWN_WORDS.union(*(each.words for each in registered))
    return [each for each in found if check in (None, each.check)]


async def faults(keeper: Keeper) -> list[str]:
    """Return the doctor's findings that are errors, without notes."""
    found = await examine(keeper, unseen)
    return [f"{each.check}: {each.message}" for each in found if each.level == ERROR]


def errors(world: World) -> list[str]:
    return world.run(faults(world.keeper))
