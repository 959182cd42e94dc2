"""Charts with axes, drawn as SVG by the server: they need no script and no inline style.

Positions across are percentages, so a chart fits any width while its letters keep their size.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gamekeeper.console import ticks
from gamekeeper.console.formats import format_rounded
from gamekeeper.console.ticks import DAY_MS, HOUR_MS

HEIGHT = 180  # of the plot, in pixels
TOP = 8  # room above the highest tick, so that its label is not cut
LEAST_ROOM = 44  # pixels for the labels of values, so that most charts of a page have the same width
LETTER_WIDTH = 6.5  # pixels of a letter of a label; letters are 0.8 of 14.5 pixels high
LABEL_GAP = 8  # pixels around the labels of values
BAR_SHARE = 0.8  # of the room of a bar's step
LINE, BARS = "line", "bars"
ACROSS = 1000  # units of the plot's width in the coordinates of lines


class ChartSeries(NamedTuple):
    title: str
    values: Sequence[float | None]  # one per point in time; None: not known
    tone: str = "1"  # its colour: "1", "2", "3" (quiet), or "bad" for what should not happen


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
    name: str, title: str, unit: str, axis: TimeAxis, series: Sequence[ChartSeries], kind: str = LINE
) -> Chart:
    """Draw series over one time axis: as lines, or as bars on top of each other."""
    totals = [_combine(values, kind) for values in zip(*(each.values for each in series), strict=True)]
    values = ticks.choose_values(max(totals, default=0))
    scale = (HEIGHT - TOP) / values[-1]

    def measure(value: float) -> float:
        return round(HEIGHT - value * scale, 1)

    labels = [ticks.format_short(each) for each in values]
    drawn = _draw_lines(axis, series, measure) if kind == LINE else _draw_bars(axis, series, measure)
    return Chart(
        name,
        title,
        unit,
        kind,
        [ValueTick(measure(each), label) for each, label in zip(values, labels, strict=True)],
        [
            PlacedTime(round(axis.place(each.at) * 100, 2), each.label)
            for each in ticks.choose_times(axis.start, axis.end)
        ],
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
            [_format_value(each.values[place]) for each in series],
        )
        for place, at in enumerate(axis.starts)
    ]


def label_step(at: int, step: int) -> str:
    """Return the label of a point in time, as exact as its step."""
    if step > 27 * DAY_MS:
        return ticks.label_month(at)
    day = f"{ticks.label_day(at)} {ticks.to_datetime(at).year}"
    return f"{day}, {ticks.label_clock(at)}" if step <= 12 * HOUR_MS else day


def _format_value(value: float | None) -> str:
    return "" if value is None else format_rounded(value)
