import asyncio
import shutil
from collections.abc import Callable, Generator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

import intersect_extras
import make_intersect
from command_line import CommandLine
from intersect_files import PLAYERS, Imported, IntersectFiles, Make, OpenImport, migrate_template, run
from world import OpenWorld, World

REPORTS = shutil.ignore_patterns("report-*.jsonl")


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], Path]:
    """Make databases of one Intersect version once: with some players, or with 0 of all that the version has."""

    @cache
    def made(era: str, players: int) -> Path:
        folder = tmp_path_factory.mktemp("intersect")
        make_intersect.make(folder, era, players or intersect_extras.MIN_PLAYERS)
        if not players:
            intersect_extras.extend(folder, era)
        return folder

    return made


@pytest.fixture
def files(kept: Callable[[str, int], Path], tmp_path: Path) -> Make:
    """Make copies of test databases of one Intersect version."""

    def copied(era: str = "0.8", players: int = PLAYERS) -> IntersectFiles:
        folder = tmp_path / f"{era}-{players}"
        shutil.copytree(kept(era, players), folder, ignore=REPORTS)
        logs = None if players else folder / "logging.db"
        return IntersectFiles(folder / "playerdata.db", folder / "gamedata.db", folder / "report.jsonl", logs)

    return copied


@pytest.fixture
def whole_files(files: Make) -> Make:
    """Make copies of databases with guilds, logs and everything else that one Intersect version has."""
    return partial(files, players=0)


@pytest.fixture
def command(databases: Any) -> Generator[CommandLine]:
    """Return the command line on a migrated database without rows."""
    url = databases.copy(migrate_template(databases))
    yield CommandLine(url)
    databases.drop(url)


@pytest.fixture
def unmigrated(empty_database: str) -> CommandLine:
    """Return the command line on a database without a schema; on SQLite there is no file yet."""
    return CommandLine(empty_database)


@pytest.fixture(scope="session")
def kept_imports(kept: Callable[[str, int], Path]) -> Callable[[Any, str, int], Imported]:
    """Import a source once for each engine. Tests get copies of the database."""

    @cache
    def imported(databases: Any, era: str, players: int) -> Imported:
        source = kept(era, players)
        report = source / f"report-{type(databases).__name__}.jsonl"
        logs = None if players else source / "logging.db"
        made = IntersectFiles(source / "playerdata.db", source / "gamedata.db", report, logs)
        url: str = databases.copy(migrate_template(databases))
        return Imported(made, run(CommandLine(url), made), url)

    return imported


@pytest.fixture
def imported(
    databases: Any, kept_imports: Callable[[Any, str, int], Imported], files: Make
) -> Generator[Callable[..., Imported]]:
    """Return a copy of an imported database, with a copy of its source, for a test that goes on from there.

    It is the import of a whole server, or of one with as many players as given.
    """
    copies: list[str] = []

    def copied(era: str = "0.8", players: int = 0) -> Imported:
        kept = kept_imports(databases, era, players)
        copies.append(databases.copy(kept.database))
        made = files(era, players)
        shutil.copyfile(kept.files.report, made.report)
        return Imported(made, kept.told, copies[-1])

    yield copied
    for each in copies:
        databases.drop(each)


@pytest.fixture(scope="module")
def open_imports(kept_imports: Callable[[Any, str, int], Imported]) -> Generator[Callable[[Any, str], OpenImport]]:
    loop, made = asyncio.new_event_loop(), list[tuple[Any, World]]()

    @cache
    def open_(databases: Any, era: str) -> OpenImport:
        kept = kept_imports(databases, era, 0)
        world = World(databases.copy(kept.database), {}, loop)
        made.append((databases, world))
        return OpenImport(kept.files, kept.told, world)

    yield open_
    for databases, world in made:
        world.close()
        databases.drop(world.url)
    loop.close()


@pytest.fixture
def whole_import(databases: Any, open_imports: Callable[[Any, str], OpenImport]) -> Callable[[str], OpenImport]:
    """Return the import of a whole server of one version. The tests of a file share it and only read it."""
    return partial(open_imports, databases)


@pytest.fixture
def opened(loop: asyncio.AbstractEventLoop) -> Generator[OpenWorld]:
    made: list[World] = []

    def open_(url: str) -> World:
        made.append(World(url, {}, loop))
        return made[-1]

    yield open_
    for each in made:
        each.close()
