"""Interface of both stores: named statements, snapshots for reading, transactions for writing, and errors."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar, get_args, get_type_hints

from msgspec import Struct, field

from gamekeeper.store.engine.statements import Statement

T = TypeVar("T")
Row = Sequence[Any]
Value = str | int | bool | bytes | None
SCHEMA_ADVICE = "Check that the database user has USAGE on the schema, and that its search_path names the schema."
OWNER_ADVICE = "Grant the privilege, or make the user that you connect as the owner of the database."


class DatabaseUnavailable(Exception):
    """The database is unreachable or overloaded; the caller may retry."""


class DiskFull(DatabaseUnavailable):
    """The database's disk is full; nothing was changed."""


class UnusableDatabase(Exception):
    """The database cannot be used as it is; the message says why, and what to do."""


class AccessDenied(DatabaseUnavailable, UnusableDatabase):
    """The database user lacks a privilege, which an operator must grant; nothing was changed."""


class LockTimeout(DatabaseUnavailable):
    """Another transaction has held a lock for too long; nothing was changed."""


class CommitUnknown(DatabaseUnavailable):
    """The connection broke during COMMIT: it is unknown whether the change was made."""


class StoreStats(Struct, frozen=True):
    """Load of a store in this process, and the lead of its clock."""

    writer_queue: int | None = None  # writes that wait for SQLite's writer thread
    # number of SQLite transactions so far, by how many writes they committed: 1, 2, 3-4, 5-8, …
    batches: Sequence[int] = ()
    batched: int = 0  # number of writes so far that SQLite's writer thread committed
    # PostgreSQL connections by state: free, busy, and callers that wait for one
    pool: Mapping[str, int] = field(default_factory=dict[str, int])
    clock_lead_ms: int = 0  # SQLite only: how far Gamekeeper's clock is ahead of the system clock


class ClaimTaken(Exception):
    """Another transaction has held the same claim (advisory lock) for too long."""


class RowExists(Exception):
    """A row exists that `Writing.require_absent` was told to look for."""


Convert = Callable[[Any], object]


class ReadAs(Struct, frozen=True):
    """How the column of a field is converted: `held: Annotated[frozenset[str], ReadAs(parse_names)]`."""

    convert: Convert


@cache
def find_maker(kind: Callable[..., T]) -> Callable[..., T]:
    """Return what makes a value of a type from the columns of a row. SQLite has 0 and 1 for booleans.

    A field that is a NamedTuple itself takes as many columns as that has fields. The last columns may be missing.
    """
    single, nested = _list_conversions(kind, 0)
    if not single and not nested:
        return kind

    def make(*row: Any) -> T:  # noqa: ANN401 - columns of any type
        columns, count = list(row), len(row)
        for place, convert in single:
            if place < count:
                columns[place] = convert(columns[place])
        for start, end, make_part in nested:
            columns[start:end] = [make_part(columns[start:end])]
        return kind(*columns)

    return make


def _list_conversions(kind: Any, place: int) -> tuple[list[tuple[int, Convert]], list[tuple[int, int, Convert]]]:  # noqa: ANN401 - a NamedTuple or dataclass
    """List the conversions of single columns, and of neighbouring ones to a field; the last field comes first."""
    single: list[tuple[int, Convert]] = []
    nested: list[tuple[int, int, Convert]] = []
    hints = get_type_hints(kind, include_extras=True)  # `__annotations__` lacks the fields that a Struct inherits
    for field_type in (hints[name] for name in getattr(kind, "_fields", None) or kind.__struct_fields__):
        parser = next((each for each in get_args(field_type) if isinstance(each, ReadAs)), None)
        fields = () if parser else getattr(field_type, "_fields", ())
        if parser or field_type is bool:
            single.append((place, parser.convert if parser else bool))
        elif fields:
            single += _list_conversions(field_type, place)[0]
            nested.insert(0, (place, place + len(fields), field_type._make))
        place += len(fields) or 1
    return single, nested


class Reading(Protocol):
    def all(self, statement: Statement, *values: Value) -> Coroutine[Any, Any, Sequence[Row]]: ...

    def one(self, statement: Statement, *values: Value) -> Coroutine[Any, Any, Row | None]: ...

    def fetch_both(
        self, first: Statement, value: Value, statement: Statement, *values: Value
    ) -> Coroutine[Any, Any, tuple[Row | None, list[Any]]]:
        """Return the one row of the first statement, and all rows of the second, from the same snapshot."""

        async def fetch() -> tuple[Row | None, list[Any]]:
            return await self.one(first, value), list(await self.all(statement, *values))

        return fetch()

    async def rows(self, kind: Callable[..., T], statement: Statement, *values: Value) -> list[T]:
        """Return all rows as values of a type, such as a NamedTuple, whose fields are the columns in their order."""
        make = find_maker(kind)
        return [make(*row) for row in await self.all(statement, *values)]

    async def row(self, kind: Callable[..., T], statement: Statement, *values: Value) -> T | None:
        """Return the one row as a value of a type, like `rows`."""
        row = await self.one(statement, *values)
        return None if row is None else find_maker(kind)(*row)

    async def value(self, statement: Statement, *values: Value) -> Any:  # noqa: ANN401 - of any column
        """Return the first column of the one row; None: there is no row."""
        row = await self.one(statement, *values)
        return None if row is None else row[0]

    async def column(self, statement: Statement, *values: Value) -> list[Any]:
        """Return the first column of all rows."""
        return [row[0] for row in await self.all(statement, *values)]

    async def pairs(self, statement: Statement, *values: Value) -> dict[Any, Any]:
        """Return the second column of all rows by the first."""
        return {row[0]: row[1] for row in await self.all(statement, *values)}


class Locking(Reading, Protocol):
    """A write transaction as the rules see it: they read and lock rows, and return the changes to write."""

    async def lock(self, statement: Statement, *values: Value) -> str | None:
        """Lock the row whose id the statement selects, until the transaction ends.

        Later statements name the row as `COALESCE($1, {locked})`, with the result as $1. On PostgreSQL that is None:
        the lock is sent in the message of BEGIN, which returns no rows, so the database keeps the id.
        """
        ...


class Transaction(Reading, Protocol):
    def read_table(self, name: str, columns: Sequence[str]) -> AsyncGenerator[Sequence[Row]]:
        """Read all rows of a table in batches, because a table may not fit into memory."""
        ...


class Snapshot(Transaction, Protocol):
    """Read transaction: all its reads see the same state of the database."""


class Writing(Transaction, Locking, Protocol):
    def require_absent(self, statement: Statement, *values: Value) -> None:
        """Raise RowExists if the statement finds a row; the first call of a transaction.

        PostgreSQL raises at the next `flush`, `lock` or other statement, and then locks nothing: the statement is sent
        in the message of BEGIN, so that it costs no round trip. After RowExists the transaction can be used.
        """
        ...

    def defer(self, statement: Statement, *values: Value) -> None:
        """Defer an SQL statement: all deferred statements run in one round trip before the next read or the commit."""
        ...

    def load(self, statement: Statement, rows: Iterable[Row]) -> None:
        """Insert many rows, deferred like `defer`: the statement is an INSERT of one row of parameters."""
        ...

    def fill(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        """Insert many rows into a table given by name, such as one from a backup; deferred like `defer`."""
        ...

    async def flush(self) -> None:
        """Run the deferred SQL statements now, so that a violated constraint raises here."""
        ...

    async def returning(self, statement: Statement, *values: Value) -> Sequence[Row]: ...


Work = Callable[[Writing], Coroutine[Any, Any, T]]


class Store(Reading, Protocol):
    """A database. `all` and `one` run single reads; `read` runs several in one snapshot, `write` in a transaction."""

    engine: str

    @property
    def path(self) -> Path | None:
        """Path of the SQLite file; None on PostgreSQL."""
        ...

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def limit_statements(self, statement_seconds: int) -> None:
        """Set a timeout for SQL statements (PostgreSQL only); it never applies to COMMIT."""
        ...

    def collect_stats(self) -> StoreStats: ...

    async def read(self, work: Callable[[Snapshot], Coroutine[Any, Any, T]]) -> T: ...

    async def read_in_pieces(self, work: Callable[[Snapshot], Coroutine[Any, Any, T]]) -> T:
        """Read one snapshot like `read`, for long work that also awaits other things, so that other requests run."""
        ...

    async def write(
        self, work: Work[T], claim: int | None = None, *, queue: str | None = None, reserved: bool = False
    ) -> T:
        """Run the work in a database transaction and commit; an exception from the work rolls it back.

        The work may be retried from the start, so it must have no other side effects. `claim` is an advisory lock,
        taken with the first statement: two transactions with the same claim never overlap. Transactions with the same
        `queue` change the same rows; only one of them per process uses a connection at a time. `reserved` allows the
        connections reserved for reads.
        """
        ...

    async def dry_run(self, work: Work[T], *, queue: str | None = None) -> T:
        """Run work that always ends with an exception, like `write`: on SQLite it costs concurrent writes less."""
        ...

    async def execute_alone(self, statement: Statement) -> None:
        """Run an SQL statement without parameters and without timeout; on PostgreSQL outside a transaction.

        Raises LockTimeout if it conflicts with another session.
        """
        ...

    async def check_integrity(self) -> list[str]:
        """Run the database's own integrity check; return the problems that it finds."""
        ...

    async def find_cautions(self) -> list[str]:
        """Return one sentence for each setting of the database server that an operator should change."""
        ...
