"""Passwords tried and not yet found right."""

from typing import NamedTuple

from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.statements import Statements

SQL = Statements("guesses")


class Recent(NamedTuple):
    of_account: int
    of_caller: int
    oldest_of_account_ms: int
    oldest_of_caller_ms: int


async def recent(tx: Reading, account: str, caller: str, window_ms: int) -> Recent:
    """How many there were in the window, and when the oldest was, counted back from now (so below zero)."""
    row = await tx.one(SQL.recent, account, caller, window_ms)
    return Recent(*(int(number) for number in row)) if row else Recent(0, 0, 0, 0)


def insert(tx: Writing, guess_id: str, account: str, caller: str) -> None:
    tx.later(SQL.insert, guess_id, account, caller)


def delete(tx: Writing, guess_id: str) -> None:
    tx.later(SQL.delete, guess_id)


def delete_old(tx: Writing, older_than_ms: int, most: int) -> None:
    tx.later(SQL.delete_old, older_than_ms, most)
