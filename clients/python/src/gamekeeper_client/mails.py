"""The outbox: list mails with their state, and retry a mail. Every method needs the role users.manage."""

from typing import Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.credentials import Message
from gamekeeper_client.operation import WriteOptions, operation
from gamekeeper_client.paging import iterate_cursor


class Mail(Struct, rename="pascal"):
    """A mail; `state` is queued, sending, sent, failed or expired; `retriable` says whether you can retry it."""

    id: str
    user_id: str
    user: str
    kind: str
    email: str
    state: str
    queued_at: str
    expires_at: str
    tries: int
    next_try_at: str | None
    sent_at: str | None
    last_error: str | None
    retriable: bool


class MailsPage(Struct, rename="pascal"):
    mails: list[Mail]
    next: str | None


class Mails:
    @operation("GET", "/api/keeper/v1/mails")
    def list_mails(
        self, before: str | None = None, *, user: str | None = None, limit: int | None = None
    ) -> Payload[MailsPage]:
        """List mails of the outbox once, newest first.

        before: cursor; `next` of the page before.
        user: only mails to the account with this id.
        limit: return at most this many mails; default 50.
        Returns the mails, and the cursor for the next page; None at the end.
        Raises BadField, RoleMissing.
        """
        return Payload(MailsPage, query={"user": user, "before": before, "limit": limit})

    iterate_mails = iterate_cursor(
        list_mails, Mail, lambda page: page.mails, "Iterate over the mails of the outbox, newest first."
    )

    @operation("POST", "/api/keeper/v1/mails/{mail_id}/retry")
    def retry_mail(self, mail_id: str, **options: Unpack[WriteOptions]) -> Payload[Message]:
        """Retry a mail now, also after a permanent failure.

        mail_id: id of the mail.
        Returns a message.
        Raises NoSuchMail, MailNotRetriable, BadField, RoleMissing.
        """
        return Payload(Message)
