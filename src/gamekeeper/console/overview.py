"""The first page: how many there are, how busy it is, what happened last; kept fresh by events."""

from typing import NamedTuple

from gamekeeper.console import live, pages, pulse
from gamekeeper.console.chart import Chart, chart
from gamekeeper.console.pulse import SAMPLE_SECONDS, SAMPLES, Check, Seen
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store.engine import DatabaseUnavailable

GROUP = int(SAMPLE_SECONDS)  # seconds that are one point of a chart


class Beat(NamedTuple):
    """What the page shows at one moment."""

    seen: Seen | None  # None: the database does not answer
    checks: list[Check]
    requests: float  # in a second
    faults: float
    charts: dict[str, Chart]

    @property
    def health(self) -> str:
        return pulse.word(self.checks)

    @property
    def texts(self) -> dict[str, str]:
        """Each under the name that the page has for its place."""
        found = {"health": self.health, "requests": f"{self.requests:,.1f}", "faults": f"{self.faults:,.1f}"}
        if self.seen is not None:
            numbers = {"online": self.seen.online, "characters": self.seen.characters, "accounts": self.seen.accounts}
            found |= {name: f"{number:,}" for name, number in numbers.items() if number is not None}
        return found | {f"{name}-most": f"{each.most:,.1f}".removesuffix(".0") for name, each in self.charts.items()}


async def show(request: Request) -> Response:
    now = await beat(request)
    return pages.render(request, "overview.html", beat=now, workers=request.services.keeper.settings.workers)


async def beat(request: Request) -> Beat:
    heart, pace = live.of(request).pulse, request.services.metrics.request_rates
    checks = await heart.checks()
    try:
        seen = await heart.seen(request.caller.permissions)
    except DatabaseUnavailable:
        seen = None
    now, groups = pace.sum_last(GROUP), pace.sum_buckets(GROUP, SAMPLES)
    charts = {
        "online": chart(heart.online),
        "requests": chart([each.requests / GROUP for each in groups]),
        "faults": chart([each.faults / GROUP for each in groups]),
    }
    return Beat(seen, checks, now.requests / GROUP, now.faults / GROUP, charts)
