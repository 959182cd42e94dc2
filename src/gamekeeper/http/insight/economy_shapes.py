"""JSON shapes of activity over time: play sessions, series and retention."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.contract.shapes import (
    END_DESCRIPTION,
    TIME,
    Instant,
    Limit,
    PlainDouble,
    PlainInt32,
    PlainInt64,
    describe,
)
from gamekeeper.http.server import query_values
from gamekeeper.store.audit.history import NEVER

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
