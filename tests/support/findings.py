"""Run the doctor without showing progress."""

from gamekeeper import doctor
from gamekeeper.doctor import DoctorFinding
from gamekeeper.game.core.keeper import Keeper
from world import World


def unseen(_what: str, _done: int, _total: int | None) -> None:
    """Ignore a progress message of the doctor."""


def findings(world: World, check: str | None = None, *, fix: bool = False) -> list[DoctorFinding]:
    """Return all findings of the doctor, or those of one check."""
    found = world.run(doctor.examine(world.keeper, unseen, fix=fix))
    return [each for each in found if check in (None, each.check)]


async def faults(keeper: Keeper) -> list[str]:
    """Return the doctor's findings that are errors, without notes."""
    found = await doctor.examine(keeper, unseen)
    return [f"{each.check}: {each.message}" for each in found if each.level == doctor.ERROR]


def errors(world: World) -> list[str]:
    return world.run(faults(world.keeper))
