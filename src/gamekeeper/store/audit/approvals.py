"""Changes that wait for the approval of a second person, and how much accounts gave without approval."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gamekeeper.store.access.api_keys import KeyMaker
from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column

SQL = Statements(__file__)
WAITING, DONE, DENIED, EXPIRED = "waiting", "done", "denied", "expired"


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


async def find(tx: Reading, approval_id: str) -> Approval | None:
    return await tx.row(Approval, SQL.find, approval_id)


async def read_page(
    tx: Reading, state: str | None, before: tuple[int, str], limit: int, *, whole: bool
) -> list[Approval]:
    """Read approvals before the cursor (time, id), newest first. `whole`: with previews, and with all bodies."""
    return await tx.rows(Approval, SQL.page, *before, limit, state, whole)


async def count_waiting(tx: Reading, most: int) -> int:
    return await tx.value(SQL.count_waiting, most) or 0


async def lock(tx: Reading, approval_id: str) -> str | None:
    """Lock an approval until the transaction ends; return its state."""
    return await tx.value(SQL.lock, approval_id)


def decide(tx: Writing, approval_id: str, state: str, decided_by: str | None, reason: str | None) -> None:
    tx.defer(SQL.decide, approval_id, state, decided_by, reason)


def erase(tx: Writing, player_ids: Iterable[str], user_id: str) -> None:
    """Remove personal data of an erased account and its players; what still waits expires."""
    tx.defer(SQL.erase, as_column("id", player_ids), user_id)


async def lock_gifts(tx: Writing, actor_id: str, item_id: str) -> int:
    """Return how much of an item an account gave today (UTC); parallel gifts of it wait until the transaction ends."""
    return (await tx.returning(SQL.lock_gifts, actor_id, item_id))[0][0]


PERSON = (PersonRows(110, "approvals", SQL.of_person),)
