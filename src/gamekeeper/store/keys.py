"""Answers to requests that carried an Idempotency-Key."""

from typing import NamedTuple

from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.statements import Statements

SQL = Statements("keys")


class Kept(NamedTuple):
    fingerprint: str
    answer: bytes


async def find(tx: Reading, account_id: str, key: str) -> Kept | None:
    row = await tx.one(SQL.find, account_id, key)
    return Kept(*row) if row else None


def insert(tx: Writing, account_id: str, key: str, kept: Kept) -> None:
    tx.later(SQL.insert, account_id, key, *kept)


def touch(tx: Writing, account_id: str, key: str) -> None:
    tx.later(SQL.touch, account_id, key)


async def delete_old(tx: Writing, older_than_ms: int, most: int) -> int:
    """How many there were; not more than `most`."""
    return len(await tx.returning(SQL.delete_old, older_than_ms, most))
