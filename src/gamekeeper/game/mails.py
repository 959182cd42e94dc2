"""The outbox for keepers: how mails fare, page by page, and trying one again."""

from functools import partial
from typing import NamedTuple

from gamekeeper.game.changes import Decision, Intent
from gamekeeper.game.effects import MailRetried
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.refusals import MailNotRetriable, NoSuchMail
from gamekeeper.store import clock, mails, users
from gamekeeper.store.engine import Reading
from gamekeeper.store.mails import OutboxMail

RETRIABLE_STATES = frozenset({"queued", "failed"})  # states in which nobody has it in hand, and it has not been sent
CODE_EXPIRED = "its code has run out, was used or was replaced; ask for a new reset mail"
WHY_NOT_RETRIABLE = {
    "sent": "it was sent; if it did not arrive, ask for a new reset mail",
    "sending": "it is being sent; look again in a minute",
}


class MailPage(NamedTuple):
    mails: list[OutboxMail]
    next: tuple[int, str] | None  # where to go on: those queued before; None: there are none


async def load_page(tx: Reading, user_id: str | None, before: tuple[int, str], limit: int) -> MailPage:
    """At most so many, the newest first: to one account, or to all."""
    found = await mails.read_newest(tx, user_id, before, limit + 1)
    shown = found[:limit]
    return MailPage(shown, (shown[-1].queued_at, shown[-1].id) if len(found) > limit else None)


def can_retry(mail: OutboxMail) -> bool:
    """One whose code is worth nothing any more is of no use to its reader."""
    return mail.live and mail.state in RETRIABLE_STATES


async def retry(tx: Reading, mail_id: str) -> Decision[OutboxMail]:
    """Makes it due now, whatever the back-off says, and also if it was refused for good."""
    mail = await _lock_mail(tx, mail_id)
    if not can_retry(mail):
        raise MailNotRetriable(id=mail_id, fate=WHY_NOT_RETRIABLE.get(mail.state, CODE_EXPIRED))
    return Decision([MailRetried(mail, await clock.now(tx))], mail)


async def retry_all(keeper: Keeper, intent: Intent) -> int:
    """Each in a transaction of its own; returns how many there were. Who is taken, or gone, meanwhile is left out."""
    count = 0
    for each in await mails.find_unsent(keeper.store):
        try:
            await keeper.changes.apply(intent, partial(retry, mail_id=each), lambda _: b"")
            count += 1
        except (NoSuchMail, MailNotRetriable):
            continue
    return count


async def _lock_mail(tx: Reading, mail_id: str) -> OutboxMail:
    """The account first, as everybody does who changes something about it."""
    found = await mails.find_outbox_mail(tx, mail_id)
    if found is not None:
        await users.lock(tx, found.user_id)
        await mails.lock(tx, mail_id)
        found = await mails.find_outbox_mail(tx, mail_id)
    if found is None:
        raise NoSuchMail(id=mail_id)
    return found
