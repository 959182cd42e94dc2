"""Activity over time: a player's play sessions, series of numbers, and the retention of new players."""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.game.core import lookup
from gamekeeper.game.core.background_jobs import Job
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.insight import activity, activity_series
from gamekeeper.game.insight.activity_series import MAX_POINTS, ActivitySeries, Retention, TooManyPoints
from gamekeeper.ground.wire import Instant, PlainInt64, Shape
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import MOST_AT_ONCE, READ_PLAYERS, Group
from gamekeeper.http.contract.records import make_record
from gamekeeper.http.contract.shapes import TIME, Limit, describe, describe_end, describe_start
from gamekeeper.http.server import query_values
from gamekeeper.http.server.request import Request, Services
from gamekeeper.store.audit.history import NEVER
from gamekeeper.store.engine.interface import DatabaseUnavailable, Reading
from gamekeeper.store.players import presence

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
    describe_start(
        "The first point is the step that this time is in. Default: 180 minutes, 48 hours, 30 days, "
        "26 weeks or 12 months before the end."
    ),
]
ActivityTo = Annotated[int, describe_end("The last point is the step that this time is in. Default: now.")]
CohortsFrom = Annotated[int, describe_start("First day. Default: 60 days before the last one.")]
CohortsTo = Annotated[
    int, Meta(description="Last day. Default: today.", extra={"read": query_values.read_end, "schema": TIME})
]


class SessionsQuery(Struct, frozen=True):
    before: SessionsBefore = NEVER
    limit: Annotated[Limit, Meta(extra={"cut": 1000})] = 50


class ActivityQuery(Struct, frozen=True, rename={"since": "from"}):
    step: ActivityStep = "hour"
    since: ActivityFrom | UnsetType = UNSET
    to: ActivityTo | UnsetType = UNSET


class RetentionQuery(Struct, frozen=True, rename={"since": "from"}):
    since: CohortsFrom | UnsetType = UNSET
    to: CohortsTo | UnsetType = UNSET


class PlaySession(Shape):
    server: str
    started_at: Instant
    ended_at: Instant | None  # null: the player is online
    seconds: PlainInt64 | None


class PlaySessions(Shape):
    sessions: list[PlaySession]
    next: str | None


GROUP = Group(
    "Activity", "Players online over time, active and new players, retention, and play sessions.", 380, READ_PLAYERS
)
GROUPS = (GROUP,)
TOO_MANY_POINTS = f"is too early: the range has more than {MAX_POINTS:,} points"
TOO_EARLY = "must not be before 1970"


@GROUP.operation("GET /api/keeper/v1/activity", answer=ActivitySeries, rows=MAX_POINTS, gated=True)
async def get_activity(request: Request, query: ActivityQuery) -> bytes:
    """Get numbers over time, such as players online, active and new players, and play time."""
    since, until = _read_range(query)
    return await _encode(request, lambda tx: activity_series.load(tx, query.step, since, until))


@GROUP.operation("GET /api/keeper/v1/activity/retention", answer=Retention, rows=MAX_POINTS, gated=True)
async def get_retention(request: Request, query: RetentionQuery) -> bytes:
    """Get the new players of each day, and how many of them were online 1, 7 and 30 days later."""
    since, until = _read_range(query)
    return await _encode(request, lambda tx: activity_series.load_retention(tx, since, until))


async def _encode(request: Request, load: Callable[[Reading], Coroutine[Any, Any, Shape]]) -> bytes:
    async def encode() -> bytes:
        return shapes.encode(await request.services.keeper.store.read(load))

    try:
        return await request.run_through_gate(encode)
    except TooManyPoints:
        raise BadField(field="from", problem=TOO_MANY_POINTS) from None


@GROUP.operation("GET /api/keeper/v1/players/[lookupKey]/sessions", rows=MOST_AT_ONCE)
async def list_play_sessions(request: Request, query: SessionsQuery) -> PlaySessions:
    """List when a player was online, and on which game server, newest first."""

    async def look(tx: Reading) -> list[presence.PlaySession]:
        player_id = await lookup.find_player_id(tx, request.params[0])
        wanted = (player_id, query.before, query.limit + 1)
        return await tx.rows(presence.PlaySession, presence.SQL.sessions_of_player, *wanted)

    rows = await request.services.keeper.store.read(look)
    page = rows[: query.limit]
    following = str(page[-1].started_at) if len(rows) > query.limit else None
    return PlaySessions([make_record(PlaySession, each, seconds=_count_seconds(each)) for each in page], following)


def _read_range(query: ActivityQuery | RetentionQuery) -> tuple[int | None, int | None]:
    """Return the times that are given. Refuse times before 1970: no calendar reaches as far back as the texts."""
    since, until = (None if isinstance(each, UnsetType) else each for each in (query.since, query.to))
    for field, each in (("from", since), ("to", until)):
        if each is not None and each < 0:
            raise BadField(field=field, problem=TOO_EARLY)
    return since, until


def _count_seconds(row: presence.PlaySession) -> int | None:
    return None if row.ended_at is None else (row.ended_at - row.started_at) // 1000


async def _save_requests(services: Services) -> None:
    rates = services.metrics.request_rates
    counts = rates.take_unsaved()
    if not counts.requests:
        return
    try:
        await activity.save_requests(services.keeper.store, *counts)
    except DatabaseUnavailable:
        rates.put_back(counts)
        raise


JOBS = (
    Job[Services](
        "requests", activity.SAVE_REQUESTS_SECONDS, lambda services: partial(_save_requests, services), at_stop=True
    ),
)
