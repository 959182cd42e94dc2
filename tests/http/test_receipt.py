"""Deadlines and caps of a real server, over real sockets: heads, bodies, idle connections.

The database has no part in it; SQLite is enough.
"""

import contextlib
import json
import select
import socket
import time
from collections.abc import Generator

import httpx
import pytest

import people
from databases import Sqlite
from server import Server

SECONDS = 1  # that the server here waits for a request
LATE = 8  # without the setting it would wait for ten
CONNECTIONS = 60
GIVE = json.dumps({"itemid": people.COIN.id, "quantity": 1}).encode()
LIVE = b"GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n"


@pytest.fixture(scope="module")
def served(sqlite_databases: Sqlite) -> Generator[tuple[Server, str]]:
    """A server, and a token for it."""
    yield from serving(sqlite_databases, SECONDS)


@pytest.fixture(scope="module")
def patient(sqlite_databases: Sqlite) -> Generator[tuple[Server, str]]:
    """The same for what has nothing to do with time: however busy the machine is, nobody comes too late."""
    yield from serving(sqlite_databases, 60)


def serving(databases: Sqlite, seconds: int) -> Generator[tuple[Server, str]]:
    url = databases.fresh()
    with Server(url, receive_seconds=seconds, head_seconds=seconds, open_connections=CONNECTIONS) as server:
        yield server, databases.tokens["Root"]
    databases.drop(url)


@pytest.fixture
def server(served: tuple[Server, str]) -> Server:
    return served[0]


@pytest.fixture
def token(served: tuple[Server, str]) -> str:
    return served[1]


def connect(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


def head(token: str, *more: bytes) -> bytes:
    lines = [b"POST /api/v1/players/Bob/items/give HTTP/1.1", b"host: x", b"authorization: Bearer " + token.encode()]
    return b"\r\n".join([*lines, b"content-type: application/json", *more, b"", b""])


def until_closed(line: socket.socket) -> bytes:
    """What comes before the server closes."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while part := line.recv(65_536):
            found += part
    return found


def while_it_trickles(line: socket.socket, part: bytes) -> bytes:
    """What comes before the server closes, which it does while more and more is sent."""
    began = time.monotonic()
    while not select.select([line], [], [], 0.2)[0]:
        assert time.monotonic() - began < LATE
        line.sendall(part)
    return until_closed(line)


@pytest.mark.parametrize("start", [b"", b"GET /health", LIVE[:-2], LIVE])
def test_a_head_has_its_time_and_a_kept_connection_too(server: Server, start: bytes) -> None:
    began = time.monotonic()
    with connect(server) as line:
        line.sendall(start)
        found = until_closed(line)
    assert found.count(b"HTTP/1.1 200") == (start == LIVE)
    assert SECONDS - 0.5 < time.monotonic() - began < LATE


def test_a_head_that_comes_byte_by_byte_gets_no_more_time(server: Server) -> None:
    with connect(server) as line:
        assert b"200" not in while_it_trickles(line, b"G")


@pytest.mark.parametrize("framing", [b"content-length: 500", b"transfer-encoding: chunked"])
def test_a_body_has_its_time(server: Server, token: str, framing: bytes) -> None:
    began = time.monotonic()
    with connect(server) as line:
        line.sendall(head(token, framing) + b'5\r\n{"ite\r\n')
        found = until_closed(line)
    answer, _, body = found.partition(b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"\r\nconnection: close" in answer
    assert json.loads(body)["Code"] == "body_too_slow"
    assert json.loads(body)["Message"] == f"The body did not come within {SECONDS} seconds."
    assert SECONDS - 0.5 < time.monotonic() - began < LATE


def test_a_body_that_trickles_gets_no_more_time(server: Server, token: str) -> None:
    with connect(server) as line:
        line.sendall(head(token, b"content-length: 500"))
        assert while_it_trickles(line, b" ").startswith(b"HTTP/1.1 408 ")


def test_a_body_in_time_is_taken(patient: tuple[Server, str]) -> None:
    server, token = patient
    with connect(server) as line:
        line.sendall(head(token, b"content-length: %d" % len(GIVE)) + GIVE[:10])
        time.sleep(SECONDS / 2)
        line.sendall(GIVE[10:])
        assert line.recv(4096).startswith(b"HTTP/1.1 200 ")


def test_those_turned_away_keep_their_connection(patient: tuple[Server, str]) -> None:
    """An answer before the body was read; what comes after it is still understood, or the connection closed."""
    with connect(patient[0]) as line:
        last = LIVE.replace(b"host: x", b"host: x\r\nconnection: close")
        line.sendall(head("nobodys", b"content-length: %d" % len(GIVE)) + GIVE + last)
        found = until_closed(line)
    assert found.startswith(b"HTTP/1.1 401 ")
    assert found.count(b"HTTP/1.1 ") - 1 == found.count(b"HTTP/1.1 200 ") <= 1


def test_16_kib_of_head_are_taken_and_one_more_byte_is_not(patient: tuple[Server, str]) -> None:
    for size, status in ((16_384, b"200"), (16_385, b"431")):
        line_end = b"\r\n\r\n"
        start = b"GET /health/live HTTP/1.1\r\nhost: x\r\nx-long: "
        with connect(patient[0]) as line:
            line.sendall(start + b"x" * (size - len(start) - len(line_end)) + line_end)
            assert line.recv(4096).split()[1] == status


def test_as_many_headers_as_anybody_needs(patient: tuple[Server, str]) -> None:
    for count, status in ((90, b"200"), (120, b"431")):
        with connect(patient[0]) as line:
            line.sendall(LIVE[:-2] + b"".join(b"x-%d: y\r\n" % number for number in range(count)) + b"\r\n")
            assert line.recv(4096).split()[1] == status


def test_a_flood_of_idle_connections_locks_nobody_out_for_long(server: Server) -> None:
    idle = [connect(server) for _ in range(3 * CONNECTIONS)]
    began = time.monotonic()
    try:
        httpx.get(f"{server.url}/health/live", timeout=60).raise_for_status()
        waited = time.monotonic() - began
    finally:
        for each in idle:
            each.close()
    rounds = 4  # those before us in the queue come in by rounds of as many as there are places
    assert waited < rounds * LATE
    assert httpx.get(f"{server.url}/health/live", timeout=30).is_success


def test_a_thousand_idle_connections_are_in_nobodys_way(sqlite_databases: Sqlite) -> None:
    with Server(sqlite_databases.fresh(), receive_seconds=60, head_seconds=60) as server:
        idle = [connect(server) for _ in range(1000)]
        for _ in range(20):  # whoever had to wait for one of them to go would wait for a minute
            httpx.get(f"{server.url}/health/live", timeout=30).raise_for_status()
        for each in idle:
            each.close()
