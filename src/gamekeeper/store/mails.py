"""The outbox: mails that wait, are being sent, were sent, or never will be."""

from typing import NamedTuple

from gamekeeper.store.engine import Reading, Row, Writing
from gamekeeper.store.statements import Statements

SQL = Statements("mails")
LISTED_MOST = 1000
COUNTED_MOST = 1000  # by `counts`


class Taken(NamedTuple):
    """A mail in the hands of one sender until its lease ends."""

    id: str
    name: str
    address: str
    code: str
    queued_at: int
    tries: int  # with this one
    left_ms: int  # of the code's life
    taken_until: int


class Listed(NamedTuple):
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


class Outgoing(NamedTuple):
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
    tx.later(SQL.queue, mail_id, user_id, caller_id, address, life_ms)


async def wait_of_user(tx: Reading, user_id: str, most: int, window_ms: int) -> int:
    """Milliseconds until the account may get another, when it had `most` in the window; else 0."""
    row = await tx.one(SQL.wait_of_user, user_id, most, window_ms)
    return row[0] if row else 0


async def wait_of_caller(tx: Reading, caller_id: str, most: int, window_ms: int) -> int:
    row = await tx.one(SQL.wait_of_caller, caller_id, most, window_ms)
    return row[0] if row else 0


async def any_due(tx: Reading) -> bool:
    return await tx.one(SQL.any_due) is not None


async def any_stuck(tx: Reading, since_ms: int) -> bool:
    """Whether one has been waiting for so long."""
    return await tx.one(SQL.any_stuck, since_ms) is not None


async def take(tx: Writing, lease_ms: int) -> Taken | None:
    """The mail that is due longest and that nobody else is taking; it is due again when the lease ends."""
    row = await tx.one(SQL.next_due, lease_ms)
    if row is None:
        return None
    taken = Taken(*row)
    tx.later(SQL.take, taken.id, taken.tries, taken.taken_until)
    return taken


async def is_wanted(tx: Reading, mail_id: str) -> bool:
    """Whether its code still lives, and somebody has the mail in hand."""
    return await tx.one(SQL.is_wanted, mail_id) is not None


def note_sent(tx: Writing, mail_id: str) -> None:
    tx.later(SQL.note_sent, mail_id)


def note_failure(tx: Writing, taken: Taken, again_ms: int, said: str) -> None:
    """Only by the one who has it in hand: a successor's note is not written over."""
    tx.later(SQL.note_failure, taken.id, taken.taken_until, again_ms, said)


def note_refusal(tx: Writing, taken: Taken, said: str) -> None:
    tx.later(SQL.note_refusal, taken.id, taken.taken_until, said)


async def lock(tx: Reading, mail_id: str) -> None:
    """No sender takes it until this transaction ends."""
    await tx.one(SQL.lock, mail_id)


def retry(tx: Writing, mail_id: str, at: int) -> None:
    tx.later(SQL.retry, mail_id, at)


async def unsent(tx: Reading) -> list[str]:
    """Ids of those that were not sent and whose code still lives."""
    return [row[0] for row in await tx.all(SQL.unsent)]


async def page(tx: Reading, most: int) -> list[Listed]:
    return [Listed(*row) for row in await tx.all(SQL.page, most)]


async def newest(tx: Reading, user_id: str | None, before: tuple[int, str], limit: int) -> list[Outgoing]:
    """To one account or to all: those queued before a moment, and at that moment those with a smaller id."""
    found = tx.all(SQL.newest_of_user, *before, limit, user_id) if user_id else tx.all(SQL.newest, *before, limit)
    return [_outgoing(row) for row in await found]


async def outgoing(tx: Reading, mail_id: str) -> Outgoing | None:
    row = await tx.one(SQL.outgoing, mail_id)
    return _outgoing(row) if row else None


async def by_id(tx: Reading, mail_id: str) -> Listed | None:
    row = await tx.one(SQL.by_id, mail_id)
    return Listed(*row) if row else None


async def waiting(tx: Reading) -> dict[str | None, int]:
    """How many wait to be sent, by what the last try ended with; None: not tried yet."""
    return {row[0]: row[1] for row in await tx.all(SQL.waiting)}


async def count_failed(tx: Reading, since_ms: int) -> int:
    row = await tx.one(SQL.count_failed, since_ms)
    return row[0] if row else 0


async def counts(tx: Reading, failed_within_ms: int) -> tuple[int, int]:
    """How many wait to be sent, and how many of those queued since were refused for good; no more than a thousand."""
    waiting, failed = await tx.one(SQL.counts, failed_within_ms) or (0, 0)
    return waiting, failed


def retire(tx: Writing) -> None:
    """Those whose code has run out, was used or was replaced are looked at no more."""
    tx.later(SQL.retire)


def delete_old(tx: Writing, before_ms: int) -> None:
    tx.later(SQL.delete_old, before_ms)


def _outgoing(row: Row) -> Outgoing:
    return Outgoing(*row)._replace(live=bool(row[-1]))
