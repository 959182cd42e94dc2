"""The separate health port: it answers while all API connections are held, in every worker, and serves only health."""

import socket
from contextlib import ExitStack

import httpx
import pytest

from server import Server, free_port

CONNECTIONS = 20
PATIENCE_SECONDS = 2
# SQLite only: the database engine makes no difference for the health port
ON_SQLITE = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


def status(port: int, path: str) -> int:
    return httpx.get(f"http://127.0.0.1:{port}{path}", timeout=30).status_code


def hold(port: int, lines: ExitStack) -> None:
    for _ in range(3 * CONNECTIONS):
        lines.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))


@ON_SQLITE
def test_health_port_answers_while_all_connections_are_held(database: str) -> None:
    health = free_port()
    server = Server(database, health_port=health, open_connections=CONNECTIONS, head_seconds=60)
    with server, ExitStack() as lines:
        assert status(health, "/health/ready") == 200
        hold(server.port, lines)
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{server.url}/health/live", timeout=PATIENCE_SECONDS)
        assert [status(health, path) for path in ("/health/live", "/health/ready", "/metrics")] == [200, 200, 404]
        lines.close()
        assert server.stop() == 0


@ON_SQLITE
def test_held_connections_without_a_request_are_closed_soon(database: str) -> None:
    with Server(database, open_connections=CONNECTIONS, head_seconds=1) as server, ExitStack() as lines:
        hold(server.port, lines)
        assert httpx.get(f"{server.url}/health/live", timeout=30).status_code == 200


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_health_port_is_shared_by_several_workers(database: str) -> None:
    health = free_port()
    with Server(database, health_port=health, workers=2) as server:
        assert {status(health, "/health/ready") for _ in range(10)} == {200}
        assert server.stop() == 0
