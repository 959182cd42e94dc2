"""Activity over time: a player's play sessions, series of numbers, and the retention of new players."""

from collections.abc import Sequence
from functools import partial

from msgspec import UNSET, UnsetType

from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.background_jobs import Job, Run
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.insight import activity, activity_series
from gamekeeper.game.insight.activity_series import MAX_POINTS, ActivitySeries, CohortPoint, Point, Span, TooManyPoints
from gamekeeper.ground.instants import format_day, format_instant
from gamekeeper.http.contract import samples, shapes
from gamekeeper.http.contract.operation import MOST_AT_ONCE, READ_PLAYERS, Group
from gamekeeper.http.insight import economy_shapes
from gamekeeper.http.server.request import Request, Services
from gamekeeper.store.engine.interface import DatabaseUnavailable, Reading
from gamekeeper.store.players import presence
from gamekeeper.store.players.presence import PlaySession

# Examples for the documents, made of the demo data.
PLAY_SESSION = economy_shapes.PlaySession(samples.REALM, "2026-01-31T10:30:00.000Z", samples.TIME, 5400)
ACTIVITY_SERIES = economy_shapes.ActivitySeries(
    "2026-01-31T00:00:00.000Z",
    samples.TIME,
    "day",
    [
        economy_shapes.ActivityPoint(
            "2026-01-31T00:00:00.000Z",
            Online=11.25,
            OnlineMax=19,
            Active=31,
            New=2,
            Returning=3,
            PlaySeconds=486000,
            SignIns=12,
            Requests=51840,
            Errors=0,
        )
    ],
)
RETENTION = economy_shapes.Retention(
    "2025-12-03", "2026-01-31", [economy_shapes.RetentionCohort("2026-01-20", Players=4, Day1=3, Day7=2, Day30=None)]
)
GROUP = Group("Activity", "Players online over time, active and new players, retention, and play sessions.", place=380)
GROUPS = (GROUP,)
TOO_MANY_POINTS = f"is too early: the range has more than {MAX_POINTS:,} points"

TOO_EARLY = "must not be before 1970"


@GROUP.operation(
    "GET /api/keeper/v1/activity",
    permissions=READ_PLAYERS,
    answer=economy_shapes.ActivitySeries,
    rows=MAX_POINTS,
    gated=True,
    refusals=(no.TooManyLongReads,),
    example_answer=ACTIVITY_SERIES,
)
async def get_activity(request: Request, query: economy_shapes.ActivityQuery) -> bytes:
    """Get numbers over time, such as players online, active and new players, and play time."""
    span = Span(_find_given("from", query.since), _find_given("to", query.to))

    async def load() -> bytes:
        store = request.services.keeper.store
        return shapes.encode(make_series(await store.read(lambda tx: activity_series.load(tx, query.step, span))))

    try:
        return await request.run_through_gate(load)
    except TooManyPoints:
        raise BadField(field="from", problem=TOO_MANY_POINTS) from None


@GROUP.operation(
    "GET /api/keeper/v1/activity/retention",
    permissions=READ_PLAYERS,
    answer=economy_shapes.Retention,
    rows=MAX_POINTS,
    gated=True,
    refusals=(no.TooManyLongReads,),
    example_answer=RETENTION,
)
async def get_retention(request: Request, query: economy_shapes.RetentionQuery) -> bytes:
    """Get the new players of each day, and how many of them were online 1, 7 and 30 days later."""
    since, until = _find_given("from", query.since), _find_given("to", query.to)

    async def load() -> bytes:
        store = request.services.keeper.store
        return shapes.encode(
            make_retention(*await store.read(lambda tx: activity_series.load_cohorts(tx, since, until)))
        )

    try:
        return await request.run_through_gate(load)
    except TooManyPoints:
        raise BadField(field="from", problem=TOO_MANY_POINTS) from None


@GROUP.operation(
    "GET /api/keeper/v1/players/[lookupKey]/sessions",
    permissions=READ_PLAYERS,
    answer=economy_shapes.PlaySessions,
    rows=MOST_AT_ONCE,
    example_answer=economy_shapes.PlaySessions([PLAY_SESSION], None),
)
async def list_play_sessions(request: Request, query: economy_shapes.SessionsQuery) -> bytes:
    """List when a player was online, and on which game server, newest first."""

    async def look(tx: Reading) -> list[PlaySession]:
        player_id = await lookup.find_player_id(tx, request.params[0])
        return await presence.read_sessions_of_player(tx, player_id, query.before, query.limit + 1)

    rows = await request.services.keeper.store.read(look)
    page = rows[: query.limit]
    following = str(page[-1].started_at) if len(rows) > query.limit else None
    return shapes.encode(economy_shapes.PlaySessions([_make_session(each) for each in page], following))


def _find_given(field: str, value: int | UnsetType) -> int | None:
    """Return a time that was given, or None. Refuse times before 1970: no calendar reaches as far back as the texts."""
    if value is UNSET:
        return None
    if value < 0:
        raise BadField(field=field, problem=TOO_EARLY)
    return value


def _make_session(row: PlaySession) -> economy_shapes.PlaySession:
    ended = row.ended_at
    return economy_shapes.PlaySession(
        row.server,
        format_instant(row.started_at),
        None if ended is None else format_instant(ended),
        None if ended is None else (ended - row.started_at) // 1000,
    )


def make_series(series: ActivitySeries) -> economy_shapes.ActivitySeries:
    points = [_make_point(each) for each in series.points]
    return economy_shapes.ActivitySeries(format_instant(series.start), format_instant(series.end), series.step, points)


def make_retention(first: int, last: int, cohorts: Sequence[CohortPoint]) -> economy_shapes.Retention:
    rows = [_make_cohort(each) for each in cohorts]
    return economy_shapes.Retention(format_day(first), format_day(last), rows)


def _make_point(point: Point) -> economy_shapes.ActivityPoint:
    return economy_shapes.ActivityPoint(format_instant(point.at), *point[1:])


def _make_cohort(cohort: CohortPoint) -> economy_shapes.RetentionCohort:
    return economy_shapes.RetentionCohort(format_day(cohort.day), *cohort[1:])


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


def _start_saving(services: Services) -> Run:
    return partial(_save_requests, services)


JOBS = (Job("requests", activity.SAVE_REQUESTS_SECONDS, _start_saving, at_stop=True),)
