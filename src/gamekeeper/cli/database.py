"""The database itself: bringing its schema up to date, and looking for what is wrong with it."""

import sys
from collections import Counter
from dataclasses import asdict

import click

from gamekeeper import doctor as examination
from gamekeeper.backup.interrupt import stop_on_cancel
from gamekeeper.backup.lines import CopyProgress
from gamekeeper.cli import progress, terminal
from gamekeeper.doctor import ERROR, IMPORTS, NOTE, Finding
from gamekeeper.game.keeper import Keeper
from gamekeeper.settings import Settings
from gamekeeper.store import indexes
from gamekeeper.store import migrate as migrations

INDEXES_MISSING = (
    "It was stopped before the indexes and the lists were made. `serve` makes them, and so does: "
    "gamekeeper doctor --fix --database"
)
DOCTOR_INTERRUPTED = (
    "It was stopped before it had looked at everything. Let it look again: gamekeeper doctor --database"
)


@click.command(epilog="Example: gamekeeper migrate --database postgresql://gamekeeper@localhost/game")
@terminal.database_option
def migrate(database: str | None) -> None:
    """Bring the database's schema up to date; harmless when it is. `serve` does it too."""
    applied = terminal.run_with_keeper(terminal.load_settings(database), _migrate, final=True)
    for each in applied:
        click.echo(f"Applied {each.number:04} {each.name}.")
    if not applied:
        click.echo("The schema is up to date; nothing to do.")


async def _migrate(keeper: Keeper) -> list[migrations.Migration]:
    applied = await migrations.migrate(keeper.store)
    await indexes.create_missing(keeper.store)
    return applied


@click.command(epilog="Example: gamekeeper doctor --database sqlite:///game.db")
@click.option(
    "--fix", is_flag=True, help="Make missing indexes, count the ordered lists anew, then look. Fixes nothing else."
)
@terminal.json_option
@terminal.database_option
def doctor(fix: bool, as_json: bool, database: str | None) -> None:  # noqa: FBT001 - click hands every option over by name
    """Look for what is wrong with the database and the settings; exit code 1 if something is.

    Checks the schema, the database's own integrity, its indexes, for every item that the ledger adds up to what the
    slots hold, for every player that slots, spells and variables are as the ledger says and that the stored document
    and the columns agree, for every account its folded name and its powers, the counts by which pages and ranks are
    found, bags, equipment, sizes, imports that broke off, the room on an SQLite file's disk, synchronous standbys, and
    unsafe settings.
    It changes nothing, unless told to with --fix, and can run beside `serve` either way.
    """
    loaded = terminal.load_settings(database)
    terminal.require_database(loaded)
    with progress.bars() as moved:
        found = terminal.run_with_keeper(
            loaded, lambda keeper: examination.examine(keeper, stop_on_cancel(moved), fix=fix)
        )
    _print_findings(found, as_json=as_json)
    sys.exit(any(finding.level == ERROR for finding in found))


def find_errors(loaded: Settings, moved: CopyProgress, *, complete: bool) -> list[Finding]:
    """What doctor finds wrong with a database that was just filled, which a Ctrl-C does not undo.

    One that came before all was made stops doctor too. An import that broke off where it came from is no fault of the
    copy: it is said, as it is of a backup.
    """
    if not complete:
        return [Finding(ERROR, "indexes", f"{INDEXES_MISSING} {terminal.show_database(loaded)}")]
    try:
        found = terminal.run_with_keeper(loaded, lambda keeper: examination.examine(keeper, stop_on_cancel(moved)))
    except KeyboardInterrupt:
        return [Finding(ERROR, "doctor", f"{DOCTOR_INTERRUPTED} {terminal.show_database(loaded)}")]
    wrong = [finding for finding in found if finding.level == ERROR]
    terminal.warn_of_errors([finding for finding in wrong if finding.check == IMPORTS])
    return [finding for finding in wrong if finding.check != IMPORTS]


def describe_errors(errors: list[Finding]) -> list[str]:
    return [f"{finding.check}: {finding.message}" for finding in errors]


def print_outcome(done: str, errors: list[Finding]) -> None:
    click.echo(f"{done}; doctor found {f'{len(errors)} errors' if errors else 'nothing'}.")
    for problem in describe_errors(errors):
        click.echo(f"{ERROR}: {problem}")


def _print_findings(found: list[Finding], *, as_json: bool) -> None:
    levels = Counter(finding.level for finding in found)
    if as_json:
        findings = [asdict(finding) for finding in found]
        terminal.print_json({"errors": levels[ERROR], "notes": levels[NOTE], "findings": findings})
        return
    for finding in found:
        click.echo(f"{finding.level}: {finding.check}: {finding.message}")
    click.echo(f"{levels[ERROR]} errors, {levels[NOTE]} notes." if levels[ERROR] else "Everything is in order.")
