"""The files in deploy/: each is checked by the program that reads it, where that program is installed."""

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import httpx
import pytest

import people
import run_cluster
from databases import Sqlite
from gamekeeper.settings import PREFIX, Settings
from run_cluster import Proxy
from server import Server, free_port

pytestmark = pytest.mark.long_only

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service")) + sorted(DEPLOY.glob("*.timer"))
INSTALLED = "/opt/gamekeeper/bin/gamekeeper"
# seconds for which requests hang; seconds within which an answer must come that does not wait for them
SECONDS, SOON = 60, 20
CAPABILITY, WAYS, HTTPS = "CAP_NET_BIND_SERVICE", ("AmbientCapabilities", "CapabilityBoundingSet"), 443
CAP, EXTRA = 100, 20  # HAProxy's connection limit per client address; connections the test opens beyond it
HSTS = "Strict-Transport-Security"
GUIDE = (ROOT / "docs" / "deploy.md").read_text()


def needs(program: str) -> str:
    found = shutil.which(program)
    if not found:
        pytest.skip(f"There is no {program} here.")
    return found


# --- configuration of HAProxy --------------------------------------------------------------------------------------


@pytest.fixture
def haproxy() -> str:
    found = run_cluster.haproxy()
    if not found:
        pytest.skip("There is no haproxy here.")
    return found


def check_with_haproxy(haproxy: str, folder: Path, text: str) -> str:
    """Return HAProxy's complaints about the configuration file; empty if it is valid."""
    file = folder / "haproxy.cfg"
    file.write_text(text)
    done = subprocess.run([haproxy, "-c", "-f", str(file)], check=False, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def test_haproxy_accepts_its_file_with_a_certificate(haproxy: str, tmp_path: Path) -> None:
    names = ["-subj", "/CN=game.example.test", "-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "cert")]
    subprocess.run(
        [needs("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *names],
        check=True,
        capture_output=True,
    )
    (tmp_path / "game.pem").write_text((tmp_path / "cert").read_text() + (tmp_path / "key").read_text())
    text = (DEPLOY / "haproxy.cfg").read_text().replace("/etc/haproxy/certs/game.pem", str(tmp_path / "game.pem"))
    assert (
        check_with_haproxy(haproxy, tmp_path, text.replace(run_cluster.ADMIN_SOCKET, str(tmp_path / "admin.sock")))
        == ""
    )


class StuckInstance(BaseHTTPRequestHandler):
    """A healthy instance that does not finish requests until it is told to."""

    over, seen = Event(), list[str | None]()

    def do_GET(self) -> None:
        if not self.path.startswith("/health/"):
            self.seen.append(self.headers["X-Forwarded-Proto"])
            self.over.wait(SECONDS)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Replace the request log of http.server: write nothing."""


@pytest.fixture
def stuck() -> Generator[ThreadingHTTPServer]:
    StuckInstance.over.clear()
    StuckInstance.seen.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), StuckInstance) as server:
        serving = Thread(target=server.serve_forever, args=(0.02,))
        serving.start()
        yield server
        StuckInstance.over.set()
        server.shutdown()
        serving.join()


@pytest.mark.usefixtures("haproxy")
def test_haproxy_rejects_requests_when_all_instances_are_full(tmp_path: Path, stuck: ThreadingHTTPServer) -> None:
    """HAProxy rejects excess requests at once, and health checks do not wait in its queue."""
    with (
        Proxy(tmp_path, [stuck.server_port] * 2, places=1) as proxy,
        httpx.Client(base_url=proxy.url, timeout=SECONDS) as client,
        ThreadPoolExecutor(2) as both,
    ):
        served = [both.submit(httpx.get, f"{proxy.url}/api/info", timeout=SECONDS) for _ in range(2)]
        while len(StuckInstance.seen) < len(served):
            time.sleep(0.01)
        began = time.monotonic()
        away = client.get("/api/info")
        alive = client.get("/health/live")
        took = time.monotonic() - began
        StuckInstance.over.set()
        assert [each.result().status_code for each in served] == [200, 200]
    assert (away.status_code, away.headers["retry-after"], away.json()["Code"]) == (503, "1", "overloaded")
    assert (alive.status_code, took < SOON) == (200, True)


@pytest.mark.usefixtures("haproxy")
def test_haproxy_caps_connections_per_address_but_not_those_of_a_trusted_proxy(
    tmp_path: Path, stuck: ThreadingHTTPServer
) -> None:
    proxy = Proxy(tmp_path, [stuck.server_address[1]] * 2)
    text = proxy.file.read_text()
    assert text.count("acl trusted src 10.0.0.0/24") == 1
    proxy.file.write_text(text.replace("acl trusted src 10.0.0.0/24", "acl trusted src 127.0.0.3"))
    with proxy:
        assert [count_open_connections(proxy.port, source) for source in ("127.0.0.2", "127.0.0.3")] == [
            CAP,
            CAP + EXTRA,
        ]
        assert httpx.get(f"{proxy.url}/health/live").status_code == 200  # a client with another address is still served


def count_open_connections(port: int, source: str) -> int:
    """Open CAP + EXTRA connections from one address, and return how many stay open."""
    opened = list[socket.socket]()
    with ExitStack() as lines:
        for _ in range(CAP + EXTRA):
            with suppress(ConnectionResetError):  # ignored: HAProxy rejected the connection
                opened.append(socket.create_connection(("127.0.0.1", port), SECONDS, (source, 0)))
                lines.enter_context(opened[-1])
        return sum(answers(line) for line in opened)


def answers(line: socket.socket) -> bool:
    try:
        line.sendall(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
        # the connection stays open if any HTTP answer comes, even a 408 on a busy machine
        return line.recv(5) == b"HTTP/"
    except OSError:  # HAProxy rejected the connection
        return False


@pytest.mark.usefixtures("haproxy")
def test_session_cookie_behind_haproxy_is_secure(tmp_path: Path, sqlite_databases: Sqlite) -> None:
    """HAProxy accepts only TLS and marks every request so; the test itself connects without TLS."""
    typed = {"name": "Clerk", "password": people.PASSWORD}
    url = sqlite_databases.fresh()
    with (
        Server(url, trusted_proxies="127.0.0.1") as server,
        Proxy(tmp_path, [server.port] * 2) as proxy,
        httpx.Client(headers={"X-Forwarded-Proto": "http"}) as client,
    ):
        direct, through = [client.post(f"{each.url}/console/sign-in", data=typed) for each in (server, proxy)]
        lost = client.get(f"{proxy.url}/metrics")  # HAProxy answers the path /metrics itself
    sqlite_databases.drop(url)
    assert [each.status_code for each in (direct, through, lost)] == [303, 303, 404]
    assert "; Secure" not in direct.headers["set-cookie"]
    assert "; Secure" in through.headers["set-cookie"]
    assert [each.headers.get(HSTS) for each in (direct, through, lost)] == [
        None,
        "max-age=31536000",
        "max-age=31536000",
    ]


# --- units of systemd ----------------------------------------------------------------------------------------------


def check_with_systemd(folder: Path, units: dict[str, str]) -> str:
    """Return systemd's complaints about the units, with the path of our program replaced."""
    for name, text in units.items():
        (folder / name).write_text(text.replace(INSTALLED, f"{Path(sys.executable).parent}/gamekeeper"))
    command = [needs("systemd-analyze"), "verify", *[str(folder / name) for name in units]]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return "\n".join(line for line in done.stderr.splitlines() if any(name in line for name in units))


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    assert check_with_systemd(tmp_path, {each.name: each.read_text() for each in UNITS}) == ""


# --- Docker: no image is built, since Docker is not installed; the named files must exist --------------------------


def test_image_health_check_uses_the_configured_port(stuck: ThreadingHTTPServer) -> None:
    asks = re.search(r"HEALTHCHECK .*\n +CMD (.*)", (DEPLOY / "Dockerfile").read_text())
    assert asks
    command = [sys.executable, *json.loads(asks[1])[1:]]
    assert subprocess.run(command, env={"GAMEKEEPER_PORT": str(stuck.server_port)}, check=False).returncode == 0
    done = subprocess.run(command, env={"GAMEKEEPER_PORT": str(free_port())}, check=False, capture_output=True)
    assert done.returncode != 0


# --- all files of deploy/ ------------------------------------------------------------------------------------------


def unknown_settings(texts: dict[str, str]) -> list[str]:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.__dataclass_fields__}
    return [
        f"{file}: {name}"
        for file, text in texts.items()
        for name in re.findall(rf"{PREFIX}[A-Z_]+", text)
        if name not in known
    ]


def test_deploy_files_name_existing_settings() -> None:
    texts = {each.name: each.read_text() for each in DEPLOY.iterdir()}
    assert unknown_settings({**texts, "deploy.md": GUIDE}) == []
    assert unknown_settings({"x": "GAMEKEEPER_STOP_SECOND=3"}) == ["x: GAMEKEEPER_STOP_SECOND"]
