"""Databases of other programs are refused with a message, and nothing is written to them."""

import asyncio
import itertools
import shutil
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import asyncpg
import pytest

import make_intersect
from command_line import CommandLine
from databases import Postgres
from gamekeeper import settings
from gamekeeper.cli import terminal
from gamekeeper.store import migrate, sqlite
from loops import over
from server import free_port

READING = [
    ("doctor",),
    ("users", "list"),
    ("users", "show", "Ann"),
    ("tokens", "list"),
    ("mail", "list"),
    ("export", "folder"),
    ("backup", "file"),
    ("move", "--to", "sqlite:///other.db"),
    ("move", "--reopen"),
]
WRITING = [("migrate",), ("users", "add", "Nina", "--email", "nina@example.test", "--password-stdin")]
TABLES = "SELECT CAST(relname AS text) FROM pg_class WHERE relnamespace = CAST(current_schema() AS regnamespace)"
LATIN1 = ("ENCODING 'LATIN1'", "LC_COLLATE 'C'", "LC_CTYPE 'C'", "TEMPLATE template0")


def ask(url: str, text: str) -> list[Any]:
    async def run() -> list[Any]:
        driver: Any = asyncpg
        db = await driver.connect(url)
        try:
            return [tuple(row) for row in await db.fetch(text)]
        finally:
            await db.close()

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
@over("mode, state", list(itertools.product(["delete", "wal"], ["closed", "in use", "left behind", "linked"])))
def test_file_of_another_program_is_refused_in_every_state(first_command: CommandLine, mode: str, state: str) -> None:
    """A file of another program is refused even with the journal that a killed program leaves behind."""
    file = Path(first_command.database.removeprefix("sqlite:///"))
    for each in file.parent.glob(f"{file.name}*"):
        each.unlink()
    other = file.with_name(f"other-{file.name}") if state in {"left behind", "linked"} else file
    with closing(apsw.Connection(str(other))) as db:
        db.execute(f"PRAGMA journal_mode = {mode}")
        db.execute("CREATE TABLE Players (Name TEXT)")
        if state == "closed":
            db.close()
        elif state == "linked":  # with a WAL the table is only there, not in the main file
            file.symlink_to(other)
        elif state == "left behind":
            db.execute("PRAGMA cache_size = 1")
            db.execute("BEGIN")
            db.executemany("INSERT INTO Players VALUES (?)", [("x" * 3_000,)] * 100)
            for each in file.parent.glob(f"{other.name}*"):
                shutil.copyfile(each, file.with_name(each.name.removeprefix("other-")))
        before, files = file.read_bytes(), made(first_command.database)
        assert "did not make (Players): name an empty one." in first_command.refuses("doctor")
        assert file.read_bytes() == before
        # if the file is in use or has a journal left behind, SQLite may have created the -shm file
        assert state not in {"closed", "linked"} or made(first_command.database) == files
    for each in file.parent.glob(f"*{file.name}*"):
        each.unlink()


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_reading_commands_leave_empty_database_empty(first_command: CommandLine) -> None:
    for arguments in READING:
        said = first_command.run(*arguments, code=1).output
        assert "gamekeeper migrate" in said or "Check --database." in said, arguments
        assert made(first_command.database) == [], arguments


@pytest.fixture
def latin(postgres_databases: Postgres) -> Generator[CommandLine]:
    url = postgres_databases.empty(*LATIN1)
    yield CommandLine(url)
    postgres_databases.drop(url)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_database_with_other_encoding_is_refused(latin: CommandLine, command: CommandLine, tmp_path: Path) -> None:
    """PostgreSQL only: SQLite has only Unicode encodings."""
    command.says("backup", str(tmp_path / "x.backup"))
    for arguments in (
        *WRITING,
        ("serve", "--port", str(free_port())),
        ("restore", str(tmp_path / "x.backup")),
    ):
        said = latin.refuses(*arguments, typed="moss and lanterns")
        assert "encoding is LATIN1" in said, arguments
        assert "createdb --encoding=UTF8 --template=template0 …" in said, arguments
    assert "encoding is LATIN1" in command.refuses("move", "--to", latin.database)
    assert "error: schema: This database's encoding is LATIN1" in latin.says("doctor", code=1)
    assert made(latin.database) == []
    # the refused `move` did not mark its source database as moved: it still accepts changes
    command.says("users", "grant", "Ann", "users.query")


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.usefixtures("engine")
def test_existing_database_with_other_encoding_still_works(
    latin: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database created by an older version in LATIN1 can still be backed up and exported."""

    async def take(_: object) -> None:
        pass

    with monkeypatch.context() as older:
        older.setattr(migrate, "require_utf8", take)
        loaded = settings.load({}, database=latin.database)
        terminal.run_with_keeper(loaded, lambda keeper: migrate.migrate(keeper.store))
    assert "up to date" in latin.says("migrate")
    latin.says("users", "add", "Nina", "--email", "nina@example.test", "--password-stdin", typed="moss and lanterns")
    assert "encoding is LATIN1" in latin.says("doctor", code=1)
    latin.says("backup", str(tmp_path / "x.backup"))
    latin.says("export", str(tmp_path / "folder"))


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_full_disk_is_reported(first_command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    connect: Callable[[Path], apsw.Connection] = vars(sqlite)["_connect"]

    def small(path: Path) -> apsw.Connection:
        db = connect(path)
        db.execute("PRAGMA max_page_count = 5")
        return db

    monkeypatch.setattr(sqlite, "_connect", small)
    said = first_command.refuses("migrate")
    assert "disk is full: database or disk is full. Free some space, then run the same command again." in said
