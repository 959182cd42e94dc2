"""The SQLite store over APSW: settings of its connections, translated errors, and files that other programs open."""

import asyncio
import shutil
import subprocess
import sys
from contextlib import closing
from typing import Any

import apsw
import pytest

import people
from gamekeeper.store.engine.interface import DatabaseUnavailable, DiskFull, Snapshot, UnusableDatabase, Writing
from gamekeeper.store.engine.sqlite import CACHED_STATEMENTS
from gamekeeper.store.engine.sqlite_writer import UndecodableText, translate
from gamekeeper.store.engine.statements import Statement
from world import World

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)

SECRET = "clementine of the seven hills"
INSERT = Statement("insert", {"": "INSERT INTO maps (id, name) VALUES ($1, $2)"})
DELETE = Statement("delete", {"": "DELETE FROM maps WHERE id = $1"})
COUNT = Statement("count", {"": "SELECT COUNT(*) FROM maps"})
LATEST = Statement("latest", {"": "SELECT MAX(seq) FROM ledger"})
UNDECODABLE = Statement("undecodable", {"": "SELECT CAST(x'ff' AS TEXT), id FROM maps"})
SHOWN = {
    "page_size": 8192,
    "journal_mode": "wal",
    "synchronous": 2,
    "foreign_keys": 1,
    "temp_store": 2,
    "secure_delete": 1,
}
TRANSLATED: dict[int, type[BaseException]] = {
    apsw.SQLITE_BUSY: DatabaseUnavailable,
    apsw.SQLITE_BUSY_SNAPSHOT: DatabaseUnavailable,
    apsw.SQLITE_BUSY_RECOVERY: DatabaseUnavailable,
    apsw.SQLITE_LOCKED: DatabaseUnavailable,
    apsw.SQLITE_READONLY_DBMOVED: DatabaseUnavailable,
    apsw.SQLITE_IOERR_READ: DatabaseUnavailable,
    apsw.SQLITE_IOERR_FSYNC: DatabaseUnavailable,
    apsw.SQLITE_CANTOPEN: DatabaseUnavailable,
    apsw.SQLITE_INTERRUPT: DatabaseUnavailable,
    apsw.SQLITE_SCHEMA: DatabaseUnavailable,
    apsw.SQLITE_ERROR: DatabaseUnavailable,
    apsw.SQLITE_CONSTRAINT_TRIGGER: DatabaseUnavailable,
    apsw.SQLITE_FULL: DiskFull,
    apsw.SQLITE_CORRUPT: UnusableDatabase,
    apsw.SQLITE_CORRUPT_INDEX: UnusableDatabase,
    apsw.SQLITE_NOTADB: UnusableDatabase,
    apsw.SQLITE_NOMEM: MemoryError,
    apsw.SQLITE_CONSTRAINT_UNIQUE: apsw.ConstraintError,
    apsw.SQLITE_MISUSE: apsw.MisuseError,
}
LOOK = (
    "PRAGMA integrity_check",
    "SELECT COUNT(*) FROM players",
    "SELECT COUNT(*) FROM player_records WHERE length(document)",
)
CONTAINS = "import pathlib, sys; print(sys.argv[2].encode() in pathlib.Path(sys.argv[1]).read_bytes())"
LOOK_WITH_SQLITE3 = """
import sqlite3, sys
with sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True) as db:
    for statement in sys.argv[2:]:
        print(*db.execute(statement).fetchone())
"""


def test_sqlite_in_use_is_newer_than_the_bug_that_corrupts_wal_databases(world: World) -> None:
    """Before 3.51.3, two connections that write or checkpoint at once can: https://sqlite.org/wal.html#walresetbug."""
    ((used,),) = world.sql("SELECT sqlite_version()")
    assert used == apsw.sqlite_lib_version()
    assert tuple(map(int, used.split("."))) >= (3, 51, 3)


def test_errors_of_sqlite_are_translated(world: World) -> None:
    del world
    for code, expected in TRANSLATED.items():
        error = apsw.exception_for(code)
        assert type(translate(error)) is expected, code
    assert type(translate(UndecodableText("x"))) is DatabaseUnavailable
    fault = LookupError("x")
    assert translate(fault) is fault


def test_each_connection_has_all_settings(world: World) -> None:
    store: Any = world.keeper.store
    writer, reader = store._writer_db, store._reader.db  # noqa: SLF001 - private attributes

    async def read(_: Snapshot) -> None:
        await asyncio.sleep(0)

    world.run(store.read_in_pieces(read))
    (long_reader,) = (each.db for each in store._free)  # noqa: SLF001 - as above
    for db in (writer, reader, long_reader):
        assert {name: db.pragma(name) for name in SHOWN} == SHOWN
        assert db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1) == 1
    assert [db.pragma("query_only") for db in (writer, reader, long_reader)] == [0, 1, 1]


def test_statement_among_the_last_512_is_not_compiled_again(world: World) -> None:
    store: Any = world.keeper.store
    db = store._reader.db  # noqa: SLF001 - private attributes
    world.run(store.one(COUNT))
    for _ in range(CACHED_STATEMENTS - 1):
        world.run(store.one(LATEST))
    misses = db.cache_stats()["misses"]
    world.run(store.one(COUNT))
    assert db.cache_stats()["misses"] == misses
    assert db.cache_stats()["size"] == CACHED_STATEMENTS  # APSW lowers a larger size without an error


def test_read_of_a_text_that_cannot_be_decoded_fails_and_keeps_no_snapshot(world: World) -> None:
    store: Any = world.keeper.store
    world.sql("INSERT INTO maps (id, name) VALUES ($1, CAST(x'ff' AS TEXT))", people.guid(0x5100))

    async def read_table(tx: Snapshot) -> None:
        async for _ in tx.read_table("maps", ("id", "name")):
            pass

    for read in (
        lambda: store.all(UNDECODABLE),
        lambda: store.one(UNDECODABLE),
        lambda: store.read_in_pieces(read_table),
        lambda: store.fetch_both(Statement("bad", {"": "SELECT CAST(x'ff' AS TEXT), $1"}), 1, COUNT),
        lambda: store.fetch_both(Statement("good", {"": "SELECT $1"}), 1, UNDECODABLE),
    ):
        with pytest.raises(DatabaseUnavailable, match="could not decode"):
            world.run(read())
        assert not any(each.db.txn_state("main") for each in (store._reader, *store._free))  # noqa: SLF001 - private attributes
    world.sql("INSERT INTO maps (id, name) VALUES ($1, 'new')", people.guid(0x5101))
    assert world.run(store.one(COUNT)) == (3,)


def test_one_of_several_rows_does_not_keep_its_snapshot(world: World) -> None:
    store = world.keeper.store
    assert world.run(store.one(Statement("ids", {"": "SELECT fold FROM players ORDER BY fold"})))
    assert not vars(store)["_reader"].db.txn_state("main")


def test_deleted_row_is_not_left_in_the_file(world: World) -> None:
    """PRAGMA secure_delete: the SQLite of some systems has it on, and APSW's has it off."""
    store, path = world.keeper.store, world.keeper.store.path
    assert path

    def write(statement: Statement, *values: str) -> None:
        async def work(tx: Writing) -> None:
            tx.defer(statement, *values)

        world.run(store.write(work))
        with closing(apsw.Connection(str(path))) as other:
            other.pragma("user_version")  # a first read, which opens the WAL
            other.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    write(INSERT, people.guid(0x6000), SECRET)
    assert run_python(CONTAINS, str(path), SECRET) == ["True"]
    write(DELETE, people.guid(0x6000))
    assert run_python(CONTAINS, str(path), SECRET) == ["False"]


@pytest.mark.parametrize("program", ["python", "sqlite3"])
def test_file_in_use_is_readable_by_other_programs_with_an_own_sqlite(world: World, program: str) -> None:
    path = world.keeper.store.path
    assert path
    ((count,),) = world.sql("SELECT COUNT(*) FROM players")
    if program == "python":
        shown = run_python(LOOK_WITH_SQLITE3, str(path), *LOOK)
    else:
        shell = shutil.which("sqlite3") or pytest.skip("the sqlite3 shell is not installed")
        shown = run(shell, "-readonly", str(path), *LOOK)
    assert shown == ["ok", str(count), str(count)]


def run_python(program: str, *arguments: str) -> list[str]:
    """Run a program in another process. In this one, closing the database's file would drop the locks of the store."""
    return run(sys.executable, "-c", program, *arguments)


def run(*command: str) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()
