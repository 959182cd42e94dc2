"""The mail outbox: queued, sending, sent, failed and expired mails.

A sender leases a mail and records the outcome of its delivery. Invitations have the same leases, and statements of the
same names for them.
"""

from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements


class LeasedMail(NamedTuple):
    """A mail leased to one sender, which must send it before the lease ends."""

    id: str
    name: str
    address: str
    code: str
    queued_at: int
    tries: int  # number of delivery attempts, including the current one
    left_ms: int  # remaining validity of the mail's reset code, in milliseconds
    taken_until: int
    kind: str


SQL = Statements(__file__)
LIST_LIMIT = 1000
RESET = "password_reset"  # kind of a leased mail
NEWEST_MAILS = 5000  # mails that `count_open` looks at for failed ones: a few milliseconds
COUNT_LIMIT = 1000  # limit up to which `count_open` counts mails


class ListedMail(NamedTuple):
    id: str
    name: str
    address: str
    state: str  # state of the mail: queued, sending, sent, failed, expired
    queued_at: int
    expires_at: int
    tries: int
    next_try_at: int | None
    sent_at: int | None
    last_error: str | None
    code: str | None  # reset code in the mail; None when it has expired


class OutboxMail(NamedTuple):
    """A mail as an administrator sees it, without the reset code."""

    id: str
    user_id: str
    name: str
    kind: str
    address: str
    state: str  # state of the mail: queued, sending, sent, failed, expired
    queued_at: int
    expires_at: int
    tries: int
    next_try_at: int | None
    sent_at: int | None
    last_error: str | None
    live: bool  # the mail's reset code can still be used


async def lease(tx: Writing, lease_ms: int) -> LeasedMail | None:
    """Lease the mail that has been due longest and is not leased; it is due again when the lease ends."""
    row = await tx.one(SQL.next_due, lease_ms)
    if row is None:
        return None
    taken = LeasedMail(*row, kind=RESET)
    tx.defer(SQL.take, taken.id, taken.tries, taken.taken_until)
    return taken


async def read_page(tx: Reading, most: int) -> list[ListedMail]:
    return await tx.rows(ListedMail, SQL.page, most)


async def read_newest(tx: Reading, user_id: str | None, before: tuple[int, str], limit: int) -> list[OutboxMail]:
    """Read mails to one account or to all, newest first, after the cursor `before` (time queued, id)."""
    if user_id:
        return await tx.rows(OutboxMail, SQL.newest_of_user, *before, limit, user_id)
    return await tx.rows(OutboxMail, SQL.newest, *before, limit)


async def find_outbox_mail(tx: Reading, mail_id: str) -> OutboxMail | None:
    return await tx.row(OutboxMail, SQL.outgoing, mail_id)


async def count_open(tx: Reading, failed_within_ms: int) -> tuple[int, int]:
    """Count waiting mails, and failed ones among the newest NEWEST_MAILS of `failed_within_ms`; up to COUNT_LIMIT."""
    waiting, failed = await tx.one(SQL.counts, failed_within_ms, NEWEST_MAILS) or (0, 0)
    return waiting, min(failed, COUNT_LIMIT)


def retire(tx: Writing) -> None:
    """Stop sending mails whose reset code has expired, was used or was replaced."""
    tx.defer(SQL.retire)


PERSON = (PersonRows(90, "mails", SQL.of_person),)
