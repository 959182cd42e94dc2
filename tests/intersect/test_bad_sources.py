"""Sources that cannot be imported are refused with a message before the import starts."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from command_line import CommandLine
from intersect_files import IntersectFiles, Make

Spoil = Callable[[IntersectFiles], IntersectFiles]


def sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        for each in statements:
            db.execute(each)


def no_database(files: IntersectFiles) -> IntersectFiles:
    files.players.write_bytes(b"Dear diary, " * 1000)
    return files


def missing(files: IntersectFiles) -> IntersectFiles:
    return files._replace(players=files.players.with_name("none.db"))


def empty(files: IntersectFiles) -> IntersectFiles:
    files.players.write_bytes(b"")
    return files


def swapped(files: IntersectFiles) -> IntersectFiles:
    return files._replace(players=files.game, game=files.players)


def game_twice(files: IntersectFiles) -> IntersectFiles:
    return files._replace(game=files.players)


def unknown_era(files: IntersectFiles) -> IntersectFiles:
    sql(files.players, "ALTER TABLE Player_Items RENAME COLUMN ItemProperties TO Extras")
    return files


def no_table(files: IntersectFiles) -> IntersectFiles:
    sql(files.players, "DROP TABLE Player_Bank")
    return files


def no_column(files: IntersectFiles) -> IntersectFiles:
    sql(files.game, "ALTER TABLE Classes DROP COLUMN BaseVitals")
    return files


def corrupt(files: IntersectFiles) -> IntersectFiles:
    """Damage a page of the source database that is read late."""
    with closing(sqlite3.connect(files.players)) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'Player_Spells'").fetchone()
    raw = bytearray(files.players.read_bytes())
    raw[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    files.players.write_bytes(raw)
    return files


def cut_off(files: IntersectFiles) -> IntersectFiles:
    files.players.write_bytes(files.players.read_bytes()[: 4096 * 5 + 100])
    return files


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (no_database, "is not an SQLite database. Give playerdata.db"),
        (missing, "does not exist. Intersect keeps its databases"),
        (empty, "it has none of its tables. Check the file name or URL."),
        (swapped, "Were --players and --game swapped?"),
        (game_twice, "Were --players and --game swapped?"),
        (unknown_era, "so its version of Intersect is not supported"),
        (no_table, "has no table Player_Bank or Character_Bank. Check that it is a complete"),
        (no_column, "has no column BaseVitals in Classes"),
        (corrupt, "is damaged"),
        (cut_off, "is damaged"),
    ],
)
def test_invalid_source_is_refused(spoil: Spoil, said: str, files: Make, unmigrated: CommandLine) -> None:
    spoilt = spoil(files())
    told = unmigrated.refuses("import", "intersect", *spoilt.options)
    assert said in told
    assert told.startswith("Error: ")
    assert "Traceback" not in told
    assert not Path(unmigrated.database.removeprefix("sqlite:///")).exists()
    assert not spoilt.report.exists()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_locked_file_is_refused(files: Make, unmigrated: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gamekeeper.intersect.sqlite_source.LOCK_SECONDS", 0.1)
    made = files()
    with closing(sqlite3.connect(made.players, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        told = unmigrated.refuses("import", "intersect", *made.options)
    assert "is locked by another program. Stop the game server" in told
    assert not Path(unmigrated.database.removeprefix("sqlite:///")).exists()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_rows_in_the_wal_are_imported(files: Make, command: CommandLine) -> None:
    made = files()
    with closing(sqlite3.connect(made.players)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("UPDATE Users SET Name = 'Newest' WHERE Name = 'Hero0'")
        db.commit()
        command.says("import", "intersect", *made.options)
    assert "Newest" in command.says("users", "list")


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_unsupported_url_scheme_is_refused(files: Make, command: CommandLine) -> None:
    made = files()
    told = command.refuses("import", "intersect", "--players", "postgresql://x/y", "--game", str(made.game))
    assert "postgresql:// is not supported" in told


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_unwritable_report_is_refused(files: Make, command: CommandLine, tmp_path: Path) -> None:
    made = files()._replace(report=tmp_path / "no" / "folder.jsonl")
    told = command.refuses("import", "intersect", *made.options)
    assert "Cannot write" in told
    assert "Choose another report file with --report." in told


def _denied(path: Path, _: int) -> bool:
    return not path.is_dir()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_source_in_read_only_folder(files: Make, command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in a read-only folder is imported, unless it has a WAL, which needs a writable folder."""
    monkeypatch.setattr("gamekeeper.intersect.sqlite_source.os.access", _denied)
    made = files()
    with closing(sqlite3.connect(made.players)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("UPDATE Users SET Name = 'Newest' WHERE Name = 'Hero0'")
        db.commit()
        told = command.refuses("import", "intersect", *made.options)
        assert "Copy playerdata.db* to another folder." in told
    command.says("import", "intersect", *made.options)
    assert "Newest" in command.says("users", "list")
