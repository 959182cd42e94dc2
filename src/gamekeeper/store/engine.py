"""What the floors above know of a database: named statements, snapshots to read, transactions to write."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from gamekeeper.store.statements import Statement

T = TypeVar("T")
Row = Sequence[Any]
Value = str | int | bool | bytes | None


class DatabaseUnavailable(Exception):
    """The database cannot be reached or cannot take the work now; nothing was answered, the caller may retry."""


class DiskFull(DatabaseUnavailable):
    """The database's disk has no room left; nothing was changed."""


class UnusableDatabase(Exception):
    """Nothing can be done with this database as it is; the message says why, and what to do."""


class AccessDenied(DatabaseUnavailable, UnusableDatabase):
    """The database refuses permission: nothing works until an operator grants it; nothing was changed."""


class LockTimeout(DatabaseUnavailable):
    """Another transaction has held a lock for too long; nothing was changed."""


class CommitUnknown(DatabaseUnavailable):
    """The connection broke while COMMIT was under way: the change was made, or it was not."""


@dataclass(frozen=True, slots=True)
class StoreStats:
    """State of a store in this process: how busy it is, and how far its clock is ahead."""

    writer_queue: int | None = None  # changes that wait for the one writer
    batches: Sequence[int] = ()  # transactions so far, by how many changes they committed together: 1, 2, 3-4, 5-8 …
    batched: int = 0  # changes so far, in all of them
    pool: Mapping[str, int] = field(default_factory=dict[str, int])  # connections free, busy, and waited for
    clock_lead_ms: int = 0  # of the database's clock over the machine's, where the database has no clock of its own


class ClaimTaken(Exception):
    """Another transaction has held the same claim for too long."""


class Reading(Protocol):
    async def all(self, statement: Statement, *values: Value) -> Sequence[Row]: ...

    async def one(self, statement: Statement, *values: Value) -> Row | None: ...

    async def fetch_both(
        self, first: Statement, value: Value, statement: Statement, *values: Value
    ) -> tuple[Row | None, Sequence[Row]]:
        """The one row that the first statement finds, and all that the other one finds at the same moment."""
        ...


class Transaction(Reading, Protocol):
    def read_table(self, name: str, columns: Sequence[str]) -> AsyncGenerator[Sequence[Row]]:
        """All rows of a table, some at a time: it may be longer than the memory."""
        ...


class Snapshot(Transaction, Protocol):
    """Everything that is read shows one moment, however long it takes."""


class Writing(Transaction, Protocol):
    def defer(self, statement: Statement, *values: Value) -> None:
        """Runs with the other late statements, in one round trip, before the next read or the commit."""
        ...

    def load(self, statement: Statement, rows: Iterable[Row]) -> None:
        """Like `later`, for many rows at once: the statement is an INSERT of one row of parameters."""
        ...

    def fill(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        """Like `load`, for a table that is named when it is known: a backup has whatever there was."""
        ...

    async def flush(self) -> None:
        """Runs what was kept for later now, so that a constraint speaks up now."""
        ...

    async def returning(self, statement: Statement, *values: Value) -> Sequence[Row]: ...


Work = Callable[[Writing], Coroutine[Any, Any, T]]


class Store(Reading, Protocol):
    """Itself it reads single statements; `read` gives several of them one snapshot, `write` one transaction."""

    engine: str

    @property
    def path(self) -> Path | None:
        """The file that the data is in; None when the database is a server."""
        ...

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def limit_statements(self, statement_seconds: int) -> None:
        """From here on a statement that takes longer is given up, where the database can; a COMMIT never."""
        ...

    def collect_stats(self) -> StoreStats: ...

    async def read(self, work: Callable[[Snapshot], Coroutine[Any, Any, T]]) -> T: ...

    async def read_in_pieces(self, work: Callable[[Snapshot], Coroutine[Any, Any, T]]) -> T:
        """Like `read`, for work that awaits other things than the store: it lets others work between its pieces."""
        ...

    async def write(
        self, work: Work[T], claim: int | None = None, *, queue: str | None = None, reserved: bool = False
    ) -> T:
        """Runs the work in a transaction and commits; an exception from the work rolls all of it back.

        The work may run more than once, each time from a clean start. Two works with one claim never overlap.
        Works with the same `queue` change the same rows: of a process's, only one at a time holds a connection.
        `reserved` may use the connections that are kept for reads.
        """
        ...

    async def execute_alone(self, statement: Statement) -> None:
        """Run a statement that takes no values, without a time limit; on PostgreSQL outside a transaction.

        Raises LockTimeout when it came into conflict with another session.
        """
        ...

    async def check_integrity(self) -> list[str]:
        """What the database itself finds wrong with its files."""
        ...

    async def find_cautions(self) -> list[str]:
        """Settings of the database server that an operator should change; each as a sentence."""
        ...
