"""Charts with axes, and sparklines, drawn as SVG by the server: they need no script and no inline style.

Positions across are percentages, so a chart fits any width while its letters keep their size. Ticks of the axes are
round numbers from zero upwards, and round times in UTC with short labels.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from gamekeeper.console.frame.formats import format_rounded
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.ground.instants import DAY_MS, HOUR_MS, MINUTE_MS

MONDAY_MS = 4 * DAY_MS  # the first Monday after 1 January 1970, which was a Thursday
MOST_VALUES = 5  # ticks of the axis of values, with zero
MOST_TIMES = 7  # ticks of the axis of times: their labels fit side by side on a phone
MULTIPLES = (1, 2, 5)  # of a power of ten
CLOCK_STEPS = (
    *(minutes * MINUTE_MS for minutes in (1, 2, 5, 10, 15, 30)),
    *(hours * HOUR_MS for hours in (1, 2, 3, 6, 12)),
)
DAY_STEPS = tuple(days * DAY_MS for days in (1, 2, 7, 14))
MONTH_STEPS = (1, 2, 3, 6, 12, 24, 60, 120)  # in months
MONTHS = PerLanguage(
    lambda: (
        *(gettext("Jan"), gettext("Feb"), gettext("Mar"), gettext("Apr"), gettext("May"), gettext("Jun")),
        *(gettext("Jul"), gettext("Aug"), gettext("Sep"), gettext("Oct"), gettext("Nov"), gettext("Dec")),
    )
)
THOUSAND, MILLION, BILLION = 10**3, 10**6, 10**9


class TimeTick(NamedTuple):
    at: int  # milliseconds since 1970
    label: str


def choose_values(maximum: float, most: int = MOST_VALUES) -> list[float]:
    """Choose round values from zero to at least the maximum. Steps are whole numbers, because players are counted."""
    step = _choose_step(max(maximum, 1) / (most - 1))
    return [step * number for number in range(math.ceil(max(maximum, 1) / step) + 1)]


def _choose_step(least: float) -> float:
    power = 10 ** math.floor(math.log10(least))
    step = next((power * each for each in MULTIPLES if power * each >= least * (1 - 1e-9)), power * 10)
    return max(step, 1)


def choose_times(start: int, end: int, most: int = MOST_TIMES) -> list[TimeTick]:
    """Choose round times between start and end, in milliseconds. Labels are times of the day, days or months."""
    for step in CLOCK_STEPS:
        found = range(_round_up(start, step, 0), end + 1, step)
        if len(found) <= most:
            return [TimeTick(each, label_day(each) if each % DAY_MS == 0 else label_clock(each)) for each in found]
    for step in DAY_STEPS:
        found = range(_round_up(start, step, MONDAY_MS if step >= 7 * DAY_MS else 0), end + 1, step)
        if len(found) <= most:
            return [TimeTick(each, label_day(each)) for each in found]
    by_step = (list(_list_months(start, end, months)) for months in MONTH_STEPS)
    months = next((found for found in by_step if len(found) <= most), list[int]())
    return [TimeTick(each, label_month(each)) for each in months]


def _round_up(at: int, step: int, offset: int) -> int:
    return -((offset - at) // step) * step + offset


def _list_months(start: int, end: int, months: int) -> Iterator[int]:
    """List the starts of every `months` months. Counting from year 0 makes them January, April and so on."""
    first = to_datetime(start)
    number = first.year * 12 + first.month - 1
    number = -(-number // months) * months
    while (at := to_milliseconds(datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC))) <= end:
        if at >= start:
            yield at
        number += months


def to_datetime(milliseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)


def to_milliseconds(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def label_clock(at: int) -> str:
    return f"{to_datetime(at):%H:%M}"


def label_day(at: int) -> str:
    moment = to_datetime(at)
    return gettext("%(day)s %(month)s", day=moment.day, month=MONTHS()[moment.month - 1])


def label_month(at: int) -> str:
    moment = to_datetime(at)
    return f"{MONTHS()[moment.month - 1]} {moment.year}"


def format_short(value: float) -> str:
    """Format a number for an axis: 950, 1.2k, 3M; in German 1,2 Tsd. and 3 Mio."""
    if value >= BILLION:
        return gettext("%(number)sG", number=format_rounded(value / BILLION))
    if value >= MILLION:
        return gettext("%(number)sM", number=format_rounded(value / MILLION))
    if value >= THOUSAND:
        return gettext("%(number)sk", number=format_rounded(value / THOUSAND))
    return format_rounded(value)


HEIGHT = 180  # of the plot, in pixels
TOP = 8  # room above the highest tick, so that its label is not cut
LEAST_ROOM = 44  # pixels for the labels of values, so that most charts of a page have the same width
LETTER_WIDTH = 6.5  # pixels of a letter of a label; letters are 0.8 of 14.5 pixels high
LABEL_GAP = 8  # pixels around the labels of values
BAR_SHARE = 0.8  # of the room of a bar's step
LINE, BARS = "line", "bars"
TONES = ("1", "2", "3", "4", "5")  # colours of series; another is "bad", for what should not happen
ACROSS = 1000  # units of the plot's width in the coordinates of lines


class ChartSeries(NamedTuple):
    title: str
    values: Sequence[float | None]  # one per point in time; None: not known
    tone: str


class ValueTick(NamedTuple):
    y: float  # pixels from the top
    label: str


class PlacedTime(NamedTuple):
    x: float  # percent
    label: str


class Bar(NamedTuple):
    x: float  # percent
    width: float  # percent
    y: float  # pixels
    height: float  # pixels


class DrawnSeries(NamedTuple):
    title: str
    tone: str
    lines: list[str]  # points of polylines; a gap in the data starts a new one
    areas: list[str]  # points of polygons below the lines
    bars: list[Bar]


class ChartRow(NamedTuple):
    """The values at one point in time: for the tooltip above that part of the plot, and for the table."""

    x: float  # percent
    width: float  # percent
    label: str
    texts: list[str]  # the values of each series as text, empty if not known


class Chart(NamedTuple):
    name: str  # part of the ids of the chart's elements
    title: str
    unit: str
    kind: str
    value_ticks: list[ValueTick]
    time_ticks: list[PlacedTime]
    series: list[DrawnSeries]
    rows: list[ChartRow]
    is_empty: bool
    room: int  # pixels for the labels of values: German ones such as "800 Tsd." are long


class TimeAxis(NamedTuple):
    """Points in time, each with the start of a step, within a range. All are milliseconds since 1970."""

    start: int
    end: int
    starts: Sequence[int]
    step: int

    def place(self, at: float) -> float:
        """Return the position of a time as a share of the width."""
        return (at - self.start) / max(self.end - self.start, 1)


def make_chart(
    name: str,
    title: str,
    unit: str,
    axis: TimeAxis,
    titled: Mapping[str, Sequence[float | None]],
    kind: str = LINE,
    tones: Sequence[str] = TONES,
) -> Chart:
    """Draw series, by their titles, over one time axis: as lines, or as bars on top of each other."""
    series = [ChartSeries(label, values, tone) for (label, values), tone in zip(titled.items(), tones, strict=False)]
    totals = [_combine(values, kind) for values in zip(*titled.values(), strict=True)]
    values = choose_values(max(totals, default=0))
    scale = (HEIGHT - TOP) / values[-1]

    def measure(value: float) -> float:
        return round(HEIGHT - value * scale, 1)

    labels = [format_short(each) for each in values]
    drawn = _draw_lines(axis, series, measure) if kind == LINE else _draw_bars(axis, series, measure)
    return Chart(
        name,
        title,
        unit,
        kind,
        [ValueTick(measure(each), label) for each, label in zip(values, labels, strict=True)],
        [PlacedTime(round(axis.place(each.at) * 100, 2), each.label) for each in choose_times(axis.start, axis.end)],
        drawn,
        _list_rows(axis, series),
        is_empty=not any(totals),
        room=max(LEAST_ROOM, math.ceil(max(map(len, labels)) * LETTER_WIDTH) + LABEL_GAP),
    )


def _combine(values: Sequence[float | None], kind: str) -> float:
    known = [each for each in values if each is not None]
    return sum(known) if kind == BARS else max(known, default=0)


def _draw_lines(axis: TimeAxis, series: Sequence[ChartSeries], measure: Callable[[float], float]) -> list[DrawnSeries]:
    drawn: list[DrawnSeries] = []
    for each in series:
        runs: list[list[tuple[float, float]]] = [[]]
        for at, value in zip(axis.starts, each.values, strict=True):
            if value is None:
                runs.append([])
            else:
                runs[-1].append((round(axis.place(at + axis.step / 2) * ACROSS, 1), measure(value)))
        found = [run for run in runs if run]
        areas = [[(run[0][0], HEIGHT), *run, (run[-1][0], HEIGHT)] for run in found]
        drawn.append(
            DrawnSeries(each.title, each.tone, [_join(run) for run in found], [_join(area) for area in areas], [])
        )
    return drawn


def _join(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)


def _draw_bars(axis: TimeAxis, series: Sequence[ChartSeries], measure: Callable[[float], float]) -> list[DrawnSeries]:
    width = round(axis.step / max(axis.end - axis.start, 1) * 100 * BAR_SHARE, 3)
    below = [0.0] * len(axis.starts)  # sums of the series below
    drawn: list[DrawnSeries] = []
    for each in series:
        bars: list[Bar] = []
        for place, (at, value) in enumerate(zip(axis.starts, each.values, strict=True)):
            if not value:
                continue
            top, bottom = measure(below[place] + value), measure(below[place])
            left = axis.place(at + axis.step * (1 - BAR_SHARE) / 2) * 100
            bars.append(Bar(round(left, 3), width, top, round(bottom - top, 1)))
            below[place] += value
        drawn.append(DrawnSeries(each.title, each.tone, [], [], bars))
    return drawn


def _list_rows(axis: TimeAxis, series: Sequence[ChartSeries]) -> list[ChartRow]:
    width = round(axis.step / max(axis.end - axis.start, 1) * 100, 3)
    return [
        ChartRow(
            round(axis.place(at) * 100, 3),
            width,
            label_step(at, axis.step),
            ["" if (value := each.values[place]) is None else format_rounded(value) for each in series],
        )
        for place, at in enumerate(axis.starts)
    ]


def label_step(at: int, step: int) -> str:
    """Return the label of a point in time, as exact as its step."""
    if step > 27 * DAY_MS:
        return label_month(at)
    day = f"{label_day(at)} {to_datetime(at).year}"
    return f"{day}, {label_clock(at)}" if step <= 12 * HOUR_MS else day


SPARKLINE_WIDTH, SPARKLINE_HEIGHT = 59, 32  # size of a chart in SVG units; the x coordinates 0 to 59 hold 60 values


class Sparkline(NamedTuple):
    points: str  # value of the attribute `points` of an SVG polyline
    maximum: float


def make_sparkline(values: Sequence[float]) -> Sparkline:
    most = max(values, default=0)
    left = SPARKLINE_WIDTH + 1 - len(values)
    points = (
        f"{left + at},{SPARKLINE_HEIGHT - value * SPARKLINE_HEIGHT / (most or 1):.1f}"
        for at, value in enumerate(values)
    )
    return Sparkline(" ".join(points), most)
