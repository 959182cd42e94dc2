"""Whole tables, whatever columns they have: out of one database and into another, of either engine."""

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gamekeeper.store.engine import Reading, Row, Snapshot, Writing
from gamekeeper.store.statements import Statements

SQL = Statements("copies")
# how a value that was copied out goes in again
_FORMS: Mapping[str, Callable[[Any], Any] | None] = {"plain": None, "bytes": str.encode, "truth": bool}

Copied = list[str | int | bool | None]


async def tables(tx: Reading) -> list[str]:
    """In an order in which they can be filled."""
    return [row[0] for row in await tx.all(SQL.tables)]


async def columns(tx: Reading, table: str) -> dict[str, str]:
    """Their names, and the form in which the engine takes their values."""
    return {row[0]: row[1] for row in await tx.all(SQL.columns, table)}


async def rows(tx: Snapshot, table: str, columns: Sequence[str]) -> AsyncGenerator[list[Copied]]:
    """Some at a time, alike for both engines: bytes are JSON documents, and these are text."""
    async for some in tx.table(table, columns):
        yield [[value.decode() if isinstance(value, bytes) else value for value in row] for row in some]


def fill(tx: Writing, table: str, columns: Mapping[str, str], rows: Iterable[Row]) -> None:
    """The rows' values are in the order of the columns."""
    tx.fill(table, list(columns), _formed(rows, [_FORMS[form] for form in columns.values()]))


async def clear_epoch(tx: Writing) -> None:
    await tx.returning(SQL.clear_epoch)


def renew_epoch(tx: Writing) -> None:
    """A copy goes on from an older moment: who followed the original must be told."""
    tx.later(SQL.renew_epoch)


def revoke_tokens(tx: Writing) -> None:
    tx.later(SQL.revoke_tokens)


async def continue_ledger(tx: Reading) -> None:
    """The next number is the one after the last that is there."""
    await tx.one(SQL.continue_ledger)


def _formed(rows: Iterable[Row], forms: Sequence[Callable[[Any], Any] | None]) -> Iterator[Row]:
    formed = [(number, form) for number, form in enumerate(forms) if form]
    for row in rows:
        values = list(row)
        for number, form in formed:
            if values[number] is not None:
                values[number] = form(values[number])
        yield values
