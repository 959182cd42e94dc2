"""A database that nobody is to write to: for as long as it is moved, and for good once it was."""

from collections.abc import Sequence

from gamekeeper.store import copies
from gamekeeper.store.engine import Row, Writing
from gamekeeper.store.migrate import CLOSED_NUMBER, MIGRATIONS_TABLE, SchemaMismatch
from gamekeeper.store.statements import Statement, Statements

SQL = Statements("closing")


async def block_writes(tx: Writing) -> None:
    """Until the transaction is over nobody else writes; what is read meanwhile shows one moment."""
    await _run(tx, await tx.returning(SQL.hold))


async def close(tx: Writing, why: str) -> None:
    """No server starts on it any more, and those that run write nothing."""
    await mark_closed(tx, why)
    await create_write_guards(tx)


async def reopen(tx: Writing) -> bool:
    """Whether it was closed."""
    if MIGRATIONS_TABLE not in await copies.list_tables(tx):
        raise SchemaMismatch("Gamekeeper has never used this database. Check --database.")
    await drop_write_guards(tx)
    return await unmark_closed(tx)


async def create_write_guards(tx: Writing) -> None:
    """Triggers that refuse every write: a server that runs does not look at marks."""
    await _run(tx, await tx.returning(SQL.guard))


async def drop_write_guards(tx: Writing) -> None:
    await _run(tx, await tx.returning(SQL.unguard))


async def mark_closed(tx: Writing, why: str) -> None:
    """Whoever looks at the schema is told why this database is not to be used."""
    tx.defer(SQL.mark, CLOSED_NUMBER, why)
    await tx.flush()


async def unmark_closed(tx: Writing) -> bool:
    return bool(await tx.returning(SQL.unmark, CLOSED_NUMBER))


async def _run(tx: Writing, statements: Sequence[Row]) -> None:
    for (text,) in statements:
        await tx.returning(Statement("closing", {"": text}))
