"""Health checks, and the /metrics page for Prometheus.

The checks say whether the process answers, and whether the database accepts writes. They can have their own port and
thread, so that probes work even if the API's port has no free connections.
"""

import asyncio
import contextlib
import hmac
import socket
import threading

from gamekeeper.game.core import lookup
from gamekeeper.game.core.background_jobs import Job, Run
from gamekeeper.game.core.refusals import Denied
from gamekeeper.game.keeper import Keeper
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import NO_TOKEN, READ, Group, Route
from gamekeeper.http.server import errors
from gamekeeper.http.server.admission import TIMEOUT_SECONDS, SharedQuery
from gamekeeper.http.server.metrics import PUBLISH_SECONDS
from gamekeeper.http.server.request import Request, Services
from gamekeeper.http.server.response import Response
from gamekeeper.http.world import info_shapes
from gamekeeper.store.access import credentials
from gamekeeper.store.engine import database_checks
from gamekeeper.store.engine.interface import DatabaseUnavailable, Writing

# seconds for which a health result is reused: at most two test writes per second, however many load balancers ask
FRESH_SECONDS = 0.5
PROBE_ACCOUNT = "readiness"


def make_readiness_query(keeper: Keeper) -> SharedQuery[None]:
    return SharedQuery(lambda: keeper.store.write(_write_probe, reserved=True), FRESH_SECONDS)


GROUP = Group("Health", "Health checks for load balancers.", 410, NO_TOKEN)
GROUPS = (GROUP,)


@GROUP.operation("GET /health/live", example_answer=info_shapes.Health("live"))
async def get_liveness(request: Request) -> info_shapes.Health:
    """Check that the process answers."""
    del request  # the request is not needed: any answer shows that the process is alive
    return info_shapes.Health("live")


@GROUP.operation("GET /health/ready", example_answer=info_shapes.Health("ready"))
async def get_readiness(request: Request) -> info_shapes.Health:
    """Check that the database accepts writes; 503 after two seconds at the latest."""
    await request.services.readiness.get()
    return info_shapes.Health("ready")


async def _write_probe(tx: Writing) -> None:
    """Test database writes: insert and delete a row. An empty transaction would succeed even on a full disk."""
    row = lookup.new_guid()
    credentials.insert_guess(tx, row, PROBE_ACCOUNT, PROBE_ACCOUNT)
    await tx.flush()
    credentials.delete_guess(tx, row)
    await database_checks.require_privileges(tx)


HEAD_SECONDS = 2.0  # seconds that a health probe has to send its request
LOOP_SECONDS = 2 * TIMEOUT_SECONDS  # timeout in seconds for the API's event loop to answer a health probe
MAX_CONNECTIONS = 64  # concurrent connections of health probes; further ones are closed
MAX_HEAD_BYTES = 4096
LIVE, READY = b"/health/live", b"/health/ready"
OK = 200


class HealthListener:
    """Answers GET /health/live and /health/ready on a separate port. Both check the event loop that serves the API."""

    def __init__(self, host: str, port: int, readiness: SharedQuery[None]) -> None:
        self._host, self._port, self._readiness = host, port, readiness
        self._open = 0
        self._server: asyncio.Server | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="gamekeeper-health", daemon=True)

    async def start(self) -> None:
        self._api_loop = asyncio.get_running_loop()
        self._thread.start()
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._listen(), self._loop))

    async def stop(self) -> None:
        if self._thread.is_alive():
            if self._server is not None:
                self._loop.call_soon_threadsafe(self._server.close)
            self._loop.call_soon_threadsafe(self._loop.stop)
            await asyncio.to_thread(self._thread.join)
            self._loop.close()

    async def _listen(self) -> None:
        family = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)[0][0]
        shared = hasattr(socket, "SO_REUSEPORT")  # the workers of one service share the health port
        self._server = await asyncio.start_server(
            self._serve, self._host, self._port, family=family, reuse_port=shared or None, limit=MAX_HEAD_BYTES
        )

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open <= MAX_CONNECTIONS:
                async with asyncio.timeout(HEAD_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                writer.write(await self._make_answer(head.split(b" ", 2)[1].partition(b"?")[0]))
                async with asyncio.timeout(HEAD_SECONDS):
                    await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, IndexError):
            pass  # ignore a client that is no health probe, or that has closed its connection
        finally:
            self._open -= 1
            writer.close()

    async def _make_answer(self, path: bytes) -> bytes:
        asked = {LIVE: _wait_for_loop, READY: self._readiness.get}
        if path not in asked:
            return _format_response(errors.find_status(errors.NoSuchRoute), "unknown")
        future = asyncio.run_coroutine_threadsafe(asked[path](), self._api_loop)
        with contextlib.suppress(DatabaseUnavailable, TimeoutError, RuntimeError):
            await asyncio.wait_for(asyncio.wrap_future(future), LOOP_SECONDS)
            return _format_response(OK, path.decode().rpartition("/")[2])
        return _format_response(errors.find_status(errors.DatabaseAway), "away")


async def _wait_for_loop() -> None:
    """Do nothing: this coroutine completes when the API's event loop runs it, which proves that the loop works."""


def _format_response(status: int, state: str) -> bytes:
    body = shapes.encode(info_shapes.Health(state))
    fields = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
    return f"HTTP/1.1 {status} \r\n{fields}\r\n".encode() + body


WRONG = "Unknown: send the server's setting metrics_token as the bearer token"
TEXT = b"text/plain; version=0.0.4; charset=utf-8"


async def show_metrics(request: Request) -> Response:
    """Show the metrics. The setting `metrics_token` enables this page, and is its bearer token."""
    token = request.services.keeper.settings.metrics_token
    authorization = request.headers.get(b"authorization", b"").strip()
    scheme, _, sent = authorization.partition(b" ")
    if scheme.lower() != b"bearer" or not hmac.compare_digest(sent.strip(), token.encode()):
        raise Denied(WRONG if authorization else "")
    return Response((await request.services.metrics.render()).encode(), content_type=TEXT)


# the metrics page for Prometheus, which is not part of the API
METRICS_ROUTE = Route(method="GET", path="/metrics", permissions=NO_TOKEN, access=READ, handler=show_metrics)


def _watch_standbys(services: Services) -> Run | None:
    expected = services.keeper.settings.synchronous_standbys
    return database_checks.StandbyMonitor(services.keeper.store, expected).check if expected else None


def _publish_metrics(services: Services) -> Run | None:
    settings = services.keeper.settings
    return services.metrics.publish if settings.metrics_token and settings.workers > 1 else None


JOBS = (
    Job("standbys", database_checks.STANDBY_SECONDS, _watch_standbys),
    Job("metrics", PUBLISH_SECONDS, _publish_metrics),
)
