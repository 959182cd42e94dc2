"""The writer thread of a SQLite store: commits concurrent writes in batches, each in one transaction.

It also translates APSW's exceptions to those of `interface.py`.
"""

import asyncio
import contextlib
import errno
import queue
import threading
import time
from collections import deque
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

import apsw
from msgspec import Struct

from gamekeeper.ground import crash
from gamekeeper.store.engine.interface import (
    CommitUnknown,
    DatabaseUnavailable,
    DiskFull,
    UnusableDatabase,
    Work,
    Writing,
)
from gamekeeper.store.engine.sqlite_file import DatabaseFile

# SQLite's errors of the moment or of the machine. The others are faults of ours: a violated constraint, wrong values.
_UNAVAILABLE = (
    apsw.AbortError,
    apsw.BusyError,  # with BUSY_SNAPSHOT and BUSY_RECOVERY, which are its extended codes
    apsw.CantOpenError,
    apsw.EmptyError,
    apsw.FullError,
    apsw.InterruptError,
    apsw.IOError,
    apsw.LockedError,
    apsw.PermissionsError,
    apsw.ProtocolError,
    apsw.ReadOnlyError,
    apsw.SchemaChangeError,
    apsw.SQLError,
)
_UNIQUE = {apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY}


class UndecodableText(apsw.Error):
    """A text of the database is not UTF-8: APSW raises UnicodeDecodeError, as other code does."""


def make_undecodable(error: UnicodeDecodeError) -> UndecodableText:
    return UndecodableText(f"could not decode a text of the database: {error}")


def translate(error: BaseException) -> BaseException:
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        translated = UnusableDatabase(f"The database's file is damaged: {error}. Restore a backup.")
    elif isinstance(error, apsw.NoMemError):
        translated = MemoryError(str(error))
    elif _is_raised_by_trigger(error) or isinstance(error, (UndecodableText, *_UNAVAILABLE)):
        translated = DiskFull(str(error)) if is_full(error) else DatabaseUnavailable(str(error))
    else:
        return error
    translated.__cause__ = error
    return translated


def is_unique_violation(error: apsw.ConstraintError) -> bool:
    return error.extendedresult in _UNIQUE


def is_full(error: BaseException) -> bool:
    """Return whether an error means a full disk: SQLite's error for an open file, or the system's for a new file."""
    return isinstance(error, apsw.FullError) or getattr(error, "errno", 0) == errno.ENOSPC


def _is_raised_by_trigger(error: BaseException) -> bool:
    return isinstance(error, apsw.ConstraintError) and error.extendedresult == apsw.SQLITE_CONSTRAINT_TRIGGER


T = TypeVar("T")
MAX_BATCH = 256
MAX_DELAY_SECONDS = 0.005  # time that the answers of a batch wait for the statements of the next batch


class WriterConnection(Writing, Protocol):
    db: apsw.Connection
    has_written: bool  # whether a statement has changed something since this was last set to False


class _WriteJob(Struct):  # a Struct, like the outcome, although it is never encoded: it is made in C
    work: Work[Any]
    future: asyncio.Future[Any]
    dry_run: bool  # whether the work is to be rolled back


class _JobOutcome(Struct):
    value: Any = None
    error: BaseException | None = None


class _PartlyWritten(Exception):
    """A write of a batch without savepoints failed after it had changed something."""


class _RolledBack(apsw.Error):
    """SQLite rolled the whole transaction back, for example because the disk is full."""


class _NotBegun(Exception):
    """A transaction could not begin, for example because another process has the lock."""


class SqliteWriter:
    def __init__(self, connection: WriterConnection, file: DatabaseFile) -> None:
        self._connection, self._file = connection, file
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[_WriteJob | None] = queue.SimpleQueue()
        # answers that no caller has got yet; the writer's thread adds them, only the event loop removes them
        self._answers: deque[tuple[_WriteJob, _JobOutcome]] = deque()
        self._answer_by = 0.0  # time (monotonic) by which the first of them is delivered
        self._unanswered = 0  # number of writes without an answer
        self._timer: asyncio.TimerHandle | None = None  # of `_answer_late`
        # number of transactions so far, by how many writes they committed: 1, 2, 3-4, 5-8, …
        self.batches = [0] * MAX_BATCH.bit_length()
        self.batched = 0  # number of writes so far that were committed
        self._thread = threading.Thread(target=self._serve_writes, name="gamekeeper-writer", daemon=True)
        self._thread.start()

    def count_waiting(self) -> int:
        return self._jobs.qsize()

    async def write(self, work: Work[T], *, dry_run: bool = False) -> T:
        job = _WriteJob(work, self._loop.create_future(), dry_run)
        self._jobs.put(job)
        self._unanswered += 1
        self._watch_answers()
        return await job.future

    async def close(self) -> None:
        """Commit all writes that wait, and end the thread. No write may follow."""
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

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
                self.batches[(len(batch) - 1).bit_length()] += 1
                self.batched += len(batch)
                self._commit_batch(batch)
        if self._answers:
            self._deliver_answers()

    def _commit_batch(self, batch: list[_WriteJob]) -> None:
        """Commit a batch of writes in one transaction. If it fails, no caller was answered yet: retry each alone."""
        crash.crash_at("before_begin")
        if not self._file.is_in_place():
            self._answer_jobs(batch, [_JobOutcome(error=DatabaseUnavailable(self._file.moved)) for _ in batch])
            return
        try:
            self._begin()
            outcomes = self._run_batch(batch)
            self._commit_transaction()
        except apsw.Error as error:
            self._roll_back()
            if len(batch) > 1:
                for job in batch:
                    self._commit_batch([job])
                return
            outcomes = [_make_failure(error)]
        # Any other error is the answer to all writes. They are not tried again: after _NotBegun, each would wait for
        # the lock. After another error, such as MemoryError, the thread must go on.
        except BaseException as error:  # noqa: BLE001 - every error is passed to the callers
            self._roll_back()
            outcomes = [_make_failure(error) for _ in batch]
        self._answer_jobs(batch, outcomes)

    def _begin(self) -> None:
        try:
            self._connection.db.execute("BEGIN IMMEDIATE")
        except apsw.Error as error:
            raise _NotBegun from error

    def _run_batch(self, batch: list[_WriteJob]) -> list[_JobOutcome]:
        """Run the writes of a transaction. Only dry runs get a savepoint: inside one, SQLite copies every changed page.

        A write that is refused has usually changed nothing. If one has, run all of them again with savepoints.
        """
        if len(batch) == 1:
            return [self._run_job(batch[0])]
        try:
            return [self._run_in_savepoint(job) if job.dry_run else self._run_job(job) for job in batch]
        except _PartlyWritten:
            self._connection.db.execute("ROLLBACK")
            self._begin()
            return [self._run_in_savepoint(job) for job in batch]

    def _run_job(self, job: _WriteJob) -> _JobOutcome:
        connection = self._connection
        connection.has_written = False
        try:
            try:
                return _JobOutcome(drive(job.work(connection)))
            except apsw.ConstraintError as error:
                if connection.has_written or not is_unique_violation(error):
                    raise
                return _JobOutcome(drive(job.work(connection)))  # the row exists already: the work now sees it
        except BaseException as error:  # every error is passed to the caller
            if not connection.db.in_transaction:
                raise _RolledBack from error
            if connection.has_written:
                raise _PartlyWritten from error
            return _JobOutcome(error=translate(error))

    def _run_in_savepoint(self, job: _WriteJob) -> _JobOutcome:
        db = self._connection.db
        db.execute("SAVEPOINT job")
        try:
            outcome = self._run_job(job)
        except _PartlyWritten as failed:
            db.execute("ROLLBACK TO job")
            outcome = _make_failure(failed)
        db.execute("RELEASE job")
        return outcome

    def _answer_jobs(self, batch: list[_WriteJob], outcomes: list[_JobOutcome]) -> None:
        """Answer the writes of a batch; if others wait, only when their statements have run.

        Otherwise the event loop competes with these statements for the interpreter, and is idle during their COMMIT.
        """
        crash.crash_at("after_commit")
        if not self._answers:
            self._answer_by = time.monotonic() + MAX_DELAY_SECONDS
        self._answers.extend(zip(batch, outcomes, strict=True))
        if self._jobs.empty():
            self._deliver_answers()

    def _deliver_answers(self) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop is closed: no caller waits for an answer
            self._loop.call_soon_threadsafe(self._resolve_futures)

    def _watch_answers(self) -> None:
        """Start the timer of `_answer_late`. Answers can wait only if there is another write."""
        if self._timer is None and self._unanswered > 1:
            self._timer = self._loop.call_later(MAX_DELAY_SECONDS, self._answer_late)

    def _answer_late(self) -> None:
        """Deliver answers that are late because the thread is in a long write, or waits for another process's lock."""
        self._timer = None
        if time.monotonic() >= self._answer_by:
            self._resolve_futures()
        self._watch_answers()

    def _resolve_futures(self) -> None:
        while self._answers:
            job, outcome = self._answers.popleft()
            self._unanswered -= 1
            if job.future.cancelled():
                continue
            if outcome.error is not None:
                job.future.set_exception(outcome.error)
            else:
                job.future.set_result(outcome.value)

    def _commit_transaction(self) -> None:
        """Commit a SQLite transaction. After an I/O error or without memory its outcome is unknown."""
        if self._answers:
            self._deliver_answers()
        crash.crash_at("before_commit")
        try:
            self._connection.db.execute("COMMIT")
        except apsw.IOError as error:
            raise CommitUnknown(str(error)) from error
        except (MemoryError, apsw.NoMemError) as error:
            raise CommitUnknown("out of memory") from error

    def _roll_back(self) -> None:
        if self._connection.db.in_transaction:
            with contextlib.suppress(apsw.Error):  # ignore a failed ROLLBACK: the next BEGIN reports it
                self._connection.db.execute("ROLLBACK")


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that awaits nothing but this store, to its end."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    coroutine.close()
    raise RuntimeError("work inside a store's read or write may await nothing but the store")


def _make_failure(error: BaseException) -> _JobOutcome:
    """Make the outcome of a failed write: the caller gets the cause of an error that was raised here."""
    return _JobOutcome(error=error if isinstance(error, CommitUnknown) else translate(error.__cause__ or error))
