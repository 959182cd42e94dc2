"""The page Activity: active players by day, week and month, sign-ins, and how many new players come back."""

from collections.abc import Sequence
from typing import NamedTuple

from gamekeeper.console.frame import pages
from gamekeeper.console.frame.formats import format_number, format_rounded
from gamekeeper.console.frame.texts import gettext
from gamekeeper.console.insight import activity_series, charts, monitor
from gamekeeper.console.insight.activity_series import MOST_BY_WEEK_MS, TimeRange, make_axis
from gamekeeper.console.insight.charts import BARS, DAY_MS, Chart, ChartSeries, TimeAxis
from gamekeeper.game.insight import activity_series as game_activity_series
from gamekeeper.game.insight.activity_series import MAX_POINTS, CohortPoint, Point
from gamekeeper.game.insight.calendar import MINUTE_MS, format_day
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine import clock

DEFAULT = "90d"  # shows weeks, months and the retention after 30 days
MOST_ROWS = 100  # cohorts that the table shows


class CohortRow(NamedTuple):
    day: str
    players: int
    shares: Sequence[str]  # after 1, 7 and 30 days; empty: that day is not over


async def show(request: Request) -> Response:
    reader, store = monitor.get_state(request).monitor.activity, request.services.keeper.store
    now = await clock.now(store) // MINUTE_MS * MINUTE_MS  # a whole minute, so that viewers share the numbers
    chosen = request.query if request.query.keys() & {"range", "from", "to"} else {"range": DEFAULT}
    wanted = activity_series.read_time_range(chosen, now)
    points = {step: await reader.read(step, wanted.start, wanted.end) for step in _list_steps(wanted)}
    first = max(wanted.start, wanted.end - (MAX_POINTS - 1) * DAY_MS)
    _, _, cohorts = await store.read(lambda tx: game_activity_series.load_cohorts(tx, first, wanted.end - 1))
    return pages.render(
        request,
        "insight/activity.html",
        charts=[*(_draw_active(step, each) for step, each in points.items()), _draw_sign_ins(wanted, points)],
        retention=_draw_retention(cohorts),
        cohorts=[_make_row(each) for each in cohorts[::-1][:MOST_ROWS]],
        total=_sum_cohorts(cohorts),
        older=max(0, len(cohorts) - MOST_ROWS),
        range=wanted,
        presets=activity_series.RANGE_PRESETS(),
        height=charts.HEIGHT,
    )


def _list_steps(wanted: TimeRange) -> list[str]:
    """Return the steps of the charts. A long range is not shown by day, and a very long one not by week."""
    steps = ["day"] if wanted.day_step == "day" else []
    return [*steps, *(["week"] if wanted.end - wanted.start <= MOST_BY_WEEK_MS else []), "month"]


def _draw_active(step: str, points: Sequence[Point]) -> Chart:
    titles = {
        "day": gettext("Active players by day"),
        "week": gettext("Active players by week"),
        "month": gettext("Active players by month"),
    }
    series = [ChartSeries(gettext("Active players"), [each.active for each in points])]
    return charts.make_chart(f"active-{step}", titles[step], gettext("players"), make_axis(points, step), series, BARS)


def _draw_sign_ins(wanted: TimeRange, points: dict[str, list[Point]]) -> Chart:
    found = points[wanted.day_step]
    series = [ChartSeries(gettext("Sign-ins"), [each.sign_ins for each in found])]
    axis = make_axis(found, wanted.day_step)
    return charts.make_chart("sign-ins", gettext("Sign-ins"), gettext("sign-ins"), axis, series, BARS)


def _draw_retention(cohorts: Sequence[CohortPoint]) -> Chart:
    starts = [each.day * DAY_MS for each in cohorts]
    axis = TimeAxis(starts[0], starts[-1] + DAY_MS, starts, DAY_MS) if starts else TimeAxis(0, 1, [], 1)
    series = [
        ChartSeries(gettext("After 1 day"), [_divide(each.day1, each.players) for each in cohorts]),
        ChartSeries(gettext("After 7 days"), [_divide(each.day7, each.players) for each in cohorts], "2"),
        ChartSeries(gettext("After 30 days"), [_divide(each.day30, each.players) for each in cohorts], "3"),
    ]
    return charts.make_chart("retention", gettext("New players who came back"), "%", axis, series)


def _make_row(cohort: CohortPoint) -> CohortRow:
    shares = [_describe(part, cohort.players) for part in cohort[2:]]
    return CohortRow(format_day(cohort.day), cohort.players, shares)


def _sum_cohorts(cohorts: Sequence[CohortPoint]) -> CohortRow:
    """Sum all cohorts. A share leaves out the players whose 1st, 7th or 30th day is not over yet."""
    shares: list[str] = []
    for place in (2, 3, 4):
        known = [each for each in cohorts if each[place] is not None]
        shares.append(_describe(sum(each[place] or 0 for each in known), sum(each.players for each in known)))
    return CohortRow("", sum(each.players for each in cohorts), shares)


def _divide(part: int | None, players: int) -> float | None:
    return None if part is None or not players else round(100 * part / players, 1)


def _describe(part: int | None, players: int) -> str:
    share = _divide(part, players)
    return "" if share is None else f"{format_number(part or 0)} ({format_rounded(share)} %)"
