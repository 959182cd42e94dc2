"""Second factors of accounts, and their recovery codes."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column

SQL = Statements(__file__)
TOTP, PASSKEY = "totp", "passkey"


class SecondFactor(NamedTuple):
    id: str
    user_id: str
    kind: str  # TOTP or PASSKEY
    name: str
    secret: str  # TOTP: the encrypted secret; passkey: its public key
    credential_id: str | None = None
    sign_count: int = 0
    used_step: int = 0  # TOTP: time step of the last used code; passkey: time of the last answered challenge, in ms
    added_at: int = 0
    last_used: int | None = None


class StoredSecret(NamedTuple):
    """The encrypted secret of a TOTP factor, with its account."""

    id: str
    user_id: str
    secret: str
    user: str


async def read_of_user(tx: Reading, user_id: str) -> list[SecondFactor]:
    return await tx.rows(SecondFactor, SQL.of_user, user_id)


async def has_any(tx: Reading, user_id: str) -> bool:
    return await tx.one(SQL.has_any, user_id) is not None


async def find_holders(tx: Reading, ids: Iterable[str]) -> set[str]:
    """Return which of these accounts have a second factor."""
    return {row[0] for row in await tx.all(SQL.holders, as_column("id", ids))}


def insert(tx: Writing, factor: SecondFactor) -> None:
    tx.defer(SQL.insert, *factor[:8])


def delete(tx: Writing, factor_id: str) -> None:
    tx.defer(SQL.delete, factor_id)


def delete_of_user(tx: Writing, user_id: str) -> None:
    """Delete all second factors and recovery codes of an account."""
    tx.defer(SQL.delete_of_user, user_id)
    tx.defer(SQL.delete_recovery_codes, user_id)


async def use(tx: Writing, factor_id: str, step: int, sign_count: int) -> bool:
    """Use up a time step or a challenge. False: it, or a later one, was used already."""
    return bool(await tx.returning(SQL.use, factor_id, step, sign_count))


async def use_recovery_code(tx: Writing, user_id: str, code_hash: str) -> bool:
    """Use up a recovery code. False: there is none with this hash, or it was used already."""
    return bool(await tx.returning(SQL.use_recovery_code, user_id, code_hash))


async def count_recovery_codes(tx: Reading, user_id: str) -> int:
    """Count the unused recovery codes of an account."""
    return await tx.value(SQL.count_recovery_codes, user_id) or 0


def replace_recovery_codes(tx: Writing, user_id: str, hashes: Iterable[str]) -> None:
    tx.defer(SQL.delete_recovery_codes, user_id)
    tx.defer(SQL.insert_recovery_codes, user_id, as_column("hash", hashes))


async def read_totp_after(tx: Reading, factor_id: str, limit: int) -> list[StoredSecret]:
    """Read the next encrypted secrets of TOTP factors, in order of id."""
    return await tx.rows(StoredSecret, SQL.totp_after, factor_id, limit)


PERSON = (
    PersonRows(60, "second_factors", SQL.of_person),
    PersonRows(70, "recovery_codes", SQL.codes_of_person),
)
