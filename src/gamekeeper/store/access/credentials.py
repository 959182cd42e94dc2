"""Password attempts for rate limits, one-time codes for resetting a password, and imported password hashes."""

from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements

SQL = Statements(__file__)


class GuessWaits(NamedTuple):
    """Milliseconds until each rate limit allows another password attempt; 0: allowed now."""

    of_caller: int  # ms to wait by the limit per caller and account
    of_account: int  # ms to wait by the limit per account, all callers together
    of_address: int  # ms to wait by the limit per client address, all accounts together


async def read_guess_waits(
    tx: Reading, account: str, caller: str, address: str | None, window_ms: int, most: tuple[int, int, int]
) -> GuessWaits:
    """Read the waits before another attempt; `most`: attempts allowed per window by caller, account and address."""
    row = await tx.one(SQL.waits, account, caller, address, window_ms, *most)
    return GuessWaits(*(int(number) for number in row)) if row else GuessWaits(0, 0, 0)


async def lock_claim(tx: Reading, claim: int) -> None:
    """Take an advisory lock after the claim of `write`, until the transaction ends; SQLite has one writer: no lock."""
    await tx.one(SQL.hold, claim)


def insert_guess(tx: Writing, guess_id: str, account: str, caller: str) -> None:
    tx.defer(SQL.insert, guess_id, account, caller)


def delete_guess(tx: Writing, guess_id: str) -> None:
    tx.defer(SQL.delete, guess_id)


def delete_guesses_of_account(tx: Writing, account_id: str) -> None:
    tx.defer(SQL.delete_of_account, account_id)


def delete_old_guesses(tx: Writing, older_than_ms: int, most: int) -> None:
    tx.defer(SQL.delete_old, older_than_ms, most)


def save_reset(tx: Writing, user_id: str, code: str, tries: int, life_ms: int, mail_id: str) -> None:
    tx.defer(SQL.save, user_id, code, tries, life_ms, mail_id)


async def find_live_reset(tx: Reading, user_id: str) -> str | None:
    row = await tx.one(SQL.live, user_id)
    return row[0] if row else None


async def find_current_reset(tx: Reading, user_id: str) -> str | None:
    """Return the account's password reset code, even if it has no attempts left."""
    row = await tx.one(SQL.current, user_id)
    return row[0] if row else None


def spend_reset_try(tx: Writing, user_id: str) -> None:
    tx.defer(SQL.spend_try, user_id)


def delete_reset(tx: Writing, user_id: str) -> None:
    tx.defer(SQL.forget, user_id)


async def read_imported_hashes(tx: Reading, from_id: str, limit: int) -> list[tuple[str, str]]:
    """Read ids and imported password hashes that are not wrapped in argon2id yet, in order of id."""
    return [(row[0], row[1]) for row in await tx.all(SQL.imported, from_id, limit)]


async def count_imported_hashes(tx: Reading) -> int:
    row = await tx.one(SQL.count)
    return row[0] if row else 0


async def replace_imported_hash(tx: Writing, user_id: str, old: str, new: str) -> bool:
    """Replace an account's password hash if it is still `old`; return whether it was."""
    return bool(await tx.returning(SQL.replace, user_id, old, new))
