"""Answers to requests that carried an Idempotency-Key."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.statements import Statements
from gamekeeper.store.table import as_table

SQL = Statements("keys")
ERASED = b"{}"  # an answer about somebody who is erased


class Kept(NamedTuple):
    fingerprint: str
    answer: bytes


async def find(tx: Reading, account_id: str, key: str) -> Kept | None:
    row = await tx.one(SQL.find, account_id, key)
    return Kept(*row) if row else None


def insert(tx: Writing, account_id: str, key: str, kept: Kept, about: tuple[str | None, str | None]) -> None:
    """With the ids of the player and the user whom the answer is about."""
    tx.later(SQL.insert, account_id, key, *kept, *about)


def touch(tx: Writing, account_id: str, key: str) -> None:
    tx.later(SQL.touch, account_id, key)


def blank_of_user(tx: Writing, user_id: str) -> None:
    """What others were answered about an account; the keys stay, so that nothing is done twice."""
    tx.later(SQL.blank_of_user, user_id)


def blank_of_players(tx: Writing, player_ids: Iterable[str], but_of: str) -> None:
    """What all but one account were answered about these characters."""
    tx.later(SQL.blank_of_players, as_table({"id": each} for each in player_ids), but_of)


def blank_of_account(tx: Writing, account_id: str) -> None:
    """What the account itself was answered: its tokens may be believed for some seconds more."""
    tx.later(SQL.blank_of_account, account_id)


async def delete_old(tx: Writing, before_ms: int, most: int) -> int:
    """How many there were; not more than `most`."""
    return len(await tx.returning(SQL.delete_old, before_ms, most))
