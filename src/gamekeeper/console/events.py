"""The overview as it changes, by server-sent events: for as long as whoever watches is signed in."""

import time
from collections.abc import AsyncGenerator

from gamekeeper.console import live, overview, sessions
from gamekeeper.console.overview import Beat
from gamekeeper.console.refusals import SignInFirst, TooManyWatching, WatchingEnough
from gamekeeper.http import wire
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store.engine import DatabaseUnavailable

MOST, OF_ONE = 100, 10  # who watch in one process, and of one account: nobody takes all places
TICK_SECONDS = 2.0
SILENT_SECONDS = 15.0  # then a comment is sent: proxies close what is silent for long
AGAIN = b"retry: 3000\n\n"  # milliseconds after which a browser comes back
STILL_HERE = b": still here\n\n"
SIGNED_OUT = b"event: signed-out\ndata: \n\n"


async def follow(request: Request) -> Response:
    """What the overview shows, again whenever it changes."""
    _require_place(request)
    unbuffered = (b"x-accel-buffering", b"no")  # a proxy that gathers would gather for ever
    return Response(AGAIN, headers=(unbuffered,), content_type=b"text/event-stream", stream=_told(request))


async def _told(request: Request) -> AsyncGenerator[bytes]:
    heart, feed = live.of(request).pulse, request.services.keeper.feed
    try:
        _require_place(request)
    except (TooManyWatching, WatchingEnough):  # several came in at once
        return
    with heart.watched(request.caller.account_id):
        last, spoke = b"", time.monotonic()
        while await _signed_in(request):
            event = _event(await overview.beat(request))
            now = time.monotonic()
            if event != last or now - spoke >= SILENT_SECONDS:
                yield event if event != last else STILL_HERE
                last, spoke = event, now
            if await feed.wait_for_stop(TICK_SECONDS):
                return
        yield SIGNED_OUT


def _require_place(request: Request) -> None:
    watching = live.of(request).pulse.watching
    if watching[request.caller.account_id] >= OF_ONE:
        raise WatchingEnough(most=OF_ONE)
    if watching.total() >= MOST:
        raise TooManyWatching(most=MOST)


async def _signed_in(request: Request) -> bool:
    """Watching is no use of the session: it ends like one that nobody looks at."""
    try:
        await sessions.enter(request, used=False)
    except SignInFirst:
        return False
    except DatabaseUnavailable:
        return True  # nobody can tell now; the page says that the database is away
    return True


def _event(beat: Beat) -> bytes:
    told = {
        "texts": beat.texts,
        "charts": {name: each.points for name, each in beat.charts.items()},
        "latest": beat.seen.latest if beat.seen else None,
    }
    return b"data: " + wire.encode(told) + b"\n\n"
