"""Run all checks of the doctor, in order. Integrity, schema, privileges and unfinished imports are checked here."""

from gamekeeper.doctor import accounts, activity, audit, boards, economy, lists, players, settings, values, world
from gamekeeper.doctor.findings import ERROR, NOTE, REPAIR_ADVICE, DoctorFinding, Findings, Progress
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.store.engine import database_checks
from gamekeeper.store.engine.interface import OWNER_ADVICE, SCHEMA_ADVICE, Reading, Snapshot, UnusableDatabase
from gamekeeper.store.engine.migrate import SchemaMismatch, find_pending, require_utf8
from gamekeeper.store.world import imports

IMPORTS = "imports"
RESUME_ADVICE = "data is missing. To continue it, run the same command again: gamekeeper import intersect … --report"


async def find_unfinished_imports(tx: Reading) -> list[DoctorFinding]:
    """Find imports that were interrupted or are still running: the database does not show which of the two."""
    found: list[DoctorFinding] = []
    for stage, report, followed in await imports.find_unfinished_imports(tx):
        what = f"The import with the report {report} was interrupted in the stage {stage}"
        later = f"{what}. A later import finished; if it was of the same game, nothing is missing."
        message = f"{what}, or is still running: {RESUME_ADVICE} {report}"
        found.append(DoctorFinding(NOTE, IMPORTS, later) if followed else DoctorFinding(ERROR, IMPORTS, message))
    return found


READ_ONLY = "Every transaction of the database user is read-only (default_transaction_read_only is on). Set it to off."


async def examine(keeper: Keeper, progress: Progress, *, fix: bool = False) -> list[DoctorFinding]:
    """Run every check of the doctor. If integrity, privileges or schema fail, skip the checks that depend on them.

    `fix` first repairs what can be repaired from the stored data: it creates missing indexes, recounts the lists and
    the members of guilds, adds up wrong blocks, and corrects single wrong totals of past days.
    """
    found = await _check_integrity(keeper) or await _check_user(keeper) or await _check_schema(keeper)
    found = found or await _check_objects(keeper) or await audit.check_epoch(keeper.store)
    if not found:
        found = await _fix(keeper, progress) if fix else []
        found += await find_unfinished_imports(keeper.store)
        found += await keeper.store.read(lambda tx: _check_contents(tx, keeper, progress))
        found += await accounts.check_passwords(keeper)
        found += await accounts.check_secrets(keeper)
        found += await settings.check_standbys(keeper)
    found += [DoctorFinding(NOTE, "durability", each) for each in await keeper.store.find_cautions()]
    return found + settings.check(keeper)


async def _fix(keeper: Keeper, progress: Progress) -> list[DoctorFinding]:
    return [
        *await lists.create_indexes(keeper),
        await lists.recount(keeper),
        *await lists.fix_blocks(keeper),
        *await world.fix(keeper),
        *await economy.fix(keeper, progress),
    ]


async def _check_user(keeper: Keeper) -> list[DoctorFinding]:
    schema, read_only = await database_checks.find_schema(keeper.store)
    if schema is None:
        return [DoctorFinding(ERROR, "privileges", f"The database user finds no schema to use. {SCHEMA_ADVICE}")]
    if read_only:
        return [DoctorFinding(ERROR, "privileges", READ_ONLY)]
    denied = await database_checks.find_lacking_privileges(keeper.store)
    if denied:
        return [
            DoctorFinding(
                ERROR, "privileges", f"The database user lacks privileges on: {', '.join(denied)}. {OWNER_ADVICE}"
            )
        ]
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
        found.add(ERROR, "schema", f"The {each.kind} {each.name} is missing. {REPAIR_ADVICE}")
    return found.all()


async def _check_integrity(keeper: Keeper) -> list[DoctorFinding]:
    found = Findings()
    for problem in await keeper.store.check_integrity():
        found.add(ERROR, "integrity", f"The database file is damaged: {problem}. Restore a backup.")
    return found.all()


async def _check_contents(tx: Snapshot, keeper: Keeper, progress: Progress) -> list[DoctorFinding]:
    found = Findings()
    await audit.check(tx, found, keeper.changes.codec, progress)
    await players.check(tx, found, keeper.changes.codec, progress)
    if await lists.check_indexes(tx, found, keeper.store.engine):
        await lists.check(tx, found, progress)
    await economy.check(tx, found, keeper.changes.codec, progress)
    await boards.check(tx, found, keeper.changes.codec, progress)
    await lists.check_blocks(tx, found)
    await players.check_bags(tx, found)
    await world.check(tx, found)
    await activity.check(tx, found, progress)
    await players.check_slot_numbers(tx, found, keeper.settings)
    await accounts.check_tags(tx, found)
    await accounts.check(tx, found, keeper.settings, keeper.changes.codec, progress)
    await values.check(tx, found, keeper.store, progress)
    return found.all()
