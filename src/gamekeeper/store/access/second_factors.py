"""Second factors of accounts, and their recovery codes."""

from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements

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


def delete_of_user(tx: Writing, user_id: str) -> None:
    """Delete all second factors and recovery codes of an account."""
    tx.defer(SQL.delete_of_user, user_id)
    tx.defer(SQL.delete_recovery_codes, user_id)


async def use(tx: Writing, factor_id: str, step: int, sign_count: int) -> bool:
    """Use up a time step or a challenge. False: it, or a later one, was used already."""
    return bool(await tx.returning(SQL.use, factor_id, step, sign_count))


async def count_recovery_codes(tx: Reading, user_id: str) -> int:
    """Count the unused recovery codes of an account."""
    return await tx.value(SQL.count_recovery_codes, user_id) or 0


PERSON = (
    PersonRows(60, "second_factors", SQL.of_person),
    PersonRows(70, "recovery_codes", SQL.codes_of_person),
)
