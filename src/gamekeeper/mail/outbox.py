"""The sender over the outbox: whoever takes a mail first sends it, and notes what came of it."""

import asyncio
import time
from collections.abc import Coroutine
from functools import partial
from typing import Any

from gamekeeper import log
from gamekeeper.mail import letter, smtp
from gamekeeper.mail.letter import BadAddress, Facts
from gamekeeper.settings import Settings
from gamekeeper.store import mails
from gamekeeper.store.engine import DatabaseUnavailable, Store, Writing
from gamekeeper.store.mails import LeasedMail

LOOK_SECONDS = 1.0
LANES = 4  # mails under way at once in one process: one that hangs does not hold up the others
BACK_OFF_MS = (1_000, 5_000, 30_000, 120_000, 300_000)  # after the first failure, the second …; the last from then on
NOTE_SECONDS = 30.0
STOP_SECONDS = 1.0
STOPPED = smtp.Failed("This server was stopped meanwhile.", "stopped")


def check(settings: Settings) -> None:
    """Says what is wrong with the settings about mail before a mail depends on them."""
    if settings.smtp_url:
        Sender(settings)


class Sender:
    def __init__(self, settings: Settings) -> None:
        self._letters = letter.letters(settings)
        self._server = smtp.server(settings)
        self._lease_ms = int(1000 * (self._server.longest + 2 * NOTE_SECONDS))

    async def send_due(self, store: Store) -> None:
        """One after the other until none is due that nobody else has in hand."""
        while await mails.has_due(store) and await _with_grace(self._send_next(store)):
            pass

    async def _send_next(self, store: Store) -> bool:
        taken = await store.write(partial(mails.lease, lease_ms=self._lease_ms))
        if taken is None:
            return False
        try:
            failed = await self.attempt(store, taken)
        except asyncio.CancelledError:
            await _note(store, taken, STOPPED, 0)
            raise
        await _note(store, taken, failed, NOTE_SECONDS)
        return True

    async def attempt(self, store: Store, taken: LeasedMail) -> smtp.Failed | None:
        try:
            facts = Facts(taken.id, taken.name, taken.address, taken.code, taken.queued_at)
            message = self._letters.reset(facts)
            wanted = partial(mails.is_sendable, store, taken.id)
            sent = await smtp.deliver(self._server, message, wanted, taken.left_ms / 1000)
        except BadAddress as bad:
            return smtp.Refused(str(bad), "the address is none")
        except smtp.Failed as failed:
            return failed
        except Exception as error:  # noqa: BLE001 - whatever it is, the mail is tried again; its text may name a person
            return smtp.Failed(f"{type(error).__name__}: {error}", type(error).__name__)
        return None if sent else smtp.Failed("Nobody wants it any more.", "not wanted any more")


async def _with_grace(sending: Coroutine[Any, Any, bool]) -> bool:
    """When we are told to stop, what may be on its way already gets a moment to arrive and to be noted."""
    under_way = asyncio.ensure_future(sending)
    try:
        return await asyncio.shield(under_way)
    except asyncio.CancelledError:
        await asyncio.wait({under_way}, timeout=STOP_SECONDS)
        under_way.cancel()
        await asyncio.gather(under_way, return_exceptions=True)
        raise


async def _note(store: Store, taken: LeasedMail, failed: smtp.Failed | None, patience: float) -> None:
    """While the database is away we keep asking: a mail that is not noted as sent would be sent again."""
    give_up = time.monotonic() + patience
    while True:
        try:
            await store.write(partial(_write_note, taken=taken, failed=failed))
        except DatabaseUnavailable:
            if time.monotonic() >= give_up:
                raise
            await asyncio.sleep(LOOK_SECONDS)
        else:
            break
    if failed:
        fate = "refused for good" if isinstance(failed, smtp.Refused) else "not sent"
        log.problem("mail", f"mail {taken.id} was {fate} on try {taken.tries}: {failed.brief}")


async def _write_note(tx: Writing, taken: LeasedMail, failed: smtp.Failed | None) -> None:
    if failed is None:
        mails.note_sent(tx, taken.id)
        return
    said = failed.said.replace(taken.code, "…")  # a server may quote what it was sent
    if isinstance(failed, smtp.Refused):
        mails.note_refusal(tx, taken, said)
    else:
        mails.note_failure(tx, taken, BACK_OFF_MS[min(taken.tries, len(BACK_OFF_MS)) - 1], said)
