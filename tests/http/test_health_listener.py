"""The separate health port: it answers while all API connections are held, and serves only health.

test_metrics.py tests it with several workers.
"""

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
@pytest.mark.long_only
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
