"""The command `import intersect`: import the data of an Intersect server."""

from contextlib import closing
from dataclasses import astuple
from pathlib import Path

import click
import msgspec

from gamekeeper.cli import progress, terminal
from gamekeeper.cli.terminal import Database, Output, command, option
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.settings import Settings
from gamekeeper.http import keeper_builder
from gamekeeper.intersect import data as intersect_data
from gamekeeper.intersect import importer
from gamekeeper.intersect.data import ReportFile, SourceData
from gamekeeper.intersect.import_run import ImportRun, OnProgress
from gamekeeper.intersect.sources import BadSource
from gamekeeper.store.engine import copies

REPORT_DIGITS = 8  # digits of the source's fingerprint in the report's default file name
HEADINGS = ("table", "rows", "empty slots", "imported", "existing", "skipped")
SOURCE = "FILE|URL"
URL = "mysql://user:password@host/database."


@command(
    "import intersect", "--players resources/playerdata.db --game resources/gamedata.db --database sqlite:///game.db"
)
def intersect(
    *,
    players: str = option(f"playerdata.db, or {URL}", required=True, metavar=SOURCE),
    game: str = option(f"gamedata.db, or {URL}", required=True, metavar=SOURCE),
    logs: str | None = option(f"logging.db, or {URL} Optional.", metavar=SOURCE),
    dry_run: bool = option("Only report what would be imported. Changes and creates no database."),
    report: Path | None = option(
        "File (JSON Lines) that lists every row which was skipped or altered. "
        "[default: intersect-report-NUMBER.jsonl, the same number for the same source]",
        type=click.Path(dir_okay=False, path_type=Path),
    ),
    database: Database,
) -> Output:
    """Import an Intersect server: accounts with their passwords, players with all their items, and the catalogue.

    Supports Intersect 0.6 to 0.8, from SQLite files or MySQL databases, which are only read. Stop the game server and
    Gamekeeper first. To resume an interrupted import, run the same command again. Running it once more after the end
    changes nothing. Existing accounts and players keep what they have.
    """
    loaded = terminal.load_settings(database)
    try:
        with closing(intersect_data.open_sources(players, game, logs)) as data:
            path = report or Path(f"intersect-report-{data.fingerprint[:REPORT_DIGITS]}.jsonl")
            with closing(ReportFile(path, data.fingerprint)) as file, progress.show_bars() as moved:
                return _make_output(_import(loaded, data, file, moved, database, dry=dry_run))
    except BadSource as problem:
        terminal.fail(str(problem))


def _import(
    loaded: Settings, data: SourceData, file: ReportFile, moved: OnProgress, database: str | None, *, dry: bool
) -> ImportRun:
    async def work(keeper: Keeper | None) -> ImportRun:
        run = ImportRun(data, loaded, keeper, file, moved, dry)
        run.had_work = await importer.run(run)
        return run

    if not dry:
        return terminal.run_on_database(database, work, first=True, final=True)
    if _has_tables(loaded):
        return terminal.run_on_database(database, work)
    return terminal.run(work(None))


def _has_tables(loaded: Settings) -> bool:
    """Tell whether the target database exists and has tables. A dry run must not create one."""
    with terminal.report_failures():
        file = keeper_builder.find_database_file(loaded)
    if file and not file.exists():
        return False

    async def has_tables(keeper: Keeper) -> bool:
        return bool(await copies.list_tables(keeper.store))

    return terminal.run_with_keeper(loaded, has_tables)


def _make_output(run: ImportRun) -> Output:
    bugs = [name for name, each in run.counts.items() if each.unaccounted]  # there should be none
    warnings = [f"WARNING: not every row of {name} is accounted for. This is a bug: please report it." for name in bugs]
    if run.old_log_entries:
        warnings.append(
            f"WARNING: {run.old_log_entries:,} log entries are older than {run.settings.log_days} days. `gamekeeper "
            "serve` deletes them soon after its start. To keep them, set GAMEKEEPER_LOG_DAYS to more days before, or "
            "to 0 for all."
        )
    facts = {
        "era": run.data.version,
        "dry_run": run.dry_run,
        "changed": run.had_work and not run.dry_run,
        "tables": msgspec.to_builtins(run.counts),
        "report": run.report_path,
        "old_log_entries": run.old_log_entries,
        "do_not_add_up": bugs,
    }
    rows = [(name, *map("{:,}".format, astuple(each))) for name, each in run.counts.items() if each.rows]
    shown = [f"Intersect {run.data.version}.", *terminal.format_table([HEADINGS, *rows])]
    shown += [_describe_outcome(run), f"Skipped and altered rows are listed in {run.report_path}."]
    return Output("\n".join(shown), facts, notes=warnings)


def _describe_outcome(run: ImportRun) -> str:
    if run.dry_run:
        return "Dry run: nothing was changed."
    if not run.had_work:
        return "This source was already imported: nothing was changed. The table shows the counts of that import."
    return "Imported: an interrupted import was resumed and is now complete." if run.resumed else "Imported."
