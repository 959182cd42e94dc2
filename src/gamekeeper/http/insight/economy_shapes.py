"""JSON shapes of the economy and of activity over time: items, holders, gifts, play sessions, series and retention."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.contract.shapes import (
    END_DESCRIPTION,
    TIME,
    Guid,
    Id,
    Instant,
    Limit,
    PageQuery,
    PlainDouble,
    PlainInt32,
    PlainInt64,
    describe,
)
from gamekeeper.http.server import query_values
from gamekeeper.http.server.query_values import read_end, read_start
from gamekeeper.store.audit.history import NEVER

Date = Annotated[str, Meta(extra_json_schema={"format": "date"})]
FirstDay = Annotated[
    int,
    Meta(
        description="A time on the first UTC day; default six days before the last one.",
        extra={"read": read_start, "schema": TIME},
    ),
]
LastDay = Annotated[
    int,
    Meta(
        description="A time on the last UTC day; default today.",
        extra={"read": read_end, "schema": TIME},
    ),
]
GivenItem = Annotated[Id, describe("Gifts of this item.")]

GiverId = Annotated[Id, describe("Gifts of this account or API key; all zeros: the command line.")]


class DaysQuery(Struct, frozen=True, rename={"since": "from"}):
    since: FirstDay | UnsetType = UNSET
    to: LastDay | UnsetType = UNSET


class EconomyQuery(PageQuery, frozen=True, rename={"since": "from"}):
    since: FirstDay | UnsetType = UNSET
    to: LastDay | UnsetType = UNSET


class GiftsQuery(PageQuery, frozen=True, rename={"since": "from"}):
    item: GivenItem | UnsetType = UNSET
    giver: GiverId | UnsetType = UNSET
    since: FirstDay | UnsetType = UNSET
    to: LastDay | UnsetType = UNSET


class UpTo(Struct):
    """What is counted: all changes up to a number. Before `Since` the flows are not known."""

    Seq: PlainInt64
    At: Instant | None
    Since: Instant
    Complete: Annotated[bool, describe("False: totals and holders are still being counted for some players.")]


class Sources(Struct):
    """Quantities by source. A report over the link is the game's, an undo stands for itself."""

    Game: PlainInt64 = 0
    Key: PlainInt64 = 0
    Staff: PlainInt64 = 0
    Undo: PlainInt64 = 0
    Import: PlainInt64 = 0


class EconomyItem(Struct):
    ItemId: Guid
    Name: Annotated[str | None, describe("Null: the item is not in the catalogue.")]
    Quantity: Annotated[PlainInt64, describe("In circulation: in all slots of all players.")]
    Holders: PlainInt64
    Created: Sources
    Destroyed: Sources


class EconomyPage(Struct):
    Total: PlainInt32
    Page: PlainInt32
    PageSize: PlainInt32
    Count: PlainInt32
    From: Date
    To: Date
    UpTo: UpTo
    Values: list[EconomyItem]


class ItemDay(Struct):
    Day: Date
    Quantity: Annotated[PlainInt64 | None, describe("At the end of the day; null: not known.")]
    Holders: PlainInt64 | None
    Created: Sources
    Destroyed: Sources


class ItemEconomy(Struct):
    """An item with its days."""

    ItemId: Guid
    Name: str | None
    Quantity: PlainInt64
    Holders: PlainInt64
    UpTo: UpTo
    Days: list[ItemDay]


class Holder(Struct):
    Rank: PlainInt32
    PlayerId: Guid
    Name: Annotated[str | None, describe("Null: the player has just been deleted.")]
    Quantity: Annotated[PlainInt64, describe("How many of the item, or the value of the variable.")]


class HoldersPage(Struct):
    Total: Annotated[PlainInt32, describe("Holders that can be listed.")]
    Page: PlainInt32
    PageSize: PlainInt32
    Count: PlainInt32
    Ranked: Annotated[bool, describe("False: the setting `ranked` does not name it; an item then has its first 100.")]
    Holders: Annotated[PlainInt64 | None, describe("All players who have it; null: not known.")]
    UpTo: UpTo
    Values: list[Holder]


class GiftSum(Struct):
    Source: Literal["staff", "key"]
    GiverId: Annotated[Guid | None, describe("An account or an API key; null: the command line.")]
    Name: Annotated[str | None, describe("Null: the command line, or a deleted account.")]
    Owner: Annotated[str | None, describe("The account of an API key.")]
    ItemId: Guid
    ItemName: str | None
    Given: PlainInt64
    Taken: PlainInt64


class GiftsPage(Struct):
    Total: PlainInt32
    Page: PlainInt32
    PageSize: PlainInt32
    Count: PlainInt32
    From: Date
    To: Date
    UpTo: UpTo
    Values: list[GiftSum]


CURSOR_SCHEMA = {"pattern": f"^{query_values.CHANGE_NUMBER}$", "type": "string"}
SessionsBefore = Annotated[
    int,
    Meta(
        description="Sessions before this position: `Next` of the previous page.",
        extra={"read": query_values.read_session_cursor, "schema": CURSOR_SCHEMA},
    ),
]
ActivityStep = Annotated[
    Literal["minute", "hour", "day", "week", "month"],
    describe("Length of a point. Weeks begin on Monday; all steps are in UTC."),
]
ActivityFrom = Annotated[
    int,
    Meta(
        description="The first point is the step that this time is in. Default: 180 minutes, 48 hours, 30 days, "
        "26 weeks or 12 months before the end.",
        extra={"read": query_values.read_start, "schema": TIME},
    ),
]
ActivityTo = Annotated[
    int,
    Meta(
        description=f"The last point is the step that this time is in. Default: now. {END_DESCRIPTION}",
        extra={"read": query_values.read_end, "schema": TIME},
    ),
]
CohortsFrom = Annotated[
    int,
    Meta(
        description="First day. Default: 60 days before the last one.",
        extra={"read": query_values.read_start, "schema": TIME},
    ),
]
CohortsTo = Annotated[
    int,
    Meta(
        description="Last day. Default: today.",
        extra={"read": query_values.read_end, "schema": TIME},
    ),
]
Day = Annotated[str, Meta(extra_json_schema={"format": "date"})]


class SessionsQuery(Struct, frozen=True):
    before: SessionsBefore = NEVER
    limit: Annotated[Limit, Meta(extra={"cut": 1000})] = 50


class PlaySession(Struct):
    Server: str
    StartedAt: Instant
    EndedAt: Instant | None  # null: the player is online
    Seconds: PlainInt64 | None


class PlaySessions(Struct):
    Sessions: list[PlaySession]
    Next: str | None


class ActivityQuery(Struct, frozen=True, rename={"since": "from"}):
    step: ActivityStep = "hour"
    since: ActivityFrom | UnsetType = UNSET
    to: ActivityTo | UnsetType = UNSET


class ActivityPoint(Struct):
    """Numbers of one step. Null: not kept for steps of this length, or not known for this time."""

    At: Instant
    Online: PlainDouble | None
    OnlineMax: PlainInt32 | None
    Active: PlainInt32 | None
    New: PlainInt32 | None
    Returning: PlainInt32 | None
    PlaySeconds: PlainInt64 | None
    SignIns: PlainInt32 | None
    Requests: PlainInt64 | None
    Errors: PlainInt64 | None


class ActivitySeries(Struct):
    From: Instant
    To: Instant
    Step: str
    Points: list[ActivityPoint]


class RetentionQuery(Struct, frozen=True, rename={"since": "from"}):
    since: CohortsFrom | UnsetType = UNSET
    to: CohortsTo | UnsetType = UNSET


class RetentionCohort(Struct):
    """New players of a day, and how many of them were online 1, 7 and 30 days later; null: that day is not over."""

    Day: Day
    Players: PlainInt32
    Day1: PlainInt32 | None
    Day7: PlainInt32 | None
    Day30: PlainInt32 | None


class Retention(Struct):
    From: Day
    To: Day
    Cohorts: list[RetentionCohort]
