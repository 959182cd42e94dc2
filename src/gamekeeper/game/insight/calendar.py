"""Steps of time in UTC: minutes, hours, days, ISO weeks and months, as numbers since 1970."""

import functools
from datetime import UTC, date, datetime, timedelta

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
HOUR_MINUTES, DAY_MINUTES, WEEK_DAYS = 60, 24 * 60, 7
PERIODS = ("day", "week", "month")
STEPS = ("minute", "hour", *PERIODS)
_EPOCH = date(1970, 1, 1)
_FIRST_WEEKDAY = 3  # 1970-01-01 was a Thursday: three days after the Monday of its week


@functools.lru_cache(maxsize=4096)
def find_first_day(step: str, day: int) -> int:
    """Return the first day of the day, week or month that a day is in. Cached, because there are few different days."""
    if step == "week":
        return day - (day + _FIRST_WEEKDAY) % WEEK_DAYS
    if step == "month":
        return (_to_date(day).replace(day=1) - _EPOCH).days
    return day


def find_next_first_day(step: str, first_day: int) -> int:
    """Return the first day of the next day, week or month."""
    if step == "month":
        return find_first_day(step, first_day + 31)
    return first_day + (WEEK_DAYS if step == "week" else 1)


def find_start(step: str, at: int) -> int:
    """Return the start of the step that a time is in, in milliseconds."""
    if step in PERIODS:
        return find_first_day(step, at // DAY_MS) * DAY_MS
    unit = HOUR_MS if step == "hour" else MINUTE_MS
    return at // unit * unit


def find_next_start(step: str, start: int) -> int:
    if step in PERIODS:
        return find_next_first_day(step, start // DAY_MS) * DAY_MS
    return start + (HOUR_MS if step == "hour" else MINUTE_MS)


def format_day(day: int) -> str:
    return _to_date(day).isoformat()


def read_weekday(at: int) -> int:
    """Return the day of the week of a time: 0 is Monday."""
    return datetime.fromtimestamp(at / 1000, UTC).weekday()


def _to_date(day: int) -> date:
    return _EPOCH + timedelta(days=day)
