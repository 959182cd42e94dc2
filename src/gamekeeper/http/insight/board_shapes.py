"""JSON shapes of boards with their seasons and standings, of the public side, and of signals.

Those of the public side have no ids: a page that anybody can read must not lead to accounts.
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from gamekeeper.http.accounts.account_shapes import CURSOR_SCHEMA, NoteText
from gamekeeper.http.contract.shapes import (
    Guid,
    Instant,
    Limit,
    PageNumber,
    PageQuery,
    PageSize,
    PlainInt32,
    PlainInt64,
    Positive,
    Text,
)
from gamekeeper.http.server import query_values
from gamekeeper.http.server.query_values import read_mail_cursor

Ranks = Literal["level", "item", "variable", "play_time"]
BoardName = Annotated[str, Meta(max_length=40, pattern="^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")]
SeasonNumber = Annotated[Positive, Meta(description="Number of the season; default the running or last one.")]
Around = Annotated[Text, Meta(description="Name or id of a player: the page has it in the middle. `page` is ignored.")]


class CreateBoard(Struct):
    """A new board with its first season. `Thing` is the name or id of the item or variable.

    `Gain`: rank by what players gain in the season, not by what they have.
    """

    Name: BoardName
    Title: Text
    Ranks: Ranks
    Thing: Text | UnsetType = UNSET
    Gain: bool = False
    HideStaff: bool = True
    Public: bool = False
    SeasonTitle: Text = ""
    StartsAt: Instant | UnsetType = UNSET
    EndsAt: Instant | UnsetType = UNSET


class SaveBoard(Struct):
    """What to change about a board. What is left out stays as it is."""

    Title: Text | UnsetType = UNSET
    HideStaff: bool | UnsetType = UNSET
    Public: bool | UnsetType = UNSET


class StartSeason(Struct):
    """A season after the last one. Without `StartsAt` it starts now; without `EndsAt` it stays open."""

    Title: Text = ""
    StartsAt: Instant | UnsetType = UNSET
    EndsAt: Instant | UnsetType = UNSET


class SaveSeason(Struct):
    """What to change about a season. `EndsAt` null: it stays open. `EndNow`: it ends at the time of the request."""

    Title: Text | UnsetType = UNSET
    EndsAt: Instant | UnsetType | None = UNSET
    EndNow: bool = False


class HideAccount(Struct):
    Hidden: bool


class StandingsQuery(PageQuery, frozen=True):
    season: SeasonNumber | UnsetType = UNSET
    player: Around | UnsetType = UNSET


class SeasonRecord(Struct):
    Number: PlainInt32
    Title: str
    StartsAt: Instant
    EndsAt: Instant | None  # null: open
    State: Annotated[
        Literal["planned", "running", "ended", "final"],
        Meta(description="ended: its last changes are still being counted; final: the standings stay as they are."),
    ]
    Complete: Annotated[bool, Meta(description="False: some players are not counted yet.")]


class BoardRecord(Struct):
    Name: str
    Title: str
    Ranks: Ranks
    ThingId: Guid | None
    Thing: Annotated[str | None, Meta(description="Name of the item or variable in the catalogue.")]
    Gain: bool
    HideStaff: bool
    Public: bool
    Seasons: Annotated[list[SeasonRecord], Meta(description="Newest first, at most 20.")]


class HiddenAccount(Struct):
    UserId: Guid
    User: str


class BoardList(Struct):
    Boards: list[BoardRecord]
    Hidden: Annotated[
        list[HiddenAccount],
        Meta(description="Accounts whose players are on no board; empty without the permission users.query."),
    ]


class HiddenState(Struct):
    UserId: Guid
    User: str
    Hidden: bool


class StandingRecord(Struct):
    Rank: PlainInt32
    PlayerId: Annotated[Guid | None, Meta(description="Null: the player was deleted.")]
    Name: str | None
    Value: Annotated[PlainInt64, Meta(description="Level, quantity, value, or play time in seconds.")]


class StandingsPage(Struct):
    Total: PlainInt32
    Page: PlainInt32
    PageSize: PlainInt32
    Count: PlainInt32
    Board: BoardRecord
    Season: SeasonRecord
    Values: list[StandingRecord]


class PublicQuery(Struct, frozen=True):
    season: SeasonNumber | UnsetType = UNSET
    page: PageNumber = 0
    pageSize: PageSize = 10  # noqa: N815 - the wire's spelling


class PublicPlace(Struct):
    Rank: PlainInt32
    Name: str | None  # null: the player was deleted
    Value: PlainInt64


class PublicBoard(Struct):
    Name: str
    Title: str
    Ranks: Ranks
    Thing: str | None
    Gain: bool
    Season: SeasonRecord
    Seasons: list[SeasonRecord]
    Total: PlainInt32
    Page: PlainInt32
    PageSize: PlainInt32
    Count: PlainInt32
    Values: list[PublicPlace]


class BoardPlace(Struct):
    """The place of a player in the running or last season of a public board."""

    Board: str
    Title: str
    Rank: PlainInt32
    Value: PlainInt64


class PublicPlayer(Struct):
    """A player, as in its record. The fields of the record that the setting `public_fields` names follow."""

    Name: Raw
    Level: Raw
    Class: Raw
    Rank: PlainInt32
    Boards: list[BoardPlace]


SignalsBefore = Annotated[
    query_values.MailCursor,
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
    before: SignalsBefore = query_values.START
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
