"""Fill an empty database with a backup, an export or another database, in one transaction.

A restored backup and an imported export are new databases with their own epoch.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gamekeeper.copies.backups import Archive, sync_folder
from gamekeeper.copies.export_folder import ExportFolder
from gamekeeper.copies.lines import (
    BadCopy,
    CopyProgress,
    TableChecksum,
    TableSource,
    is_cancelled,
    stop_on_cancel,
    wait_for_outcome,
)
from gamekeeper.game.audit import retention
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.instants import parse_instant
from gamekeeper.ground.settings import Settings
from gamekeeper.http import keeper_builder
from gamekeeper.store.accounts import mails
from gamekeeper.store.core import ledger, ordered_lists
from gamekeeper.store.engine import copies, database_checks, migrate
from gamekeeper.store.engine.interface import DatabaseUnavailable, Reading, Row, Writing
from gamekeeper.store.insight import activity
from gamekeeper.store.players import presence
from gamekeeper.store.world import logs

LISTS = "lists"
# tables into which the migrations insert rows → statements that delete these: a copy has its own
CLEARED = {
    "epoch": (copies.SQL.clear_epoch,),
    "roles": (copies.SQL.clear_role_permissions, copies.SQL.clear_roles),
    "rollups": (activity.SQL.clear,),
}


@contextlib.contextmanager
def prepare_target(settings: Settings) -> Generator[Settings]:
    """Yield the settings of the database to fill. For SQLite it is a temporary file, which is renamed on success."""
    file = keeper_builder.find_database_file(settings)
    if file is None:
        yield settings
        return
    _require_no_file(file)
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    try:
        yield replace(settings, database=f"sqlite:///{part}")
        _require_no_file(file)
        if any(each.exists() for each in _list_files(part) if each != part):
            raise DatabaseUnavailable(
                f"{file} could not be written whole: is there room on the disk? Nothing was changed."
            )
        part.rename(file)
        sync_folder(file.parent)
    finally:
        for each in _list_files(part):
            each.unlink(missing_ok=True)


async def require_empty_target(settings: Settings) -> None:
    """Refuse a target that is not empty, before any long work starts."""
    file = keeper_builder.find_database_file(settings)
    if file:
        _require_no_file(file)
    else:
        await keeper_builder.run_with_keeper(settings, lambda keeper: _require_empty(keeper.store))


def _require_no_file(file: Path) -> None:
    there = [each for each in _list_files(file) if each.exists()]
    if there:
        names = " ".join(str(each) for each in there)
        raise BadCopy(
            f"The database {file} already exists; it was not changed. Stop the server that uses it, move it away "
            f"({names}), and run the same command again."
        )


async def _require_empty(tx: Reading) -> None:
    there = await copies.list_tables(tx)
    if not there or (there == [migrate.MIGRATIONS_TABLE] and not await migrate.read_applied(tx)):
        return
    raise BadCopy(
        "This database is not empty; it was not changed. Stop the servers that use it, create an empty database "
        "(createdb game2), and run the same command with that."
    )


async def fill_database(
    tx: Writing, engine: str, origin: TableSource, progress: CopyProgress
) -> dict[str, TableChecksum]:
    """Create the source's schema, fill and verify its tables, then migrate. Return the checksum of each table."""
    await _require_empty(tx)
    numbers = {each.number for each in origin.migrations}
    await migrate.apply_missing(tx, engine, [each for each in migrate.load_migrations() if each.number in numbers])
    sums = await _fill_tables(tx, origin, progress)
    for table, wanted in sums.items():
        await _read_back(tx, table, origin.columns[table], wanted, progress)
    await migrate.apply_missing(tx, engine, migrate.load_migrations())
    await logs.recount(tx)
    await copies.continue_ledger(tx)
    return sums


async def begin_epoch(tx: Writing) -> None:
    """Begin a new epoch in a filled database, and stop what would act by itself: it continues from an older state."""
    tx.defer(copies.SQL.complete_jobs)
    tx.defer(copies.SQL.complete_approvals)
    await tx.flush()
    tx.defer(copies.SQL.renew_epoch)
    await tx.flush()
    while not await retention.stop_former_epochs(tx):
        pass


async def rebuild_derived(keeper: Keeper) -> bool:
    """Create missing indexes and recount the ordered lists after a database was filled. `serve` does it too if needed.

    Return False if a Ctrl-C stopped it; the rows are complete anyway.
    """
    if is_cancelled():
        return False
    try:
        await database_checks.create_missing_indexes(keeper.store)
        await keeper.lists.rebuild()
    except asyncio.CancelledError:
        return False
    return True


async def _fill_tables(tx: Writing, origin: TableSource, progress: CopyProgress) -> dict[str, TableChecksum]:
    there = await copies.list_tables(tx)
    strange = origin.columns.keys() - set(there)
    if strange:
        raise origin.build_mismatch_error(", ".join(map(repr, sorted(strange))))
    if origin.left_out is not None:
        _require_all_tables(origin, there, origin.left_out)
    if LISTS in there:
        await ordered_lists.begin_bulk_load(tx)
    # drop the indexes before filling the tables: building them from all rows later is faster
    await database_checks.drop_indexes(tx)
    sums = {table: await _fill_table(tx, origin, table, progress) for table in there if table in origin.columns}
    if LISTS in there:
        await ordered_lists.end_bulk_load(tx)
    return sums


def _require_all_tables(origin: TableSource, there: Sequence[str], left_out: frozenset[str]) -> None:
    missing = set(there) - left_out - origin.columns.keys()
    if missing:
        raise origin.build_mismatch_error(f"it lacks the tables {', '.join(sorted(missing))}")
    # version 0.1.0 began to leave out `erasures`
    surplus = (left_out - {"erasures"}) & origin.columns.keys()
    if surplus:
        raise origin.build_mismatch_error(f"no backup has the tables {', '.join(sorted(surplus))}")


async def _fill_table(tx: Writing, origin: TableSource, table: str, progress: CopyProgress) -> TableChecksum:
    columns, forms = origin.columns[table], await copies.read_columns(tx, table)
    if forms.keys() != set(columns):
        raise origin.build_mismatch_error(table)
    for statement in CLEARED.get(table, ()):
        await tx.returning(statement)
    given = TableChecksum()
    numbers = await copies.find_number_columns(tx, table)
    with contextlib.closing(origin.read_rows(table, progress)) as rows:
        try:
            checked = _require_types(table, {name: int if name in numbers else str for name in columns}, rows)
            copies.fill(tx, table, {name: forms[name] for name in columns}, given.add_while_passing(checked))
            await tx.flush()
        except (BadCopy, DatabaseUnavailable):
            raise
        # SQLite, its driver and PostgreSQL's raise these for a value that they cannot convert
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            raise BadCopy(f"A value in the table {table} has the wrong form. Nothing was changed.") from error
        except Exception as error:  # SQLite and PostgreSQL raise different errors for bad rows and full disks
            why = " ".join(str(error).split()).rstrip(".") or type(error).__name__
            raise BadCopy(f"The database does not accept the table {table}: {why}. Nothing was changed.") from error
    return given


def _require_types(table: str, types: Mapping[str, type], rows: Iterable[Row]) -> Generator[Row]:
    """Yield the rows unchanged; refuse values of the wrong type, which SQLite would convert."""
    for row in rows:
        for (column, wanted), value in zip(types.items(), row, strict=True):
            if value is not None and type(value) is not wanted:
                name = "a text" if wanted is str else "an integer"
                raise BadCopy(f"The table {table} has a {column} that is not {name}. Nothing was changed.")
        yield row


async def _read_back(
    tx: Writing, table: str, columns: Sequence[str], wanted: TableChecksum, progress: CopyProgress
) -> None:
    """Read a table back after it was filled, and compare its checksum with the checksum of the source."""
    forms, found = await copies.read_columns(tx, table), TableChecksum()
    async for rows in copies.read_rows(tx, table, {name: forms[name] for name in columns}):
        found.add(rows)
        progress(f"{table}, checked", found.rows, wanted.rows)
    if str(found) != str(wanted):
        raise BadCopy(
            f"The table {table} was not stored correctly: it has {found.rows} rows with the checksum {found} "
            f"instead of {wanted.rows} with {wanted}. Nothing was changed. If only Gamekeeper wrote the source, "
            "check the disk; else a value in it has the wrong form."
        )


def _list_files(database: Path) -> list[Path]:
    return [database, *(database.with_name(database.name + more) for more in ("-wal", "-shm"))]


async def restore(keeper: Keeper, archive: Archive, progress: CopyProgress, *, keep_tokens: bool = False) -> bool:
    """Restore a backup in one transaction. A server that starts meanwhile waits: the restore holds the migration lock.

    Return whether indexes and lists were rebuilt too (False after a Ctrl-C).
    """
    migrate.require_known(archive.migrations, migrate.load_migrations(), "backup")
    progress = stop_on_cancel(progress)

    async def work(tx: Writing) -> None:
        await fill_database(tx, keeper.store.engine, archive, progress)
        archive.require_last_change(await ledger.read_last(tx))
        await _reset_restored(tx, archive.manifest.made_at, keep_tokens=keep_tokens)

    await wait_for_outcome(keeper.store.write(work, migrate.CLAIM))
    return await rebuild_derived(keeper)


async def _reset_restored(tx: Writing, made_at: int, *, keep_tokens: bool) -> None:
    """Reset the restored data that must not return as it was at the time of the backup; docs/backup.md lists it."""
    mails.retire(tx)  # unsent mails are retired: a backup has no reset codes, so these mails would be useless
    await begin_epoch(tx)
    # everyone is offline after a restore: running game servers report their players again
    await presence.drop_servers(tx, made_at)
    if not keep_tokens:
        # tokens and API keys that were revoked after the backup would be valid again; an administrator lets those keys
        # work again that are still wanted
        tx.defer(copies.SQL.suspend_api_keys)
        copies.revoke_tokens(tx)


async def import_folder(
    keeper: Keeper, folder: ExportFolder, progress: CopyProgress
) -> tuple[dict[str, TableChecksum], bool]:
    """Import an export folder in one transaction, under the migration lock: a server that starts meanwhile waits.

    Return the checksum of each table, and whether indexes and lists were rebuilt too (False after a Ctrl-C).
    """
    migrate.require_known(folder.migrations, migrate.load_migrations(), "export")
    progress = stop_on_cancel(progress)

    async def work(tx: Writing) -> dict[str, TableChecksum]:
        sums = await fill_database(tx, keeper.store.engine, folder, progress)
        await begin_epoch(tx)
        ledger.set_trimmed(tx, folder.manifest.trimmed)
        await presence.end_open_sessions(tx, parse_instant(folder.manifest.made_at))  # an export has no presence
        return sums

    sums = await wait_for_outcome(keeper.store.write(work, migrate.CLAIM))
    return sums, await rebuild_derived(keeper)
