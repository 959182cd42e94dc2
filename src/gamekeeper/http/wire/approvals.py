"""JSON shapes of approvals."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http import mail_cursor
from gamekeeper.http.query_values import read_mail_cursor
from gamekeeper.http.wire.lists import Limit
from gamekeeper.http.wire.mails import CURSOR_SCHEMA
from gamekeeper.http.wire.scalars import Guid, Instant

ApprovalsBefore = Annotated[
    mail_cursor.MailCursor,
    Meta(
        description="Older approvals than this position: `Next` of the previous page.",
        extra={"read": read_mail_cursor, "schema": CURSOR_SCHEMA},
    ),
]
ApprovalState = Annotated[
    Literal["waiting", "done", "denied", "expired"], Meta(description="Only approvals in this state.")
]


class ApprovalsQuery(Struct, frozen=True):
    state: ApprovalState | UnsetType = UNSET
    before: ApprovalsBefore = mail_cursor.START
    limit: Annotated[Limit, Meta(extra={"cut": 1000})] = 50


class KeyMaker(Struct):
    """An account that created or rotated an API key. It knows the key's secret, so it cannot decide."""

    Id: Guid
    Name: str | None


class Approval(Struct):
    """A change that needs an approval. `KeyId`, `Key` and `KeyMakers` are of the API key that asked for it, if any."""

    Id: Guid
    State: str  # waiting, done, denied or expired
    Rule: str
    RequestedAt: Instant
    ExpiresAt: Instant
    RequesterId: Guid
    Requester: str | None
    Method: str
    Path: str
    Reason: str | None
    DecidedAt: Instant | None
    DeciderId: Guid | None
    Decider: str | None
    DecisionReason: str | None
    KeyId: Guid | None
    Key: str | None
    KeyMakers: list[KeyMaker]
    Email: str | None  # to which the mail of a waiting invitation would go; masked without `users.query`


class Approvals(Struct):
    Approvals: list[Approval]
    Next: str | None


class PreviewedChange(Struct):
    Kind: str
    PlayerId: Guid | None
    UserId: Guid | None
    Before: msgspec.Raw
    After: msgspec.Raw


class ApprovalDetails(Approval):
    """An approval with what it would change."""

    Preview: list[PreviewedChange]


class Approved(Struct):
    """A carried-out change: `Answer` is the JSON text of the answer of its operation."""

    Id: Guid
    State: str
    Answer: str


class Held(Struct):
    """The answer instead of that of an operation whose change waits for approval."""

    Message: str
    Code: str
    ApprovalId: Guid
