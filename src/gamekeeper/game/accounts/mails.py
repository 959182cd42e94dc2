"""The mail outbox for operators: the state of mails, page by page, and retries."""

from functools import partial
from typing import NamedTuple

from gamekeeper.game.accounts.changes import MailRetried
from gamekeeper.game.core.refusals import MailNotRetriable, NoSuchMail
from gamekeeper.game.core.writes import CoreKeeper, Decision, Intent
from gamekeeper.store.accounts import mails, users
from gamekeeper.store.accounts.mails import OutboxMail
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading

RETRIABLE_STATES = frozenset({"queued", "failed"})  # states of mails that are neither sent nor being sent
CODE_EXPIRED = "its code has expired, was used or was replaced; request a new reset mail"
WHY_NOT_RETRIABLE = {
    "sent": "it was sent; if it did not arrive, request a new reset mail",
    "sending": "it is being sent; check again in a minute",
}


class MailPage(NamedTuple):
    mails: list[OutboxMail]
    next: tuple[int, str] | None  # cursor: continue with mails queued before this time and id; None: no more mails


async def load_page(tx: Reading, user_id: str | None, before: tuple[int, str], limit: int) -> MailPage:
    """Load at most `limit` mails, newest first, to one account or to all."""
    found = await mails.read_newest(tx, user_id, before, limit + 1)
    shown = found[:limit]
    return MailPage(shown, (shown[-1].queued_at, shown[-1].id) if len(found) > limit else None)


def can_retry(mail: OutboxMail) -> bool:
    """Tell whether a mail can be sent again: it is queued or failed, and its reset code is still valid."""
    return mail.live and mail.state in RETRIABLE_STATES


async def retry(tx: Reading, mail_id: str) -> Decision[OutboxMail]:
    """Make a mail due now, regardless of the backoff and of a permanent failure."""
    mail = await _lock_mail(tx, mail_id)
    if not can_retry(mail):
        raise MailNotRetriable(id=mail_id, fate=WHY_NOT_RETRIABLE.get(mail.state, CODE_EXPIRED))
    return Decision([MailRetried(mail, await clock.now(tx))], mail)


async def retry_all(keeper: CoreKeeper, intent: Intent) -> int:
    """Retry all unsent mails, each in its own transaction, and return their number. Skip those sent meanwhile."""
    count = 0
    for each in await mails.find_unsent(keeper.store):
        try:
            await keeper.changes.apply(intent, partial(retry, mail_id=each), lambda _: b"")
            count += 1
        except (NoSuchMail, MailNotRetriable):
            continue
    return count


async def _lock_mail(tx: Reading, mail_id: str) -> OutboxMail:
    """Lock a mail, after its account: every change of an account locks the account first."""
    found = await mails.find_outbox_mail(tx, mail_id)
    if found is not None:
        await users.lock(tx, found.user_id)
        await mails.lock(tx, mail_id)
        found = await mails.find_outbox_mail(tx, mail_id)
    if found is None:
        raise NoSuchMail(id=mail_id)
    return found
