"""The ASGI app: turns a scope into a request, and the response into messages."""

import asyncio
import itertools
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from typing import Any

from gamekeeper.ground import log
from gamekeeper.http.server import errors
from gamekeeper.http.server.dispatcher import ConsoleRoutes, Dispatcher
from gamekeeper.http.server.request import NO_ROUTE, Receive, Request, Services
from gamekeeper.http.server.response_headers import Cors, ResponseHeaders
from gamekeeper.store.engine.interface import DatabaseUnavailable

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Hook = Callable[[], Awaitable[None]]
# Below this path, unknown names and too many requests of web visitors are usual: they do not count as refused.
PUBLIC = b"/api/public/"
FILE_SENT = frozenset({200, 304})  # statuses with which a file of a page is not logged


class Asgi:
    def __init__(self, services: Services, start: Hook, stop: Hook, pages: ConsoleRoutes | None = None) -> None:
        settings = services.keeper.settings
        self.services = services
        self._start, self._stop = start, stop
        cors = Cors(settings)
        self._dispatcher, self._heads = Dispatcher(cors, pages), ResponseHeaders(settings, cors)
        self._request_rates = services.metrics.request_rates
        self._count = services.metrics.count_request if settings.metrics_token else None
        self._log = log.access if settings.access_log else None
        # start of each request id: random per process; a counter follows
        self._prefix, self._numbers = os.urandom(8).hex(), itertools.count()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        started = time.perf_counter_ns()
        request = Request(
            self.services,
            f"{self._prefix}{next(self._numbers):08x}",
            scope["method"],
            scope.get("raw_path") or scope["path"].encode(),
            scope["query_string"],
            dict(scope["headers"]),
            scope,
            receive,
        )
        answer = await self._dispatcher.handle(request)
        status, route = answer.status, request.route
        await send({"type": "http.response.start", "status": status, "headers": self._heads.make(request, answer)})
        if answer.stream is None:
            await send({"type": "http.response.body", "body": answer.content})
        else:
            await _send_stream(request, answer.content, answer.stream, send)
        refused = status in errors.REFUSED_STATUSES and not request.raw_path.startswith(PUBLIC)
        self._request_rates.count(fault=status in errors.SERVER_ERRORS, refused=refused)
        if self._count:
            self._count(request.method, route.path, status, started)
        if self._log and not (route.is_file and status in FILE_SENT):
            # a request without a route is logged with its method, which may be any text
            name = route.name_in_log if route is not NO_ROUTE else f"{request.method} "
            self._log(request.id, request.caller.name, name, status, started)

    async def _run_start(self) -> str:
        """Run the start hook and return the ASGI message to send. Never raise: granian would then serve anyway."""
        try:
            await self._start()
        except DatabaseUnavailable as away:
            log.problem("start", f"the database is away: {away}")
            return "lifespan.startup.failed"
        except Exception:  # noqa: BLE001 - any error is logged, and the server does not start
            log.failure("start")
            return "lifespan.startup.failed"
        return "lifespan.startup.complete"

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": await self._run_start()})
            elif message["type"] == "lifespan.shutdown":
                await self._stop()
                log.flush()
                await send({"type": "lifespan.shutdown.complete"})
                return


async def _send_stream(request: Request, first: bytes, stream: AsyncGenerator[bytes], send: Send) -> None:
    """Send a streamed response, after its first bytes, until it ends or the client disconnects."""
    await send({"type": "http.response.body", "body": first, "more_body": True})
    gone = asyncio.ensure_future(request.wait_for_disconnect())
    try:
        while piece := await _read_next_piece(stream, gone):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    except Exception:  # noqa: BLE001 - the status is sent already: only log it and end the response
        log.failure(request.id)
    finally:
        gone.cancel()
        await stream.aclose()
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _read_next_piece(stream: AsyncGenerator[bytes], gone: asyncio.Future[None]) -> bytes:
    """Return the next piece of a streamed response; empty at its end or when the client has disconnected."""
    piece = asyncio.ensure_future(anext(stream, b""))
    try:
        await asyncio.wait({piece, gone}, return_when=asyncio.FIRST_COMPLETED)
        return piece.result() if piece.done() else b""
    finally:
        if not piece.done():
            piece.cancel()
            await asyncio.wait({piece})
