"""Run all checks that the doctor's modules register. Integrity, schema and privileges are checked here."""

from operator import attrgetter
from typing import TypeVar

from gamekeeper.doctor import audit, settings
from gamekeeper.doctor.findings import (
    ERROR,
    NOTE,
    Check,
    DoctorFinding,
    Examination,
    Findings,
    Fix,
    LateCheck,
    Progress,
)
from gamekeeper.doctor.settings import find_unfinished_imports
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground import rooms
from gamekeeper.store.engine import database_checks
from gamekeeper.store.engine.interface import OWNER_ADVICE, SCHEMA_ADVICE, Snapshot, UnusableDatabase
from gamekeeper.store.engine.migrate import SchemaMismatch, find_pending, require_utf8

R = TypeVar("R", Check, LateCheck, Fix)

READ_ONLY = "Every transaction of the database user is read-only (default_transaction_read_only is on). Set it to off."


async def examine(keeper: Keeper, progress: Progress, *, fix: bool = False) -> list[DoctorFinding]:
    """Run every check of the doctor. If integrity, privileges or schema fail, skip the checks that depend on them.

    `fix` first repairs what can be repaired from the stored data: it creates missing indexes, recounts the lists and
    the members of guilds, adds up wrong blocks, and corrects single wrong totals of past days.
    """
    found = await _check_integrity(keeper) or await _check_user(keeper) or await _check_schema(keeper)
    found = found or await _check_objects(keeper) or await audit.check_epoch(keeper.store)
    if not found:
        found = [each for repair in collect(Fix, "FIXES") for each in await repair.run(keeper, progress)] if fix else []
        found += await find_unfinished_imports(keeper.store)
        found += await keeper.store.read(lambda tx: _check_contents(tx, keeper, progress))
        for late in collect(LateCheck, "LATE_CHECKS"):
            found += await late.run(keeper)
    found += [DoctorFinding(NOTE, "durability", each) for each in await keeper.store.find_cautions()]
    return found + settings.check(keeper)


def collect(_: type[R], name: str) -> list[R]:
    """Collect what the doctor's modules register under a name, in the order of their places."""
    values = [value for module in rooms.import_all("gamekeeper.doctor") for value in vars(module).get(name, ())]
    return sorted(values, key=attrgetter("place"))


async def _check_user(keeper: Keeper) -> list[DoctorFinding]:
    schema, read_only = await database_checks.find_schema(keeper.store)
    if schema is None:
        return [DoctorFinding(ERROR, "privileges", f"The database user finds no schema to use. {SCHEMA_ADVICE}")]
    if read_only:
        return [DoctorFinding(ERROR, "privileges", READ_ONLY)]
    denied = await database_checks.find_lacking_privileges(keeper.store)
    if denied:
        lacks = f"The database user lacks privileges on: {', '.join(denied)}."
        return [DoctorFinding(ERROR, "privileges", f"{lacks} {OWNER_ADVICE}")]
    return []


async def _check_schema(keeper: Keeper) -> list[DoctorFinding]:
    try:
        await require_utf8(keeper.store)
        waiting = await find_pending(keeper.store)
    except (SchemaMismatch, UnusableDatabase) as problem:
        return [DoctorFinding(ERROR, "schema", str(problem))]
    names = ", ".join(f"{each.number:04} {each.name}" for each in waiting)
    return [DoctorFinding(ERROR, "schema", f"Not applied yet: {names}. Run: gamekeeper migrate")] if waiting else []


async def _check_objects(keeper: Keeper) -> list[DoctorFinding]:
    found = Findings()
    for each in await database_checks.find_missing_objects(keeper.store, keeper.store.engine):
        found.error("schema", f"The {each.kind} {each.name} is missing.")
    return found.all()


async def _check_integrity(keeper: Keeper) -> list[DoctorFinding]:
    found = Findings()
    for problem in await keeper.store.check_integrity():
        found.error("integrity", f"The database file is damaged: {problem}.", "Restore a backup.")
    return found.all()


async def _check_contents(tx: Snapshot, keeper: Keeper, progress: Progress) -> list[DoctorFinding]:
    examination = Examination(tx, Findings(), keeper, progress)
    for each in collect(Check, "CHECKS"):
        await each.run(examination)
    return examination.found.all()
