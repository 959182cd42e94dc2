"""JSON shapes of the security log."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.game.security import KINDS
from gamekeeper.http import mail_cursor, query_values
from gamekeeper.http.query_values import read_mail_cursor
from gamekeeper.http.wire.history import END_DESCRIPTION, LIMITS, TIME, Phrase
from gamekeeper.http.wire.mails import CURSOR_SCHEMA
from gamekeeper.http.wire.scalars import Guid, Instant, PlainInt32, Positive
from gamekeeper.store.history import NEVER

EventsBefore = Annotated[
    mail_cursor.MailCursor,
    Meta(
        description="Older events than this position: `Next` of the previous page.",
        extra={"read": read_mail_cursor, "schema": CURSOR_SCHEMA},
    ),
]
EventUser = Annotated[Phrase, Meta(description="Events about this account, by name or id.")]
EventKind = Annotated[
    str,
    Meta(
        description="Events of this kind.",
        extra={"read": query_values.read_event_kind, "strip": True},
        extra_json_schema={"enum": list(KINDS)},
    ),
]
EventsSince = Annotated[
    int,
    Meta(
        description="Events at or after this time.",
        extra={"read": query_values.read_start, "schema": TIME},
    ),
]
EventsTo = Annotated[
    int,
    Meta(
        description=f"Events up to this time. {END_DESCRIPTION}",
        extra={"read": query_values.read_end, "schema": TIME},
    ),
]
EventFormat = Annotated[
    Literal["json", "csv"],
    Meta(description="`csv`: a table in UTF-8; the header `X-Next` is its `Next`."),
]


EventLimit = Annotated[
    Positive,
    Meta(
        description="Largest number of events: default {:,}, at most {:,}; with `format=csv` default {:,}, at most "
        "{:,}.".format(*LIMITS["json"], *LIMITS["csv"])
    ),
]


class SecurityQuery(Struct, frozen=True, rename={"since": "from"}):
    user: EventUser | UnsetType = UNSET
    kind: EventKind | UnsetType = UNSET
    since: EventsSince = 0
    to: EventsTo = NEVER
    before: EventsBefore = mail_cursor.START
    limit: EventLimit | UnsetType = UNSET
    format: EventFormat = "json"


class EventDetails(Struct):
    """Details of an event; each kind has some of these fields."""

    Count: PlainInt32 | UnsetType = UNSET
    Session: bool | UnsetType = UNSET
    Sessions: bool | UnsetType = UNSET
    ReadOnly: bool | UnsetType = UNSET
    SecondFactor: bool | UnsetType = UNSET
    By: str | UnsetType = UNSET
    Given: list[str] | UnsetType = UNSET
    Taken: list[str] | UnsetType = UNSET
    Before: list[str] | UnsetType = UNSET
    After: list[str] | UnsetType = UNSET
    Role: str | UnsetType = UNSET
    Added: list[str] | UnsetType = UNSET
    Removed: list[str] | UnsetType = UNSET
    Deleted: bool | UnsetType = UNSET
    Changed: list[str] | UnsetType = UNSET
    ApprovalId: Guid | UnsetType = UNSET
    Rule: str | UnsetType = UNSET
    Kept: list[str] | UnsetType = UNSET


class SecurityEvent(Struct):
    Id: Guid
    At: Instant
    Kind: str
    UserId: Guid | None
    User: str | None
    ActorId: Guid | None
    By: str | None
    Address: str | None
    Browser: str | None
    CredentialId: Guid | None
    Details: EventDetails | None


class SecurityEvents(Struct):
    Events: list[SecurityEvent]
    Next: str | None
