"""Mails in the outbox."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.wire.lists import Limit
from gamekeeper.http.wire.scalars import Guid, Instant, PlainInt32

MARK = {"pattern": "^([0-9]{1,18}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$"}
Mark = Annotated[str, Meta(description="Mails before this place: `Next` of the page before.", extra_json_schema=MARK)]
ToUser = Annotated[Guid, Meta(description="Mails to this account, by its id.")]


class MailsQuery(Struct):
    user: ToUser | UnsetType = UNSET
    before: Mark | UnsetType = UNSET
    limit: Limit = 50


class Mail(Struct):
    Id: Guid
    UserId: Guid
    User: str
    Kind: str
    Email: str
    State: str  # queued, sending, sent, failed or expired
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
