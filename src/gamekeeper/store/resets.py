"""One-time codes for resetting a password."""

from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.statements import Statements

SQL = Statements("resets")


def save(tx: Writing, user_id: str, code: str, tries: int, life_ms: int, mail_id: str) -> None:
    tx.defer(SQL.save, user_id, code, tries, life_ms, mail_id)


async def find_live(tx: Reading, user_id: str) -> str | None:
    row = await tx.one(SQL.live, user_id)
    return row[0] if row else None


async def find_current(tx: Reading, user_id: str) -> str | None:
    """Return the account's password reset code, even if it has no attempts left."""
    row = await tx.one(SQL.current, user_id)
    return row[0] if row else None


def spend_try(tx: Writing, user_id: str) -> None:
    tx.defer(SQL.spend_try, user_id)


def delete(tx: Writing, user_id: str) -> None:
    tx.defer(SQL.forget, user_id)
