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
    return await tx.value(SQL.live, user_id)


async def find_current_reset(tx: Reading, user_id: str) -> str | None:
    """Return the account's password reset code, even if it has no attempts left."""
    return await tx.value(SQL.current, user_id)


def spend_reset_try(tx: Writing, user_id: str) -> None:
    tx.defer(SQL.spend_try, user_id)


def delete_reset(tx: Writing, user_id: str) -> None:
    tx.defer(SQL.forget, user_id)


async def read_imported_hashes(tx: Reading, from_id: str, limit: int) -> list[tuple[str, str]]:
    """Read ids and imported password hashes that are not wrapped in argon2id yet, in order of id."""
    return [(row[0], row[1]) for row in await tx.all(SQL.imported, from_id, limit)]


async def count_imported_hashes(tx: Reading) -> int:
    return await tx.value(SQL.count) or 0


async def replace_imported_hash(tx: Writing, user_id: str, old: str, new: str) -> bool:
    """Replace an account's password hash if it is still `old`; return whether it was."""
    return bool(await tx.returning(SQL.replace, user_id, old, new))


async def is_known_caller(tx: Reading, user_id: str | None, caller: str, within_ms: int) -> bool:
    """Return whether the caller recently sent the account's password; for no account (None) False, equally slowly."""
    return await tx.one(SQL.has, user_id, caller, within_ms) is not None


def save_known_caller(tx: Writing, user_id: str, caller: str, *, second_factor: bool) -> None:
    """Record that a caller sent the right password, at most once an hour: some clients log in before every call.

    If the account has a second factor, the password alone does not make the caller known.
    """
    tx.defer(SQL.save_caller, user_id, caller, second_factor)


def delete_known_callers(tx: Writing, user_id: str) -> None:
    tx.defer(SQL.forget_caller, user_id)


def delete_old_known_callers(tx: Writing, before_ms: int, most: int) -> None:
    tx.defer(SQL.delete_old_caller, before_ms, most)


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


def insert_identity(tx: Writing, identity: Identity) -> None:
    tx.defer(SQL.insert_identity, *identity[:5])


def delete_identity(tx: Writing, identity_id: str) -> None:
    tx.defer(SQL.delete_identity, identity_id)


async def note_identity_use(tx: Writing, identity_id: str, started_at: int) -> bool:
    """Use up a sign-in. False: it, or one that began later, was finished already."""
    return bool(await tx.returning(SQL.use, identity_id, started_at))


PERSON = (
    PersonRows(100, "callers", SQL.of_person),
    PersonRows(80, "identities", SQL.of_person_identity),
)
