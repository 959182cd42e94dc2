"""Series of activity over time, from the rollups. Minutes that are not in the hours yet are summed when read."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from gamekeeper.game.core.values import require_order
from gamekeeper.game.insight.activity import HOURS_KEPT, sum_hours, sum_periods
from gamekeeper.ground.instants import DAY_MS, HOUR_MS, MINUTE_MS, PERIODS, find_next_start, find_start
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight import activity
from gamekeeper.store.insight.activity import ONLINE, SESSIONS, SIGN_INS, Checkpoint, Hour, Minute, Period

MAX_POINTS = 3_000  # points of a series: two days of minutes, or 90 days of hours
DEFAULT_POINTS: Mapping[str, int] = {"minute": 180, "hour": 48, "day": 30, "week": 26, "month": 12}
DEFAULT_COHORTS = 60  # days


class Point(NamedTuple):
    """Numbers of one step. None: the number is not kept for steps of this length, or not known for this time."""

    at: int
    online: float | None = None  # average of the players online at the ends of its minutes
    online_max: int | None = None
    active: int | None = None
    new: int | None = None
    returning: int | None = None
    play_seconds: int | None = None
    sign_ins: int | None = None
    requests: int | None = None
    errors: int | None = None


class ActivitySeries(NamedTuple):
    start: int
    end: int
    step: str
    points: list[Point]


class TooManyPoints(Exception):
    """The range has more points than one series may have."""


class _Recent(NamedTuple):
    """What is known beside the rollups: the time, the checkpoints, and the minutes that are not in the hours yet."""

    now: int
    since: int  # sessions are recorded since this time
    online: Checkpoint
    sign_ins: Checkpoint
    minutes: list[Minute]

    @property
    def end_minute(self) -> int:
        return self.now // MINUTE_MS + 1


class Span(NamedTuple):
    start: int | None  # None: a default number of points before the end
    end: int | None  # None: now


async def load(tx: Reading, step: str, span: Span) -> ActivitySeries:
    """Load a series; its first point is the step that the start of the span is in. Raise TooManyPoints."""
    require_order("from", span.start, span.end)
    now = await clock.now(tx)
    end = now if span.end is None else min(span.end, now)
    start = _find_default_start(step, end) if span.start is None else find_start(step, span.start)
    require_order("from", start, end)
    starts = _list_starts(step, start, end)
    online = await activity.find_checkpoint(tx, ONLINE)
    recent = _Recent(
        now,
        (await activity.find_checkpoint(tx, SESSIONS)).position,
        online,
        await activity.find_checkpoint(tx, SIGN_INS),
        await activity.read_minutes(tx, online.position, now // MINUTE_MS + 1),
    )
    make = await _LOADERS.get(step, _load_periods)(tx, step, start, end, recent)
    return ActivitySeries(start, end, step, [make(each) for each in starts])


def _find_default_start(step: str, end: int) -> int:
    start = find_start(step, end)
    for _ in range(DEFAULT_POINTS[step] - 1):
        start = find_start(step, start - 1)
    return start


def _list_starts(step: str, start: int, end: int) -> list[int]:
    starts: list[int] = []
    while start <= end:
        if len(starts) == MAX_POINTS:
            raise TooManyPoints
        starts.append(start)
        start = find_next_start(step, start)
    return starts


MakePoint = Callable[[int], Point]


async def _load_minutes(_: Reading, __: str, start: int, ___: int, recent: _Recent) -> MakePoint:
    rows, online, known = {each.minute: each for each in recent.minutes}, recent.online.value, dict[int, int]()
    first = start // MINUTE_MS
    for minute in range(recent.online.position, recent.end_minute):
        if row := rows.get(minute):
            online += row.started - row.ended
        if minute >= first:
            known[minute] = online

    def make(at: int) -> Point:
        minute = at // MINUTE_MS
        if minute not in known:
            return Point(at)
        row = rows.get(minute, Minute(minute))
        return Point(at, known[minute], known[minute], requests=row.requests, errors=row.errors)

    return make


async def _load_hours(tx: Reading, _: str, start: int, end: int, recent: _Recent) -> MakePoint:
    stored = {each.hour: each for each in await activity.read_hours(tx, start // HOUR_MS, end // HOUR_MS + 1)}
    live = {each.hour: each for each in sum_hours(recent.minutes, recent.online, recent.end_minute)[0]}
    first = max(recent.since // HOUR_MS, recent.now // HOUR_MS - HOURS_KEPT)

    def make(at: int) -> Point:
        number = at // HOUR_MS
        if number < first:
            return Point(at)
        kept = stored.get(number, Hour(number))
        sign_ins = kept.sign_ins if number < recent.sign_ins.position else None
        if number not in live and number not in stored:
            return Point(at, sign_ins=sign_ins)
        hour = live.get(number, kept)
        average = _average(hour.online_sum, at, at + HOUR_MS, recent)
        return Point(at, average, hour.online_max, sign_ins=sign_ins, requests=hour.requests, errors=hour.errors)

    return make


async def _load_periods(tx: Reading, step: str, start: int, end: int, recent: _Recent) -> MakePoint:
    stored = {each.day: each for each in await activity.read_periods(tx, step, start // DAY_MS, end // DAY_MS + 1)}
    hours, _ = sum_hours(recent.minutes, recent.online, recent.end_minute)
    live = {each.day: each for each in sum_periods(step, hours)}

    def make(at: int) -> Point:
        until = find_next_start(step, at)
        if until <= recent.since:
            return Point(at)
        kept, added = stored.get(at // DAY_MS, Period(0)), live.get(at // DAY_MS, Period(0))
        return Point(
            at,
            _average(kept.online_sum + added.online_sum, at, until, recent),
            max(kept.online_max, added.online_max),
            kept.active,
            kept.new_players,
            kept.returned,
            kept.play_ms // 1000,
            kept.sign_ins if at // HOUR_MS < recent.sign_ins.position else None,
            kept.requests + added.requests,
            kept.errors + added.errors,
        )

    return make


def _average(total: int, start: int, end: int, recent: _Recent) -> float:
    """Average over the minutes between two times that are over or have begun, since sessions are recorded."""
    first = max(start // MINUTE_MS, recent.since // MINUTE_MS)
    return round(total / max(1, min(end // MINUTE_MS, recent.end_minute) - first), 2)


_LOADERS = {"minute": _load_minutes, "hour": _load_hours} | dict.fromkeys(PERIODS, _load_periods)


class CohortPoint(NamedTuple):
    """New players of a day, and those of them who were online later. None: that day is not over."""

    day: int
    players: int
    day1: int | None
    day7: int | None
    day30: int | None


async def load_cohorts(tx: Reading, start: int | None, end: int | None) -> tuple[int, int, list[CohortPoint]]:
    """Load the cohorts of a range of times: first and last day, and the days with new players."""
    require_order("from", start, end)
    today = await clock.now(tx) // DAY_MS
    last = today if end is None else min(end // DAY_MS, today)
    first = last - DEFAULT_COHORTS + 1 if start is None else start // DAY_MS
    require_order("from", first, last)
    if last - first >= MAX_POINTS:
        raise TooManyPoints
    rows = await activity.read_cohorts(tx, first, last + 1)

    def show(day: int, after: int, players: int) -> int | None:
        return players if day + after < today else None

    points = [
        CohortPoint(
            each.day,
            each.players,
            show(each.day, 1, each.day1),
            show(each.day, 7, each.day7),
            show(each.day, 30, each.day30),
        )
        for each in rows
    ]
    return first, last, points
