"""Stored answers to requests with an Idempotency-Key."""

import re
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements

SQL = Statements(__file__)
# Replaces a stored answer about an erased player or account. The key stays: a late retry of the request must not create
# the account again.
ERASED_ANSWER = b"{}"


# stands for the answer of a change that waits for approval
_MARKER = re.compile(rb'\{"ApprovalId":"([0-9a-f-]{36})"\}')


class StoredAnswer(NamedTuple):
    fingerprint: str
    answer: bytes


async def find(tx: Reading, account_id: str, key: str) -> StoredAnswer | None:
    return await tx.row(StoredAnswer, SQL.find, account_id, key)


def require_absent(tx: Writing, account_id: str, key: str) -> None:
    """Raise RowExists if an answer is stored; on PostgreSQL a later statement raises it, see `Writing`."""
    tx.require_absent(SQL.exists, account_id, key)


def insert(tx: Writing, account_id: str, key: str, kept: StoredAnswer, about: tuple[str | None, str | None]) -> None:
    """Store the answer to an Idempotency-Key; `about`: ids of the player and account that the answer is about."""
    tx.defer(SQL.insert, account_id, key, *kept, *about)


def replace(tx: Writing, account_id: str, key: str, kept: StoredAnswer, about: tuple[str | None, str | None]) -> None:
    """Replace the marker of a held change by its answer."""
    tx.defer(SQL.replace, account_id, key, *kept, *about)


def make_marker(approval_id: str) -> bytes:
    """Return what is stored instead of an answer while a change waits for approval."""
    return b'{"ApprovalId":"%b"}' % approval_id.encode()


def find_approval(answer: bytes) -> str | None:
    """Return the approval's id if a stored answer is the marker of a held change."""
    found = _MARKER.fullmatch(answer)
    return found[1].decode() if found else None


def touch(tx: Writing, account_id: str, key: str) -> None:
    tx.defer(SQL.touch, account_id, key)


async def delete_old(tx: Writing, before_ms: int, most: int) -> int:
    """Delete up to `most` old stored answers; return how many were deleted."""
    return len(await tx.returning(SQL.delete_old, before_ms, most))
