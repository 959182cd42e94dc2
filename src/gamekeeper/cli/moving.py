"""The commands `move` (to another database) and `export` (to plain files)."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from gamekeeper import opening
from gamekeeper.backup import exporting, filling, moving
from gamekeeper.backup.folder import ExportManifest
from gamekeeper.backup.lines import CopyProgress, TableChecksum
from gamekeeper.cli import database as databases
from gamekeeper.cli import progress, terminal
from gamekeeper.doctor import ERROR, DoctorFinding
from gamekeeper.game.keeper import Keeper
from gamekeeper.settings import Settings

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
        terminal.run(filling.require_empty_target(other))
        sums = terminal.run_on_database(database, lambda keeper: moving.move(keeper, other, moved), final=True)
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
            return await exporting.export(keeper.store, folder, moved)

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
        complete = terminal.run_with_keeper(other, moving.finish, final=True)
    except KeyboardInterrupt:
        return [DoctorFinding(ERROR, "closed", f"{NOT_REOPENED} {terminal.show_database(other)}")]
    return databases.find_errors(other, moved, complete=complete)


def _reopen(loaded: Settings) -> None:
    was_closed = terminal.run_with_keeper(loaded, moving.reopen, final=True)
    shown = terminal.show_database(loaded)
    click.echo(f"{shown} is open again." if was_closed else f"{shown} was not closed; nothing to do.")


def _print_moved(
    loaded: Settings, other: Settings, sums: Mapping[str, TableChecksum], errors: list[DoctorFinding], *, as_json: bool
) -> None:
    old, new = terminal.show_database(loaded), terminal.show_database(other)
    rows = sum(each.rows for each in sums.values())
    if as_json:
        facts = {"from": old, "to": new, "rows": rows, "tables": describe_tables(sums)}
        terminal.print_json({**facts, "problems": databases.describe_errors(errors)})
        return
    databases.print_outcome(
        f"Moved {rows:,} rows of {len(sums)} tables to {new}; the checksums of all tables match", errors
    )
    click.echo(
        f"{old} is closed: no server starts on it, and running servers cannot write to it. Use {new} from now on."
    )
