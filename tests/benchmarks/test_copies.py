import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks import copies
from benchmarks.worlds import SQLITE, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    url = f"sqlite:///{tmp_path / 'world.db'}"
    made = World(SQLITE, 1, url, tmp_path, 0)
    copies.execute(made, "CREATE TABLE players (exp INTEGER)", "INSERT INTO players VALUES (7)")
    return made


def exp_in(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT exp FROM players").fetchone()[0]


def test_what_is_written_into_a_copy_is_not_in_the_world(world: World) -> None:
    with copies.copied(world, "other") as copy:
        copies.execute(copy, "UPDATE players SET exp = 8")
        assert exp_in(world.folder / "other.db") == 8
    assert exp_in(world.folder / "world.db") == 7


def test_a_copy_is_gone_afterwards_and_made_anew_if_one_was_left(world: World) -> None:
    (world.folder / "other.db").write_bytes(b"left behind")
    with copies.copied(world, "other"):
        assert exp_in(world.folder / "other.db") == 7
    assert [each.name for each in world.folder.iterdir()] == ["world.db"]
