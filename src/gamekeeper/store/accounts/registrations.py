"""Recent registrations by each caller, for a rate limit."""

from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements

SQL = Statements(__file__)


async def read_wait(tx: Reading, caller_id: str, most: int, window_ms: int) -> int:
    """Return ms until the caller may register another account; 0 if it registered fewer than `most` in the window."""
    row = await tx.one(SQL.wait, caller_id, most, window_ms)
    return row[0] if row else 0


def insert(tx: Writing, caller_id: str, user_id: str) -> None:
    tx.defer(SQL.insert, caller_id, user_id)


def delete_old(tx: Writing, caller_id: str, older_than_ms: int) -> None:
    tx.defer(SQL.delete_old, caller_id, older_than_ms)
