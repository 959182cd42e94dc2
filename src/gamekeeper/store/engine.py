"""What the floors above know of a database: named statements, snapshots to read, transactions to write."""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from gamekeeper.store.statements import Statement

T = TypeVar("T")
Row = Sequence[Any]
Value = str | int | bool | bytes | None


class Away(Exception):
    """The database cannot be reached or cannot take the work now; nothing was answered, the caller may retry."""


class Undecided(Away):
    """The connection broke while COMMIT was under way: the change was made, or it was not."""


class ClaimTaken(Exception):
    """Another transaction has held the same claim for too long."""


class Reading(Protocol):
    async def all(self, statement: Statement, *values: Value) -> Sequence[Row]: ...

    async def one(self, statement: Statement, *values: Value) -> Row | None: ...

    async def beside(
        self, first: Statement, value: Value, statement: Statement, *values: Value
    ) -> tuple[Row | None, Sequence[Row]]:
        """The one row that the first statement finds, and all that the other one finds at the same moment."""
        ...


class Writing(Reading, Protocol):
    def later(self, statement: Statement, *values: Value) -> None:
        """Runs with the other late statements, in one round trip, before the next read or the commit."""
        ...

    def load(self, statement: Statement, rows: Iterable[Row]) -> None:
        """Like `later`, for many rows at once: the statement is an INSERT of one row of parameters."""
        ...

    async def flush(self) -> None:
        """Runs what was kept for later now, so that a constraint speaks up now."""
        ...

    async def returning(self, statement: Statement, *values: Value) -> Sequence[Row]: ...


class Store(Reading, Protocol):
    """Itself it reads single statements; `read` gives several of them one snapshot, `write` one transaction."""

    engine: str

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def read(self, work: Callable[[Reading], Coroutine[Any, Any, T]]) -> T: ...

    async def write(self, work: Callable[[Writing], Coroutine[Any, Any, T]], claim: int | None = None) -> T:
        """Runs the work in a transaction and commits; an exception from the work rolls all of it back.

        The work may run more than once, each time from a clean start. Two works with one claim never overlap.
        """
        ...

    async def integrity(self) -> list[str]:
        """What the database itself finds wrong with its files."""
        ...
