"""Imported accounts whose password hash is still the one of the old server."""

from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.statements import Statements

SQL = Statements("hash_upgrades")


async def read_imported_hashes(tx: Reading, from_id: str, limit: int) -> list[tuple[str, str]]:
    """Read ids and imported password hashes that are not wrapped in argon2id yet, in order of id."""
    return [(row[0], row[1]) for row in await tx.all(SQL.imported, from_id, limit)]


async def count(tx: Reading) -> int:
    row = await tx.one(SQL.count)
    return row[0] if row else 0


async def replace(tx: Writing, user_id: str, old: str, new: str) -> bool:
    """Replace an account's password hash if it is still `old`; return whether it was."""
    return bool(await tx.returning(SQL.replace, user_id, old, new))
