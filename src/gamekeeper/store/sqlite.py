"""SQLite store: short reads on the event loop, and one writer thread that commits concurrent writes in batches."""

import asyncio
import contextlib
import queue
import sqlite3
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from gamekeeper import crash
from gamekeeper.store.clock import SteadyClock
from gamekeeper.store.database_file import DatabaseFile, find_log, measure_size, resolve
from gamekeeper.store.engine import (
    CommitUnknown,
    DatabaseUnavailable,
    DiskFull,
    Row,
    Snapshot,
    StoreStats,
    UnusableDatabase,
    Value,
    Work,
    Writing,
)
from gamekeeper.store.migrate import require_ours
from gamekeeper.store.sqlite_failures import is_full, translate
from gamekeeper.store.statements import Statement

T = TypeVar("T")
MIN_VERSION = (3, 38, 0)
MAX_BATCH = 256
FETCH_ROWS = 5_000  # rows per batch when a whole table is read
# Page cache of the reader. Not memory-mapped: an I/O error in a mapped page would kill the process with SIGBUS.
READER_CACHE_KIB = 32 * 1024
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
    "keep_key": "",
    "each": "",
    "end_each": "",
    "new_guid": (
        "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a' || "
        "substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))"
    ),
}


class _Connection:
    """Runs SQL statements on one sqlite3 connection. Its coroutines never suspend, so `drive` can run them."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
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
    ) -> tuple[Row | None, Sequence[Row]]:
        return await self.one(first, value), await self.all(statement, *values)

    def defer(self, statement: Statement, *values: Value) -> None:
        self.execute(statement, values)

    def load(self, statement: Statement, rows: Iterable[Row]) -> None:
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
        return self.execute(statement, values).fetchall()


@dataclass(slots=True)
class _WriteJob:
    work: Callable[[Writing], Coroutine[Any, Any, Any]]
    future: asyncio.Future[Any]


@dataclass(slots=True)
class _JobOutcome:
    value: Any = None
    error: BaseException | None = None


class SqliteStore:
    engine = "sqlite"

    def __init__(self, path: Path) -> None:
        self.path = path
        self._jobs: queue.SimpleQueue[_WriteJob | None] = queue.SimpleQueue()
        self._batches, self._batched = [0] * (MAX_BATCH.bit_length()), 0
        self._thread: threading.Thread | None = None
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
            self._loop = asyncio.get_running_loop()
            self._writer_db = _connect(self.path)
            on_failure.callback(self._writer_db.close)  # on failure, close the file before `_file.release`
            self._reader = self._open_reader(READER_CACHE_KIB)
            on_failure.callback(self._reader.db.close)
            self._set_clock()
            self._file.remember_log()
            on_failure.pop_all()
        self._writer = _Connection(self._writer_db)
        self._thread = threading.Thread(target=self._serve_writes, name="gamekeeper-writer", daemon=True)
        self._thread.start()

    async def close(self) -> None:
        thread, self._thread = self._thread, None  # from now on `write` refuses: None will be the last job
        if thread:
            self._jobs.put(None)
            await asyncio.to_thread(thread.join)
            for reader in (self._reader, *self._free):
                reader.db.close()
            self._free.clear()
            self._writer_db.close()
            self._file.release()

    async def limit_statements(self, statement_seconds: int) -> None:
        """Do nothing: another thread cannot cancel a SQLite statement, and ours are short."""

    def collect_stats(self) -> StoreStats:
        lead = int(self._clock.measure_lead() * 1000)
        return StoreStats(self._jobs.qsize(), tuple(self._batches), self._batched, clock_lead_ms=lead)

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
    ) -> tuple[Row | None, Sequence[Row]]:
        return await self.read(lambda tx: tx.fetch_both(first, value, statement, *values))

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
        if self._thread is None:
            raise DatabaseUnavailable("The database is closed.")
        job = _WriteJob(work, self._loop.create_future())
        self._jobs.put(job)
        return await job.future

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

    def _set_clock(self) -> None:
        """Replace julianday(), which reads the system clock, by our clock; the views in the file use it too."""
        try:
            self._clock.continue_from(self._reader.db.execute(NEWEST_TIME).fetchone()[0])
        except sqlite3.OperationalError:
            pass  # a new database file has no tables yet
        except sqlite3.DatabaseError as error:
            raise translate(error) from error
        self._writer_db.create_function("julianday", 1, self._clock.julian_day)

    def _open_reader(self, cache_kib: int) -> _Connection:
        db = _connect(self.path)
        db.executescript(f"PRAGMA query_only = ON; PRAGMA cache_size = -{cache_kib}")
        db.create_function("julianday", 1, self._clock.julian_day)
        return _Connection(db)

    def _serve_writes(self) -> None:
        stopping = False
        while not stopping:
            job = self._jobs.get()
            batch: list[_WriteJob] = []
            while job is not None:
                batch.append(job)
                if len(batch) == MAX_BATCH:
                    break
                try:
                    job = self._jobs.get_nowait()
                except queue.Empty:
                    break
            stopping = job is None
            if batch:
                self._batches[(len(batch) - 1).bit_length()] += 1
                self._batched += len(batch)
                self._commit_batch(batch)

    def _commit_batch(self, batch: list[_WriteJob]) -> None:
        """Commit a batch of writes in one transaction. If it fails, no caller was answered yet: retry each alone."""
        crash.crash_at("before_begin")
        if not self._file.is_in_place():
            self._answer_jobs(batch, [_JobOutcome(error=DatabaseUnavailable(self._file.moved)) for _ in batch])
            return
        if len(batch) == 1:
            self._answer_jobs(batch, [self._run_alone(batch[0])])
            return
        try:
            self._writer_db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:  # another process's lock: do not retry, each write would wait for it
            self._answer_jobs(batch, [_JobOutcome(error=translate(error)) for _ in batch])
            return
        try:
            outcomes = [self._attempt(job) for job in batch]
            self._commit_transaction()
        except CommitUnknown as undecided:
            self._roll_back()
            outcomes = [_JobOutcome(error=undecided) for _ in batch]
        except sqlite3.Error:
            self._roll_back()
            for job in batch:
                self._commit_batch([job])
            return
        self._answer_jobs(batch, outcomes)

    def _answer_jobs(self, batch: list[_WriteJob], outcomes: list[_JobOutcome]) -> None:
        crash.crash_at("after_commit")
        with contextlib.suppress(RuntimeError):  # the event loop is closed: no caller waits for an answer
            self._loop.call_soon_threadsafe(_resolve_futures, batch, outcomes)

    def _run_alone(self, job: _WriteJob) -> _JobOutcome:
        """Run one write without a SAVEPOINT, inside which SQLite copies every page that a statement changes."""
        try:
            self._writer_db.execute("BEGIN IMMEDIATE")
            outcome = _JobOutcome(value=drive(job.work(self._writer)))
            self._commit_transaction()
        except BaseException as error:  # noqa: BLE001 - every error is passed to the caller
            self._roll_back()
            outcome = _JobOutcome(error=translate(error))
        return outcome

    def _commit_transaction(self) -> None:
        """Commit a SQLite transaction. After an I/O error its outcome is unknown: it may reappear after a crash."""
        crash.crash_at("before_commit")
        try:
            self._writer_db.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname.startswith("SQLITE_IOERR"):
                raise CommitUnknown(str(error)) from error
            raise

    def _roll_back(self) -> None:
        if self._writer_db.in_transaction:
            with contextlib.suppress(sqlite3.Error):  # ignore a failed ROLLBACK: the next BEGIN reports it
                self._writer_db.execute("ROLLBACK")

    def _attempt(self, job: _WriteJob) -> _JobOutcome:
        self._writer_db.execute("SAVEPOINT job")
        try:
            outcome = _JobOutcome(value=drive(job.work(self._writer)))
        except BaseException as error:
            if not self._writer_db.in_transaction:  # a full disk makes SQLite roll back the whole transaction
                raise sqlite3.OperationalError("the transaction was rolled back") from error
            self._writer_db.execute("ROLLBACK TO job")
            outcome = _JobOutcome(error=translate(error))
        self._writer_db.execute("RELEASE job")
        return outcome


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that awaits nothing but this store, to its end."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    coroutine.close()
    raise RuntimeError("work inside a store's read or write may await nothing but the store")


def _render(statement: Statement) -> str:
    """Render an SQL statement with ?1, which binds by number: sqlite3 would bind $1 by order of appearance."""
    return statement.render("sqlite", PLACEHOLDERS).replace("$", "?")


def _resolve_futures(batch: list[_WriteJob], outcomes: list[_JobOutcome]) -> None:
    for job, outcome in zip(batch, outcomes, strict=True):
        if job.future.cancelled():
            continue
        if outcome.error is not None:
            job.future.set_exception(outcome.error)
        else:
            job.future.set_result(outcome.value)


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
