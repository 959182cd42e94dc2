"""The commands `migrate` and `doctor`: update the schema, and check the database.

Separate from terminal.py: most commands do not load the doctor.
"""

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict

import click

from gamekeeper import doctor as examination
from gamekeeper.cli import progress, terminal
from gamekeeper.copies.lines import CopyProgress, stop_on_cancel
from gamekeeper.doctor import ERROR, IMPORTS, NOTE, DoctorFinding
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.ground.settings import Settings
from gamekeeper.store.engine import indexes
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
DOCTOR_INTERRUPTED = "Interrupted before all checks were done. Run again: gamekeeper doctor --database"


@click.command(epilog="Example: gamekeeper migrate --database postgresql://gamekeeper@localhost/game")
@terminal.database_option
def migrate(database: str | None) -> None:
    """Update the database's schema. Does nothing if it is up to date. `serve` does this at its start."""
    applied = terminal.run_with_keeper(terminal.load_settings(database), _migrate, final=True)
    for each in applied:
        click.echo(f"Applied {each.number:04} {each.name}.")
    if not applied:
        click.echo("The schema is already up to date.")


async def _migrate(keeper: Keeper) -> list[migrations.Migration]:
    applied = await migrations.migrate(keeper.store)
    await indexes.create_missing(keeper.store)
    return applied


@click.command(epilog="Example: gamekeeper doctor --database sqlite:///game.db")
@click.option(
    "--fix",
    is_flag=True,
    help="First build missing indexes, recount lists and members of guilds, add up wrong blocks, and correct "
    "single wrong totals of past days. Repairs nothing else.",
)
@terminal.json_option
@terminal.database_option
def doctor(fix: bool, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click passes options by name
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
        found = terminal.run_with_keeper(
            loaded, lambda keeper: examination.examine(keeper, stop_on_cancel(moved), fix=fix)
        )
    _print_findings(found, as_json=as_json)
    sys.exit(any(finding.level == ERROR for finding in found))


def find_errors(loaded: Settings, moved: CopyProgress, *, complete: bool) -> list[DoctorFinding]:
    """Run doctor on a database that was just filled, and return its errors.

    Ctrl-C becomes an error in the list, because the data stays. If Ctrl-C came before the indexes were built
    (`complete` is false), doctor does not run. An interrupted import in the copied data is only a warning.
    """
    if not complete:
        return [DoctorFinding(ERROR, "indexes", f"{INDEXES_MISSING} {terminal.show_database(loaded)}")]
    try:
        found = terminal.run_with_keeper(loaded, lambda keeper: examination.examine(keeper, stop_on_cancel(moved)))
    except KeyboardInterrupt:
        return [DoctorFinding(ERROR, "doctor", f"{DOCTOR_INTERRUPTED} {terminal.show_database(loaded)}")]
    wrong = [finding for finding in found if finding.level == ERROR]
    warn_of_errors([finding for finding in wrong if finding.check == IMPORTS])
    return [finding for finding in wrong if finding.check != IMPORTS]


def describe_errors(errors: list[DoctorFinding]) -> list[str]:
    return [f"{finding.check}: {finding.message}" for finding in errors]


def print_outcome(done: str, errors: list[DoctorFinding]) -> None:
    click.echo(f"{done}; doctor found {f'{len(errors)} errors' if errors else 'no errors'}.")
    for problem in describe_errors(errors):
        click.echo(f"{ERROR}: {problem}")


def _print_findings(found: list[DoctorFinding], *, as_json: bool) -> None:
    levels = Counter(finding.level for finding in found)
    if as_json:
        findings = [asdict(finding) for finding in found]
        terminal.print_json({"errors": levels[ERROR], "notes": levels[NOTE], "findings": findings})
        return
    for finding in found:
        click.echo(f"{finding.level}: {finding.check}: {finding.message}")
    counts = ", ".join(terminal.format_count(levels[each], each) for each in (ERROR, NOTE))
    click.echo(f"{counts}." if levels[ERROR] else "No errors found.")
