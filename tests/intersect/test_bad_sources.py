"""Sources that cannot be imported are refused with a message before the import starts."""

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from command_line import CommandLine
from intersect_files import IntersectFiles, Make
from loops import over

# the database that is imported into is not reached
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
Spoil = Callable[[IntersectFiles], IntersectFiles]


def write(content: bytes) -> Spoil:
    def spoil(files: IntersectFiles) -> IntersectFiles:
        files.players.write_bytes(content)
        return files

    return spoil


def name(players: str, game: str) -> Spoil:
    return lambda files: files._replace(players=files.players.with_name(players), game=files.game.with_name(game))


def change(statement: str) -> Spoil:
    def spoil(files: IntersectFiles) -> IntersectFiles:
        with closing(apsw.Connection(str(files.game if "Classes" in statement else files.players))) as db:
            db.execute(statement)
        return files

    return spoil


def corrupt(files: IntersectFiles) -> IntersectFiles:
    """Damage a page of the source database that is read late."""
    with closing(apsw.Connection(str(files.players))) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'Player_Spells'").fetchone()
    raw = bytearray(files.players.read_bytes())
    raw[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    files.players.write_bytes(raw)
    return files


def swap_logs(files: IntersectFiles) -> IntersectFiles:
    return files._replace(logs=files.players)


@over(
    "spoil, said",
    (write(b"Dear diary, " * 1000), "is not an SQLite database. Give playerdata.db"),
    (name("none.db", "gamedata.db"), "does not exist. Intersect keeps its databases"),
    (write(b""), "it has none of its tables. Check the file name or URL."),
    (name("gamedata.db", "playerdata.db"), "Were --players and --game swapped?"),
    (swap_logs, "Were --players and --logs swapped?"),
    (change("ALTER TABLE Player_Items RENAME COLUMN ItemProperties TO Extras"), "so its version of Intersect is"),
    (change("DROP TABLE Player_Bank"), "has no table Player_Bank or Character_Bank. Check that it is a complete"),
    (change("ALTER TABLE Classes DROP COLUMN BaseVitals"), "has no column BaseVitals in Classes"),
    (corrupt, "is damaged"),
    (change("ALTER TABLE Users ADD COLUMN Bomb AS (hex(zeroblob(70000000)))"), "generated column Bomb in Users"),
)
def test_invalid_source_is_refused(spoil: Spoil, said: str, files: Make, unmigrated: CommandLine) -> None:
    made = files()
    spoilt = spoil(made)
    told = unmigrated.refuses("import", "intersect", *spoilt.options)
    assert said in told
    assert told.startswith("Error: ")
    assert "Traceback" not in told
    assert not Path(unmigrated.database.removeprefix("sqlite:///")).exists()
    assert not spoilt.report.exists()
    shutil.rmtree(made.players.parent)


def test_unsupported_url_and_unwritable_report_are_refused(files: Make, command: CommandLine, tmp_path: Path) -> None:
    made = files()._replace(report=tmp_path / "no" / "folder.jsonl")
    told = command.refuses("import", "intersect", "--players", "postgresql://x/y", "--game", str(made.game))
    assert "postgresql:// is not supported" in told
    told = command.refuses("import", "intersect", *made.options)
    assert "Cannot write" in told
    assert "Choose another report file with --report." in told


def test_too_large_value_ends_the_import(files: Make, command: CommandLine) -> None:
    made = change("UPDATE Users SET Name = zeroblob(70000000)")(files())
    assert "has a value of more than 64 MiB" in command.refuses("import", "intersect", *made.options)


def test_locked_file_is_refused(files: Make, unmigrated: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gamekeeper.intersect.engines.LOCK_SECONDS", 0.1)
    made = files()
    with closing(apsw.Connection(str(made.players))) as db:
        db.execute("BEGIN EXCLUSIVE")
        told = unmigrated.refuses("import", "intersect", *made.options)
    assert "is locked by another program. Stop the game server" in told
    assert not Path(unmigrated.database.removeprefix("sqlite:///")).exists()


def _denied(path: Path, _: int) -> bool:
    return not path.is_dir()


def test_source_in_read_only_folder(files: Make, command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in a read-only folder is imported, unless it has a WAL, which needs a writable folder."""
    monkeypatch.setattr("gamekeeper.intersect.engines.os.access", _denied)
    made = files()
    with closing(apsw.Connection(str(made.players))) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("UPDATE Users SET Name = 'Newest' WHERE Name = 'Hero0'")
        told = command.refuses("import", "intersect", *made.options)
        assert "Copy playerdata.db* to another folder." in told
    command.says("import", "intersect", *made.options)
    assert "Newest" in command.says("users", "list")
