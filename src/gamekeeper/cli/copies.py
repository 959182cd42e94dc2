"""The commands `backup`, `restore`, `move`, `export` and `import`: copies of the whole database."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from gamekeeper import doctor
from gamekeeper.cli import database as cli_database
from gamekeeper.cli import progress, terminal
from gamekeeper.cli.commands import CommandGroup, LazyCommands
from gamekeeper.copies import backups, exports, moves, restores
from gamekeeper.copies.backups import Archive, BackupManifest, BadBackup
from gamekeeper.copies.export_folder import ExportFolder, ExportManifest
from gamekeeper.copies.lines import CopyProgress, TableChecksum
from gamekeeper.doctor import ERROR, DoctorFinding
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.ground.settings import Settings
from gamekeeper.http.server import opening
from gamekeeper.store.engine.migrate import find_pending, load_migrations

FILE_PATH = click.Path(dir_okay=True, path_type=Path)
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


@click.command(epilog="Example: gamekeeper backup game.backup --database sqlite:///game.db")
@click.argument("file", type=FILE_PATH)
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@terminal.json_option
@terminal.database_option
def backup(file: Path, force: bool, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """Write a consistent snapshot of the whole database to FILE.

    It can run while `serve` is running and blocks no requests. FILE appears only after it was read back and every
    table matches its row count and checksum. Only its owner can read it. Keep it secret: it contains email addresses
    and password hashes.
    """
    loaded = terminal.load_settings(database)
    terminal.require_database(loaded)
    with progress.show_bars() as moved, terminal.report_failures():
        made = terminal.run_with_keeper(loaded, partial(_back_up, file=file, moved=moved, force=force), final=True)
    _print_backup(file, made, as_json=as_json)
    sys.exit(bool(made.problems))


@click.command(epilog="Example: gamekeeper restore game.backup --database sqlite:///restored.db")
@click.argument("file", type=FILE_PATH)
@click.option(
    "--keep-tokens", is_flag=True, help="Keep tokens and API keys active that were active when the backup was made."
)
@terminal.json_option
@terminal.database_option
def restore(file: Path, keep_tokens: bool, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
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
        errors = cli_database.find_errors(loaded, moved, complete=complete)
    _print_restored(file, loaded, archive.manifest, errors, keep_tokens=keep_tokens, as_json=as_json)
    sys.exit(bool(errors))


async def _back_up(keeper: Keeper, file: Path, moved: CopyProgress, *, force: bool) -> BackupResult:
    waiting = await find_pending(keeper.store)
    if len(waiting) == len(load_migrations()):
        raise BadBackup("This database is empty, so there is nothing to back up. Check --database.")
    problems = await keeper.store.check_integrity()
    unfinished = (
        [] if waiting else await doctor.find_unfinished_imports(keeper.store)
    )  # a database with an old schema may have no table of imports
    return BackupResult(await backups.create_backup(keeper.store, file, moved, force=force), problems, unfinished)


def _print_backup(file: Path, made: BackupResult, *, as_json: bool) -> None:
    cli_database.warn_of_errors(made.unfinished)
    size = file.stat().st_size
    if as_json:
        terminal.print_json(
            {"file": str(file), "bytes": size, **_to_json_fields(made.manifest), "problems": made.problems}
        )
        return
    click.echo(f"Backed up {_summarize(made.manifest)} to {file} ({size:,} bytes).")
    click.echo(f"Verified: {READ_BACK}." if made.problems else f"Verified: {READ_BACK}; {IN_ORDER}.")
    for problem in made.problems:
        click.echo(f"WARNING: the database failed its integrity check: {problem}. Run: gamekeeper doctor", err=True)


def _print_restored(
    file: Path,
    loaded: Settings,
    manifest: BackupManifest,
    errors: list[DoctorFinding],
    *,
    keep_tokens: bool,
    as_json: bool,
) -> None:
    if as_json:
        terminal.print_json(
            {"file": str(file), **_to_json_fields(manifest), "problems": cli_database.describe_errors(errors)}
        )
        return
    cli_database.print_outcome(f"Restored {_summarize(manifest)} to {terminal.show_database(loaded)}", errors)
    click.echo(TOKENS_KEPT if keep_tokens else TOKENS_REVOKED)
    if any(table.name == "api_keys" and table.rows for table in manifest.tables):
        click.echo(KEYS_KEPT if keep_tokens else KEYS_SUSPENDED)


def _summarize(manifest: BackupManifest) -> str:
    return (
        f"{manifest.rows:,} rows of {len(manifest.tables)} tables as of {terminal.format_time(manifest.made_at)}, "
        f"last change {manifest.ledger}, schema {manifest.schema}"
    )


def _to_json_fields(manifest: BackupManifest) -> dict[str, object]:
    return {
        "made_at": manifest.made_at,
        "engine": manifest.engine,
        "gamekeeper": manifest.gamekeeper,
        "schema": manifest.schema,
        "ledger": manifest.ledger,
        "rows": manifest.rows,
        "tables": {table.name: table.rows for table in manifest.tables},
    }


EXAMPLE = "gamekeeper move --to postgresql://gamekeeper@localhost/game --database sqlite:///game.db"
SAME_DATABASE = (
    "Source and target are the same database. With --to, name an empty one or a file that does not exist yet."
)
NOT_REOPENED = (
    "Interrupted before the new database was opened for use. Open it with: gamekeeper move --reopen --database"
)


@click.command(epilog=f"Example: {EXAMPLE}")
@click.option("--to", "target", metavar="URL", help="The empty database to move to: SQLite or PostgreSQL.")
@click.option("--reopen", is_flag=True, help="Move nothing. Reopen a database that a move has closed.")
@terminal.json_option
@terminal.database_option
def move(target: str | None, reopen: bool, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
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
        _reopen(loaded)
        return
    other = replace(loaded, database=target)
    with progress.show_bars() as moved, terminal.report_failures():
        _require_other(loaded, other)
        terminal.run(restores.require_empty_target(other))
        sums = terminal.run_on_database(database, lambda keeper: moves.move(keeper, other, moved), final=True)
        errors = _find_errors(other, moved)
    _print_moved(loaded, other, sums, errors, as_json=as_json)
    sys.exit(bool(errors))


@click.command("export", epilog="Example: gamekeeper export game-export --database sqlite:///game.db")
@click.argument("folder", type=click.Path(path_type=Path))
@terminal.json_option
@terminal.database_option
def export_all(folder: Path, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
    """Write a consistent snapshot of everything to FOLDER as JSON Lines, one file per kind of data.

    For other programs, and for `gamekeeper import gamekeeper`. It can run while `serve` is running and blocks no
    requests. FOLDER appears only after it was read back, and only its owner can read it. Keep it secret: it contains
    email addresses and password hashes.
    """
    with progress.show_bars() as moved, terminal.report_failures():

        async def work(keeper: Keeper) -> ExportManifest:
            return await exports.export(keeper.store, folder, moved)

        made = terminal.run_on_database(database, work, final=True)
    if as_json:
        files = {file.name: {"lines": file.lines, "sha256": file.sha256} for file in made.files}
        terminal.print_json({"folder": str(folder), "made_at": made.made_at, "ledger": made.ledger, "files": files})
        return
    click.echo(
        f"Exported {sum(file.lines for file in made.files):,} lines in {len(made.files)} files to {folder}, as of "
        f"{made.made_at}, last change {made.ledger}. Verified: every file matches its line count and SHA-256."
    )


def describe_tables(sums: Mapping[str, TableChecksum]) -> dict[str, object]:
    """Return the row count and the checksum of each table, for JSON output."""
    return {table: {"rows": each.rows, "sum": str(each)} for table, each in sums.items()}


def _require_other(loaded: Settings, other: Settings) -> None:
    one, two = opening.find_database_file(loaded), opening.find_database_file(other)
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
    return cli_database.find_errors(other, moved, complete=complete)


def _reopen(loaded: Settings) -> None:
    was_closed = terminal.run_with_keeper(loaded, moves.reopen, final=True)
    shown = terminal.show_database(loaded)
    click.echo(f"{shown} is open again." if was_closed else f"{shown} was not closed; nothing to do.")


def _print_moved(
    loaded: Settings, other: Settings, sums: Mapping[str, TableChecksum], errors: list[DoctorFinding], *, as_json: bool
) -> None:
    old, new = terminal.show_database(loaded), terminal.show_database(other)
    rows = sum(each.rows for each in sums.values())
    if as_json:
        facts = {"from": old, "to": new, "rows": rows, "tables": describe_tables(sums)}
        terminal.print_json({**facts, "problems": cli_database.describe_errors(errors)})
        return
    cli_database.print_outcome(
        f"Moved {rows:,} rows of {len(sums)} tables to {new}; the checksums of all tables match", errors
    )
    click.echo(
        f"{old} is closed: no server starts on it, and running servers cannot write to it. Use {new} from now on."
    )


@click.group("import", cls=CommandGroup, commands=LazyCommands({"intersect": "intersect:intersect"}))
def import_() -> None:
    """Import data from an export or from another server."""


@import_.command("gamekeeper", epilog="Example: gamekeeper import gamekeeper game-export --database sqlite:///game.db")
@click.argument("folder", type=click.Path(path_type=Path))
@terminal.json_option
@terminal.database_option
def gamekeeper(folder: Path, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
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
        errors = cli_database.find_errors(loaded, moved, complete=complete)
    _print_imported(folder, loaded, sums, errors, as_json=as_json)
    sys.exit(bool(errors))


def _print_imported(
    folder: Path, loaded: Settings, sums: Mapping[str, TableChecksum], errors: list[DoctorFinding], *, as_json: bool
) -> None:
    rows = sum(each.rows for each in sums.values())
    if as_json:
        facts = {"folder": str(folder), "rows": rows, "tables": describe_tables(sums)}
        terminal.print_json({**facts, "problems": cli_database.describe_errors(errors)})
        return
    cli_database.print_outcome(
        f"Imported {rows:,} rows of {len(sums)} tables from {folder} to {terminal.show_database(loaded)}", errors
    )
