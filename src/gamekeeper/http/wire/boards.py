"""JSON shapes of boards, their seasons and standings."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.wire.lists import PageQuery
from gamekeeper.http.wire.scalars import Guid, Instant, PlainInt32, PlainInt64, Positive, Text

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
