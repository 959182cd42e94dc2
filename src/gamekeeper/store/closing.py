"""Closing a database to all writes: during a move, and permanently after it."""

from collections.abc import Sequence

from gamekeeper.store import copies
from gamekeeper.store.engine import Row, Writing
from gamekeeper.store.migrate import CLOSED_NUMBER, MIGRATIONS_TABLE, SchemaMismatch
from gamekeeper.store.statements import Statement, Statements

SQL = Statements("closing")


async def block_writes(tx: Writing) -> None:
    """Block writes of all other database sessions until the transaction ends."""
    await _run(tx, await tx.returning(SQL.hold))


async def close(tx: Writing, why: str) -> None:
    """Close the database: no server can start on it, and running servers cannot write."""
    await mark_closed(tx, why)
    await create_write_guards(tx)


async def reopen(tx: Writing) -> bool:
    """Reopen a closed database; return whether it was closed."""
    if MIGRATIONS_TABLE not in await copies.list_tables(tx):
        raise SchemaMismatch("Gamekeeper has never used this database. Check --database.")
    await drop_write_guards(tx)
    return await unmark_closed(tx)


async def create_write_guards(tx: Writing) -> None:
    """Create triggers that reject every write to a closed database: a running server does not read the closed mark."""
    await _run(tx, await tx.returning(SQL.guard))


async def drop_write_guards(tx: Writing) -> None:
    await _run(tx, await tx.returning(SQL.unguard))


async def mark_closed(tx: Writing, why: str) -> None:
    """Mark the database as closed: a server that starts on it stops with the message `why`."""
    tx.defer(SQL.mark, CLOSED_NUMBER, why)
    await tx.flush()


async def unmark_closed(tx: Writing) -> bool:
    return bool(await tx.returning(SQL.unmark, CLOSED_NUMBER))


async def _run(tx: Writing, statements: Sequence[Row]) -> None:
    for (text,) in statements:
        await tx.returning(Statement("closing", {"": text}))
