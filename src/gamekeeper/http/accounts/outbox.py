"""Send the mails of the outbox. A sender leases a mail, sends it, and records the outcome."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from email.message import EmailMessage
from functools import partial
from typing import Any

from gamekeeper.ground import log
from gamekeeper.ground.settings import Settings
from gamekeeper.http.accounts import mail_messages, smtp
from gamekeeper.http.accounts.mail_messages import BadAddress, InvitationMail, ResetMail
from gamekeeper.store.accounts import invitations, mails
from gamekeeper.store.accounts.mails import LeasedMail
from gamekeeper.store.engine.interface import DatabaseUnavailable, Store, Writing

Lease = Callable[[Writing, int], Coroutine[Any, Any, LeasedMail | None]]
POLL_SECONDS = 1.0  # interval between two searches for due mails
# mails that one process sends at the same time, so that one slow delivery does not block the others
CONCURRENT_SENDERS = 4
# delay in ms after a mail's first, second … failed delivery; the last value repeats
BACKOFF_MS = (1_000, 5_000, 30_000, 120_000, 300_000)
RECORD_SECONDS = 30.0  # how long to retry recording a delivery's outcome while the database is unreachable
SHUTDOWN_SECONDS = 1.0  # time for a mail in delivery to finish at shutdown
# kind of a leased mail → the module of its table
OUTBOXES = {mails.RESET: mails, invitations.KIND: invitations}
STOPPED = smtp.MailFailure("The server was shut down during delivery.", "stopped")


def check(settings: Settings) -> None:
    """Raise BadSetting if the mail settings are invalid."""
    if settings.smtp_url:
        Sender(settings)


class Sender:
    def __init__(self, settings: Settings) -> None:
        self._templates = mail_messages.load_templates(settings)
        self._server = smtp.parse_server(settings)
        self._lease_ms = int(1000 * (self._server.total_timeout + 2 * RECORD_SECONDS))

    async def send_due(self, store: Store) -> None:
        """Send due mails one by one until no mail is due that is not leased by another sender."""
        for box in OUTBOXES.values():
            while await box.has_due(store) and await _finish_on_cancel(self._send_next(store, box.lease)):
                pass

    async def _send_next(self, store: Store, lease: Lease) -> bool:
        taken = await store.write(lambda tx: lease(tx, self._lease_ms))
        if taken is None:
            return False
        try:
            failed = await self.attempt(store, taken)
        except asyncio.CancelledError:
            await _record_outcome(store, taken, STOPPED, 0)
            raise
        await _record_outcome(store, taken, failed, RECORD_SECONDS)
        return True

    async def attempt(self, store: Store, taken: LeasedMail) -> smtp.MailFailure | None:
        try:
            message = self._build(taken)
            wanted = partial(OUTBOXES[taken.kind].LEASES.is_sendable, store, taken.id)
            sent = await smtp.deliver(self._server, message, wanted, taken.left_ms / 1000)
        except BadAddress as bad:
            return smtp.PermanentMailFailure(str(bad), "invalid address")
        except smtp.MailFailure as failed:
            return failed
        except Exception as error:  # noqa: BLE001 - any error: the mail is retried; its text may contain personal data
            return smtp.MailFailure(f"{type(error).__name__}: {error}", type(error).__name__)
        return None if sent else smtp.MailFailure("The mail is no longer needed.", "no longer needed")

    def _build(self, taken: LeasedMail) -> EmailMessage:
        if taken.kind == invitations.KIND:
            facts = InvitationMail(taken.id, taken.name, taken.address, taken.code, taken.queued_at)
            return self._templates.build_invitation(facts)
        return self._templates.build_reset(ResetMail(taken.id, taken.name, taken.address, taken.code, taken.queued_at))


async def _finish_on_cancel(sending: Coroutine[Any, Any, bool]) -> bool:
    """At shutdown, give a mail in delivery SHUTDOWN_SECONDS to be sent and recorded, then cancel it."""
    under_way = asyncio.ensure_future(sending)
    try:
        return await asyncio.shield(under_way)
    except asyncio.CancelledError:
        await asyncio.wait({under_way}, timeout=SHUTDOWN_SECONDS)
        under_way.cancel()
        await asyncio.gather(under_way, return_exceptions=True)
        raise


async def _record_outcome(store: Store, taken: LeasedMail, failed: smtp.MailFailure | None, patience: float) -> None:
    """Record a delivery's outcome. Retry while the database is unreachable: an unrecorded mail would be sent twice."""
    give_up = time.monotonic() + patience
    while True:
        try:
            await store.write(partial(_write_outcome, taken=taken, failed=failed))
        except DatabaseUnavailable:
            if time.monotonic() >= give_up:
                raise
            await asyncio.sleep(POLL_SECONDS)
        else:
            break
    if failed:
        fate = "rejected permanently" if isinstance(failed, smtp.PermanentMailFailure) else "not sent"
        log.problem("mail", f"mail {taken.id} was {fate} on try {taken.tries}: {failed.brief}")


async def _write_outcome(tx: Writing, taken: LeasedMail, failed: smtp.MailFailure | None) -> None:
    leases = OUTBOXES[taken.kind].LEASES
    if failed is None:
        leases.note_sent(tx, taken.id)
        return
    said = failed.said.replace(taken.code, "…")  # mask the secret: an SMTP server may quote the mail in its reply
    if isinstance(failed, smtp.PermanentMailFailure):
        leases.note_refusal(tx, taken, said)
    else:
        leases.note_failure(tx, taken, BACKOFF_MS[min(taken.tries, len(BACKOFF_MS)) - 1], said)
