"""Numbers over time on the home page: the series of a time range, and the charts that show them."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple

from gamekeeper.console import chart
from gamekeeper.console.chart import BARS, Chart, ChartSeries, TimeAxis
from gamekeeper.console.texts import gettext
from gamekeeper.console.ticks import DAY_MS, HOUR_MS
from gamekeeper.console.time_range import TimeRange
from gamekeeper.game import activity_series
from gamekeeper.game.activity_series import Point, Span
from gamekeeper.game.keeper import Keeper
from gamekeeper.http.shared_query import SharedQuery

FRESH_SECONDS = 30.0  # viewers of the same range share numbers at most this old
MOST_KEPT = 64  # series kept for other viewers
STEPS = {"minute": 60_000, "hour": HOUR_MS, "day": DAY_MS, "week": 7 * DAY_MS, "month": 30 * DAY_MS}
SECONDS_PER_HOUR = 3600
Key = tuple[str, int, int]


class DayNumbers(NamedTuple):
    """Numbers of today, yesterday and the week since Monday. None: not known."""

    today: Point | None
    yesterday: Point | None
    week: Point | None  # counts each player once


class ActivityReader:
    """Reads series, and shares them between the viewers of one process. Each reads a bounded number of rows."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._queries: dict[Key, SharedQuery[list[Point]]] = {}

    @property
    def kept(self) -> int:
        """Return the number of series that are kept."""
        return len(self._queries)

    async def read(self, step: str, start: int, end: int) -> list[Point]:
        """Return the points of a series."""
        key = (step, start, end)
        if key not in self._queries:
            while len(self._queries) >= MOST_KEPT:
                del self._queries[next(iter(self._queries))]
            self._queries[key] = SharedQuery(self._make_query(key), FRESH_SECONDS)
        return await self._queries[key].get()

    def _make_query(self, key: Key) -> Callable[[], Coroutine[Any, Any, list[Point]]]:
        step, start, end = key

        async def load() -> list[Point]:
            span = Span(start, end)
            return (await self._keeper.store.read(lambda tx: activity_series.load(tx, step, span))).points

        return load

    async def read_charts(self, wanted: TimeRange) -> list[Chart]:
        fine = await self.read(wanted.fine_step, wanted.start, wanted.end)
        daily = await self.read(wanted.day_step, wanted.start, wanted.end)
        return make_charts(wanted, fine, daily)

    async def read_days(self, now: int) -> DayNumbers:
        points = await self.read("day", now - DAY_MS, now)
        weeks = await self.read("week", now, now + 1)
        return DayNumbers(
            points[-1] if points else None,
            points[-2] if len(points) > 1 else None,
            weeks[-1] if weeks else None,
        )


def make_charts(wanted: TimeRange, fine: Sequence[Point], daily: Sequence[Point]) -> list[Chart]:
    """Make the charts of the home page: `fine` by the hour if possible, `daily` by the day."""
    hours, days = make_axis(fine, wanted.fine_step), make_axis(daily, wanted.day_step)
    played = [None if each.play_seconds is None else round(each.play_seconds / SECONDS_PER_HOUR, 1) for each in daily]
    return [
        chart.make_chart(
            "online",
            gettext("Players online"),
            gettext("players"),
            hours,
            [
                ChartSeries(gettext("Maximum"), [each.online_max for each in fine]),
                ChartSeries(gettext("Average"), [each.online for each in fine], "2"),
            ],
        ),
        chart.make_chart(
            "new",
            gettext("Active players"),
            gettext("players"),
            days,
            [
                ChartSeries(gettext("New"), [each.new for each in daily]),
                ChartSeries(gettext("Returning"), [each.returning for each in daily], "2"),
                ChartSeries(gettext("Others"), [_count_others(each) for each in daily], "3"),
            ],
            BARS,
        ),
        chart.make_chart(
            "played",
            gettext("Time played in hours"),
            gettext("hours"),
            days,
            [ChartSeries(gettext("Time played"), played)],
            BARS,
        ),
        chart.make_chart(
            "requests",
            gettext("Requests and errors"),
            gettext("requests"),
            hours,
            [
                ChartSeries(gettext("Requests"), [each.requests for each in fine]),
                ChartSeries(gettext("Errors"), [each.errors for each in fine], "bad"),
            ],
        ),
    ]


def _count_others(point: Point) -> int | None:
    """Count the active players who are neither new nor returning."""
    return None if point.active is None else point.active - (point.new or 0) - (point.returning or 0)


def make_axis(points: Sequence[Point], step: str) -> TimeAxis:
    """Make the time axis of a series."""
    starts, length = [each.at for each in points], STEPS[step]
    return TimeAxis(starts[0], starts[-1] + length, starts, length) if starts else TimeAxis(0, 1, [], 1)
