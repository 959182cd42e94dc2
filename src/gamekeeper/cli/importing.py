"""The command `import`: data of another Gamekeeper or of an Intersect server."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import click

from gamekeeper.backup import filling, importing
from gamekeeper.backup.folder import ExportFolder
from gamekeeper.backup.lines import TableChecksum
from gamekeeper.cli import database as databases
from gamekeeper.cli import progress, terminal
from gamekeeper.cli.lazy_commands import CommandGroup, LazyCommands
from gamekeeper.cli.moving import describe_tables
from gamekeeper.doctor import DoctorFinding
from gamekeeper.settings import Settings


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
        with filling.prepare_target(loaded) as target:
            work = partial(importing.import_folder, folder=opened, progress=moved)
            sums, complete = terminal.run_with_keeper(target, work, final=True)
        errors = databases.find_errors(loaded, moved, complete=complete)
    _print_imported(folder, loaded, sums, errors, as_json=as_json)
    sys.exit(bool(errors))


def _print_imported(
    folder: Path, loaded: Settings, sums: Mapping[str, TableChecksum], errors: list[DoctorFinding], *, as_json: bool
) -> None:
    rows = sum(each.rows for each in sums.values())
    if as_json:
        facts = {"folder": str(folder), "rows": rows, "tables": describe_tables(sums)}
        terminal.print_json({**facts, "problems": databases.describe_errors(errors)})
        return
    databases.print_outcome(
        f"Imported {rows:,} rows of {len(sums)} tables from {folder} to {terminal.show_database(loaded)}", errors
    )
