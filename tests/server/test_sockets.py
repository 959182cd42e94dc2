"""Deadlines and limits of a real server over real sockets: request heads, bodies, idle connections.

The engine makes no difference here, so SQLite is enough.
"""

import contextlib
import json
import select
import socket
import time
from collections.abc import Generator
from typing import Any

import httpx
import pytest

import people
from databases import Sqlite
from loops import over
from server import Server

SECONDS = 1  # seconds: the server's deadline for receiving a request
# seconds, less than the default deadline of 10: a server that ignores its setting is later in every attempt
SOON, ATTEMPTS = 8, 5
CONNECTIONS = 60  # open connections that the server accepts
LATE = 60  # seconds until a late answer counts as a failure, also on a busy machine
GIVE = json.dumps({"itemid": people.COIN.id, "quantity": 1}).encode()
LIVE = b"GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n"


@pytest.fixture(scope="module")
def served(sqlite_databases: Sqlite) -> Generator[tuple[Server, str]]:
    """Start a server with a short receive deadline, and return it with a token."""
    yield from serving(sqlite_databases, SECONDS, open_connections=CONNECTIONS)


@pytest.fixture(scope="module")
def patient(sqlite_databases: Sqlite) -> Generator[tuple[Server, str]]:
    """Start a server with a long receive deadline, so that a busy machine cannot make a request late."""
    yield from serving(sqlite_databases, 60)


def serving(databases: Sqlite, seconds: int, **given: Any) -> Generator[tuple[Server, str]]:
    url = databases.fresh()
    with Server(url, receive_seconds=seconds, head_seconds=seconds, **given) as server:
        yield server, databases.tokens["Root"]
    databases.drop(url)


@pytest.fixture
def server(served: tuple[Server, str]) -> Server:
    return served[0]


def connect(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


def head(token: str, *more: bytes) -> bytes:
    lines = [b"POST /api/v1/players/Bob/items/give HTTP/1.1", b"host: x", b"authorization: Bearer " + token.encode()]
    return b"\r\n".join([*lines, b"content-type: application/json", *more, b"", b""])


def until_closed(line: socket.socket) -> bytes:
    """Read from the socket until the server closes the connection."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while part := line.recv(65_536):
            found += part
    return found


def while_it_trickles(line: socket.socket, part: bytes) -> bytes:
    """Send `part` again and again until the server closes the connection; return the server's answer."""
    began = time.monotonic()
    while not select.select([line], [], [], 0.2)[0]:
        assert time.monotonic() - began < LATE
        line.sendall(part)
    return until_closed(line)


@over("start", b"", b"GET /health", LIVE[:-2], LIVE)
def test_incomplete_head_and_idle_connection_are_closed_at_the_deadline(server: Server, start: bytes) -> None:
    def wait_until_closed() -> float:
        began = time.monotonic()
        with connect(server) as line:
            line.sendall(start)
            found = until_closed(line)
        assert found.count(b"HTTP/1.1 200") == (start == LIVE)
        return time.monotonic() - began

    assert any(SECONDS - 0.5 < wait_until_closed() < SOON for _ in range(ATTEMPTS))


@over("framing", b"content-length: 500", b"transfer-encoding: chunked")
def test_incomplete_body_is_refused_at_the_deadline(served: tuple[Server, str], framing: bytes) -> None:
    server, token = served
    began = time.monotonic()
    with connect(server) as line:
        line.sendall(head(token, framing) + b'5\r\n{"ite\r\n')
        found = until_closed(line)
    answer, _, body = found.partition(b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"\r\nconnection: close" in answer
    assert json.loads(body)["Code"] == "body_too_slow"
    assert SECONDS - 0.5 < time.monotonic() - began < LATE


def test_request_sent_byte_by_byte_gets_no_extra_time(served: tuple[Server, str]) -> None:
    server, token = served
    with connect(server) as line:
        assert b"200" not in while_it_trickles(line, b"G")
    with connect(server) as line:
        line.sendall(head(token, b"content-length: 500"))
        assert while_it_trickles(line, b" ").startswith(b"HTTP/1.1 408 ")


def test_body_in_time_and_head_of_16_kib_or_90_headers_are_accepted_and_more_refused(
    patient: tuple[Server, str],
) -> None:
    server, token = patient
    with connect(server) as line:
        line.sendall(head(token, b"content-length: %d" % len(GIVE)) + GIVE[:10])
        time.sleep(SECONDS / 2)
        line.sendall(GIVE[10:])
        assert line.recv(4096).startswith(b"HTTP/1.1 200 ")
    start = LIVE[:-2]
    for more, status in (
        (b"".join(b"x-%d: y\r\n" % number for number in range(90)), b"200"),
        (b"".join(b"x-%d: y\r\n" % number for number in range(120)), b"431"),
        (b"x-long: " + b"x" * (16_384 - len(start) - 12) + b"\r\n", b"200"),
        (b"x-long: " + b"x" * (16_385 - len(start) - 12) + b"\r\n", b"431"),
    ):
        with connect(server) as line:
            line.sendall(start + more + b"\r\n")
            assert line.recv(4096).split()[1] == status


@pytest.mark.long_only
def test_flood_of_idle_connections_blocks_requests_only_briefly(server: Server) -> None:
    """Each time its deadline passes, the server closes at most CONNECTIONS idle connections and accepts more."""
    began = time.monotonic()
    with contextlib.ExitStack() as idle:
        for _ in range(3 * CONNECTIONS):
            idle.enter_context(connect(server))
        httpx.get(f"{server.url}/health/live", timeout=LATE).raise_for_status()
        assert time.monotonic() - began < 4 * LATE
    assert httpx.get(f"{server.url}/health/live", timeout=LATE).is_success
