"""The overview page: player counts, request rates, health and latest changes, updated by server-sent events."""

from typing import NamedTuple

from gamekeeper.console import monitor, pages, state
from gamekeeper.console.deliveries import MOST_OVERDUE
from gamekeeper.console.menu import APPROVALS, SECURITY
from gamekeeper.console.monitor import SAMPLE_SECONDS, SAMPLES, HealthCheck, OverviewSnapshot
from gamekeeper.console.sparklines import Sparkline, make_sparkline
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import approvals
from gamekeeper.store.engine import DatabaseUnavailable

MOST_WAITING = 100  # waiting changes that are counted; one more than are shown, which bounds the read
BUCKET_SECONDS = int(SAMPLE_SECONDS)  # each point of a chart is an average over this time


class OverviewData(NamedTuple):
    """The data of the overview page at one point in time."""

    snapshot: OverviewSnapshot | None  # player counts and latest changes; None: the database is unreachable
    checks: list[HealthCheck]
    requests: float  # requests per second
    faults: float  # responses with status 500 and above, except 501, per second
    charts: dict[str, Sparkline]
    overdue: int | None = None  # commands that no game server has acknowledged in time; None: not shown
    waiting: int | None = None  # changes that wait for approval, at most MOST_WAITING; None: not shown

    @property
    def health(self) -> str:
        return monitor.worst_status(self.checks)

    @property
    def texts(self) -> dict[str, str]:
        """Numbers and statuses as text, by the name of the page's element that shows each one."""
        found = {"health": self.health, "requests": f"{self.requests:,.1f}", "faults": f"{self.faults:,.1f}"}
        if self.snapshot is not None:
            numbers = {
                "online": self.snapshot.online,
                "players": self.snapshot.players,
                "accounts": self.snapshot.accounts,
            }
            found |= {name: f"{number:,}" for name, number in numbers.items() if number is not None}
        if self.waiting is not None:
            found["waiting"] = f"{self.waiting}" if self.waiting < MOST_WAITING else f"{MOST_WAITING - 1}+"
        if self.overdue is not None:
            found["overdue"] = f"{self.overdue}" if self.overdue < MOST_OVERDUE else f"{MOST_OVERDUE - 1}+"
        return found | {f"{name}-most": f"{each.maximum:,.1f}".removesuffix(".0") for name, each in self.charts.items()}


async def show(request: Request) -> Response:
    now = await load_data(request)
    return pages.render(request, "overview.html", beat=now, workers=request.services.keeper.settings.workers)


async def load_data(request: Request) -> OverviewData:
    heart, pace = state.get_state(request).monitor, request.services.metrics.request_rates
    checks, waiting, overdue = await heart.read_checks(), None, None
    try:
        if request.caller.permissions >= APPROVALS:
            waiting = await approvals.count_waiting(request.services.keeper.store, MOST_WAITING)
        if request.caller.permissions >= SECURITY:
            overdue = await heart.count_overdue()
        seen = await heart.read_snapshot(request.caller.permissions)
        seen = seen if "audit.read" in request.caller.permissions else seen._replace(latest="")
    except DatabaseUnavailable:
        seen = None
    now, groups = pace.sum_last(BUCKET_SECONDS), pace.sum_buckets(BUCKET_SECONDS, SAMPLES)
    charts = {
        "online": make_sparkline(heart.online_samples),
        "requests": make_sparkline([each.requests / BUCKET_SECONDS for each in groups]),
        "faults": make_sparkline([each.faults / BUCKET_SECONDS for each in groups]),
    }
    return OverviewData(
        seen, checks, now.requests / BUCKET_SECONDS, now.faults / BUCKET_SECONDS, charts, overdue, waiting
    )
