"""A client in a forked process opens its own connections, and never reads another process's answers."""

import json
import subprocess
import sys
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[1] / "support" / "forked_client.py"


class KeepAliveServer(ThreadingHTTPServer):
    """HTTP server that returns empty inventories, keeps connections open, and records the port of each caller."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.ports: dict[str, int] = {}  # TCP port of the caller, by the player name in the path
        self.grants: list[str] = []
        self.expires_in = 3600
        self.refreshes = threading.Event()  # the server answers a token refresh only after this event is set
        self.refreshes.set()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: KeepAliveServer  # pyright: ignore[reportIncompatibleVariableOverride] - only this server uses the handler

    def do_GET(self) -> None:
        self.server.ports[self.path.split("/")[4]] = self.client_address[1]
        self.reply([])

    def do_POST(self) -> None:
        self.server.grants.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["grant_type"])
        if self.server.grants[-1] == "refresh_token":
            self.server.refreshes.wait(30)
        fields = {"access_token": f"gka_{len(self.server.grants)}", "token_type": "bearer", "refresh_token": "r"}
        self.reply({**fields, "expires_in": self.server.expires_in, ".issued": "", ".expires": ""})

    def reply(self, body: Any) -> None:
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - name of the base class's parameter
        """Replace the request log of http.server: print nothing."""


@pytest.fixture
def server() -> Generator[KeepAliveServer]:
    with KeepAliveServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.refreshes.set()
        server.shutdown()


@pytest.fixture(params=["blocking", "awaiting"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def run(case: str, kind: str, server: KeepAliveServer) -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM, case, kind, server.url], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr


def test_forked_process_opens_its_own_connections(kind: str, server: KeepAliveServer) -> None:
    run("use_before_and_after", kind, server)
    ports = server.ports
    # the parent used the same port before and after the fork: its connection stays usable
    assert ports["before"] == ports["after"]
    assert len({ports["before"], ports["child"], ports["grandchild"]}) == 3
    # one log-in only: the forked process uses the same access token while it is valid
    assert server.grants == ["password"]


def test_forked_process_never_uses_the_refresh_token_of_its_parent(kind: str, server: KeepAliveServer) -> None:
    server.expires_in = 0
    run("use_before_and_after", kind, server)
    # with the password: the parent before the fork, child and grandchild; with the refresh token: the parent after it
    assert server.grants == ["password"] * 3 + ["refresh_token"]


def test_fork_while_a_token_is_renewed_does_not_hang(server: KeepAliveServer) -> None:
    server.expires_in = 0
    server.refreshes.clear()
    run("fork_during_refresh", "blocking", server)
    assert "child" in server.ports
