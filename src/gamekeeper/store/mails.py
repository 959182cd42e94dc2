"""The outbox: mails that wait, are being sent, were sent, or never will be."""

from typing import NamedTuple

from gamekeeper.store.engine import Reading, Row, Writing
from gamekeeper.store.statements import Statements

SQL = Statements("mails")
LIST_LIMIT = 1000
COUNT_LIMIT = 1000  # by `counts`


class LeasedMail(NamedTuple):
    """A mail in the hands of one sender until its lease ends."""

    id: str
    name: str
    address: str
    code: str
    queued_at: int
    tries: int  # with this one
    left_ms: int  # of the code's life
    taken_until: int


class ListedMail(NamedTuple):
    id: str
    name: str
    address: str
    state: str  # queued, sending, sent, failed, expired
    queued_at: int
    expires_at: int
    tries: int
    next_try_at: int | None
    sent_at: int | None
    last_error: str | None
    code: str | None  # while it lives


class OutboxMail(NamedTuple):
    """A mail as keepers see it: nobody but its reader has the code in it."""

    id: str
    user_id: str
    name: str
    kind: str
    address: str
    state: str  # queued, sending, sent, failed, expired
    queued_at: int
    expires_at: int
    tries: int
    next_try_at: int | None
    sent_at: int | None
    last_error: str | None
    live: bool  # its code can still be used


def queue(tx: Writing, mail_id: str, user_id: str, caller_id: str, address: str, life_ms: int) -> None:
    tx.defer(SQL.queue, mail_id, user_id, caller_id, address, life_ms)


async def read_wait_of_user(tx: Reading, user_id: str, most: int, window_ms: int) -> int:
    """Milliseconds until the account may get another, when it had `most` in the window; else 0."""
    row = await tx.one(SQL.wait_of_user, user_id, most, window_ms)
    return row[0] if row else 0


async def read_wait_of_caller(tx: Reading, caller_id: str, most: int, window_ms: int) -> int:
    row = await tx.one(SQL.wait_of_caller, caller_id, most, window_ms)
    return row[0] if row else 0


async def has_due(tx: Reading) -> bool:
    return await tx.one(SQL.any_due) is not None


async def has_stuck(tx: Reading, since_ms: int) -> bool:
    """Whether one has been waiting for so long."""
    return await tx.one(SQL.any_stuck, since_ms) is not None


async def lease(tx: Writing, lease_ms: int) -> LeasedMail | None:
    """The mail that is due longest and that nobody else is taking; it is due again when the lease ends."""
    row = await tx.one(SQL.next_due, lease_ms)
    if row is None:
        return None
    taken = LeasedMail(*row)
    tx.defer(SQL.take, taken.id, taken.tries, taken.taken_until)
    return taken


async def is_sendable(tx: Reading, mail_id: str) -> bool:
    """Whether its code still lives, and somebody has the mail in hand."""
    return await tx.one(SQL.is_wanted, mail_id) is not None


def note_sent(tx: Writing, mail_id: str) -> None:
    tx.defer(SQL.note_sent, mail_id)


def note_failure(tx: Writing, taken: LeasedMail, again_ms: int, said: str) -> None:
    """Only by the one who has it in hand: a successor's note is not written over."""
    tx.defer(SQL.note_failure, taken.id, taken.taken_until, again_ms, said)


def note_refusal(tx: Writing, taken: LeasedMail, said: str) -> None:
    tx.defer(SQL.note_refusal, taken.id, taken.taken_until, said)


async def lock(tx: Reading, mail_id: str) -> None:
    """No sender takes it until this transaction ends."""
    await tx.one(SQL.lock, mail_id)


def retry(tx: Writing, mail_id: str, at: int) -> None:
    tx.defer(SQL.retry, mail_id, at)


async def find_unsent(tx: Reading) -> list[str]:
    """Ids of those that were not sent and whose code still lives."""
    return [row[0] for row in await tx.all(SQL.unsent)]


async def read_page(tx: Reading, most: int) -> list[ListedMail]:
    return [ListedMail(*row) for row in await tx.all(SQL.page, most)]


async def read_newest(tx: Reading, user_id: str | None, before: tuple[int, str], limit: int) -> list[OutboxMail]:
    """To one account or to all: those queued before a moment, and at that moment those with a smaller id."""
    found = tx.all(SQL.newest_of_user, *before, limit, user_id) if user_id else tx.all(SQL.newest, *before, limit)
    return [_to_outbox_mail(row) for row in await found]


async def find_outbox_mail(tx: Reading, mail_id: str) -> OutboxMail | None:
    row = await tx.one(SQL.outgoing, mail_id)
    return _to_outbox_mail(row) if row else None


async def find_by_id(tx: Reading, mail_id: str) -> ListedMail | None:
    row = await tx.one(SQL.by_id, mail_id)
    return ListedMail(*row) if row else None


async def count_waiting(tx: Reading) -> dict[str | None, int]:
    """How many wait to be sent, by what the last try ended with; None: not tried yet."""
    return {row[0]: row[1] for row in await tx.all(SQL.waiting)}


async def count_failed(tx: Reading, since_ms: int) -> int:
    row = await tx.one(SQL.count_failed, since_ms)
    return row[0] if row else 0


async def count_open(tx: Reading, failed_within_ms: int) -> tuple[int, int]:
    """How many wait to be sent, and how many of those queued since were refused for good; no more than a thousand."""
    waiting, failed = await tx.one(SQL.counts, failed_within_ms) or (0, 0)
    return waiting, failed


def retire(tx: Writing) -> None:
    """Those whose code has run out, was used or was replaced are looked at no more."""
    tx.defer(SQL.retire)


def delete_old(tx: Writing, before_ms: int) -> None:
    tx.defer(SQL.delete_old, before_ms)


def _to_outbox_mail(row: Row) -> OutboxMail:
    return OutboxMail(*row)._replace(live=bool(row[-1]))
