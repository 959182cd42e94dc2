"""The outbox: how mails fare, and trying one again."""

from typing import Unpack

from gamekeeper_client.call import Batch, Call, WriteOptions, get, path, query, reading, then, write
from gamekeeper_client.keeper import KEEPER, LARGEST_PAGE
from gamekeeper_client.keeper_shapes import Mail, Mails
from gamekeeper_client.shapes import Message


def mails(*, user: str | None = None, page_size: int = LARGEST_PAGE) -> Call[Batch[Mail]]:
    """Every mail that is still listed, to one account (by id) or to all, the newest first, fetched a page at a time."""
    return _from(None, page_size, user)


def mails_page(before: str | None = None, *, user: str | None = None, limit: int | None = None) -> Call[Mails]:
    """Mails before a place; `next` is the place to go on with, None at the end."""
    return get(f"{KEEPER}/mails", reading(Mails), query(user=user, before=before, limit=limit))


def retry_mail(mail_id: str, **options: Unpack[WriteOptions]) -> Call[Message]:
    """Makes a mail due now, one that was refused for good too; raises MailNotRetriable when that is of no use."""
    return write("POST", path(KEEPER + "/mails/{}/retry", mail_id), reading(Message), **options)


def _from(before: str | None, page_size: int, user: str | None) -> Call[Batch[Mail]]:
    call = mails_page(before, user=user, limit=page_size)

    def batch(page: Mails) -> Batch[Mail]:
        return Batch(page.mails, None if page.next is None else _from(page.next, page_size, user))

    return Call(call.method, call.path, then(call.read, batch), call.query)
