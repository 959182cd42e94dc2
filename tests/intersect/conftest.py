import asyncio
import shutil
from collections.abc import Callable, Generator
from functools import cache
from pathlib import Path

import pytest

import intersect_extras
import make_intersect
from command_line import CommandLine
from intersect_files import PLAYERS, IntersectFiles, Make
from world import World


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], Path]:
    @cache
    def made(era: str, players: int) -> Path:
        folder = tmp_path_factory.mktemp("intersect")
        make_intersect.make(folder, era, players)
        return folder

    return made


@pytest.fixture
def files(kept: Callable[[str, int], Path], tmp_path: Path) -> Make:
    """Make copies of test databases of one Intersect version, with some players."""

    def copied(era: str = "0.8", players: int = PLAYERS) -> IntersectFiles:
        folder = tmp_path / f"{era}-{players}"
        shutil.copytree(kept(era, players), folder)
        return IntersectFiles(folder / "playerdata.db", folder / "gamedata.db", folder / "report.jsonl")

    return copied


@pytest.fixture(scope="session")
def kept_whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    @cache
    def made(era: str) -> Path:
        folder = tmp_path_factory.mktemp("intersect")
        make_intersect.make(folder, era, intersect_extras.MIN_PLAYERS)
        intersect_extras.extend(folder, era)
        return folder

    return made


@pytest.fixture
def whole_files(kept_whole: Callable[[str], Path], tmp_path: Path) -> Make:
    """Make copies of databases with guilds, logs and everything else that one Intersect version has."""

    def copied(era: str = "0.8") -> IntersectFiles:
        folder = tmp_path / f"{era}-whole"
        shutil.copytree(kept_whole(era), folder)
        made = (folder / name for name in ("playerdata.db", "gamedata.db", "report.jsonl", "logging.db"))
        return IntersectFiles(*made)

    return copied


@pytest.fixture
def command(empty_database: str) -> CommandLine:
    return CommandLine(empty_database)


@pytest.fixture
def opened(loop: asyncio.AbstractEventLoop) -> Generator[Callable[[str], World]]:
    made: list[World] = []

    def open_(url: str) -> World:
        made.append(World(url, {}, loop))
        return made[-1]

    yield open_
    for each in made:
        each.close()
