"""The database's clock is the only one that decides anything."""

from gamekeeper.store.engine import Reading
from gamekeeper.store.statements import Statements

SQL = Statements("clock")


async def now(tx: Reading) -> int:
    """Milliseconds since 1970, UTC."""
    row = await tx.one(SQL.now)
    return row[0] if row else 0
