"""The mail outbox: queued, sending, sent, failed and expired mails.

A sender leases a mail and records the outcome of its delivery; invitations have the same leases.
"""

from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statement, Statements


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


class LeaseStatements(NamedTuple):
    is_wanted: Statement
    note_sent: Statement
    note_failure: Statement
    note_refusal: Statement


class MailLeases:
    """The leased mails of one table."""

    def __init__(self, sql: LeaseStatements) -> None:
        self._sql = sql

    async def is_sendable(self, tx: Reading, mail_id: str) -> bool:
        """Return whether a mail is still leased and still wanted: its reset code or its invitation is valid."""
        return await tx.one(self._sql.is_wanted, mail_id) is not None

    def note_sent(self, tx: Writing, mail_id: str) -> None:
        tx.defer(self._sql.note_sent, mail_id)

    def note_failure(self, tx: Writing, taken: LeasedMail, again_ms: int, said: str) -> None:
        """Record a failed delivery, if the lease is still ours: a later sender's result is not overwritten."""
        tx.defer(self._sql.note_failure, taken.id, taken.taken_until, again_ms, said)

    def note_refusal(self, tx: Writing, taken: LeasedMail, said: str) -> None:
        tx.defer(self._sql.note_refusal, taken.id, taken.taken_until, said)


SQL = Statements(__file__)
LIST_LIMIT = 1000
RESET = "password_reset"  # kind of a leased mail
NEWEST_MAILS = 5000  # mails that `count_open` looks at for failed ones: a few milliseconds
COUNT_LIMIT = 1000  # limit up to which `count_open` counts mails
LEASES = MailLeases(
    LeaseStatements(
        is_wanted=SQL.is_wanted,
        note_sent=SQL.note_sent,
        note_failure=SQL.note_failure,
        note_refusal=SQL.note_refusal,
    )
)


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


def queue(tx: Writing, mail_id: str, user_id: str, caller_id: str, address: str, life_ms: int) -> None:
    tx.defer(SQL.queue, mail_id, user_id, caller_id, address, life_ms)


async def read_wait_of_user(tx: Reading, user_id: str, most: int, window_ms: int) -> int:
    """Return ms until another mail to the account is allowed; 0 if it got fewer than `most` in the window."""
    return await tx.value(SQL.wait_of_user, user_id, most, window_ms) or 0


async def read_wait_of_caller(tx: Reading, caller_id: str, most: int, window_ms: int) -> int:
    return await tx.value(SQL.wait_of_caller, caller_id, most, window_ms) or 0


async def has_due(tx: Reading) -> bool:
    return await tx.one(SQL.any_due) is not None


async def has_stuck(tx: Reading, since_ms: int) -> bool:
    """Return whether a mail of the outbox has been due for longer than `since_ms`."""
    return await tx.one(SQL.any_stuck, since_ms) is not None


async def count_recent_failures(tx: Reading, since_ms: int, most: int) -> int:
    """Count failed mails among the `most` newest ones, which were queued at most `since_ms` ago."""
    return int((await tx.one(SQL.count_recent_failures, since_ms, most) or (0,))[0])


async def lease(tx: Writing, lease_ms: int) -> LeasedMail | None:
    """Lease the mail that has been due longest and is not leased; it is due again when the lease ends."""
    row = await tx.one(SQL.next_due, lease_ms)
    if row is None:
        return None
    taken = LeasedMail(*row, kind=RESET)
    tx.defer(SQL.take, taken.id, taken.tries, taken.taken_until)
    return taken


async def lock(tx: Reading, mail_id: str) -> None:
    """Lock a mail, so that no sender leases it until this transaction ends."""
    await tx.one(SQL.lock, mail_id)


def retry(tx: Writing, mail_id: str, at: int) -> None:
    tx.defer(SQL.retry, mail_id, at)


async def find_unsent(tx: Reading) -> list[str]:
    """Return the ids of mails that were not sent and whose reset code is still valid."""
    return [row[0] for row in await tx.all(SQL.unsent)]


async def read_page(tx: Reading, most: int) -> list[ListedMail]:
    return await tx.rows(ListedMail, SQL.page, most)


async def read_newest(tx: Reading, user_id: str | None, before: tuple[int, str], limit: int) -> list[OutboxMail]:
    """Read mails to one account or to all, newest first, after the cursor `before` (time queued, id)."""
    if user_id:
        return await tx.rows(OutboxMail, SQL.newest_of_user, *before, limit, user_id)
    return await tx.rows(OutboxMail, SQL.newest, *before, limit)


async def find_outbox_mail(tx: Reading, mail_id: str) -> OutboxMail | None:
    return await tx.row(OutboxMail, SQL.outgoing, mail_id)


async def find_by_id(tx: Reading, mail_id: str) -> ListedMail | None:
    return await tx.row(ListedMail, SQL.by_id, mail_id)


async def count_waiting(tx: Reading) -> dict[str | None, int]:
    """Count mails that wait to be sent, grouped by the error of the last attempt; None: not tried yet."""
    return {row[0]: row[1] for row in await tx.all(SQL.waiting)}


async def count_failed(tx: Reading, since_ms: int) -> int:
    return await tx.value(SQL.count_failed, since_ms) or 0


async def count_open(tx: Reading, failed_within_ms: int) -> tuple[int, int]:
    """Count waiting mails, and failed ones among the newest NEWEST_MAILS of `failed_within_ms`; up to COUNT_LIMIT."""
    waiting, failed = await tx.one(SQL.counts, failed_within_ms, NEWEST_MAILS) or (0, 0)
    return waiting, min(failed, COUNT_LIMIT)


def retire(tx: Writing) -> None:
    """Stop sending mails whose reset code has expired, was used or was replaced."""
    tx.defer(SQL.retire)


def fail_former(tx: Writing, problem: str) -> None:
    """Do not send the mails of a former epoch, until somebody retries them."""
    tx.defer(SQL.fail_former, problem)


def delete_old(tx: Writing, before_ms: int) -> None:
    tx.defer(SQL.delete_old, before_ms)


PERSON = (PersonRows(90, "mails", SQL.of_person),)
