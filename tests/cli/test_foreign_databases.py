"""Databases of other programs are refused with a message, and nothing is written to them."""

import asyncio
import shutil
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import apsw
import pytest

import make_intersect
from command_line import CommandLine
from databases import Postgres
from loops import over
from postgres_sessions import connected
from server import free_port

READING = [
    *(("doctor",), ("users", "list"), ("users", "show", "Ann"), ("tokens", "list"), ("mail", "list")),
    *(("export", "folder"), ("backup", "file"), ("move", "--to", "sqlite:///other.db"), ("move", "--reopen")),
]
WRITING = [("migrate",), ("users", "add", "Nina", "--email", "nina@example.test", "--password-stdin")]
TABLES = "SELECT CAST(relname AS text) FROM pg_class WHERE relnamespace = CAST(current_schema() AS regnamespace)"
LATIN1 = ("ENCODING 'LATIN1'", "LC_COLLATE 'C'", "LC_CTYPE 'C'", "TEMPLATE template0")


def ask(url: str, text: str) -> list[Any]:
    async def run() -> list[Any]:
        async with connected(url) as db:
            return [tuple(row) for row in await db.fetch(text)]

    return asyncio.run(run())


def made(url: str) -> object:
    """Return the whole content of a database: the files' bytes (SQLite) or the tables (PostgreSQL)."""
    if not url.startswith("sqlite"):
        return sorted(ask(url, TABLES))
    file = Path(url.removeprefix("sqlite:///"))
    return {each.name: each.read_bytes() for each in file.parent.glob(f"{file.name}*")}


@pytest.fixture(scope="session")
def intersect(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("intersect")
    make_intersect.make(folder, "0.8", 1)
    return folder


@pytest.fixture
def foreign(first_command: CommandLine, intersect: Path, engine: str) -> CommandLine:
    """Create another program's database at the configured URL; on SQLite that program has closed the file."""
    if engine == "sqlite":
        file = Path(first_command.database.removeprefix("sqlite:///"))
        shutil.copyfile(intersect / "playerdata.db", file)
    else:
        for name in ("players", "users"):
            ask(first_command.database, f"CREATE TABLE {name} (id integer)")
    return first_command


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.both_engines
@pytest.mark.usefixtures("inside")
def test_database_of_another_program_is_refused_and_unchanged(
    foreign: CommandLine, intersect: Path, command: CommandLine, tmp_path: Path
) -> None:
    options = ("--players", str(intersect / "playerdata.db"), "--game", str(intersect / "gamedata.db"))
    every = [*READING, *WRITING, ("serve", "--port", str(free_port())), ("import", "intersect", *options)]
    before = made(foreign.database)
    for arguments in every:
        said = foreign.refuses(*arguments, typed="moss and lanterns")
        assert "This database has tables that Gamekeeper did not make (" in said, arguments
        assert said.endswith("): name an empty one.\n"), arguments
        assert made(foreign.database) == before, arguments
    command.says("backup", str(tmp_path / "x.backup"))
    for said in (
        foreign.refuses("restore", str(tmp_path / "x.backup")),
        command.refuses("move", "--to", foreign.database),
    ):
        assert "name an empty one" in said or "it was not changed" in said
    assert made(foreign.database) == before
    assert "Ann" in command.says("users", "list")


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@over("mode", "delete", "wal")
def test_file_that_another_program_uses_or_has_left_behind_is_refused(first_command: CommandLine, mode: str) -> None:
    """A file of another program is refused even with the journal that a killed program leaves behind."""
    file = Path(first_command.database.removeprefix("sqlite:///"))
    other = file.with_name(f"{mode}-{file.name}")
    with closing(apsw.Connection(str(other))) as db:
        db.execute(f"PRAGMA journal_mode = {mode}")
        db.execute("CREATE TABLE Players (Name TEXT)")
        assert "did not make (Players): name an empty one." in CommandLine(f"sqlite:///{other}").refuses("doctor")
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN")
        db.executemany("INSERT INTO Players VALUES (?)", [("x" * 3_000,)] * 100)
        for each in file.parent.glob(f"{other.name}*"):
            shutil.copyfile(each, file.with_name(each.name.removeprefix(f"{mode}-")))
    before = file.read_bytes()
    assert "did not make (Players): name an empty one." in first_command.refuses("doctor")
    assert file.read_bytes() == before
    for each in file.parent.glob(f"{file.name}*"):
        each.unlink()


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_commands_without_a_schema_leave_the_database_empty(first_command: CommandLine) -> None:
    for arguments in (*READING, ("users", "grant", "Ann", "users.query"), ("tokens", "issue", "Ann")):
        said = first_command.run(*arguments, code=1).output
        assert "gamekeeper migrate" in said or "Check --database." in said, arguments
        assert made(first_command.database) == [], arguments
    gone = urlunsplit(urlsplit(first_command.database)._replace(path="/gone"))
    assert 'database "gone" does not exist. Check --database' in CommandLine(gone).refuses("migrate")


@pytest.fixture
def latin(postgres_databases: Postgres) -> Generator[CommandLine]:
    url = postgres_databases.empty(*LATIN1)
    yield CommandLine(url)
    postgres_databases.drop(url)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_database_with_other_encoding_is_refused(latin: CommandLine, command: CommandLine) -> None:
    """PostgreSQL only: SQLite has only Unicode encodings."""
    assert "encoding is LATIN1" in latin.refuses("migrate")
    assert "encoding is LATIN1" in command.refuses("move", "--to", latin.database)
    assert made(latin.database) == []
    # the refused `move` did not mark its source database as moved: it still accepts changes
    command.says("users", "grant", "Ann", "users.query")
