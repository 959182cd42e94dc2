"""SQLite store: short reads on the event loop, and one writer thread that commits concurrent writes in batches."""

import contextlib
import sqlite3
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from gamekeeper.store.clock import SteadyClock
from gamekeeper.store.database_file import DatabaseFile, find_log, measure_size, resolve
from gamekeeper.store.engine import (
    DatabaseUnavailable,
    DiskFull,
    Row,
    RowExists,
    Snapshot,
    StoreStats,
    UnusableDatabase,
    Value,
    Work,
)
from gamekeeper.store.kinds import KIND_LISTS
from gamekeeper.store.migrate import require_ours
from gamekeeper.store.sqlite_failures import is_full, translate
from gamekeeper.store.sqlite_writer import SqliteWriter, drive
from gamekeeper.store.statements import Statement

T = TypeVar("T")
MIN_VERSION = (3, 38, 0)
FETCH_ROWS = 5_000  # rows per batch when a whole table is read
# Page cache of the reader: a worker with five million players stays below 150 MiB. Twice as much was hardly faster.
# Not memory-mapped: an I/O error in a mapped page would kill the process with SIGBUS.
READER_CACHE_KIB = 16 * 1024
LONG_READ_CACHE_KIB = 4 * 1024  # page cache of a long read: small, because each has its own connection
BULK_LOAD_CACHE_KIB = 256 * 1024  # page cache of bulk loads: large, because new keys are all over the indexes
# Latest time in the database: the last change, log-in or token use (recorded at most once a minute).
NEWEST_TIME = """SELECT MAX(COALESCE((SELECT at FROM ledger ORDER BY seq DESC LIMIT 1), 0),
                   (SELECT COALESCE(MAX(MAX(issued_at, COALESCE(last_used, 0))), 0) FROM tokens))"""
PLACEHOLDERS = {
    "guid": "TEXT",
    "json": "TEXT",
    "document": "BLOB",
    "boolean": "INTEGER",
    "ordered": "TEXT",
    "bytewise": "COLLATE BINARY",
    "long": "INTEGER",
    "ledger_number": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "list_mark": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "true": "1",
    "false": "0",
    "never": "'0'",
    "never_null": "",  # without NOT NULL, which SQLite cannot add to an existing column
    "life": "''",
    "cluster": "''",
    "concurrently": "",
    "strict": "STRICT",
    "clustered": "WITHOUT ROWID, STRICT",
    "now": "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
    "for_update": "",
    "locked": "NULL",  # the id of the row that `lock` locked: on SQLite a parameter of the statement
    "keep_key": "",
    "each": "",
    **KIND_LISTS,
    "end_each": "",
    "join_texts": "group_concat",  # SQLite has string_agg since 3.44
    "new_guid": (
        "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a' || "
        "substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))"
    ),
}
# A row of an account has eight booleans. Without an adapter, sqlite3 searches for one each time.
sqlite3.register_adapter(bool, int)


class _Connection:
    """Runs SQL statements on one sqlite3 connection. Its coroutines never suspend, so `drive` can run them."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.has_written = False  # whether a statement has changed something since the writer reset this
        self._texts: dict[Statement, str] = {}

    def execute(self, statement: Statement, values: Sequence[Value]) -> sqlite3.Cursor:
        text = self._texts.get(statement)
        if text is None:
            text = self._texts[statement] = _render(statement)
        return self.db.execute(text, values)

    async def all(self, statement: Statement, *values: Value) -> Sequence[Row]:
        return self.execute(statement, values).fetchall()

    async def one(self, statement: Statement, *values: Value) -> Row | None:
        return self.execute(statement, values).fetchone()

    async def fetch_both(
        self, first: Statement, value: Value, statement: Statement, *values: Value
    ) -> tuple[Row | None, list[Any]]:
        return self.execute(first, (value,)).fetchone(), self.execute(statement, values).fetchall()

    def require_absent(self, statement: Statement, *values: Value) -> None:
        if self.execute(statement, values).fetchone():
            raise RowExists

    async def lock(self, statement: Statement, *values: Value) -> str | None:
        row = self.execute(statement, values).fetchone()
        return row[0] if row else None

    def defer(self, statement: Statement, *values: Value) -> None:
        self.execute(statement, values)
        self.has_written = True

    def load(self, statement: Statement, rows: Iterable[Row]) -> None:
        self.has_written = True  # set first: a row that fails does not undo the rows before it
        self.db.execute(f"PRAGMA cache_size = -{BULK_LOAD_CACHE_KIB}")
        self.db.executemany(_render(statement), rows)

    def fill(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        values = ", ".join(f"${number}" for number in range(1, len(columns) + 1))
        insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values})"  # noqa: S608 - names come from the schema
        self.load(Statement(table, {"": insert}), rows)

    async def read_table(self, name: str, columns: Sequence[str]) -> AsyncGenerator[Sequence[Row]]:
        cursor = self.db.execute(f"SELECT {', '.join(columns)} FROM {name}")  # noqa: S608 - names come from the schema
        while rows := cursor.fetchmany(FETCH_ROWS):
            yield rows

    async def flush(self) -> None:
        """Do nothing: on SQLite `defer` has already run the SQL statements."""

    async def returning(self, statement: Statement, *values: Value) -> Sequence[Row]:
        cursor = self.execute(statement, values)
        self.has_written = True  # set before the rows are read: the change is made, even if reading one fails
        return cursor.fetchall()


class SqliteStore:
    engine = "sqlite"

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer: SqliteWriter | None = None
        self._free: list[_Connection] = []  # idle connections for long reads
        self._clock = SteadyClock()

    async def open(self) -> None:
        if sqlite3.sqlite_version_info < MIN_VERSION:
            raise UnusableDatabase(
                f"This Python has SQLite {sqlite3.sqlite_version}; Gamekeeper needs 3.38 or newer. "
                "Use a newer Python, or PostgreSQL with --database postgresql://…"
            )
        with contextlib.ExitStack() as on_failure:
            self._file = DatabaseFile(self.path)
            on_failure.callback(self._file.release)
            _require_ours(self.path)
            self._writer_db = _connect(self.path)
            on_failure.callback(self._writer_db.close)  # on failure, close the file before `_file.release`
            self._reader = self._open_reader(READER_CACHE_KIB)
            on_failure.callback(self._reader.db.close)
            self._set_clock()
            self._file.remember_log()
            on_failure.pop_all()
        self._writer = SqliteWriter(_Connection(self._writer_db), self._file)

    async def close(self) -> None:
        writer, self._writer = self._writer, None  # from now on `write` refuses
        if writer:
            await writer.close()
            for reader in (self._reader, *self._free):
                reader.db.close()
            self._free.clear()
            self._writer_db.close()
            self._file.release()

    async def limit_statements(self, statement_seconds: int) -> None:
        """Do nothing: another thread cannot cancel a SQLite statement, and ours are short."""

    def collect_stats(self) -> StoreStats:
        lead = int(self._clock.measure_lead() * 1000)
        if self._writer is None:
            return StoreStats(clock_lead_ms=lead)
        writer = self._writer
        return StoreStats(writer.count_waiting(), tuple(writer.batches), writer.batched, clock_lead_ms=lead)

    async def all(self, statement: Statement, *values: Value) -> Sequence[Row]:
        try:
            return self._reader.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise translate(error) from error

    async def one(self, statement: Statement, *values: Value) -> Row | None:
        try:
            return self._reader.execute(statement, values).fetchone()
        except sqlite3.DatabaseError as error:
            raise translate(error) from error

    async def fetch_both(
        self, first: Statement, value: Value, statement: Statement, *values: Value
    ) -> tuple[Row | None, list[Any]]:
        reader = self._reader
        try:
            # The open cursor keeps the snapshot: SQLite ends a transaction without BEGIN with its last open statement.
            cursor = reader.execute(first, (value,))
            try:
                rows = reader.execute(statement, values).fetchall()
                return cursor.fetchone(), rows
            finally:
                cursor.close()
        except sqlite3.DatabaseError as error:
            raise translate(error) from error

    async def read(self, work: Callable[[Snapshot], Coroutine[Any, Any, T]]) -> T:
        try:
            self._reader.db.execute("BEGIN")
            try:
                return drive(work(self._reader))
            finally:
                self._reader.db.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise translate(error) from error

    async def read_in_pieces(self, work: Callable[[Snapshot], Coroutine[Any, Any, T]]) -> T:
        self._file.require_in_place()  # opening a replaced database file would delete its WAL
        reader = self._free.pop() if self._free else self._open_reader(LONG_READ_CACHE_KIB)
        try:
            try:
                reader.db.execute("BEGIN")  # the snapshot lasts until the rollback
                return await work(reader)
            finally:
                reader.db.rollback()
                self._free.append(reader)
        except sqlite3.DatabaseError as error:
            raise translate(error) from error

    async def write(
        self, work: Work[T], claim: int | None = None, *, queue: str | None = None, reserved: bool = False
    ) -> T:
        del claim, queue, reserved  # unused on SQLite: there is one writer, so writes never overlap
        return await self._require_writer().write(work)

    async def dry_run(self, work: Work[T], *, queue: str | None = None) -> T:
        del queue  # unused, as in `write`
        return await self._require_writer().write(work, dry_run=True)

    async def execute_alone(self, statement: Statement) -> None:
        await self.write(lambda tx: tx.returning(statement))

    async def check_integrity(self) -> list[str]:
        try:
            found = [str(row[0]) for row in self._reader.db.execute("PRAGMA integrity_check")]
            orphans = [f"foreign key broken: {row!r}" for row in self._reader.db.execute("PRAGMA foreign_key_check")]
        except sqlite3.DatabaseError as error:
            return [str(error)]
        return [line for line in found if line != "ok"] + orphans

    async def find_cautions(self) -> list[str]:
        return []  # no setting for an operator to change: each SQLite connection sets its own

    def _require_writer(self) -> SqliteWriter:
        if self._writer is None:
            raise DatabaseUnavailable("The database is closed.")
        return self._writer

    def _set_clock(self) -> None:
        """Replace julianday(), which reads the system clock, by our clock; the views in the file use it too."""
        try:
            self._clock.continue_from(self._reader.db.execute(NEWEST_TIME).fetchone()[0])
        except sqlite3.OperationalError:
            pass  # a new database file has no tables yet
        except sqlite3.DatabaseError as error:
            raise translate(error) from error
        self._writer_db.create_function("julianday", 1, self._clock.compute_julian_day)

    def _open_reader(self, cache_kib: int) -> _Connection:
        db = _connect(self.path)
        db.executescript(f"PRAGMA query_only = ON; PRAGMA cache_size = -{cache_kib}")
        db.create_function("julianday", 1, self._clock.compute_julian_day)
        return _Connection(db)


def _render(statement: Statement) -> str:
    """Render an SQL statement with ?1, which binds by number: sqlite3 would bind $1 by order of appearance."""
    return statement.render("sqlite", PLACEHOLDERS).replace("$", "?")


def _require_ours(path: Path) -> None:
    """Refuse a database file of another program before anything is written to it."""
    with contextlib.suppress(sqlite3.Error, OSError):  # `_connect`, which is called next, reports errors
        # Without a WAL no process has the file open. `immutable` keeps SQLite from creating a WAL for this read.
        options = "mode=ro" if measure_size(find_log(path)) else "mode=ro&immutable=1"
        db = sqlite3.connect(f"{resolve(path).as_uri()}?{options}", uri=True)
        with contextlib.closing(db):
            drive(require_ours(_Connection(db)))


def _connect(path: Path) -> sqlite3.Connection:
    try:
        uri = f"{resolve(path).as_uri()}?mode=rw"  # mode=rw does not create the file
        db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, cached_statements=256)
        db.executescript("PRAGMA page_size = 8192; PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL")
        db.executescript("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
        db.execute("PRAGMA temp_store = MEMORY")  # no temporary files for savepoints and triggers
    except (OSError, sqlite3.Error) as error:
        kind = DiskFull if is_full(error) else DatabaseUnavailable
        raise kind(f"The database {path} cannot be opened: {error}.") from error
    return db
