"""Password attempts and known callers for rate limits, codes for resetting a password, imported hashes, and identities.

A known caller has recently sent the right password of an account. An identity is an account of a person at an OpenID
Connect provider, with which the person signs in to the console.
"""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column

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


def insert_guess(tx: Writing, guess_id: str, account: str, caller: str) -> None:
    tx.defer(SQL.insert, guess_id, account, caller)


def delete_guess(tx: Writing, guess_id: str) -> None:
    tx.defer(SQL.delete, guess_id)


def delete_old_guesses(tx: Writing, older_than_ms: int, most: int) -> None:
    tx.defer(SQL.delete_old, older_than_ms, most)


def save_reset(tx: Writing, user_id: str, code: str, tries: int, life_ms: int, mail_id: str) -> None:
    tx.defer(SQL.save, user_id, code, tries, life_ms, mail_id)


def delete_reset(tx: Writing, user_id: str) -> None:
    tx.defer(SQL.forget, user_id)


async def read_imported_hashes(tx: Reading, from_id: str, limit: int) -> list[tuple[str, str]]:
    """Read ids and imported password hashes that are not wrapped in argon2id yet, in order of id."""
    return [(row[0], row[1]) for row in await tx.all(SQL.imported, from_id, limit)]


def delete_known_callers(tx: Writing, user_id: str) -> None:
    tx.defer(SQL.forget_caller, user_id)


class Identity(NamedTuple):
    id: str
    user_id: str
    issuer: str  # address of the provider
    subject: str  # id of the person at the provider
    started_at: int  # when its last sign-in began, in milliseconds since 1970
    added_at: int = 0
    last_used: int | None = None


async def find_identity(tx: Reading, issuer: str, subject: str) -> Identity | None:
    return await tx.row(Identity, SQL.find, issuer, subject)


async def read_identities(tx: Reading, user_id: str) -> list[Identity]:
    return await tx.rows(Identity, SQL.of_user, user_id)


async def find_issuers(tx: Reading, user_ids: Iterable[str]) -> dict[str, list[str]]:
    """Return the issuers of the identities of these accounts, by account."""
    found: dict[str, list[str]] = {}
    for user_id, issuer in await tx.all(SQL.issuers, as_column("id", user_ids)):
        found.setdefault(user_id, []).append(issuer)
    return found


PERSON = (
    PersonRows(100, "callers", SQL.of_person),
    PersonRows(80, "identities", SQL.of_person_identity),
)
