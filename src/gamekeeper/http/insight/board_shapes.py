"""JSON shapes of boards with their seasons and standings, of the public side, and of signals.

Those of the public side have no ids: a page that anybody can read must not lead to accounts.
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from gamekeeper.game.insight.boards import SeasonRecord
from gamekeeper.ground.wire import Shape
from gamekeeper.http.accounts.account_shapes import NoteText
from gamekeeper.http.contract.shapes import (
    CURSOR_SCHEMA,
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
    describe,
)
from gamekeeper.http.server import query_values
from gamekeeper.http.server.query_values import read_mail_cursor
from gamekeeper.store.insight.boards import Ranks

BoardName = Annotated[str, Meta(max_length=40, pattern="^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")]
SeasonNumber = Annotated[Positive, describe("Number of the season; default the running or last one.")]
Around = Annotated[Text, describe("Name or id of a player: the page has it in the middle. `page` is ignored.")]


class CreateBoard(Struct):
    """A new board with its first season. `Thing` is the name or id of the item or variable.

    `Gain`: rank by what players gain in the season, not by what they have.
    """

    Name: Annotated[BoardName, describe("Name in addresses: a to z, 0 to 9 and -.")]
    Title: Annotated[Text, describe("Title for people.")]
    Ranks: Annotated[Ranks, describe("What players are ranked by.")]
    Thing: Annotated[Text, describe("Name or id of the item or variable.")] | UnsetType = UNSET
    Gain: Annotated[bool, describe("Rank by what players gain in the season, not by what they have.")] = False
    HideStaff: Annotated[bool, describe("Leave accounts with permissions out.")] = True
    Public: Annotated[bool, describe("Show it without a token, if the server's public side is on.")] = False
    SeasonTitle: Annotated[Text, describe("Title of the first season.")] = ""
    StartsAt: Annotated[Instant, describe("When the first season starts; default now.")] | UnsetType = UNSET
    EndsAt: Annotated[Instant, describe("When it ends; default never.")] | UnsetType = UNSET


class SaveBoard(Struct):
    """What to change about a board. What is left out stays as it is."""

    Title: Annotated[Text, describe("The new title.")] | UnsetType = UNSET
    HideStaff: Annotated[bool, describe("Leave accounts with permissions out.")] | UnsetType = UNSET
    Public: Annotated[bool, describe("Show it without a token, if the server's public side is on.")] | UnsetType = UNSET


class StartSeason(Struct):
    """A season after the last one. Without `StartsAt` it starts now; without `EndsAt` it stays open."""

    Title: Annotated[Text, describe("Title of the season.")] = ""
    StartsAt: Annotated[Instant, describe("When it starts; default now.")] | UnsetType = UNSET
    EndsAt: Annotated[Instant, describe("When it ends; default never.")] | UnsetType = UNSET


class SaveSeason(Struct):
    """What to change about a season. `EndsAt` null: it stays open. `EndNow`: it ends at the time of the request."""

    Title: Annotated[Text, describe("The new title.")] | UnsetType = UNSET
    EndsAt: Annotated[Instant, describe("The new end.")] | UnsetType | None = UNSET
    EndNow: Annotated[bool, describe("End it at the time of the request.")] = False


class HideAccount(Struct):
    Hidden: Annotated[bool, describe("True hides the players of the account, false shows them again.")]


class StandingsQuery(PageQuery, frozen=True):
    season: SeasonNumber | UnsetType = UNSET
    player: Around | UnsetType = UNSET


class PublicQuery(Struct, frozen=True):
    season: SeasonNumber | UnsetType = UNSET
    page: PageNumber = 0
    pageSize: PageSize = 10  # noqa: N815 - the wire's spelling


class PublicPlace(Shape):
    rank: PlainInt32
    name: str | None  # null: the player was deleted
    value: PlainInt64


class PublicBoard(Shape):
    name: str
    title: str
    ranks: Ranks
    thing: str | None
    gain: bool
    season: SeasonRecord
    seasons: list[SeasonRecord]
    total: PlainInt32
    page: PlainInt32
    page_size: PlainInt32
    count: PlainInt32
    values: list[PublicPlace]


class BoardPlace(Shape):
    """The place of a player in the running or last season of a public board."""

    board: str
    title: str
    rank: PlainInt32
    value: PlainInt64


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
SignalState = Annotated[Literal["open", "acknowledged"], describe("Only signals in this state.")]
SignalRule = Annotated[
    Literal["supply", "gain", "gift", "bag", "conservation", "refusals", "silent"],
    describe("Only signals of this rule."),
]


class SignalsQuery(Struct, frozen=True):
    state: SignalState | UnsetType = UNSET
    rule: SignalRule | UnsetType = UNSET
    before: SignalsBefore = query_values.START
    limit: Annotated[Limit, Meta(extra={"cut": 1000})] = 50


class AcknowledgeSignal(Struct):
    Note: Annotated[NoteText, describe("What was found, at most 1000 characters.")] = ""


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
    """What a rule has found."""

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
