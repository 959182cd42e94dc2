"""Graceful shutdown by SIGTERM: running requests and long polls are answered, and nothing else delays the end."""

import contextlib
import socket
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from game_server import LINK
from remote import Remote, wait_until
from server import Server

SOON = 50  # seconds, enough for a busy machine; what could block a shutdown here takes a minute or longer
BLOCKED_SECONDS = 120  # stop_seconds of the servers: a blocked shutdown takes longer than SOON
HALF = b"POST /api/oauth/token HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 26\r\n\r\n{"
LIVE = b"GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n"
# SQLite only: the engine makes no difference here
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


def stop(server: Server) -> tuple[int, bool]:
    """Stop the server; return its exit code, and whether it ended soon."""
    began = time.monotonic()
    return server.stop(), time.monotonic() - began < SOON


def connect(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


def begin(line: socket.socket) -> None:
    """Send half a request, and return when the server waits for the rest."""
    line.sendall(HALF)
    assert line.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"


def read_all(line: socket.socket) -> bytes:
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while part := line.recv(4096):
            found += part
    return found


def refuses(server: Server) -> bool:
    try:
        connect(server).close()
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:
        pass  # the server stopped listening before it accepted this connection
    return False


def test_running_request_and_long_poll_are_answered_and_new_connections_are_refused(
    database: str, known_tokens: Mapping[str, str]
) -> None:
    settings = {"receive_seconds": 60, "head_seconds": 60, "stop_seconds": BLOCKED_SECONDS}
    with Server(database, **settings) as server, connect(server) as line, ThreadPoolExecutor() as pool:
        remote = Remote(server, known_tokens)
        after = remote.read(f"{LINK}/changes?after=now")["Next"]
        poll = pool.submit(remote.read, f"{LINK}/changes?after={after}&wait=60")
        begin(line)
        time.sleep(0.5)
        assert not poll.done()
        stopping: Future[tuple[int, bool]] = pool.submit(stop, server)
        wait_until(lambda: refuses(server))
        assert poll.result()["Changes"] == []
        line.sendall(b" " * 25)
        assert read_all(line).startswith(b"HTTP/1.1 400 ")
        assert stopping.result() == (0, True)


@pytest.mark.long_only
def test_idle_connections_and_a_missing_body_delay_the_shutdown_no_longer_than_their_deadlines(database: str) -> None:
    settings = {"receive_seconds": 2, "head_seconds": 2, "stop_seconds": BLOCKED_SECONDS}
    with Server(database, **settings) as server, connect(server) as line, contextlib.ExitStack() as lines:
        for sent in (b"", LIVE, LIVE[:20]):
            lines.enter_context(connect(server)).sendall(sent)
        begin(line)  # after this answer the server has accepted the earlier connections
        assert stop(server) == (0, True)
        assert read_all(line).startswith(b"HTTP/1.1 408 ")


def test_shutdown_ends_after_stop_seconds(database: str) -> None:
    with Server(database, receive_seconds=60, head_seconds=60, stop_seconds=2) as server, connect(server) as line:
        begin(line)
        assert stop(server) == (0, True)
        assert read_all(line) == b""
