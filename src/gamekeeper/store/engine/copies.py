"""Copies of whole tables between databases of either engine, whatever columns they have."""

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gamekeeper.store.engine.interface import Reading, Row, Transaction, Value, Writing
from gamekeeper.store.engine.statements import Statements

SQL = Statements(__file__)
# SQL conversions for reading and writing columns, so that copied values are the same on both engines.
_OUT: Mapping[str, Callable[[Any], Any] | None] = {"plain": None, "bytes": bytes.decode, "truth": int}
_IN: Mapping[str, Callable[[Any], Any] | None] = {"plain": None, "bytes": str.encode, "truth": bool}
# Views to read instead of these tables: they mask data of erased persons that is not blanked yet, so no copy has it.
_MASKED = {
    "ledger": "masked_ledger",
    "idempotency_keys": "masked_keys",
    "security_events": "masked_security",
    "activity_log": "masked_activity",
    "trade_log": "masked_trades",
    "log_addresses": "masked_log_addresses",
    "deliveries": "masked_deliveries",
}
CopiedRow = list[str | int | None]


async def list_tables(tx: Reading) -> list[str]:
    """List the tables of the database, each after those that it refers to."""
    return [row[0] for row in await tx.all(SQL.tables)]


async def read_columns(tx: Reading, table: str) -> dict[str, str]:
    """Map each column of a table to the form of its values on this engine: plain, bytes or truth (boolean)."""
    return {row[0]: row[1] for row in await tx.all(SQL.columns, table)}


async def find_number_columns(tx: Reading, table: str) -> frozenset[str]:
    """Return the columns of a table whose values are integers or booleans; all others are texts."""
    return frozenset(row[0] for row in await tx.all(SQL.columns, table) if row[2])


async def read_rows(tx: Transaction, table: str, columns: Mapping[str, str]) -> AsyncGenerator[list[CopiedRow]]:
    """Read the rows of a table in batches, with the same values on both engines (JSON as text, not bytes).

    Tables with erased data are read through their masking view.
    """
    async for some in tx.read_table(_MASKED.get(table, table), list(columns)):
        yield _normalize(some, columns)


async def read_page(tx: Reading, table: str, columns: Mapping[str, str], after: Value, limit: int) -> list[CopiedRow]:
    """Read the next rows of a long table in order of its key, the first column."""
    return _normalize(await tx.all(SQL.named[table], after, limit), columns)


async def read_parts(tx: Reading, table: str, columns: Mapping[str, str], first: str, last: str) -> list[CopiedRow]:
    """Read the rows of a table that belong to the accounts or players between two ids."""
    return _normalize(await tx.all(SQL.named[table], first, last), columns)


def fill(tx: Writing, table: str, columns: Mapping[str, str], rows: Iterable[Row]) -> None:
    """Insert rows into a table; their values are in the order of `columns`."""
    tx.fill(table, list(columns), _convert_rows(rows, [_IN[form] for form in columns.values()]))


def revoke_tokens(tx: Writing) -> None:
    tx.defer(SQL.revoke_tokens)


async def continue_ledger(tx: Reading) -> None:
    """Set the sequence of change numbers to continue after the last change."""
    await tx.one(SQL.continue_ledger)


def _normalize(rows: Iterable[Row], columns: Mapping[str, str]) -> list[CopiedRow]:
    return list(_convert_rows(rows, [_OUT[form] for form in columns.values()]))


def _convert_rows(rows: Iterable[Row], forms: Sequence[Callable[[Any], Any] | None]) -> Iterator[list[Any]]:
    formed = [(number, form) for number, form in enumerate(forms) if form]
    for row in rows:
        values = list(row)
        for number, form in formed:
            if values[number] is not None:
                values[number] = form(values[number])
        yield values
