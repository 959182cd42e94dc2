"""The overview as it changes, by server-sent events: for as long as whoever watches is signed in."""

import time
from collections.abc import AsyncGenerator

from gamekeeper.console import overview, sessions, state
from gamekeeper.console.overview import OverviewData
from gamekeeper.console.refusals import SignInFirst, TooManyWatching, WatchingEnough
from gamekeeper.http import wire
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store.engine import DatabaseUnavailable

MAX_STREAMS, MAX_STREAMS_PER_ACCOUNT = 100, 10  # who watch in one process, and of one account: nobody takes all places
TICK_SECONDS = 2.0
KEEP_ALIVE_SECONDS = 15.0  # then a comment is sent: proxies close what is silent for long
RETRY = b"retry: 3000\n\n"  # milliseconds after which a browser comes back
KEEP_ALIVE = b": still here\n\n"
SIGNED_OUT = b"event: signed-out\ndata: \n\n"


async def follow(request: Request) -> Response:
    """What the overview shows, again whenever it changes."""
    _require_free_stream(request)
    unbuffered = (b"x-accel-buffering", b"no")  # a proxy that gathers would gather for ever
    return Response(RETRY, headers=(unbuffered,), content_type=b"text/event-stream", stream=_stream_events(request))


async def _stream_events(request: Request) -> AsyncGenerator[bytes]:
    heart, feed = state.get_state(request).monitor, request.services.keeper.feed
    try:
        _require_free_stream(request)
    except (TooManyWatching, WatchingEnough):  # several came in at once
        return
    with heart.count_stream(request.caller.account_id):
        last, spoke = b"", time.monotonic()
        while await _is_signed_in(request):
            event = _encode_event(await overview.load_data(request))
            now = time.monotonic()
            if event != last or now - spoke >= KEEP_ALIVE_SECONDS:
                yield event if event != last else KEEP_ALIVE
                last, spoke = event, now
            if await feed.wait_for_stop(TICK_SECONDS):
                return
        yield SIGNED_OUT


def _require_free_stream(request: Request) -> None:
    watching = state.get_state(request).monitor.streams
    if watching[request.caller.account_id] >= MAX_STREAMS_PER_ACCOUNT:
        raise WatchingEnough(most=MAX_STREAMS_PER_ACCOUNT)
    if watching.total() >= MAX_STREAMS:
        raise TooManyWatching(most=MAX_STREAMS)


async def _is_signed_in(request: Request) -> bool:
    """Watching is no use of the session: it ends like one that nobody looks at."""
    try:
        await sessions.authenticate(request, used=False)
    except SignInFirst:
        return False
    except DatabaseUnavailable:
        return True  # nobody can tell now; the page says that the database is away
    return True


def _encode_event(beat: OverviewData) -> bytes:
    told = {
        "texts": beat.texts,
        "charts": {name: each.points for name, each in beat.charts.items()},
        "latest": beat.snapshot.latest if beat.snapshot else None,
    }
    return b"data: " + wire.encode(told) + b"\n\n"
