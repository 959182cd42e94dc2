"""A small chart of the last five minutes: the points of a line, the newest at the right."""

from collections.abc import Sequence
from typing import NamedTuple

WIDTH, HEIGHT = 59, 32  # 60 points


class Chart(NamedTuple):
    points: str  # as SVG has them
    maximum: float


def make_chart(values: Sequence[float]) -> Chart:
    most = max(values, default=0)
    left = WIDTH + 1 - len(values)
    points = (f"{left + at},{HEIGHT - value * HEIGHT / (most or 1):.1f}" for at, value in enumerate(values))
    return Chart(" ".join(points), most)
