"""Shapes of boards: what is sent to create and change them, and records of boards, seasons and standings."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gamekeeper.ground.wire import Body, Guid, Instant, Page, PlainInt32, PlainInt64, Shape, Text, describe
from gamekeeper.store.insight.boards import HiddenAccount, Ranks


class SeasonRecord(Shape):
    """A season."""

    number: PlainInt32
    title: str
    starts_at: Instant
    ends_at: Instant | None  # null: open
    state: Annotated[
        Literal["planned", "running", "ended", "final"],
        describe("ended: its last changes are still being counted; final: the standings stay as they are."),
    ]
    complete: Annotated[bool, describe("False: some players are not counted yet.")]


class BoardRecord(Shape):
    """A board with its seasons."""

    name: str
    title: str
    ranks: Ranks
    thing_id: Guid | None
    thing: Annotated[str | None, describe("Name of the item or variable in the catalogue.")]
    gain: bool
    hide_staff: bool
    public: bool
    seasons: Annotated[list[SeasonRecord], describe("Newest first, at most 20.")]


class BoardList(Shape):
    boards: list[BoardRecord]
    hidden: Annotated[
        list[HiddenAccount],
        describe("Accounts whose players are on no board; empty without the permission users.query."),
    ]


class HiddenState(Shape):
    user_id: Guid
    user: str
    hidden: bool


class StandingRecord(Shape):
    rank: PlainInt32
    player_id: Annotated[Guid | None, describe("Null: the player was deleted.")]
    name: str | None
    value: Annotated[PlainInt64, describe("Level, quantity, value, or play time in seconds.")]


class StandingsPage(Page):
    board: BoardRecord
    season: SeasonRecord
    values: list[StandingRecord]


BoardName = Annotated[str, Meta(max_length=40, pattern="^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")]


class CreateBoard(Body):
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


class SaveBoard(Body):
    """What to change about a board. What is left out stays as it is."""

    Title: Annotated[Text, describe("The new title.")] | UnsetType = UNSET
    HideStaff: Annotated[bool, describe("Leave accounts with permissions out.")] | UnsetType = UNSET
    Public: Annotated[bool, describe("Show it without a token, if the server's public side is on.")] | UnsetType = UNSET


class StartSeason(Body):
    """A season after the last one. Without `StartsAt` it starts now; without `EndsAt` it stays open."""

    Title: Annotated[Text, describe("Title of the season.")] = ""
    StartsAt: Annotated[Instant, describe("When it starts; default now.")] | UnsetType = UNSET
    EndsAt: Annotated[Instant, describe("When it ends; default never.")] | UnsetType = UNSET


class SaveSeason(Body):
    """What to change about a season. `EndsAt` null: it stays open. `EndNow`: it ends at the time of the request."""

    Title: Annotated[Text, describe("The new title.")] | UnsetType = UNSET
    EndsAt: Annotated[Instant, describe("The new end.")] | UnsetType | None = UNSET
    EndNow: Annotated[bool, describe("End it at the time of the request.")] = False
