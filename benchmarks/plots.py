"""Draw the plots of docs/performance.md as SVG."""

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import cycle
from statistics import median

from benchmarks.results import Sample

PAGES = "pages "  # prefix of the names of scenarios that are plotted by number of players
# Colours of the plots, for colour-blind readers too
COLOURS = ("#0072b2", "#009e73", "#d55e00", "#e69f00", "#cc79a7", "#56b4e9", "#7f7f7f")
INK, SOFT, GRID = "#222", "#666", "#ddd"
PANEL_WIDTH, PANEL_HEIGHT, PANEL_GAP = 250, 300, 30
LEFT, TOP, BOTTOM, MARGIN = 70, 124, 56, 24
BAR_WIDTH, BAR_HEIGHT, BAR_STEP, BAR_LEFT = 640, 40, 64, 110
LEGEND_TOP, LEGEND_STEP = 58, 22
NARROWEST = 34  # width in pixels of a bar segment that has room for its number
ENGINES = ("SQLite", "PostgreSQL")

Line = dict[int, float]  # milliseconds by number of players


def pages(samples: Iterable[Sample]) -> str:
    """Draw a panel for each list page, with a line for each compared server and logarithmic axes."""
    lines = _lines(samples)
    candidates = list(dict.fromkeys(candidate for panel in lines.values() for candidate in panel))
    points = [point for panel in lines.values() for line in panel.values() for point in line.items()]
    across, up = _Scale.around(x for x, _ in points), _Scale.around(y for _, y in points).to_decades()
    colours = dict(zip(candidates, cycle(COLOURS), strict=False))
    width = LEFT + len(lines) * (PANEL_WIDTH + PANEL_GAP)
    parts = [_text(MARGIN, 30, "Milliseconds for a page, by number of players", size=17, weight=600)]
    parts += _legend(colours, LEFT, LEGEND_TOP, columns=len(lines))
    for number, (title, panel) in enumerate(lines.items()):
        frame = _Frame(LEFT + number * (PANEL_WIDTH + PANEL_GAP), across, up)
        parts += frame.axes(title, sorted({x for x, _ in points}), labelled=number == 0)
        parts += [part for candidate, line in panel.items() for part in frame.line(candidate, line, colours[candidate])]
    return _svg(width, TOP + PANEL_HEIGHT + BOTTOM, parts)


def layers(found: Sequence[tuple[str, float]]) -> str:
    """Draw a stacked bar of layers for each engine; a layer without an engine belongs to both."""
    bars = {engine: _of_engine(found, engine) for engine in ENGINES}
    names = list(dict.fromkeys(name for bar in bars.values() for name in bar))
    colours = dict(zip(names, cycle(COLOURS), strict=False))
    longest = max(sum(bar.values()) for bar in bars.values())
    parts = [_text(MARGIN, 30, "Where the microseconds of a lookup go", size=17, weight=600)]
    for number, (engine, bar) in enumerate(bars.items()):
        parts += _bar(engine, bar, colours, BAR_WIDTH / longest, 56 + number * BAR_STEP)
    below = 56 + len(bars) * BAR_STEP + 12
    parts += _legend(colours, BAR_LEFT, below, columns=1)
    return _svg(BAR_LEFT + BAR_WIDTH + 90, below + len(names) * LEGEND_STEP, parts)


def _lines(samples: Iterable[Sample]) -> dict[str, dict[str, Line]]:
    """Return the median latency over the rounds, by page and candidate."""
    rounds: dict[tuple[str, str, int], list[float]] = {}
    for each in samples:
        if each.scenario.startswith(PAGES):
            rounds.setdefault((each.scenario, each.candidate, each.players), []).append(each.p50_ms)
    found: dict[str, dict[str, Line]] = {}
    for (scenario, candidate, players), values in sorted(rounds.items(), key=lambda item: item[0][2]):
        page = scenario.removeprefix(PAGES)
        found.setdefault(page, {}).setdefault(candidate, {})[players] = median(values)
    return found


def _of_engine(found: Sequence[tuple[str, float]], engine: str) -> dict[str, float]:
    """Return the layers of an engine with their times; a negative time is noise and counts as zero."""
    others = tuple(f", {each}" for each in ENGINES if each != engine)
    return {name.removesuffix(f", {engine}"): max(us, 0.0) for name, us in found if not name.endswith(others)}


class _Scale:
    """Logarithmic axis of a plot: maps a range of values to 0..1."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    @classmethod
    def around(cls, values: Iterable[float]) -> "_Scale":
        exponents = [math.log10(each) for each in values]
        return cls(min(exponents), max(exponents))

    def to_decades(self) -> "_Scale":
        low = math.floor(self.low)
        return _Scale(low, max(math.ceil(self.high), low + 1))

    def at(self, value: float) -> float:
        return (math.log10(value) - self.low) / ((self.high - self.low) or 1)


class _Frame:
    """One panel of the plot of list pages."""

    def __init__(self, left: float, across: _Scale, up: _Scale) -> None:
        self._left, self._across, self._up = left, across, up

    def axes(self, title: str, players: Sequence[int], *, labelled: bool) -> list[str]:
        foot = TOP + PANEL_HEIGHT
        parts = [_text(self._left + PANEL_WIDTH / 2, TOP - 10, f"{title} page", anchor="middle", weight=600)]
        for exponent in range(int(self._up.low), int(self._up.high) + 1):
            y = self._y(10.0**exponent)
            parts.append(_rule(self._left, y, self._left + PANEL_WIDTH, y))
            if labelled:
                parts.append(_text(self._left - 8, y + 4, _duration(10.0**exponent), anchor="end", fill=SOFT))
        for each in players:
            parts.append(_rule(self._x(each), foot, self._x(each), foot + 5))
            parts.append(_text(self._x(each), foot + 20, _count(each), anchor="middle", fill=SOFT))
        return [*parts, _text(self._left + PANEL_WIDTH / 2, foot + 42, "players", anchor="middle", fill=SOFT)]

    def line(self, name: str, line: Line, colour: str) -> list[str]:
        points = [(self._x(players), self._y(value)) for players, value in line.items()]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        drawn = (
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"><title>{escape(name)}</title>'
        )
        return [
            drawn + "</polyline>",
            *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in points),
        ]

    def _x(self, players: float) -> float:
        return self._left + 20 + self._across.at(players) * (PANEL_WIDTH - 40)

    def _y(self, value: float) -> float:
        return TOP + PANEL_HEIGHT * (1 - self._up.at(value))


def _bar(engine: str, bar: Mapping[str, float], colours: Mapping[str, str], scale: float, top: float) -> list[str]:
    middle = top + BAR_HEIGHT / 2 + 5
    parts = [_text(BAR_LEFT - 12, middle, engine, anchor="end", weight=600)]
    left = float(BAR_LEFT)
    for name, us in bar.items():
        width = us * scale
        parts.append(_box(left, top, width, BAR_HEIGHT, colours[name], name))
        if width >= NARROWEST:
            parts.append(_text(left + width / 2, middle, f"{us:.0f}", anchor="middle", fill="#fff"))
        left += width
    return [*parts, _text(left + 10, middle, f"{sum(bar.values()):.0f} µs", weight=600)]


def _legend(colours: Mapping[str, str], left: float, top: float, *, columns: int) -> list[str]:
    parts: list[str] = []
    for number, (name, colour) in enumerate(colours.items()):
        row, column = divmod(number, columns)
        x, y = left + column * (PANEL_WIDTH + PANEL_GAP), top + row * LEGEND_STEP
        parts += [_box(x, y - 11, 12, 12, colour, name), _text(x + 18, y, name)]
    return parts


def _duration(milliseconds: float) -> str:
    return f"{milliseconds / 1000:g} s" if milliseconds >= 1000 else f"{milliseconds:g} ms"  # noqa: PLR2004 - a second


def _count(number: int) -> str:
    for size, name in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:g} {name}"
    return str(number)


# --- SVG elements --------------------------------------------------------------------------------------------------


def _svg(width: float, height: float, parts: Iterable[str]) -> str:
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    font = 'font-family="system-ui, sans-serif" font-size="13"'
    paper = '<rect width="100%" height="100%" fill="#fff"/>'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>', paper, *parts, "</svg>", ""])


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 13, weight: int = 400, fill: str = INK
) -> str:
    style = f'text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" fill="{fill}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{GRID}"/>'


def _box(x: float, y: float, width: float, height: float, colour: str, title: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:g}"'
    return f'<rect {place} fill="{colour}"><title>{escape(title)}</title></rect>'
