"""A database that nobody is to write to: for as long as it is moved, and for good once it was."""

from collections.abc import Sequence

from gamekeeper.store import copies
from gamekeeper.store.engine import Row, Writing
from gamekeeper.store.migrate import CLOSED, MIGRATIONS, SchemaMismatch
from gamekeeper.store.statements import Statement, Statements

SQL = Statements("closing")


async def hold(tx: Writing) -> None:
    """Until the transaction is over nobody else writes; what is read meanwhile shows one moment."""
    await _run(tx, await tx.returning(SQL.hold))


async def close(tx: Writing, why: str) -> None:
    """No server starts on it any more, and those that run write nothing."""
    await mark(tx, why)
    await guard(tx)


async def reopen(tx: Writing) -> bool:
    """Whether it was closed."""
    if MIGRATIONS not in await copies.tables(tx):
        raise SchemaMismatch("Gamekeeper has never used this database. Check --database.")
    await unguard(tx)
    return await unmark(tx)


async def guard(tx: Writing) -> None:
    """Triggers that refuse every write: a server that runs does not look at marks."""
    await _run(tx, await tx.returning(SQL.guard))


async def unguard(tx: Writing) -> None:
    await _run(tx, await tx.returning(SQL.unguard))


async def mark(tx: Writing, why: str) -> None:
    """Whoever looks at the schema is told why this database is not to be used."""
    tx.later(SQL.mark, CLOSED, why)
    await tx.flush()


async def unmark(tx: Writing) -> bool:
    return bool(await tx.returning(SQL.unmark, CLOSED))


async def _run(tx: Writing, statements: Sequence[Row]) -> None:
    for (text,) in statements:
        await tx.returning(Statement("closing", {"": text}))
