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
from gamekeeper.cli.serve import FIRST_FREE_PORT
from gamekeeper.settings import PREFIX, Settings
from run_cluster import Proxy
from server import Server, free_port

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


def deploy_haproxy(folder: Path) -> str:
    return run_cluster.configuration(folder, free_port(), ["127.0.0.1:5401", "127.0.0.1:5402"])


def test_haproxy_accepts_its_file(haproxy: str, tmp_path: Path) -> None:
    assert check_with_haproxy(haproxy, tmp_path, deploy_haproxy(tmp_path)) == ""


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
def test_haproxy_answers_503_when_no_instance_is_ready(tmp_path: Path, stuck: ThreadingHTTPServer) -> None:
    with Proxy(tmp_path, [stuck.server_port] * 2) as proxy, httpx.Client(base_url=proxy.url, timeout=SECONDS) as client:
        stuck.socket.close()  # HAProxy notices the closed instance at its second health check
        until = time.monotonic() + SECONDS
        while (answer := client.get("/api/info")).json()["Code"] == "overloaded" and time.monotonic() < until:
            time.sleep(0.1)
    assert (answer.status_code, answer.headers["retry-after"], answer.json()["Code"]) == (503, "1", "database_away")


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


def test_systemd_stop_timeout_exceeds_the_longest_request() -> None:
    waits = re.search(r"TimeoutStopSec=(\d+)", (DEPLOY / "gamekeeper.service").read_text())
    assert waits
    assert int(waits[1]) > Settings().stop_seconds


def test_systemd_restarts_a_failing_unit_without_limit() -> None:
    """By default systemd gives up after five attempts in ten seconds; a database may be unreachable for longer."""
    head = (DEPLOY / "gamekeeper.service").read_text().partition("[Service]")[0]
    assert "\nStartLimitIntervalSec=0\n" in head


@pytest.mark.parametrize("unit", [each for each in UNITS if each.suffix == ".service"], ids=lambda each: each.name)
def test_data_folder_is_readable_by_the_service_only(unit: Path) -> None:
    """Each systemd unit sets the data folder's mode when it starts; without a mode it would be readable for all."""
    text = unit.read_text()
    assert ("\nStateDirectory=gamekeeper\n" in text, "\nStateDirectoryMode=0700\n" in text) == (True, True)


# --- Docker: no image is built, since Docker is not installed; the named files must exist --------------------------


def missing_in_image(dockerfile: str, ignore: str) -> list[str]:
    """Return files that the Dockerfile uses and that do not exist or are ignored by the builder."""
    sent = {line[1:] for line in ignore.splitlines() if line.startswith("!")}
    copied = [
        word for line in re.findall(r"^COPY (?!--from)(.*) \S+$", dockerfile, re.MULTILINE) for word in line.split()
    ]
    return [each for each in copied if each not in sent or not (ROOT / each).exists()]


def test_dockerfile_names_existing_files() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    ignore = (DEPLOY / "Dockerfile.dockerignore").read_text()
    assert missing_in_image(dockerfile, ignore) == []
    assert missing_in_image(dockerfile + "COPY source ./src\n", ignore) == ["source"]
    assert missing_in_image(dockerfile, ignore.replace("!LICENSE\n", "")) == ["LICENSE"]


def test_image_contains_the_files_of_the_build() -> None:
    """The Dockerfile must copy every file from which the wheel is built; otherwise `pip install .` fails in it."""
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    for named in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src", "deploy", "docs"):
        assert re.search(rf"^COPY .*\b{re.escape(named)}\b", dockerfile, re.MULTILINE), named


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


def unheard(guide: str, unit: str) -> list[str]:
    """Return mismatches between the address in the systemd service and the addresses in the guide."""
    (port,) = re.findall(r"^GAMEKEEPER_PORT=(\d+)$", guide, re.MULTILINE)
    asked = re.findall(r"https://127\.0\.0\.1(?::(\d+))?/health/ready", guide)
    wrong = [] if int(port) >= FIRST_FREE_PORT or f"\nAmbientCapabilities={CAPABILITY}\n" in unit else ["not allowed"]
    return wrong + [f"asks {each or HTTPS}" for each in asked if each != port]


def test_guide_uses_the_address_of_the_service() -> None:
    unit = (DEPLOY / "gamekeeper.service").read_text()
    assert unheard(GUIDE, unit) == []
    low = GUIDE.replace("GAMEKEEPER_PORT=5443\n", "GAMEKEEPER_PORT=443\n")
    assert unheard(low, unit) == ["not allowed", "asks 5443"]
    assert unheard(GUIDE.replace("127.0.0.1:5443", "127.0.0.1"), unit) == ["asks 443"]


def test_systemd_accepts_the_guides_override_for_a_low_port(tmp_path: Path) -> None:
    (printed,) = re.findall(r"^printf '(.*?)' > \S+/gamekeeper\.service\.d/port\.conf$", GUIDE, re.MULTILINE)
    added = printed.replace("\\n", "\n")
    assert set(added.splitlines()) == {"[Service]", *(f"{way}={CAPABILITY}" for way in WAYS)}
    (tmp_path / "gamekeeper.service.d").mkdir()
    for text, problem in ((added, False), (added.replace("Ambient", "Ambiant"), True)):
        (tmp_path / "gamekeeper.service.d" / "port.conf").write_text(text)
        said = check_with_systemd(tmp_path, {"gamekeeper.service": (DEPLOY / "gamekeeper.service").read_text()})
        assert bool(said) == problem, said


def test_guide_names_every_deploy_file() -> None:
    assert [each.name for each in DEPLOY.iterdir() if f"deploy/{each.name}" not in GUIDE] == []


def test_guide_names_only_existing_deploy_files() -> None:
    assert [each for each in re.findall(r"\]\(\.\./([\w./-]+)\)", GUIDE) if not (ROOT / each).exists()] == []


def test_guide_and_lock_file_name_the_same_patroni() -> None:
    locked = re.search(r"^patroni==([\w.]+)", (ROOT / "requirements-patroni.lock").read_text(), re.MULTILINE)
    assert locked
    assert f"patroni[etcd3]=={locked[1]}" in GUIDE
