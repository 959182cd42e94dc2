"""Imports of servers with everything that a version has: repeated, interrupted, and with every row counted."""

import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from functools import partialmethod
from typing import Any

import pytest

import intersect_logs
import make_intersect
from command_line import CommandLine
from findings import errors
from gamekeeper.intersect import import_run, importer
from gamekeeper.intersect.import_run import ImportRun
from gamekeeper.intersect.sources import BadSource
from gamekeeper.store.world.imports import DONE_STAGE
from intersect_files import (
    IntersectFiles,
    Make,
    OpenImport,
    by_day,
    change,
    contents,
    migrate_template,
    read_report,
    run,
)
from world import OpenWorld, World

KILLED = """
from gamekeeper.intersect import import_run
import_run.BATCH_SIZE = 2
from gamekeeper.cli.commands import gamekeeper
gamekeeper()
"""
# Versions, the commits before or after which their import is killed, and its stage then
KILLS = [
    ("0.8", "after_commit:24", "activity"),
    *(
        pytest.param(era, point, "", marks=pytest.mark.long_only)
        for era in make_intersect.ERAS
        for point in ("after_commit:8", "before_commit:9", "before_commit:23", "after_commit:24")
    ),
]


@pytest.mark.parametrize("era", by_day("0.8", make_intersect.ERAS))
def test_every_row_of_each_version_is_counted(era: str, whole_import: Callable[[str], OpenImport]) -> None:
    """Each table's rows are imported, existing, empty or skipped; each skipped row, or its table, is in the report."""
    made, told, _ = whole_import(era)
    listed: dict[str, int] = {}
    for line in read_report(made):
        if not line["taken"]:
            rows = 1 if line["id"] else told["tables"][line["table"]]["rows"]
            listed[line["table"]] = listed.get(line["table"], 0) + rows
    for name, each in told["tables"].items():
        assert each["rows"] == each["empty"] + each["taken"] + each["there"] + each["left"], name
        assert each["left"] == listed.get(name, 0), name


@pytest.mark.parametrize("era", by_day("0.8", make_intersect.ERAS))
def test_requests_are_never_imported(era: str, whole_import: Callable[[str], OpenImport]) -> None:
    made, told, world = whole_import(era)
    assert told["tables"]["RequestLogs"] == {"rows": 1, "empty": 0, "taken": 0, "there": 0, "left": 1}
    assert {line["reason"] for line in read_report(made) if line["table"] == "RequestLogs"} == {
        importer.SECRET_TABLES["requestlogs"]
    }
    secret = intersect_logs.AUTHORIZATION.split()[1]
    assert secret not in repr(contents(world))
    assert secret not in made.report.read_text()


@pytest.mark.both_engines
@pytest.mark.parametrize(("era", "point", "stage"), KILLS)
def test_killed_import_is_resumed(
    era: str, point: str, stage: str, whole_files: Make, command: CommandLine, databases: Any,
    opened: OpenWorld, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The import is killed before or after a commit; the next run gives the same result as an undisturbed one.

    The database is migrated before, so that the number in `point` counts only commits of the import.
    """
    monkeypatch.setattr(import_run, "BATCH_SIZE", 2)
    made = whole_files(era)
    # rename all players, so that every batch has report entries
    change(made.players, f"UPDATE {'Characters' if era == '0.6' else 'Players'} SET Name = Name || ' the Bold'")  # noqa: S608 - from here
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, "import", "intersect", *made.options, "--database", command.database],
        env={**os.environ, "GAMEKEEPER_BATTERY_CRASH": point},
        check=False,
        capture_output=True,
        timeout=60,
    )
    assert killed.returncode == -9
    [unfinished] = [each for each in command.json("doctor", code=1)["findings"] if each["check"] == "imports"]
    assert unfinished["level"] == "error"
    assert f"was interrupted in the stage {stage}" in unfinished["message"]
    told, world = run(command, made), opened(command.database)
    compare_with_undisturbed(databases, opened, made, told, world)
    assert errors(world) == []


@pytest.mark.long_only
def test_import_stopped_after_each_commit_reports_the_same(
    whole_files: Make, command: CommandLine, databases: Any, opened: OpenWorld,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Each run of the command stops after its first commit, until the import is complete."""
    made = whole_files("0.8")
    change(made.game, "UPDATE Shops SET Id = Name")  # no row of this table has a valid id
    world = opened(command.database)
    places: list[tuple[str, str]] = []
    with monkeypatch.context() as patch:
        patch.setattr(ImportRun, "commit_batch", partialmethod(_stop_after, ImportRun.commit_batch))
        while not places or places[-1][0] != DONE_STAGE:
            assert "stopped by the test" in command.refuses("import", "intersect", *made.options)
            places += world.sql("SELECT stage, last FROM imports")
            assert places[-1] not in places[:-1]
    lines, told = made.report.read_bytes(), run(command, made)
    assert made.report.read_bytes() == lines
    compare_with_undisturbed(databases, opened, made, told, world)


def compare_with_undisturbed(databases: Any, opened: OpenWorld, made: IntersectFiles, told: Any, world: World) -> None:
    """Import the source into another database without a stop, and require the same counts, report and rows."""
    lines, url = made.report.read_bytes(), databases.copy(migrate_template(databases))
    try:
        assert run(CommandLine(url), made)["tables"] == told["tables"]
        assert made.report.read_bytes() == lines
        other = opened(url)
        assert contents(world) == contents(other)
        other.close()
    finally:
        databases.drop(url)


async def _stop_after(run: ImportRun, commit: Callable[..., Awaitable[None]], *arguments: Any) -> None:
    await commit(run, *arguments)
    raise BadSource("stopped by the test")
