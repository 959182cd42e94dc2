"""The page Activity, and the charts of the home page: players online, active players, sign-ins, and who comes back.

The time range comes from the address: a preset such as `range=7d`, or own days as `from=…&to=…`, in UTC.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import partial
from typing import NamedTuple

from gamekeeper.console.frame import pages
from gamekeeper.console.frame.formats import format_number, format_rounded
from gamekeeper.console.frame.menu import GAME, PLAYERS
from gamekeeper.console.frame.routes import page_route
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.console.insight import charts
from gamekeeper.console.insight.charts import BARS, DAY_MS, HOUR_MS, Chart, TimeAxis, make_chart
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.insight import activity_series
from gamekeeper.game.insight.activity import RETENTION_DAYS
from gamekeeper.game.insight.activity_series import MAX_POINTS, ActivityPoint, RetentionCohort
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.instants import MINUTE_MS, parse_instant, parse_typed_time
from gamekeeper.http.server.admission import SharedQuery
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine import clock

RANGE_PRESETS = PerLanguage(
    lambda: {
        "24h": (24 * HOUR_MS, gettext("24 hours")),
        "7d": (7 * DAY_MS, gettext("7 days")),
        "30d": (30 * DAY_MS, gettext("30 days")),
        "90d": (90 * DAY_MS, gettext("90 days")),
    }
)
DEFAULT_RANGE = "7d"
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
        return (f"{charts.to_datetime(self.start):%Y-%m-%d}", f"{charts.to_datetime(self.end - 1):%Y-%m-%d}")


def read_time_range(query: Mapping[str, str], now: int) -> TimeRange:
    """Read the range from the query. Own days are whole days, but the range ends now at the latest."""
    first, last = query.get("from", "").strip(), query.get("to", "").strip()
    if not first and not last:
        return make_preset(query.get("range", "") or DEFAULT_RANGE, now)
    end = min(_read_day("to", last) + DAY_MS, now) if last else now
    start = _read_day("from", first) if first else end - RANGE_PRESETS()[DEFAULT_RANGE][0]
    if start >= end:
        raise BadField(field="from", problem=gettext("must be a day before the end, and not in the future"))
    return TimeRange(start, end, is_recent=now - start <= HOURS_KEPT_MS)


def make_preset(name: str, now: int) -> TimeRange:
    if name not in RANGE_PRESETS():
        raise BadField(field="range", problem=gettext("must be one of %(names)s", names=", ".join(RANGE_PRESETS())))
    return TimeRange(now - RANGE_PRESETS()[name][0], now, name, is_recent=RANGE_PRESETS()[name][0] <= HOURS_KEPT_MS)


def _read_day(field: str, text: str) -> int:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = date.min
    if day.year < FIRST_YEAR:
        raise BadField(field=field, problem=gettext("must be a day such as 2026-01-31"))
    return charts.to_milliseconds(datetime(day.year, day.month, day.day, tzinfo=UTC))


FRESH_SECONDS = 30.0  # viewers of the same range share numbers at most this old
MOST_KEPT = 64  # series kept for other viewers
STEPS = {"minute": 60_000, "hour": HOUR_MS, "day": DAY_MS, "week": 7 * DAY_MS, "month": 30 * DAY_MS}
SECONDS_PER_HOUR = 3600
Key = tuple[str, int, int]


class DayNumbers(NamedTuple):
    """Numbers of today, yesterday and the week since Monday. None: not known."""

    today: ActivityPoint | None
    yesterday: ActivityPoint | None
    week: ActivityPoint | None  # counts each player once


class ActivityReader:
    """Reads series, and shares them between the viewers of one process. Each reads a bounded number of rows."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._queries: dict[Key, SharedQuery[list[ActivityPoint]]] = {}

    async def read(self, step: str, start: int, end: int) -> list[ActivityPoint]:
        """Return the points of a series."""
        key = (step, start, end)
        if key not in self._queries:
            while len(self._queries) >= MOST_KEPT:
                del self._queries[next(iter(self._queries))]
            self._queries[key] = SharedQuery(partial(self._load, *key), FRESH_SECONDS)
        return await self._queries[key].get()

    async def _load(self, step: str, start: int, end: int) -> list[ActivityPoint]:
        return (await self._keeper.store.read(lambda tx: activity_series.load(tx, step, start, end))).points

    async def read_charts(self, wanted: TimeRange) -> list[Chart]:
        fine = await self.read(wanted.fine_step, wanted.start, wanted.end)
        daily = await self.read(wanted.day_step, wanted.start, wanted.end)
        return make_charts(wanted, fine, daily)

    async def read_days(self, now: int) -> DayNumbers:
        points = await self.read("day", now - DAY_MS, now)
        weeks = await self.read("week", now, now + 1)
        today, yesterday = [*reversed(points), None, None][:2]
        return DayNumbers(today, yesterday, weeks[-1] if weeks else None)


def make_charts(wanted: TimeRange, fine: Sequence[ActivityPoint], daily: Sequence[ActivityPoint]) -> list[Chart]:
    """Make the charts of the home page: `fine` by the hour if possible, `daily` by the day."""
    hours, days = make_axis(fine, wanted.fine_step), make_axis(daily, wanted.day_step)
    played = [None if each.play_seconds is None else round(each.play_seconds / SECONDS_PER_HOUR, 1) for each in daily]
    players, hour_unit = gettext("players"), gettext("hours")
    online = {
        gettext("Maximum"): [each.online_max for each in fine],
        gettext("Average"): [each.online for each in fine],
    }
    active = {
        gettext("New"): [each.new for each in daily],
        gettext("Returning"): [each.returning for each in daily],
        gettext("Others"): [_count_others(each) for each in daily],
    }
    traffic = {
        gettext("Requests"): [each.requests for each in fine],
        gettext("Errors"): [each.errors for each in fine],
    }
    return [
        make_chart("online", gettext("Players online"), players, hours, online),
        make_chart("new", gettext("Active players"), players, days, active, BARS),
        make_chart("played", gettext("Time played in hours"), hour_unit, days, {gettext("Time played"): played}, BARS),
        make_chart("requests", gettext("Requests and errors"), gettext("requests"), hours, traffic, tones=("1", "bad")),
    ]


def _count_others(point: ActivityPoint) -> int | None:
    """Count the active players who are neither new nor returning."""
    return None if point.active is None else point.active - (point.new or 0) - (point.returning or 0)


def make_axis(points: Sequence[ActivityPoint], step: str) -> TimeAxis:
    """Make the time axis of a series."""
    starts, length = [parse_instant(each.at) for each in points], STEPS[step]
    return TimeAxis(starts[0], starts[-1] + length, starts, length) if starts else TimeAxis(0, 1, [], 1)


DEFAULT = "90d"  # shows weeks, months and the retention after 30 days
MOST_ROWS = 100  # cohorts that the table shows


class CohortRow(NamedTuple):
    day: str
    players: int
    shares: Sequence[str]  # after 1, 7 and 30 days; empty: that day is not over


async def show(request: Request) -> Response:
    reader, store = pages.get_shared(request, ActivityReader), request.services.keeper.store
    now = await clock.now(store) // MINUTE_MS * MINUTE_MS  # a whole minute, so that viewers share the numbers
    chosen = request.query if request.query.keys() & {"range", "from", "to"} else {"range": DEFAULT}
    wanted = read_time_range(chosen, now)
    points = {step: await reader.read(step, wanted.start, wanted.end) for step in _list_steps(wanted)}
    first = max(wanted.start, wanted.end - (MAX_POINTS - 1) * DAY_MS)
    cohorts = (await store.read(lambda tx: activity_series.load_retention(tx, first, wanted.end - 1))).cohorts
    return pages.render(
        request,
        "insight/activity.html",
        charts=[*(_draw_active(step, each) for step, each in points.items()), _draw_sign_ins(wanted, points)],
        retention=_draw_retention(cohorts),
        cohorts=[_make_row(each.day, [each]) for each in cohorts[::-1][:MOST_ROWS]],
        total=_make_row("", cohorts),
        older=max(0, len(cohorts) - MOST_ROWS),
        range=wanted,
        presets=RANGE_PRESETS(),
        height=charts.HEIGHT,
    )


def _list_steps(wanted: TimeRange) -> list[str]:
    """Return the steps of the charts. A long range is not shown by day, and a very long one not by week."""
    steps = ["day"] if wanted.day_step == "day" else []
    return [*steps, *(["week"] if wanted.end - wanted.start <= MOST_BY_WEEK_MS else []), "month"]


def _draw_active(step: str, points: Sequence[ActivityPoint]) -> Chart:
    titles = {
        "day": gettext("Active players by day"),
        "week": gettext("Active players by week"),
        "month": gettext("Active players by month"),
    }
    series = {gettext("Active players"): [each.active for each in points]}
    return make_chart(f"active-{step}", titles[step], gettext("players"), make_axis(points, step), series, BARS)


def _draw_sign_ins(wanted: TimeRange, points: dict[str, list[ActivityPoint]]) -> Chart:
    found = points[wanted.day_step]
    series = {gettext("Sign-ins"): [each.sign_ins for each in found]}
    axis = make_axis(found, wanted.day_step)
    return make_chart("sign-ins", gettext("Sign-ins"), gettext("sign-ins"), axis, series, BARS)


def _draw_retention(cohorts: Sequence[RetentionCohort]) -> Chart:
    starts = [parse_typed_time(each.day) for each in cohorts]
    axis = TimeAxis(starts[0], starts[-1] + DAY_MS, starts, DAY_MS) if starts else TimeAxis(0, 1, [], 1)
    series = {
        gettext("After 1 day"): [_divide(each.day1, each.players) for each in cohorts],
        gettext("After 7 days"): [_divide(each.day7, each.players) for each in cohorts],
        gettext("After 30 days"): [_divide(each.day30, each.players) for each in cohorts],
    }
    return make_chart("retention", gettext("New players who came back"), "%", axis, series)


def _make_row(day: str, cohorts: Sequence[RetentionCohort]) -> CohortRow:
    """Sum cohorts. A share leaves out the players whose 1st, 7th or 30th day is not over yet."""
    shares: list[str] = []
    for name in RETENTION_DAYS.values():
        known = [(each.players, back) for each in cohorts if (back := getattr(each, name)) is not None]
        shares.append(_describe(sum(back for _, back in known), sum(players for players, _ in known)))
    return CohortRow(day, sum(each.players for each in cohorts), shares)


def _divide(part: int | None, players: int) -> float | None:
    return None if part is None or not players else round(100 * part / players, 1)


def _describe(part: int, players: int) -> str:
    share = _divide(part, players)
    return "" if share is None else f"{format_number(part)} ({format_rounded(share)} %)"


SHARED = (ActivityReader,)
PAGES = (
    page_route("/activity", show, PLAYERS)
    .in_menu("Activity", GAME, 80, "activity")
    .with_help(
        "How many players were active by day, week and month, how often people signed in, and how many new "
        "players came back after 1, 7 and 30 days.",
        "activity",
    ),
)
