"""Nobody is locked in: the whole database to another engine, or out of Gamekeeper as plain files."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from gamekeeper import app
from gamekeeper.backup import exporting, filling, moving
from gamekeeper.backup.folder import ExportManifest
from gamekeeper.backup.lines import CopyProgress, TableChecksum
from gamekeeper.cli import database as databases
from gamekeeper.cli import progress, terminal
from gamekeeper.doctor import ERROR, Finding
from gamekeeper.game.keeper import Keeper
from gamekeeper.settings import Settings

EXAMPLE = "gamekeeper move --to postgresql://gamekeeper@localhost/game --database sqlite:///game.db"
SAME_DATABASE = "That is the database to be moved. Name an empty one, or a file that is not there yet, with --to."
NOT_REOPENED = "It was stopped before the new database was opened. Open it with: gamekeeper move --reopen --database"


@click.command(epilog=f"Example: {EXAMPLE}")
@click.option("--to", "target", metavar="URL", help="The empty database to move to, of either engine.")
@click.option("--reopen", is_flag=True, help="Move nothing: let a database be used again that a move has closed.")
@terminal.json_option
@terminal.database_option
def move(target: str | None, reopen: bool, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click hands every option over by name
    """Move everything to another database, of the same or the other engine.

    Ledger numbers, Idempotency-Keys, tokens and the epoch stay: clients and game servers notice nothing but another
    address of yours. While it runs, nobody can write to the old database; servers that still run answer 503, and go on
    reading. In the end every table adds up to the same on both sides, and the old database is closed: no server starts
    on it, and those that still run write nothing. Whatever fails, the old one is as it was. `doctor` looks at the
    outcome; exit code 1 if it finds something.
    """
    loaded = terminal.load_settings(database)
    terminal.require_database(loaded)
    if reopen == bool(target):
        terminal.fail(f"Say where to move to, or --reopen. For instance: {EXAMPLE}")
    if target is None:
        _reopen(loaded)
        return
    other = replace(loaded, database=target)
    with progress.bars() as moved, terminal.report_failures():
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
def export_all(folder: Path, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click hands every option over by name
    """Write everything to FOLDER as plain JSON lines, a file per noun, as it is at one moment.

    For other programs, and for `gamekeeper import gamekeeper`. It can run beside `serve`: nobody waits for it. The
    folder is for its owner only, and is there only when it has been read back. Keep it secret: it has addresses and
    password hashes.
    """
    with progress.bars() as moved, terminal.report_failures():

        async def work(keeper: Keeper) -> ExportManifest:
            return await exporting.export(keeper.store, folder, moved)

        made = terminal.run_on_database(database, work, final=True)
    if as_json:
        files = {file.name: {"lines": file.lines, "sha256": file.sha256} for file in made.files}
        terminal.print_json({"folder": str(folder), "made_at": made.made_at, "ledger": made.ledger, "files": files})
        return
    click.echo(
        f"Exported {sum(file.lines for file in made.files):,} lines in {len(made.files)} files to {folder}, as of "
        f"{made.made_at}, ledger at {made.ledger}. Read back: every file has its lines and its SHA-256."
    )


def describe_tables(sums: Mapping[str, TableChecksum]) -> dict[str, object]:
    """For programs: of each table how many rows it has, and what they add up to."""
    return {table: {"rows": each.rows, "sum": str(each)} for table, each in sums.items()}


def _require_other(loaded: Settings, other: Settings) -> None:
    one, two = app.database_file(loaded), app.database_file(other)
    if loaded.database == other.database or (one and two and one.resolve() == two.resolve()):
        terminal.fail(SAME_DATABASE)


def _find_errors(other: Settings, moved: CopyProgress) -> list[Finding]:
    """The old one is closed by now: a Ctrl-C undoes nothing."""
    try:
        complete = terminal.run_with_keeper(other, moving.finish, final=True)
    except KeyboardInterrupt:
        return [Finding(ERROR, "closed", f"{NOT_REOPENED} {terminal.show_database(other)}")]
    return databases.find_errors(other, moved, complete=complete)


def _reopen(loaded: Settings) -> None:
    was_closed = terminal.run_with_keeper(loaded, moving.reopen, final=True)
    shown = terminal.show_database(loaded)
    click.echo(f"{shown} can be used again." if was_closed else f"{shown} was not closed; nothing to do.")


def _print_moved(
    loaded: Settings, other: Settings, sums: Mapping[str, TableChecksum], errors: list[Finding], *, as_json: bool
) -> None:
    old, new = terminal.show_database(loaded), terminal.show_database(other)
    rows = sum(each.rows for each in sums.values())
    if as_json:
        facts = {"from": old, "to": new, "rows": rows, "tables": describe_tables(sums)}
        terminal.print_json({**facts, "problems": databases.describe_errors(errors)})
        return
    databases.print_outcome(
        f"Moved {rows:,} rows of {len(sums)} tables to {new}; every table adds up to the same there", errors
    )
    click.echo(
        f"{old} is closed: no server starts on it, and those that still run write nothing. Use {new} from now on."
    )
