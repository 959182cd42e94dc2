"""SQLite store: short reads on the event loop, and one writer thread that commits concurrent writes in batches."""

import contextlib
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

import apsw

from gamekeeper.store.engine.clock import SteadyClock
from gamekeeper.store.engine.interface import (
    DatabaseUnavailable,
    DiskFull,
    Reading,
    Row,
    RowExists,
    Snapshot,
    StoreStats,
    UnusableDatabase,
    Value,
    Work,
    find_maker,
)
from gamekeeper.store.engine.migrate import require_ours
from gamekeeper.store.engine.sqlite_file import FOREIGN_LOG, DatabaseFile, find_log, measure_size, resolve
from gamekeeper.store.engine.sqlite_writer import (
    SqliteWriter,
    UndecodableText,
    drive,
    is_full,
    make_undecodable,
    translate,
)
from gamekeeper.store.engine.statements import KIND_LISTS, Statement

T = TypeVar("T")
FETCH_ROWS = 5_000  # rows per batch when a whole table is read
# Page cache of the reader: a worker with five million players stays below 150 MiB. Twice as much was hardly faster.
# Not memory-mapped: an I/O error in a mapped page would kill the process with SIGBUS.
READER_CACHE_KIB = 16 * 1024
LONG_READ_CACHE_KIB = 4 * 1024  # page cache of a long read: small, because each has its own connection
BULK_LOAD_CACHE_KIB = 256 * 1024  # page cache of bulk loads: large, because new keys are all over the indexes
BUSY_MS = 5000  # longest wait for another process's lock
# The most that APSW keeps. Its cache is a ring of executions: a statement that is none of the last 512 which ran on its
# connection is compiled again, which happens to rare ones only.
CACHED_STATEMENTS = 512
PRAGMAS = {
    "page_size": 8192,
    "journal_mode": "WAL",
    "synchronous": "FULL",
    "foreign_keys": "ON",
    "temp_store": "MEMORY",  # no temporary files for savepoints and triggers
    "secure_delete": "ON",  # overwrite deleted rows with zeros: what was erased is not left in the file
}
# Latest time in the database: of the last changes, log-ins and token uses (recorded at most once a minute). The newest
# change alone would not do: a command with another clock may have written it beside a server.
NEWEST_TIME = """SELECT MAX(COALESCE((SELECT MAX(at) FROM (SELECT at FROM ledger ORDER BY seq DESC LIMIT 1000)), 0),
                   (SELECT COALESCE(MAX(MAX(issued_at, COALESCE(last_used, 0))), 0) FROM tokens))"""
PLACEHOLDERS = {
    "guid": "TEXT",
    "json": "TEXT",
    "json_text": "TEXT",  # JSON that is only read as a whole
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
    "take_one": "",
    "skip_locked": "",
    "locked": "NULL",  # the id of the row that `lock` locked: on SQLite a parameter of the statement
    "keep_key": "",
    "each": "",
    "any": "IN (",
    "end_any": ")",
    **KIND_LISTS,
    "end_each": "",
    "join_texts": "group_concat",
    "new_guid": (
        "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a' || "
        "substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))"
    ),
}


class _Reading(Reading, Protocol):
    """Reads of a connection and of the store, with one coroutine for each: a second one takes as long as a lookup."""

    def fetch_all(self, statement: Statement, values: Sequence[Value]) -> list[Any]: ...

    def fetch_one(self, statement: Statement, values: Sequence[Value]) -> Row | None: ...

    async def all(self, statement: Statement, *values: Value) -> Sequence[Row]:
        return self.fetch_all(statement, values)

    async def one(self, statement: Statement, *values: Value) -> Row | None:
        return self.fetch_one(statement, values)

    async def rows(self, kind: Callable[..., T], statement: Statement, *values: Value) -> list[T]:
        make = find_maker(kind)
        return [make(*row) for row in self.fetch_all(statement, values)]

    async def row(self, kind: Callable[..., T], statement: Statement, *values: Value) -> T | None:
        row = self.fetch_one(statement, values)
        return None if row is None else find_maker(kind)(*row)

    async def value(self, statement: Statement, *values: Value) -> Any:  # noqa: ANN401 - of any column
        row = self.fetch_one(statement, values)
        return None if row is None else row[0]


class _Connection(_Reading):
    """Runs SQL statements on one APSW connection. Its coroutines never suspend, so `drive` can run them."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db
        self.cursor = db.cursor()  # for statements that end before the next one begins: a cursor for each takes 0.9 µs
        self.has_written = False  # whether a statement has changed something since the writer reset this
        self._texts: dict[Statement, str] = {}

    def render(self, statement: Statement) -> str:
        text = self._texts.get(statement)
        if text is None:
            text = self._texts[statement] = _render(statement)
        return text

    def fetch_all(self, statement: Statement, values: Sequence[Value]) -> list[Any]:
        try:
            return self.cursor.execute(self.render(statement), values).fetchall()
        except UnicodeDecodeError as error:
            raise self._end_undecodable(error) from error

    def fetch_one(self, statement: Statement, values: Sequence[Value]) -> Row | None:
        cursor = self.cursor
        try:
            row: Row | None = cursor.execute(self.render(statement), values).fetchone()
            if row is not None and cursor.fetchone() is not None:
                cursor.execute("")  # end the statement, and with it the snapshot that it reads
        except UnicodeDecodeError as error:
            raise self._end_undecodable(error) from error
        return row

    def _end_undecodable(self, error: UnicodeDecodeError) -> UndecodableText:
        self.cursor.execute("")  # as above
        return make_undecodable(error)

    def require_absent(self, statement: Statement, *values: Value) -> None:
        if self.fetch_one(statement, values):
            raise RowExists

    async def lock(self, statement: Statement, *values: Value) -> str | None:
        row = self.fetch_one(statement, values)
        return row[0] if row else None

    def defer(self, statement: Statement, *values: Value) -> None:
        self.fetch_all(statement, values)
        self.has_written = True

    def load(self, statement: Statement, rows: Iterable[Row]) -> None:
        self.has_written = True  # set first: a row that fails does not undo the rows before it
        self.db.pragma("cache_size", -BULK_LOAD_CACHE_KIB)
        self.cursor.executemany(_render(statement), rows)

    def fill(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        values = ", ".join(f"${number}" for number in range(1, len(columns) + 1))
        insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values})"  # noqa: S608 - names come from the schema
        self.load(Statement(table, {"": insert}), rows)

    async def read_table(self, name: str, columns: Sequence[str]) -> AsyncGenerator[Sequence[Row]]:
        text = f"SELECT {', '.join(columns)} FROM {name}"  # noqa: S608 - names come from the schema
        with contextlib.closing(self.db.execute(text)) as cursor:  # an open cursor would keep the snapshot
            try:
                while rows := list(islice(cursor, FETCH_ROWS)):
                    yield rows
            except UnicodeDecodeError as error:
                raise make_undecodable(error) from error

    async def flush(self) -> None:
        """Do nothing: on SQLite `defer` has already run the SQL statements."""

    async def returning(self, statement: Statement, *values: Value) -> Sequence[Row]:
        self.has_written = True  # set first: the change is made, even if reading a returned row fails
        return self.fetch_all(statement, values)


class SqliteStore(_Reading):
    engine = "sqlite"

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer: SqliteWriter | None = None
        self._free: list[_Connection] = []  # idle connections for long reads
        self._clock = SteadyClock()

    async def open(self) -> None:
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
        """Do nothing: our statements on SQLite are short, and no other client holds a lock for long."""

    def collect_stats(self) -> StoreStats:
        lead = int(self._clock.measure_lead() * 1000)
        if self._writer is None:
            return StoreStats(clock_lead_ms=lead)
        writer = self._writer
        return StoreStats(writer.count_waiting(), tuple(writer.batches), writer.batched, clock_lead_ms=lead)

    def fetch_all(self, statement: Statement, values: Sequence[Value]) -> list[Any]:
        try:
            return self._reader.fetch_all(statement, values)
        except apsw.Error as error:
            raise translate(error) from error

    def fetch_one(self, statement: Statement, values: Sequence[Value]) -> Row | None:
        try:
            return self._reader.fetch_one(statement, values)
        except apsw.Error as error:
            raise translate(error) from error

    async def fetch_both(
        self, first: Statement, value: Value, statement: Statement, *values: Value
    ) -> tuple[Row | None, list[Any]]:
        reader = self._reader
        try:
            # The open cursor keeps the snapshot: SQLite ends a transaction without BEGIN with its last open statement.
            cursor = reader.db.execute(reader.render(first), (value,))
            try:
                rows = reader.fetch_all(statement, values)
                return cursor.fetchone(), rows
            except UnicodeDecodeError as error:
                raise make_undecodable(error) from error
            finally:
                cursor.close()
        except apsw.Error as error:
            raise translate(error) from error

    async def read(self, work: Callable[[Snapshot], Coroutine[Any, Any, T]]) -> T:
        try:
            self._reader.db.execute("BEGIN")
            try:
                return drive(work(self._reader))
            finally:
                self._reader.db.execute("COMMIT")
        except apsw.Error as error:
            raise translate(error) from error

    async def read_in_pieces(self, work: Callable[[Snapshot], Coroutine[Any, Any, T]]) -> T:
        self._file.require_in_place()  # opening a replaced database file would delete its WAL
        reader = self._free.pop() if self._free else self._open_reader(LONG_READ_CACHE_KIB)
        try:
            try:
                reader.db.execute("BEGIN")  # the snapshot lasts until the rollback
                return await work(reader)
            finally:
                if reader.db.in_transaction:
                    reader.db.execute("ROLLBACK")
                self._free.append(reader)
        except apsw.Error as error:
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
        self._file.require_in_place()  # as in `read_in_pieces`
        try:
            # A new connection: the check of a full-text index uses the parts of the index that its connection knows
            # from earlier, and finds damage where another connection has merged them.
            with contextlib.closing(self._open_reader(LONG_READ_CACHE_KIB).db) as db:
                found = [str(row[0]) for row in db.execute("PRAGMA integrity_check")]
                orphans = [f"foreign key broken: {row!r}" for row in db.execute("PRAGMA foreign_key_check")]
        except apsw.Error as error:
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
            self._clock.continue_from(self._reader.db.execute(NEWEST_TIME).fetchall()[0][0])
        except apsw.SQLError:
            pass  # a new database file has no tables yet
        except apsw.Error as error:
            _require_own_log(self.path, error)
            raise translate(error) from error
        self._writer_db.create_scalar_function("julianday", self._clock.compute_julian_day, 1)

    def _open_reader(self, cache_kib: int) -> _Connection:
        db = _connect(self.path)
        db.pragma("query_only", "ON")
        db.pragma("cache_size", -cache_kib)
        db.create_scalar_function("julianday", self._clock.compute_julian_day, 1)
        return _Connection(db)


def _render(statement: Statement) -> str:
    """Render an SQL statement with ?1, which binds by number: SQLite would bind $1 by order of appearance."""
    return statement.render("sqlite", PLACEHOLDERS).replace("$", "?")


def _require_ours(path: Path) -> None:
    """Refuse a database file of another program before anything is written to it."""
    with contextlib.suppress(apsw.Error, OSError):  # `_connect`, which is called next, reports errors
        # Without a WAL no process has the file open. `immutable` keeps SQLite from creating a WAL for this read.
        options = "mode=ro" if measure_size(find_log(path)) else "mode=ro&immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        with contextlib.closing(apsw.Connection(f"{resolve(path).as_uri()}?{options}", flags)) as db:
            db.set_busy_timeout(BUSY_MS)
            drive(require_ours(_Connection(db)))


def _require_own_log(path: Path, error: Exception) -> None:
    """Explain an error that a WAL causes which a server left, if another database file was put in its file's place."""
    log = find_log(path)
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)) and (size := measure_size(log)):
        raise UnusableDatabase(FOREIGN_LOG.format(file=path, log=log, size=size, error=error)) from error


def _connect(path: Path) -> apsw.Connection:
    with contextlib.ExitStack() as on_failure:
        try:
            # these flags do not create the file
            db = apsw.Connection(str(resolve(path)), apsw.SQLITE_OPEN_READWRITE, statementcachesize=CACHED_STATEMENTS)
            on_failure.callback(db.close)  # or the connection would keep its locks until it is collected
            db.set_busy_timeout(BUSY_MS)
            # Compile a statement once, whatever its values are. Otherwise this SQLite, which is built with STAT4,
            # would compile a statement anew for each new value.
            db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            for name, value in PRAGMAS.items():
                db.pragma(name, value)
        except (OSError, apsw.Error) as error:
            _require_own_log(path, error)
            kind = DiskFull if is_full(error) else DatabaseUnavailable
            raise kind(f"The database {path} cannot be opened: {error}.") from error
        on_failure.pop_all()
    return db
