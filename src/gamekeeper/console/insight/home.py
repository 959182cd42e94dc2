"""The home page: players online, charts, what waits for somebody, and the latest changes.

Live updates come as server-sent events, until the viewer's session ends.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from gamekeeper.console.frame import pages, sessions
from gamekeeper.console.frame.formats import format_decimal, format_number, format_rounded
from gamekeeper.console.frame.menu import APPROVALS, CHANGES, GAME, MANAGE, PLAYERS, SECURITY
from gamekeeper.console.frame.refusals import SignInFirst, TooManyWatching, WatchingEnough
from gamekeeper.console.frame.routes import page_route
from gamekeeper.console.insight import activity, charts, monitor
from gamekeeper.console.insight.activity import ActivityReader, DayNumbers, TimeRange
from gamekeeper.console.insight.charts import MINUTE_MS, Chart, Sparkline, make_sparkline
from gamekeeper.console.insight.monitor import (
    HOME_SERVERS,
    MOST_OVERDUE,
    SAMPLE_SECONDS,
    HealthCheck,
    Monitor,
    OverviewSnapshot,
)
from gamekeeper.console.players.online import MAX_SCANNED
from gamekeeper.game.insight import signals
from gamekeeper.game.insight.activity import ABSENCE_DAYS
from gamekeeper.http.contract import shapes
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.audit import approvals
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import DatabaseUnavailable
from gamekeeper.store.players.presence import GameServerRow

SERVER = "server "  # start of the names of texts of game servers
MOST_WAITING = 100  # waiting changes that are counted; one more than are shown, which bounds the read
BUCKET_SECONDS = int(SAMPLE_SECONDS)  # requests and errors are averages over this time


class OverviewData(NamedTuple):
    """The live data of the home page at one point in time."""

    snapshot: OverviewSnapshot | None  # player counts and latest changes; None: the database is unreachable
    checks: list[HealthCheck]
    requests: float  # requests per second
    faults: float  # responses with status 500 and above, except 501, per second
    charts: dict[str, Sparkline]
    overdue: int | None = None  # commands that no game server has acknowledged in time; None: not shown
    waiting: int | None = None  # changes that wait for approval, at most MOST_WAITING; None: not shown
    failed_mails: int | None = None  # None: not shown
    signals: int | None = None  # open signals; None: not shown
    servers: Sequence[GameServerRow] = ()  # the first game servers; one more than are shown if there are more

    @property
    def health(self) -> str:
        return monitor.find_worst_status(self.checks)

    @property
    def texts(self) -> dict[str, str]:
        """Numbers and statuses as text, by the name of the page's element that shows each one."""
        found = {
            "health": monitor.name_status(self.health),
            "requests": format_decimal(self.requests),
            "faults": format_decimal(self.faults),
        }
        if self.snapshot is not None:
            numbers = {
                "online": self.snapshot.online,
                "players": self.snapshot.players,
                "accounts": self.snapshot.accounts,
            }
            found |= {name: format_number(number) for name, number in numbers.items() if number is not None}
        for each in self.servers:
            is_cut = each.players >= MAX_SCANNED
            found[f"{SERVER}{each.name}"] = format_number(each.players) + ("+" if is_cut else "")
        if self.waiting is not None:
            found["waiting"] = f"{self.waiting}" if self.waiting < MOST_WAITING else f"{MOST_WAITING - 1}+"
        if self.overdue is not None:
            found["overdue"] = f"{self.overdue}" if self.overdue < MOST_OVERDUE else f"{MOST_OVERDUE - 1}+"
        if self.signals is not None:
            found["signals"] = format_number(self.signals)
        if self.failed_mails is not None:
            found["failed-mails"] = f"{self.failed_mails}"
        return found | {f"{name}-most": format_rounded(each.maximum) for name, each in self.charts.items()}


class ActivityData(NamedTuple):
    """Numbers over time. All are None if the viewer may not see players, or the database is unreachable."""

    range: TimeRange | None = None
    charts: list[Chart] | None = None
    days: DayNumbers | None = None


async def show(request: Request) -> Response:
    numbers = await _load_activity(request) if request.caller.permissions >= PLAYERS else ActivityData()
    return pages.render(
        request,
        "insight/home.html",
        beat=await load_data(request),
        workers=request.services.keeper.settings.workers,
        presets=activity.RANGE_PRESETS(),
        height=charts.HEIGHT,
        absence_days=ABSENCE_DAYS,
        most_servers=HOME_SERVERS,
        **numbers._asdict(),
    )


async def _load_activity(request: Request) -> ActivityData:
    reader = pages.get_shared(request, ActivityReader)
    try:
        # a whole minute, so that viewers share the numbers
        now = await clock.now(request.services.keeper.store) // MINUTE_MS * MINUTE_MS
        wanted = activity.read_time_range(request.query, now)
        return ActivityData(wanted, await reader.read_charts(wanted), await reader.read_days(now))
    except DatabaseUnavailable:
        return ActivityData()


async def load_data(request: Request) -> OverviewData:
    heart, pace = pages.get_shared(request, Monitor), request.services.metrics.request_rates
    store, held, checks = request.services.keeper.store, request.caller.permissions, await heart.read_checks()
    readers: Sequence[tuple[str, frozenset[str], Callable[[], Awaitable[object]]]] = (
        ("servers", PLAYERS, heart.first_servers.get),
        ("waiting", APPROVALS, lambda: approvals.count_waiting(store, MOST_WAITING)),
        ("signals", CHANGES, lambda: signals.count_open(store)),
        ("overdue", SECURITY, heart.overdue.get),
        ("failed_mails", MANAGE, heart.failed_mails.get),
    )
    numbers: dict[str, Any] = {}
    try:
        for name, needed, read in readers:
            if held >= needed:
                numbers[name] = await read()
        seen = await heart.read_snapshot(held)
        seen = seen if "audit.read" in held else seen._replace(latest="")
    except DatabaseUnavailable:
        seen = None
    now = pace.sum_last(BUCKET_SECONDS)
    line = make_sparkline(heart.online_samples)
    # the number that the page shows may be newer than the last sample
    charts = {"online": line._replace(maximum=max(line.maximum, seen.online)) if seen else line}
    requests, faults = now.requests / BUCKET_SECONDS, now.faults / BUCKET_SECONDS
    return OverviewData(seen, checks, requests, faults, charts, **numbers)


MAX_STREAMS, MAX_STREAMS_PER_ACCOUNT = 100, 10  # limits of open event streams: per process, and per account in it
TICK_SECONDS = 2.0  # interval at which an event stream checks for new data
KEEP_ALIVE_SECONDS = 15.0  # an SSE comment is sent after this silence, because proxies close idle streams
RETRY = b"retry: 3000\n\n"  # after a disconnect the browser reconnects in 3,000 ms
KEEP_ALIVE = b": still here\n\n"
SIGNED_OUT = b"event: signed-out\ndata: \n\n"


async def follow(request: Request) -> Response:
    """Stream the data of the overview page, once now and again after each change."""
    _require_free_stream(request)
    unbuffered = (b"x-accel-buffering", b"no")  # otherwise nginx buffers the events and delays them
    return Response(RETRY, headers=(unbuffered,), content_type=b"text/event-stream", stream=_stream_events(request))


async def _stream_events(request: Request) -> AsyncGenerator[bytes]:
    heart, feed = pages.get_shared(request, Monitor), request.services.keeper.feed
    try:
        _require_free_stream(request)
    # concurrent requests took the last free streams after `follow` had checked that one is free
    except (TooManyWatching, WatchingEnough):
        return
    with heart.count_stream(request.caller.account_id):
        last, spoke = b"", time.monotonic()
        while await _is_signed_in(request):
            event = _encode_event(await load_data(request))
            now = time.monotonic()
            if event != last or now - spoke >= KEEP_ALIVE_SECONDS:
                yield event if event != last else KEEP_ALIVE
                last, spoke = event, now
            if await feed.wait_for_stop(TICK_SECONDS):
                return
        yield SIGNED_OUT


def _require_free_stream(request: Request) -> None:
    watching = pages.get_shared(request, Monitor).streams
    if watching[request.caller.account_id] >= MAX_STREAMS_PER_ACCOUNT:
        raise WatchingEnough(most=MAX_STREAMS_PER_ACCOUNT)
    if watching.total() >= MAX_STREAMS:
        raise TooManyWatching(most=MAX_STREAMS)


async def _is_signed_in(request: Request) -> bool:
    """Return whether the session is valid. An open stream does not count as use, so an idle session expires."""
    try:
        await sessions.authenticate(request, used=False)
    except SignInFirst:
        return False
    except DatabaseUnavailable:
        # the session may still be valid, so keep the stream: its page shows that the database is unreachable
        return True
    return True


def _encode_event(beat: OverviewData) -> bytes:
    told = {
        "texts": beat.texts,
        "health": beat.health,
        "charts": {name: each.points for name, each in beat.charts.items()},
        "latest": beat.snapshot.latest if beat.snapshot else None,
    }
    return b"data: " + shapes.encode(told) + b"\n\n"


PAGES = (
    page_route("", show)
    .in_menu("Home", GAME, 10, "home")
    .with_help(
        "How the game is doing: who plays, what waits for somebody, and what was changed lately. The address "
        "holds the time range, so you can send it to a colleague."
    ),
    # an open stream of updates does not count as use of the session: it does not delay the idle timeout
    page_route("/events", follow, used=False),
)
