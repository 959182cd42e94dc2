"""JSON shapes of mails in the outbox."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http import mail_cursor
from gamekeeper.http.query_values import CHANGE_NUMBER, read_mail_cursor
from gamekeeper.http.wire.lists import Limit
from gamekeeper.http.wire.scalars import Guid, Id, Instant, PlainInt32

CURSOR_SCHEMA = {"pattern": f"^{CHANGE_NUMBER}-[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}$", "type": "string"}
MailsBefore = Annotated[
    mail_cursor.MailCursor,
    Meta(
        description="Older mails than this position: `Next` of the previous page.",
        extra={"read": read_mail_cursor, "schema": CURSOR_SCHEMA},
    ),
]
MailsToUser = Annotated[Id, Meta(description="Mails to this account, by id.")]


class MailsQuery(Struct, frozen=True):
    user: MailsToUser | UnsetType = UNSET
    before: MailsBefore = mail_cursor.START
    limit: Annotated[Limit, Meta(extra={"cut": 1000})] = 50


class Mail(Struct):
    Id: Guid
    UserId: Guid
    User: str
    Kind: str
    Email: str
    State: str  # state of the mail: queued, sending, sent, failed or expired
    QueuedAt: Instant
    ExpiresAt: Instant
    Tries: PlainInt32
    NextTryAt: Instant | None
    SentAt: Instant | None
    LastError: str | None
    Retriable: bool


class Mails(Struct):
    Mails: list[Mail]
    Next: str | None
