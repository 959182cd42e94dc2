"""Sparklines of the last five minutes, without axes, with the newest value at the right."""

from collections.abc import Sequence
from typing import NamedTuple

WIDTH, HEIGHT = 59, 32  # size of a chart in SVG units; the x coordinates 0 to 59 hold 60 values


class Sparkline(NamedTuple):
    points: str  # value of the attribute `points` of an SVG polyline
    maximum: float


def make_sparkline(values: Sequence[float]) -> Sparkline:
    most = max(values, default=0)
    left = WIDTH + 1 - len(values)
    points = (f"{left + at},{HEIGHT - value * HEIGHT / (most or 1):.1f}" for at, value in enumerate(values))
    return Sparkline(" ".join(points), most)
