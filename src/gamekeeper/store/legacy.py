"""Accounts whose passwords are kept as another server hashed them."""

from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.statements import Statements

SQL = Statements("legacy")


async def read_imported_hashes(tx: Reading, from_id: str, limit: int) -> list[tuple[str, str]]:
    """Ids and hashes that are still as they came, in the order of ids."""
    return [(row[0], row[1]) for row in await tx.all(SQL.imported, from_id, limit)]


async def count(tx: Reading) -> int:
    row = await tx.one(SQL.count)
    return row[0] if row else 0


async def replace(tx: Writing, user_id: str, old: str, new: str) -> bool:
    """False: the hash is not the old one any more, and stays."""
    return bool(await tx.returning(SQL.replace, user_id, old, new))
