"""Answers to requests that carried an Idempotency-Key."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.statements import Statements
from gamekeeper.store.table import as_table

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


def blank(tx: Writing, changes: Iterable[int], words: Iterable[str], but_of: str) -> None:
    """What was answered to those who made these changes; the keys stay, so that nothing is done twice."""
    written = [msgspec.json.encode(word).decode()[1:-1] for word in words]  # as it stands in an answer
    table = as_table({"seq": each} for each in changes)
    tx.later(SQL.blank, table, as_table({"word": each} for each in written), but_of)


def delete_of_account(tx: Writing, account_id: str) -> None:
    tx.later(SQL.delete_of_account, account_id)


async def delete_old(tx: Writing, older_than_ms: int, most: int) -> int:
    """How many there were; not more than `most`."""
    return len(await tx.returning(SQL.delete_old, older_than_ms, most))
