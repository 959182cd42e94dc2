"""An Intersect server's data into this one."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import click

from gamekeeper import app
from gamekeeper.cli import progress, terminal
from gamekeeper.game.keeper import Keeper
from gamekeeper.intersect import data as intersect_data
from gamekeeper.intersect import importing
from gamekeeper.intersect.course import Course, Moved
from gamekeeper.intersect.data import Data
from gamekeeper.intersect.eras import BadSource
from gamekeeper.intersect.report import Counts, File
from gamekeeper.intersect.there import Rehearsed, There
from gamekeeper.settings import Settings
from gamekeeper.store import copies

REPORT = "intersect-report-{}.jsonl"
SHOWN = 8  # digits of a source's number
HEADINGS = ("table", "rows", "empty slots", "taken", "there already", "not taken")
SOURCE = "FILE|URL"
EXAMPLE = "gamekeeper import intersect --players resources/playerdata.db --game resources/gamedata.db"


@click.command(epilog=f"Example: {EXAMPLE} --database sqlite:///game.db")
@click.option("--players", required=True, metavar=SOURCE, help="playerdata.db, or mysql://user:password@host/database.")
@click.option("--game", required=True, metavar=SOURCE, help="gamedata.db, or mysql://user:password@host/database.")
@click.option("--dry-run", is_flag=True, help="Only say what would be taken: no database is written or made.")
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help=f"Where every row is listed, as JSON Lines, that is not taken or not as it was. "
    f"[default: {REPORT.format('NUMBER')}, the same number for the same source]",
)
@terminal.json_option
@terminal.database_option
def intersect(
    players: str,
    game: str,
    dry_run: bool,  # noqa: FBT001 - click hands every option over by name
    report: Path | None,
    as_json: bool,  # noqa: FBT001 - see dry_run
    database: str | None,
) -> None:
    """Take over an Intersect server: accounts with their passwords, characters with all they have, the catalogue.

    Any era from 0.6 to 0.8, from its SQLite files or its MySQL database, which are only read. Stop the game's server
    and Gamekeeper first. What was interrupted goes on where it stopped when the same command is given again; given once
    more after the end it changes nothing. Whoever is in the database already stays as they are.
    """
    loaded = terminal.load(database)
    with _clear_failures(), closing(intersect_data.opened(players, game)) as data:
        path = report or Path(REPORT.format(data.fingerprint[:SHOWN]))
        with closing(File(path, data.fingerprint)) as file, progress.bars() as moved:
            course = _gone(loaded, data, file, moved, database, dry=dry_run)
        _say(course, as_json=as_json)


def _gone(loaded: Settings, data: Data, file: File, moved: Moved, database: str | None, *, dry: bool) -> Course:
    there = Rehearsed() if dry else There()

    async def work(keeper: Keeper | None) -> Course:
        course = Course(data, loaded, keeper, there, file, moved, dry)
        course.worked = await importing.run(course)
        return course

    if not dry:
        return terminal.on_database(database, work, first=True, final=True)
    if _is_there(loaded):
        return terminal.on_database(database, work)
    return terminal.run(work(None))


def _is_there(loaded: Settings) -> bool:
    """Whether the database is there and has anything in it: a dry run does not make one."""
    with terminal.clear_failures():
        file = app.database_file(loaded)
    if file and not file.exists():
        return False

    async def tables(keeper: Keeper) -> bool:
        return bool(await copies.list_tables(keeper.store))

    return terminal.at_work(loaded, tables)


@contextmanager
def _clear_failures() -> Generator[None]:
    try:
        yield
    except BadSource as problem:
        terminal.fail(str(problem))


def _say(course: Course, *, as_json: bool) -> None:
    if as_json:
        terminal.print_json(
            {
                "era": course.data.era,
                "dry_run": course.dry,
                "changed": course.worked and not course.dry,
                "tables": course.counts.by_table(),
                "report": course.report,
                "do_not_add_up": _lost(course.counts),
            }
        )
        return
    click.echo(f"Intersect {course.data.era}.")
    terminal.print_table([HEADINGS, *_table(course.counts)])
    click.echo(_outcome(course))
    for name in _lost(course.counts):
        click.echo(f"WARNING: the rows of {name} do not add up. Please tell the makers of Gamekeeper.", err=True)
    click.echo(f"Rows that were not taken, or not as they were, are listed in {course.report}.")


def _table(counts: Counts) -> list[tuple[str, ...]]:
    return [
        (name, *(f"{number:,}" for number in (each.rows, each.empty, each.taken, each.there, each.left)))
        for name, each in counts.of.items()
        if each.rows
    ]


def _lost(counts: Counts) -> list[str]:
    """Tables with rows of which nobody knows what became of them: there should be none."""
    return [name for name, each in counts.of.items() if each.unaccounted]


def _outcome(course: Course) -> str:
    if course.dry:
        return "This was a dry run: nothing was written."
    if not course.worked:
        return "This source was imported before: nothing to do, and nothing was changed."
    return "Imported; an import that had broken off was finished." if course.began else "Imported."
