"""The time range of the charts, from the address: a preset such as `range=7d`, or own days as `from=…&to=…`, in UTC."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import NamedTuple

from gamekeeper.console import ticks
from gamekeeper.console.texts import PerLanguage, gettext
from gamekeeper.console.ticks import DAY_MS, HOUR_MS
from gamekeeper.game.refusals import BadField

PRESETS = PerLanguage(
    lambda: {
        "24h": (24 * HOUR_MS, gettext("24 hours")),
        "7d": (7 * DAY_MS, gettext("7 days")),
        "30d": (30 * DAY_MS, gettext("30 days")),
        "90d": (90 * DAY_MS, gettext("90 days")),
    }
)
DEFAULT = "7d"
HOURS_KEPT_MS = 89 * DAY_MS  # numbers of single hours are kept for 90 days
MOST_BY_HOUR_MS = 14 * DAY_MS  # a longer range is shown by day
MOST_BY_DAY_MS = 200 * DAY_MS
MOST_BY_WEEK_MS = 1500 * DAY_MS
FIRST_YEAR = 2000


class TimeRange(NamedTuple):
    start: int  # milliseconds since 1970
    end: int
    preset: str = ""  # name of the preset; empty: own days
    is_recent: bool = True  # numbers of single hours are still kept for the whole range

    @property
    def fine_step(self) -> str:
        """Return the step of numbers that are known by the hour, such as players online."""
        by_hour = self.end - self.start <= MOST_BY_HOUR_MS
        return "hour" if by_hour and self.is_recent else self.day_step

    @property
    def day_step(self) -> str:
        """Return the step of numbers that are known by the day, such as new players."""
        length = self.end - self.start
        return "day" if length <= MOST_BY_DAY_MS else "week" if length <= MOST_BY_WEEK_MS else "month"

    @property
    def days(self) -> tuple[str, str]:
        """Return the first and the last day, for the form of own days."""
        return (f"{ticks.to_datetime(self.start):%Y-%m-%d}", f"{ticks.to_datetime(self.end - 1):%Y-%m-%d}")


def read_range(query: Mapping[str, str], now: int) -> TimeRange:
    """Read the range from the query. Own days are whole days, but the range ends now at the latest."""
    first, last = query.get("from", "").strip(), query.get("to", "").strip()
    if not first and not last:
        return make_preset(query.get("range", "") or DEFAULT, now)
    end = min(_read_day("to", last) + DAY_MS, now) if last else now
    start = _read_day("from", first) if first else end - PRESETS()[DEFAULT][0]
    if start >= end:
        raise BadField(field="from", problem=gettext("must be a day before the end, and not in the future"))
    return TimeRange(start, end, is_recent=now - start <= HOURS_KEPT_MS)


def make_preset(name: str, now: int) -> TimeRange:
    if name not in PRESETS():
        raise BadField(field="range", problem=gettext("must be one of %(names)s", names=", ".join(PRESETS())))
    return TimeRange(now - PRESETS()[name][0], now, name, is_recent=PRESETS()[name][0] <= HOURS_KEPT_MS)


def _read_day(field: str, text: str) -> int:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = date.min
    if day.year < FIRST_YEAR:
        raise BadField(field=field, problem=gettext("must be a day such as 2026-01-31"))
    return ticks.to_milliseconds(datetime(day.year, day.month, day.day, tzinfo=UTC))
