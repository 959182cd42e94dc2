"""The security log, and the addresses from which credentials were used. Events are only added, until they are old."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table

SQL = Statements(__file__)
NEAR_MS = 60_000  # milliseconds between the issue of a token and its sign-in event, at most


class SecurityRow(NamedTuple):
    """An event with the current names of its accounts; None if they were deleted."""

    id: str
    at: int
    kind: str
    user_id: str | None
    user: str | None
    actor_id: str | None
    actor: str | None
    address: str | None
    browser: str | None
    credential_id: str | None
    details: bytes | str | None  # JSON


class SignIn(NamedTuple):
    """Where the sign-in of a token or session came from."""

    address: str | None
    browser: str | None


class PastSignIn(NamedTuple):
    """A sign-in of the past, to be loaded."""

    id: str
    at: int
    user_id: str
    address: str
    browser: str


class SecurityFilter(NamedTuple):
    user_id: str | None
    kind: str | None
    since: int
    until: int


Values = Mapping[str, str | None]


def insert(tx: Writing, rows: Iterable[Values]) -> None:
    tx.defer(SQL.insert, as_table(rows))


def backdate(tx: Writing, since: int, at: int) -> None:
    """Give the events since a time, those of this transaction, a time of the past."""
    tx.defer(SQL.backdate, since, at)


def load_sign_ins(tx: Writing, sign_ins: Iterable[PastSignIn]) -> None:
    for each in sign_ins:
        tx.defer(SQL.load_sign_ins, *each)


def insert_late(tx: Writing, rows: Iterable[Values]) -> None:
    """Insert events that waited in memory, except those about accounts that were erased meanwhile."""
    tx.defer(SQL.insert_late, as_table(rows))


async def read_page(tx: Reading, wanted: SecurityFilter, before: tuple[int, str], limit: int) -> list[SecurityRow]:
    """Read events before the cursor (time, id), newest first."""
    return await tx.rows(SecurityRow, SQL.page, *before, wanted.since, wanted.until, limit, wanted.user_id, wanted.kind)


async def find_sign_ins(tx: Reading, user_id: str, tokens: Mapping[str, int]) -> dict[str, SignIn]:
    """Find the sign-ins of an account's tokens: id of the token → origin. `tokens`: id → time of issue.

    Tokens without one were issued in another way, or the event is older than the log is kept.
    """
    given = as_table({"id": each, "issued_at": str(at)} for each, at in tokens.items())
    rows = await tx.all(SQL.sign_ins, given, user_id, NEAR_MS) if tokens else ()
    return {row[0]: SignIn(*row[1:]) for row in rows}


async def read_known_addresses(tx: Reading, holders: Iterable[str]) -> set[tuple[str, str]]:
    """Read the addresses from which credentials of these holders were used, as (holder, address)."""
    rows = await tx.all(SQL.known_addresses, as_column("holder_id", holders))
    return {(holder, address) for holder, address in rows}


async def note_addresses(tx: Writing, uses: Iterable[Values], pause_ms: int) -> set[tuple[str, str]]:
    """Store addresses of credentials; return the new ones, as (holder, address). Known ones are updated rarely."""
    rows = await tx.returning(SQL.note_addresses, as_table(uses), pause_ms)
    return {(holder, address) for holder, address, used_at in rows if used_at is None}


async def delete_of_user(tx: Writing, user_id: str, limit: int) -> int:
    """Delete events about an erased account; return how many."""
    return len(await tx.returning(SQL.delete_of_user, user_id, limit))


async def blank_by_actor(tx: Writing, user_id: str, limit: int) -> int:
    """Remove an erased account from events about others that it caused; return how many."""
    return len(await tx.returning(SQL.blank_by_actor, user_id, limit))


async def delete_old(tx: Writing, before_ms: int, limit: int) -> int:
    tx.defer(SQL.delete_old_addresses, before_ms, limit)
    return len(await tx.returning(SQL.delete_old, before_ms, limit))


PERSON = (
    PersonRows(180, "addresses", SQL.addresses_of_person),
    PersonRows(310, "security", SQL.of_person, cursor=("at", "id"), json=("details",)),
)
