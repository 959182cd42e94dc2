"""Series of activity over time, from the rollups. Minutes that are not in the hours yet are summed when read."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from gamekeeper.game.core.values import require_order
from gamekeeper.game.insight.activity import HOURS_KEPT, RETENTION_DAYS, sum_hours, sum_periods
from gamekeeper.ground.instants import (
    DAY_MS,
    HOUR_MS,
    MINUTE_MS,
    PERIODS,
    find_next_start,
    find_start,
    format_day,
    format_instant,
)
from gamekeeper.ground.wire import Date, Instant, PlainDouble, PlainInt32, PlainInt64, Shape
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight import activity
from gamekeeper.store.insight.activity import ONLINE, SESSIONS, SIGN_INS, Checkpoint, Hour, Minute, Period

MAX_POINTS = 3_000  # points of a series: two days of minutes, or 90 days of hours
DEFAULT_POINTS: Mapping[str, int] = {"minute": 180, "hour": 48, "day": 30, "week": 26, "month": 12}
DEFAULT_COHORTS = 60  # days


class ActivityPoint(Shape):
    """Numbers of one step. Null: not kept for steps of this length, or not known for this time."""

    at: Instant
    online: PlainDouble | None  # average of the players online at the ends of its minutes
    online_max: PlainInt32 | None
    active: PlainInt32 | None
    new: PlainInt32 | None
    returning: PlainInt32 | None
    play_seconds: PlainInt64 | None
    sign_ins: PlainInt32 | None
    requests: PlainInt64 | None
    errors: PlainInt64 | None


UNKNOWN = ActivityPoint("", *[None] * 9)


class ActivitySeries(Shape):
    start: Instant = msgspec.field(name="From")
    end: Instant = msgspec.field(name="To")
    step: str
    points: list[ActivityPoint]


class RetentionCohort(Shape):
    """New players of a day, and how many of them were online 1, 7 and 30 days later; null: that day is not over."""

    day: Date
    players: PlainInt32
    day1: PlainInt32 | None
    day7: PlainInt32 | None
    day30: PlainInt32 | None


class Retention(Shape):
    first: Date = msgspec.field(name="From")
    last: Date = msgspec.field(name="To")
    cohorts: list[RetentionCohort]


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


async def load(tx: Reading, step: str, since: int | None, until: int | None) -> ActivitySeries:
    """Load a series; its first point is the step that the start is in. Raise TooManyPoints.

    `since`: default some points before the end. `until`: default now.
    """
    require_order("from", since, until)
    now = await clock.now(tx)
    end = now if until is None else min(until, now)
    start = _find_default_start(step, end) if since is None else find_start(step, since)
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
    find_numbers = await _LOADERS.get(step, _load_periods)(tx, step, start, end, recent)
    points = [msgspec.structs.replace(UNKNOWN, at=format_instant(each), **find_numbers(each)) for each in starts]
    return ActivitySeries(format_instant(start), format_instant(end), step, points)


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


FindNumbers = Callable[[int], Mapping[str, float | None]]  # start of a point → its known numbers, by field


async def _load_minutes(_: Reading, __: str, start: int, ___: int, recent: _Recent) -> FindNumbers:
    rows, online, known = {each.minute: each for each in recent.minutes}, recent.online.value, dict[int, int]()
    first = start // MINUTE_MS
    for minute in range(recent.online.position, recent.end_minute):
        if row := rows.get(minute):
            online += row.started - row.ended
        if minute >= first:
            known[minute] = online

    def find(at: int) -> Mapping[str, float | None]:
        minute = at // MINUTE_MS
        if minute not in known:
            return {}
        row = rows.get(minute, Minute(minute))
        return {"online": known[minute], "online_max": known[minute], "requests": row.requests, "errors": row.errors}

    return find


async def _load_hours(tx: Reading, _: str, start: int, end: int, recent: _Recent) -> FindNumbers:
    stored = {each.hour: each for each in await activity.read_hours(tx, start // HOUR_MS, end // HOUR_MS + 1)}
    live = {each.hour: each for each in sum_hours(recent.minutes, recent.online, recent.end_minute)[0]}
    first = max(recent.since // HOUR_MS, recent.now // HOUR_MS - HOURS_KEPT)

    def find(at: int) -> Mapping[str, float | None]:
        number = at // HOUR_MS
        if number < first:
            return {}
        kept = stored.get(number, Hour(number))
        sign_ins = kept.sign_ins if number < recent.sign_ins.position else None
        if number not in live and number not in stored:
            return {"sign_ins": sign_ins}
        hour = live.get(number, kept)
        average = _average(hour.online_sum, at, at + HOUR_MS, recent)
        numbers = {"online": average, "online_max": hour.online_max, "sign_ins": sign_ins}
        return numbers | {"requests": hour.requests, "errors": hour.errors}

    return find


async def _load_periods(tx: Reading, step: str, start: int, end: int, recent: _Recent) -> FindNumbers:
    stored = {each.day: each for each in await activity.read_periods(tx, step, start // DAY_MS, end // DAY_MS + 1)}
    hours, _ = sum_hours(recent.minutes, recent.online, recent.end_minute)
    live = {each.day: each for each in sum_periods(step, hours)}

    def find(at: int) -> Mapping[str, float | None]:
        until = find_next_start(step, at)
        if until <= recent.since:
            return {}
        kept, added = stored.get(at // DAY_MS, Period(0)), live.get(at // DAY_MS, Period(0))
        return {
            "online": _average(kept.online_sum + added.online_sum, at, until, recent),
            "online_max": max(kept.online_max, added.online_max),
            "active": kept.active,
            "new": kept.new_players,
            "returning": kept.returned,
            "play_seconds": kept.play_ms // 1000,
            "sign_ins": kept.sign_ins if at // HOUR_MS < recent.sign_ins.position else None,
            "requests": kept.requests + added.requests,
            "errors": kept.errors + added.errors,
        }

    return find


def _average(total: int, start: int, end: int, recent: _Recent) -> float:
    """Average over the minutes between two times that are over or have begun, since sessions are recorded."""
    first = max(start // MINUTE_MS, recent.since // MINUTE_MS)
    return round(total / max(1, min(end // MINUTE_MS, recent.end_minute) - first), 2)


_LOADERS = {"minute": _load_minutes, "hour": _load_hours} | dict.fromkeys(PERIODS, _load_periods)


async def load_retention(tx: Reading, since: int | None, until: int | None) -> Retention:
    """Load the days with new players in a range of times."""
    require_order("from", since, until)
    today = await clock.now(tx) // DAY_MS
    last = today if until is None else min(until // DAY_MS, today)
    first = last - DEFAULT_COHORTS + 1 if since is None else since // DAY_MS
    require_order("from", first, last)
    if last - first >= MAX_POINTS:
        raise TooManyPoints
    cohorts = [
        RetentionCohort(
            format_day(day),
            players,
            *(back if day + after < today else None for after, back in zip(RETENTION_DAYS, online, strict=True)),
        )
        for day, players, *online in await activity.read_cohorts(tx, first, last + 1)
    ]
    return Retention(format_day(first), format_day(last), cohorts)
