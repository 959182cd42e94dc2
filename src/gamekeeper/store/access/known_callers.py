"""Callers that have recently sent the right password of an account."""

from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements

SQL = Statements(__file__)


async def is_known(tx: Reading, user_id: str | None, caller: str, within_ms: int) -> bool:
    """Return whether the caller recently sent the account's password; for no account (None) False, equally slowly."""
    return await tx.one(SQL.has, user_id, caller, within_ms) is not None


def save(tx: Writing, user_id: str, caller: str, *, second_factor: bool) -> None:
    """Record that a caller sent the right password, at most once an hour: some clients log in before every call.

    If the account has a second factor, the password alone does not make the caller known.
    """
    tx.defer(SQL.save, user_id, caller, second_factor)


def delete(tx: Writing, user_id: str) -> None:
    tx.defer(SQL.forget, user_id)


def delete_old(tx: Writing, before_ms: int, most: int) -> None:
    tx.defer(SQL.delete_old, before_ms, most)
