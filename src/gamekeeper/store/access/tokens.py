from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.access.roles import Grants, Powers, parse_grants
from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column

SQL = Statements(__file__)
LIST_LIMIT = 1000


class CallerRow(NamedTuple):
    token_id: str
    read_only: bool
    life_ms: int
    user_id: str
    name: str
    session: bool  # the token belongs to a browser session
    has_read_only_roles: bool  # all roles of the account are read-only
    powers: Powers
    grants: Grants
    has_quotas: bool  # a role has a quota, perhaps one of the account
    second_factor: bool  # the log-in had a second factor
    has_factor: bool  # the account has a second factor now


class TokenEnd(NamedTuple):
    """Why a token does not work. Neither: because of its account."""

    is_revoked: bool
    is_expired: bool


class RefreshRow(NamedTuple):
    id: str
    family_id: str
    user_id: str
    read_only: bool
    revoked: bool
    expired: bool
    exchanged: bool
    exchanged_ms_ago: int
    second_factor: bool


class NewToken(NamedTuple):
    id: str
    family_id: str
    user_id: str
    access_hash: str
    refresh_hash: str | None
    read_only: bool
    access_ms: int
    refresh_ms: int
    idle_ms: int | None = None  # idle timeout of the token in ms; None: no idle timeout
    second_factor: bool = False  # the log-in had a second factor


class ListedToken(NamedTuple):
    id: str
    user: str
    read_only: bool
    issued_at: int
    access_expires: int
    refresh_expires: int
    revoked_at: int | None
    last_used: int | None
    live: bool


class IssuedToken(NamedTuple):
    """A token as an administrator sees it, without its secrets."""

    id: str
    user_id: str
    user: str
    read_only: bool
    renewable: bool  # the token has a refresh token: it came from a log-in
    idle_ms: int | None  # idle timeout of a console session in ms; None for other tokens
    issued_at: int
    ends_at: int
    last_used: int | None
    live: bool


async def find_by_id(tx: Reading, token_id: str) -> IssuedToken | None:
    """Find a token by its public id, also one that no longer works."""
    return await _find(tx, token_id, None)


async def find_by_hash(tx: Reading, text_hash: str) -> IssuedToken | None:
    """Find a token by the hash of its access or refresh token, also one that no longer works."""
    return await _find(tx, None, text_hash)


async def _find(tx: Reading, token_id: str | None, text_hash: str | None) -> IssuedToken | None:
    return await tx.row(IssuedToken, SQL.found, token_id, text_hash)


async def find_caller(tx: Reading, access_hash: str) -> CallerRow | None:
    row = await tx.one(SQL.caller, access_hash)
    if row is None:
        return None
    powers = Powers._make(map(bool, row[7:15]))
    return CallerRow(
        token_id=row[0],
        read_only=bool(row[1]),
        life_ms=row[2],
        user_id=row[3],
        name=row[4],
        session=bool(row[5]),
        has_read_only_roles=bool(row[6]),
        powers=powers,
        grants=parse_grants(row[15]),
        has_quotas=bool(row[16]),
        second_factor=bool(row[17]),
        has_factor=bool(row[18]),
    )


async def find_end(tx: Reading, access_hash: str) -> TokenEnd | None:
    """Find out why a token does not work. None: it is unknown."""
    return await tx.row(TokenEnd, SQL.end, access_hash)


async def read_age(tx: Reading, token_id: str) -> int | None:
    """Return the milliseconds since a token was issued."""
    return await tx.value(SQL.age, token_id)


async def find_refresh_owner(tx: Reading, refresh_hash: str) -> str | None:
    return await tx.value(SQL.owner_of_refresh, refresh_hash)


async def find_owner(tx: Reading, token_id: str, refresh_hash: str) -> str | None:
    """Return the account of a token, which is given by its public id or by its refresh token."""
    return await tx.value(SQL.owner, token_id, refresh_hash)


async def lock_refresh(tx: Reading, refresh_hash: str) -> RefreshRow | None:
    return await tx.row(RefreshRow, SQL.lock_refresh, refresh_hash)


def insert(tx: Writing, token: NewToken) -> None:
    tx.defer(SQL.insert, *token)


def mark_exchanged(tx: Writing, token_id: str) -> None:
    tx.defer(SQL.mark_exchanged, token_id)


def revoke_family(tx: Writing, family_id: str) -> None:
    tx.defer(SQL.revoke_family, family_id)


def revoke_all_of_user(tx: Writing, user_id: str) -> None:
    tx.defer(SQL.revoke_of_user, user_id)


def revoke_sessions(tx: Writing, user_id: str, kept: str | None = None) -> None:
    """Revoke an account's browser sessions but the one with the id `kept`; tokens of programs stay valid."""
    tx.defer(SQL.revoke_sessions, user_id, kept)


async def find_of_user(tx: Reading, user_id: str, token_id: str, refresh_hash: str) -> str | None:
    return await tx.value(SQL.find_of_user, user_id, token_id, refresh_hash)


def revoke_one(tx: Writing, token_id: str) -> None:
    tx.defer(SQL.revoke_one, token_id)


async def read_list(tx: Reading, user_id: str | None) -> list[ListedToken]:
    return await tx.rows(ListedToken, SQL.list, user_id, LIST_LIMIT)


async def read_newest(tx: Reading, user_id: str | None, before: tuple[int, str], limit: int) -> list[IssuedToken]:
    """Read the tokens of one account or of all, newest first, after the cursor `before` (time of issue, id)."""
    return await tx.rows(IssuedToken, SQL.newest, *before, limit, user_id)


def note_use(tx: Writing, ids: Iterable[str], pause_ms: int) -> None:
    """Update the time of last use of these tokens, unless it was updated less than `pause_ms` ago."""
    tx.defer(SQL.note_use, as_column("id", ids), pause_ms)


def delete_old(tx: Writing, before_ms: int, most: int) -> None:
    tx.defer(SQL.delete_old, before_ms, most)


PERSON = (PersonRows(300, "tokens", SQL.of_person, cursor=("issued_at", "id"), booleans=("read_only",)),)
