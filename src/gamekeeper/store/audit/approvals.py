"""Changes that wait for the approval of a second person, and how much accounts gave without approval."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gamekeeper.store.access.api_keys import KeyMaker
from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column

SQL = Statements(__file__)
WAITING, DONE, DENIED, EXPIRED = "waiting", "done", "denied", "expired"


class NewApproval(NamedTuple):
    id: str
    rule: str
    life_ms: int
    actor_id: str
    token_id: str | None
    scope_id: str
    key: str | None
    method: str
    path: str
    query: str
    content_type: str
    body: str  # base64
    reason: str | None
    state_fingerprint: str
    preview: str  # JSON
    player_id: str | None
    user_id: str | None


class Approval(NamedTuple):
    """A held change. `state`: waiting, done, denied or expired."""

    id: str
    state: str
    rule: str
    requested_at: int
    expires_at: int
    actor_id: str
    actor: str | None
    token_id: str | None
    scope_id: str
    key: str | None
    method: str
    path: str
    query: str
    content_type: str
    body: str
    reason: str | None
    state_fingerprint: str
    preview: bytes | str
    decided_at: int | None
    decided_by: str | None
    decider: str | None
    decision_reason: str | None
    key_name: str | None  # of the requester's API key; None: it has a token
    key_makers: Sequence[KeyMaker] = ()


def insert(tx: Writing, new: NewApproval) -> None:
    tx.defer(SQL.insert, *new)


async def find(tx: Reading, approval_id: str) -> Approval | None:
    return await tx.row(Approval, SQL.find, approval_id)


async def find_subject(tx: Reading, approval_id: str) -> tuple[str | None, str | None]:
    """Find the player and the account that a held change is about."""
    row = await tx.one(SQL.subject, approval_id)
    return (row[0], row[1]) if row else (None, None)


async def read_page(
    tx: Reading, state: str | None, before: tuple[int, str], limit: int, *, whole: bool
) -> list[Approval]:
    """Read approvals before the cursor (time, id), newest first. `whole`: with previews, and with all bodies."""
    return await tx.rows(Approval, SQL.page, *before, limit, state, whole)


async def count_waiting(tx: Reading, most: int) -> int:
    return await tx.value(SQL.count_waiting, most) or 0


async def count_waiting_of(tx: Reading, actor_id: str, most: int) -> int:
    return await tx.value(SQL.count_waiting_of, actor_id, most) or 0


async def lock(tx: Reading, approval_id: str) -> str | None:
    """Lock an approval until the transaction ends; return its state."""
    return await tx.value(SQL.lock, approval_id)


def decide(tx: Writing, approval_id: str, state: str, decided_by: str | None, reason: str | None) -> None:
    tx.defer(SQL.decide, approval_id, state, decided_by, reason)


def renew_preview(tx: Writing, approval_id: str, state_fingerprint: str, preview: str) -> None:
    tx.defer(SQL.renew_preview, approval_id, state_fingerprint, preview)


async def read_expired(tx: Reading, limit: int) -> list[str]:
    """Lock the approvals that still wait, although their time is over, and return their ids."""
    return [row[0] for row in await tx.all(SQL.expired, limit)]


async def read_former(tx: Reading, limit: int) -> list[str]:
    """Lock the waiting approvals that were requested in a former epoch, and return their ids."""
    return [row[0] for row in await tx.all(SQL.former, limit)]


def expire(tx: Writing, ids: Iterable[str]) -> None:
    tx.defer(SQL.expire, as_column("id", ids))


def erase(tx: Writing, player_ids: Iterable[str], user_id: str) -> None:
    """Remove personal data of an erased account and its players; what still waits expires."""
    tx.defer(SQL.erase, as_column("id", player_ids), user_id)


def delete_old(tx: Writing, before_ms: int, limit: int) -> None:
    tx.defer(SQL.delete_old, before_ms, limit)


def delete_old_gifts(tx: Writing, before_day: int) -> None:
    tx.defer(SQL.delete_old_gifts, before_day)


async def lock_gifts(tx: Writing, actor_id: str, item_id: str) -> int:
    """Return how much of an item an account gave today (UTC); parallel gifts of it wait until the transaction ends."""
    return (await tx.returning(SQL.lock_gifts, actor_id, item_id))[0][0]


def add_gifts(tx: Writing, actor_id: str, item_id: str, quantity: int) -> None:
    tx.defer(SQL.add_gifts, actor_id, item_id, quantity)


PERSON = (PersonRows(110, "approvals", SQL.of_person),)
