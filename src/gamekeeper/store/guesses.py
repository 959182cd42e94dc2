"""Failed and unfinished password attempts, for rate limits."""

from typing import NamedTuple

from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.statements import Statements

SQL = Statements("guesses")


class GuessWaits(NamedTuple):
    """Milliseconds until each rate limit allows another password attempt; 0: allowed now."""

    of_caller: int  # ms to wait by the limit per caller and account
    of_account: int  # ms to wait by the limit per account, all callers together
    of_address: int  # ms to wait by the limit per client address, all accounts together


async def read_waits(
    tx: Reading, account: str, caller: str, address: str | None, window_ms: int, most: tuple[int, int, int]
) -> GuessWaits:
    """Read the waits before another attempt; `most`: attempts allowed per window by caller, account and address."""
    row = await tx.one(SQL.waits, account, caller, address, window_ms, *most)
    return GuessWaits(*(int(number) for number in row)) if row else GuessWaits(0, 0, 0)


async def lock_claim(tx: Reading, claim: int) -> None:
    """Take an advisory lock after the claim of `write`, until the transaction ends; SQLite has one writer: no lock."""
    await tx.one(SQL.hold, claim)


def insert(tx: Writing, guess_id: str, account: str, caller: str) -> None:
    tx.defer(SQL.insert, guess_id, account, caller)


def delete(tx: Writing, guess_id: str) -> None:
    tx.defer(SQL.delete, guess_id)


def delete_of_account(tx: Writing, account_id: str) -> None:
    tx.defer(SQL.delete_of_account, account_id)


def delete_old(tx: Writing, older_than_ms: int, most: int) -> None:
    tx.defer(SQL.delete_old, older_than_ms, most)
