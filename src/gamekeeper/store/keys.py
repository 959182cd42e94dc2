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


def delete_old(tx: Writing, older_than_ms: int, most: int) -> None:
    tx.later(SQL.delete_old, older_than_ms, most)
