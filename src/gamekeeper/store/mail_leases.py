"""A mail while one sender has leased it, and the outcome of its delivery: for mails of the outbox and invitations."""

from typing import NamedTuple

from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.statements import Statement


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
