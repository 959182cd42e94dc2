"""JSON shapes of signals."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http import mail_cursor
from gamekeeper.http.query_values import read_mail_cursor
from gamekeeper.http.wire.lists import Limit
from gamekeeper.http.wire.mails import CURSOR_SCHEMA
from gamekeeper.http.wire.notes import NoteText
from gamekeeper.http.wire.scalars import Guid, Instant, PlainInt64

SignalsBefore = Annotated[
    mail_cursor.MailCursor,
    Meta(
        description="Older signals than this position: `Next` of the previous page.",
        extra={"read": read_mail_cursor, "schema": CURSOR_SCHEMA},
    ),
]
SignalState = Annotated[Literal["open", "acknowledged"], Meta(description="Only signals in this state.")]
SignalRule = Annotated[
    Literal["supply", "gain", "gift", "bag", "conservation", "refusals", "silent"],
    Meta(description="Only signals of this rule."),
]


class SignalsQuery(Struct, frozen=True):
    state: SignalState | UnsetType = UNSET
    rule: SignalRule | UnsetType = UNSET
    before: SignalsBefore = mail_cursor.START
    limit: Annotated[Limit, Meta(extra={"cut": 1000})] = 50


class AcknowledgeSignal(Struct):
    Note: NoteText = ""


class EvidenceChange(Struct):
    """A change of the evidence; without player and time, it was trimmed from the audit log."""

    Seq: PlainInt64
    Amount: PlainInt64
    At: Instant | None
    PlayerId: Guid | None
    Player: str | None


class SignalEvidence(Struct):
    """What a rule compared; fields that the rule does not have are null."""

    Limit: PlainInt64 | None
    Amount: PlainInt64 | None
    Before: PlainInt64 | None
    After: PlainInt64 | None
    Usual: PlainInt64 | None
    Since: Instant | None
    JobId: Guid | None


class Signal(Struct):
    Id: Guid
    Rule: str
    State: str  # open or acknowledged
    FirstAt: Instant
    LastAt: Instant
    Times: PlainInt64
    ItemId: Guid | None
    Item: str | None  # null: of no item, or it is not in the catalogue
    PlayerId: Guid | None
    Player: str | None  # null: of no player, or the player is deleted
    GiverId: Guid | None  # account or API key
    Giver: str | None  # null without the permission users.query, except the caller's own name
    Server: str | None
    BagId: Guid | None
    Evidence: SignalEvidence
    AcknowledgedAt: Instant | None
    AcknowledgedById: Guid | None
    AcknowledgedBy: str | None  # null without the permission users.query, except the caller's own name
    Note: str | None


class SignalDetails(Signal):
    """A signal with the largest changes of its evidence."""

    Changes: list[EvidenceChange]
    MoreChanges: PlainInt64  # number of changes besides these


class Signals(Struct):
    Signals: list[Signal]
    Next: str | None
