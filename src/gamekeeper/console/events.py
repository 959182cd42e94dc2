"""Live updates of the overview page as server-sent events, until the viewer's session ends."""

import time
from collections.abc import AsyncGenerator

from gamekeeper.console import overview, sessions, state
from gamekeeper.console.overview import OverviewData
from gamekeeper.console.refusals import SignInFirst, TooManyWatching, WatchingEnough
from gamekeeper.http import wire
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store.engine import DatabaseUnavailable

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
    heart, feed = state.get_state(request).monitor, request.services.keeper.feed
    try:
        _require_free_stream(request)
    # concurrent requests took the last free streams after `follow` had checked that one is free
    except (TooManyWatching, WatchingEnough):
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
    return b"data: " + wire.encode(told) + b"\n\n"
