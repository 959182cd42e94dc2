"""The commands about a whole database: `migrate`, `doctor`, `backup`, `restore`, `move`, `export` and `import`.

Separate from terminal.py: most commands do not load the doctor.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from gamekeeper.cli import progress, terminal
from gamekeeper.cli.commands import add_group
from gamekeeper.cli.terminal import Database, FilePath, Force, Output, command, option
from gamekeeper.copies import backups, exports, moves, restores
from gamekeeper.copies.backups import Archive, BackupManifest
from gamekeeper.copies.export_folder import ExportFolder
from gamekeeper.copies.lines import BadCopy, CopyProgress, TableChecksum, stop_on_cancel
from gamekeeper.doctor.examination import examine
from gamekeeper.doctor.findings import ERROR, NOTE, DoctorFinding
from gamekeeper.doctor.settings import IMPORTS, find_unfinished_imports
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.settings import Settings
from gamekeeper.http import keeper_builder
from gamekeeper.store.engine import database_checks
from gamekeeper.store.engine import migrate as migrations


def warn_of_errors(found: Iterable[DoctorFinding]) -> None:
    """Print the doctor's findings of level ERROR as warnings."""
    for each in found:
        if each.level == ERROR:
            terminal.warn(each.message)


INDEXES_MISSING = (
    "Interrupted before the indexes and lists were built. `serve` builds them at its next start, or run: "
    "gamekeeper doctor --fix --database"
)
FIX_HELP = (
    "First build missing indexes, recount lists and members of guilds, add up wrong blocks, and correct single wrong "
    "totals of past days. Repairs nothing else."
)
DOCTOR_INTERRUPTED = "Interrupted before all checks were done. Run again: gamekeeper doctor --database"


@command("migrate", "--database postgresql://gamekeeper@localhost/game")
def migrate(*, database: Database) -> str:
    """Update the database's schema. Does nothing if it is up to date. `serve` does this at its start."""
    applied = terminal.run_with_keeper(terminal.load_settings(database), _migrate, final=True)
    return (
        "\n".join(f"Applied {each.number:04} {each.name}." for each in applied) or "The schema is already up to date."
    )


async def _migrate(keeper: Keeper) -> list[migrations.Migration]:
    applied = await migrations.migrate(keeper.store)
    await database_checks.create_missing_indexes(keeper.store)
    return applied


@command("doctor", "--database sqlite:///game.db")
def doctor(*, fix: bool = option(FIX_HELP), database: Database) -> Output:
    """Check the database and the settings; exit code 1 if there is an error.

    Checks the schema, the database's integrity and its indexes. Compares the slots, spells and variables of every
    player with the audit log, and the stored record with its columns. Checks the accounts' names and permissions, the
    counts of the ordered lists, bags, equipment, interrupted imports, free disk space (SQLite), synchronous standbys
    (PostgreSQL) and unsafe settings.

    Without --fix it changes nothing. It can run while `serve` is running.
    """
    loaded = terminal.load_settings(database)
    terminal.require_database(loaded)
    with progress.show_bars() as moved:
        found = terminal.run_with_keeper(loaded, lambda keeper: examine(keeper, stop_on_cancel(moved), fix=fix))
    levels = Counter(each.level for each in found)
    counts = ", ".join(terminal.format_count(levels[each], each) for each in (ERROR, NOTE))
    shown = [f"{each.level}: {each.check}: {each.message}" for each in found]
    return Output(
        "\n".join([*shown, f"{counts}." if levels[ERROR] else "No errors found."]),
        {"errors": levels[ERROR], "notes": levels[NOTE], "findings": [asdict(each) for each in found]},
        is_failure=levels[ERROR] > 0,
    )


def find_errors(loaded: Settings, moved: CopyProgress, *, complete: bool) -> list[DoctorFinding]:
    """Run doctor on a database that was just filled, and return its errors.

    Ctrl-C becomes an error in the list, because the data stays. If Ctrl-C came before the indexes were built
    (`complete` is false), doctor does not run. An interrupted import in the copied data is only a warning.
    """
    if not complete:
        return [DoctorFinding(ERROR, "indexes", f"{INDEXES_MISSING} {terminal.show_database(loaded)}")]
    try:
        found = terminal.run_with_keeper(loaded, lambda keeper: examine(keeper, stop_on_cancel(moved)))
    except KeyboardInterrupt:
        return [DoctorFinding(ERROR, "doctor", f"{DOCTOR_INTERRUPTED} {terminal.show_database(loaded)}")]
    wrong = [finding for finding in found if finding.level == ERROR]
    warn_of_errors([finding for finding in wrong if finding.check == IMPORTS])
    return [finding for finding in wrong if finding.check != IMPORTS]


def make_outcome(done: str, facts: Mapping[str, object], errors: list[DoctorFinding], *more: str) -> Output:
    """Return what a command prints that filled a database, after the doctor has checked it."""
    problems = [f"{each.check}: {each.message}" for each in errors]
    shown = [f"{done}; doctor found {f'{len(errors)} errors' if errors else 'no errors'}."]
    shown += [*(f"{ERROR}: {each}" for each in problems), *more]
    return Output("\n".join(shown), {**facts, "problems": problems}, is_failure=bool(errors))


RUN_DOCTOR = "Run: gamekeeper doctor"
READ_BACK = "the file was read back, and every table matches its row count and SHA-256"
IN_ORDER = "the database's own integrity check found no errors"
TOKENS_REVOKED = "All tokens are revoked. Issue new tokens for services with: gamekeeper tokens issue NAME"
KEYS_SUSPENDED = (
    "All API keys are suspended. Find them with: gamekeeper keys list. "
    "Let those that you still want work again with: gamekeeper keys resume ID"
)
TOKENS_KEPT = "Tokens that were active at the time of the backup are active again, even if they were revoked after it."
KEYS_KEPT = "API keys have the state that they had at the time of the backup."


class BackupResult(NamedTuple):
    manifest: BackupManifest
    problems: list[str]  # problems that the database's integrity check found
    unfinished: list[DoctorFinding]  # interrupted imports; they do not prevent a backup


@command("backup", "game.backup --database sqlite:///game.db")
def backup(file: FilePath, *, force: Force, database: Database) -> Output:
    """Write a consistent snapshot of the whole database to FILE.

    It can run while `serve` is running and blocks no requests. FILE appears only after it was read back and every
    table matches its row count and checksum. Only its owner can read it. Keep it secret: it contains email addresses
    and password hashes.
    """
    loaded = terminal.load_settings(database)
    terminal.require_database(loaded)
    with progress.show_bars() as moved, terminal.report_failures():
        made = terminal.run_with_keeper(loaded, partial(_back_up, file=file, moved=moved, force=force), final=True)
    warn_of_errors(made.unfinished)
    size = file.stat().st_size
    verified = f"Verified: {READ_BACK}." if made.problems else f"Verified: {READ_BACK}; {IN_ORDER}."
    return Output(
        f"Backed up {_summarize(made.manifest)} to {file} ({size:,} bytes).\n{verified}",
        {"file": str(file), "bytes": size, **_to_json_fields(made.manifest), "problems": made.problems},
        notes=[f"WARNING: the database failed its integrity check: {each}. {RUN_DOCTOR}" for each in made.problems],
        is_failure=bool(made.problems),
    )


@command("restore", "game.backup --database sqlite:///restored.db")
def restore(
    file: FilePath,
    *,
    keep_tokens: bool = option("Keep tokens and API keys active that were active when the backup was made."),
    database: Database,
) -> Output:
    """Create a database from a backup.

    The database must be empty, or a file that does not exist yet: nothing is overwritten. All of FILE is checked
    first. An older schema is migrated. The change feed gets a new epoch, so its readers start over. Password reset
    codes and unsent mails are dropped. Running bulk jobs are paused, and waiting approvals expire. All tokens are
    revoked, and all API keys are suspended until `keys resume`, unless --keep-tokens is given. `doctor`
    checks the result; exit code 1 if it finds an error.
    """
    loaded = terminal.load_settings(database)
    with progress.show_bars() as moved, terminal.report_failures(), Archive(file) as archive:
        archive.verify(moved)
        with restores.prepare_target(loaded) as target:
            work = partial(restores.restore, archive=archive, progress=moved, keep_tokens=keep_tokens)
            complete = terminal.run_with_keeper(target, work, final=True)
        errors = find_errors(loaded, moved, complete=complete)
    manifest = archive.manifest
    more = [TOKENS_KEPT if keep_tokens else TOKENS_REVOKED]
    if any(table.name == "api_keys" and table.rows for table in manifest.tables):
        more.append(KEYS_KEPT if keep_tokens else KEYS_SUSPENDED)
    done = f"Restored {_summarize(manifest)} to {terminal.show_database(loaded)}"
    return make_outcome(done, {"file": str(file), **_to_json_fields(manifest)}, errors, *more)


async def _back_up(keeper: Keeper, file: Path, moved: CopyProgress, *, force: bool) -> BackupResult:
    waiting = await migrations.find_pending(keeper.store)
    if len(waiting) == len(migrations.load_migrations()):
        raise BadCopy("This database is empty, so there is nothing to back up. Check --database.")
    problems = await keeper.store.check_integrity()
    unfinished = (
        [] if waiting else await find_unfinished_imports(keeper.store)
    )  # a database with an old schema may have no table of imports
    return BackupResult(await backups.create_backup(keeper.store, file, moved, force=force), problems, unfinished)


def _summarize(manifest: BackupManifest) -> str:
    return (
        f"{manifest.rows:,} rows of {len(manifest.tables)} tables as of {terminal.format_time(manifest.made_at)}, "
        f"last change {manifest.ledger}, schema {manifest.schema}"
    )


def _to_json_fields(manifest: BackupManifest) -> dict[str, object]:
    names = ("made_at", "engine", "gamekeeper", "schema", "ledger", "rows")
    tables = {table.name: table.rows for table in manifest.tables}
    return {**{name: getattr(manifest, name) for name in names}, "tables": tables}


EXAMPLE = "gamekeeper move --to postgresql://gamekeeper@localhost/game --database sqlite:///game.db"
SAME_DATABASE = (
    "Source and target are the same database. With --to, name an empty one or a file that does not exist yet."
)
NOT_REOPENED = (
    "Interrupted before the new database was opened for use. Open it with: gamekeeper move --reopen --database"
)


@command("move", epilog=f"Example: {EXAMPLE}")
def move(
    *,
    target: str | None = option("The empty database to move to: SQLite or PostgreSQL.", "--to", metavar="URL"),
    reopen: bool = option("Move nothing. Reopen a database that a move has closed."),
    database: Database,
) -> Output | None:
    """Move everything to another database, SQLite or PostgreSQL.

    Change ids, Idempotency-Keys, tokens and the epoch stay, so clients and game servers are not affected. During the
    move the old database is read-only: running servers answer writes with 503 and still answer reads. At the end the
    checksums of all tables are compared, and the old database is closed: no server starts on it, and running servers
    cannot write to it. If the move fails, the old database is unchanged. `doctor` checks the result; exit code 1 if
    it finds an error.
    """
    loaded = terminal.load_settings(database)
    terminal.require_database(loaded)
    if reopen == bool(target):
        terminal.fail(f"Give either --to URL or --reopen. Example: {EXAMPLE}")
    if target is None:
        was_closed = terminal.run_with_keeper(loaded, moves.reopen, final=True)
        shown = terminal.show_database(loaded)
        click.echo(f"{shown} is open again." if was_closed else f"{shown} was not closed; nothing to do.")
        return None
    other = replace(loaded, database=target)
    with progress.show_bars() as moved, terminal.report_failures():
        _require_other(loaded, other)
        terminal.run(restores.require_empty_target(other))
        sums = terminal.run_on_database(database, lambda keeper: moves.move(keeper, other, moved), final=True)
        errors = _find_errors(other, moved)
    old, new = terminal.show_database(loaded), terminal.show_database(other)
    done = f"Moved {_count_rows(sums):,} rows of {len(sums)} tables to {new}; the checksums of all tables match"
    closed = f"{old} is closed: no server starts on it, and running servers cannot write to it. Use {new} from now on."
    return make_outcome(done, {"from": old, "to": new, **_describe_tables(sums)}, errors, closed)


@command("export", "game-export --database sqlite:///game.db")
def export_all(folder: FilePath, *, database: Database) -> Output:
    """Write a consistent snapshot of everything to FOLDER as JSON Lines, one file per kind of data.

    For other programs, and for `gamekeeper import gamekeeper`. It can run while `serve` is running and blocks no
    requests. FOLDER appears only after it was read back, and only its owner can read it. Keep it secret: it contains
    email addresses and password hashes.
    """
    with progress.show_bars() as moved, terminal.report_failures():
        made = terminal.run_on_database(
            database, lambda keeper: exports.export(keeper.store, folder, moved), final=True
        )
    files = {file.name: {"lines": file.lines, "sha256": file.sha256} for file in made.files}
    return Output(
        f"Exported {sum(file.lines for file in made.files):,} lines in {len(made.files)} files to {folder}, as of "
        f"{made.made_at}, last change {made.ledger}. Verified: every file matches its line count and SHA-256.",
        {"folder": str(folder), "made_at": made.made_at, "ledger": made.ledger, "files": files},
    )


def _count_rows(sums: Mapping[str, TableChecksum]) -> int:
    return sum(each.rows for each in sums.values())


def _describe_tables(sums: Mapping[str, TableChecksum]) -> dict[str, object]:
    """Return the row count and the checksum of each table, for JSON output."""
    tables = {table: {"rows": each.rows, "sum": str(each)} for table, each in sums.items()}
    return {"rows": _count_rows(sums), "tables": tables}


def _require_other(loaded: Settings, other: Settings) -> None:
    one, two = keeper_builder.find_database_file(loaded), keeper_builder.find_database_file(other)
    if loaded.database == other.database or (one and two and one.resolve() == two.resolve()):
        terminal.fail(SAME_DATABASE)


def _find_errors(other: Settings, moved: CopyProgress) -> list[DoctorFinding]:
    """Open the new database after a move and run doctor on it; return the errors.

    The old one is already closed, so Ctrl-C becomes an error in the list.
    """
    try:
        complete = terminal.run_with_keeper(other, moves.finish, final=True)
    except KeyboardInterrupt:
        return [DoctorFinding(ERROR, "closed", f"{NOT_REOPENED} {terminal.show_database(other)}")]
    return find_errors(other, moved, complete=complete)


add_group("import", "Import data from an export or from another server.")


@command("import gamekeeper", "game-export --database sqlite:///game.db")
def import_gamekeeper(folder: FilePath, *, database: Database) -> Output:
    """Create a database from FOLDER, which `gamekeeper export` wrote.

    The database must be empty, or a file that does not exist yet: nothing is overwritten. All of FOLDER is checked
    first, and all of it is imported or nothing. Accounts keep their passwords. Tokens are not imported: everybody logs
    in again, and services need new tokens. `doctor` checks the result; exit code 1 if it finds an error.
    """
    loaded = terminal.load_settings(database)
    with progress.show_bars() as moved, terminal.report_failures():
        opened = ExportFolder(folder)
        opened.verify(moved)
        with restores.prepare_target(loaded) as target:
            work = partial(restores.import_folder, folder=opened, progress=moved)
            sums, complete = terminal.run_with_keeper(target, work, final=True)
        errors = find_errors(loaded, moved, complete=complete)
    done = f"Imported {_count_rows(sums):,} rows of {len(sums)} tables from {folder}"
    facts = {"folder": str(folder), **_describe_tables(sums)}
    return make_outcome(f"{done} to {terminal.show_database(loaded)}", facts, errors)
