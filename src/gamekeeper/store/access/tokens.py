from typing import NamedTuple

from gamekeeper.store.access.roles import Powers, StoredGrants
from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements

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
    grants: StoredGrants
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
    read_only: bool = False
    access_ms: int = 0
    refresh_ms: int = 0  # 0: the token has no refresh token
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


async def find(tx: Reading, token_id: str | None = None, *, text_hash: str | None = None) -> IssuedToken | None:
    """Find a token by its public id, or by the hash of its access or refresh token; also one that no longer works."""
    return await tx.row(IssuedToken, SQL.found, token_id, text_hash)


async def find_caller(tx: Reading, access_hash: str) -> CallerRow | None:
    return await tx.row(CallerRow, SQL.caller, access_hash)


def insert(tx: Writing, token: NewToken) -> None:
    tx.defer(SQL.insert, *token)


def revoke_all_of_user(tx: Writing, user_id: str) -> None:
    tx.defer(SQL.revoke_of_user, user_id)


def revoke_sessions(tx: Writing, user_id: str, kept: str | None = None) -> None:
    """Revoke an account's browser sessions but the one with the id `kept`; tokens of programs stay valid."""
    tx.defer(SQL.revoke_sessions, user_id, kept)


async def read_list(tx: Reading, user_id: str | None) -> list[ListedToken]:
    return await tx.rows(ListedToken, SQL.list, user_id, LIST_LIMIT)


PERSON = (PersonRows(300, "tokens", SQL.of_person, cursor=("issued_at", "id"), booleans=("read_only",)),)
