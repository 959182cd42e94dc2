"""Graceful shutdown by SIGTERM: long polls are answered and the process ends at once.

Also with incomplete requests and idle connections.
"""

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Mapping

import httpx
import pytest

from server import Server

POLLERS = 50
SOON = 50  # seconds, enough for a busy machine; what could block a shutdown here takes a minute or longer
BLOCKED_SECONDS = 120  # stop_seconds of the servers: a blocked shutdown takes longer than SOON
# SQLite only: the engine makes no difference here
ON_SQLITE = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


async def stop_while_they_wait(server: Server, token: str) -> tuple[list[httpx.Response], int, float]:
    headers = {"Authorization": f"Bearer {token}"}
    limits = httpx.Limits(max_connections=POLLERS + 1)
    sent = list[str]()

    async def trace(event: str, _: object) -> None:
        sent.extend([event] if event == "http11.send_request_body.complete" else [])

    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=70, limits=limits) as client:
        after = (await client.get("/api/link/v1/changes?after=now")).json()["Next"]
        poll = client.build_request("GET", f"/api/link/v1/changes?after={after}&wait=60", extensions={"trace": trace})
        polls = [asyncio.ensure_future(client.send(poll)) for _ in range(POLLERS)]
        while len(sent) < POLLERS:  # noqa: ASYNC110 - how long that takes is the machine's matter
            await asyncio.sleep(0.05)
        await client.get("/health/live")  # once this is answered, the server is serving the long polls sent before
        await asyncio.sleep(0.5)
        assert not any(poll.done() for poll in polls)
        began = time.monotonic()
        code = await asyncio.to_thread(server.stop)
        took = time.monotonic() - began
        return await asyncio.gather(*polls), code, took


@pytest.mark.long_only
def test_fifty_long_polls_do_not_delay_the_shutdown(database: str, known_tokens: Mapping[str, str]) -> None:
    with Server(database, stop_seconds=BLOCKED_SECONDS) as server:
        answers, code, took = asyncio.run(stop_while_they_wait(server, known_tokens["Server"]))
    assert (code, took < SOON) == (0, True)
    assert [answer.status_code for answer in answers] == [200] * POLLERS
    assert [answer.json()["Changes"] for answer in answers] == [[]] * POLLERS


HALF = b"POST /api/oauth/token HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 26\r\n\r\n{"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LIVE = b"GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n"


class Stopping:
    """A server that is shutting down, and what can be observed meanwhile."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._began = time.monotonic()
        self.code: int | None = None
        self.took = 0.0
        self._thread = threading.Thread(target=self._stop)
        self._thread.start()

    def end(self) -> tuple[int | None, float]:
        self._thread.join()
        return self.code, self.took

    def _stop(self) -> None:
        self.code = self._server.stop()
        self.took = time.monotonic() - self._began


def connect(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


def begin(line: socket.socket) -> None:
    """Send half a request, and return when the server waits for the rest."""
    line.sendall(HALF)
    assert line.recv(4096) == CONTINUE


def everything(line: socket.socket) -> bytes:
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while part := line.recv(4096):
            found += part
    return found


def refuses(server: Server) -> bool:
    """Return whether the server refuses new connections, within some time after the signal."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            connect(server).close()
        except ConnectionRefusedError:
            return True
        except ConnectionResetError:
            pass  # the server stopped listening before it accepted this connection
        time.sleep(0.05)
    return False


@ON_SQLITE
def test_running_request_is_answered_and_new_connections_are_refused(database: str) -> None:
    settings = {"receive_seconds": 60, "head_seconds": 60, "stop_seconds": BLOCKED_SECONDS}
    with Server(database, **settings) as server, connect(server) as line:
        begin(line)
        stopping = Stopping(server)
        assert refuses(server)
        line.sendall(b" " * 25)
        assert everything(line).startswith(b"HTTP/1.1 400 ")
        code, took = stopping.end()
    assert (code, took < SOON) == (0, True)


@pytest.mark.long_only
@ON_SQLITE
def test_idle_connections_and_a_missing_body_delay_the_shutdown_no_longer_than_their_deadlines(database: str) -> None:
    settings = {"receive_seconds": 2, "head_seconds": 2, "stop_seconds": BLOCKED_SECONDS}
    with Server(database, **settings) as server, connect(server) as line, contextlib.ExitStack() as lines:
        for sent in (b"", LIVE, LIVE[:20]):
            lines.enter_context(connect(server)).sendall(sent)
        begin(line)  # after this answer the server has accepted the earlier connections
        stopping = Stopping(server)
        assert everything(line).startswith(b"HTTP/1.1 408 ")
        code, took = stopping.end()
    # the shutdown waits for the incomplete request head at most head_seconds, here 2
    assert (code, took < SOON) == (0, True)


@ON_SQLITE
def test_shutdown_ends_after_stop_seconds(database: str) -> None:
    with Server(database, receive_seconds=60, head_seconds=60, stop_seconds=2) as server, connect(server) as line:
        begin(line)
        code, took = Stopping(server).end()
        assert everything(line) == b""
    assert (code, took < SOON) == (0, True)
