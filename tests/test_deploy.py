"""The files in deploy/: each is checked by the program that reads it, where that program is installed."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

import people
import run_cluster
from databases import Sqlite
from gamekeeper.settings import PREFIX, Settings
from run_cluster import Proxy
from server import Server, free_port
from smtp_sink import make_certificate

pytestmark = pytest.mark.long_only

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service")) + sorted(DEPLOY.glob("*.timer"))
INSTALLED = "/opt/gamekeeper/bin/gamekeeper"
HSTS = "Strict-Transport-Security"


def needs(program: str) -> str:
    found = shutil.which(program)
    if not found:
        pytest.skip(f"There is no {program} here.")
    return found


@pytest.fixture
def haproxy() -> str:
    found = run_cluster.haproxy()
    if not found:
        pytest.skip("There is no haproxy here.")
    return found


def test_haproxy_accepts_its_file_with_a_certificate(haproxy: str, tmp_path: Path) -> None:
    made = make_certificate(tmp_path)
    (tmp_path / "game.pem").write_text(made.file.read_text() + made.key.read_text())
    text = (DEPLOY / "haproxy.cfg").read_text().replace("/etc/haproxy/certs/game.pem", str(tmp_path / "game.pem"))
    file = tmp_path / "haproxy.cfg"
    file.write_text(text.replace(run_cluster.ADMIN_SOCKET, str(tmp_path / "admin.sock")))
    done = subprocess.run([haproxy, "-c", "-f", str(file)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


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
    assert ["; Secure" in each.headers["set-cookie"] for each in (direct, through)] == [False, True]
    assert [each.headers.get(HSTS) for each in (direct, through, lost)] == [None, *["max-age=31536000"] * 2]


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    units = [tmp_path / each.name for each in UNITS]
    for unit, source in zip(units, UNITS, strict=True):
        unit.write_text(source.read_text().replace(INSTALLED, f"{Path(sys.executable).parent}/gamekeeper"))
    command = [needs("systemd-analyze"), "verify", *map(str, units)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert [line for line in done.stderr.splitlines() if any(unit.name in line for unit in units)] == []


def test_image_health_check_uses_the_configured_port(sqlite_databases: Sqlite) -> None:
    asks = re.search(r"HEALTHCHECK .*\n +CMD (.*)", (DEPLOY / "Dockerfile").read_text())
    assert asks
    command = [sys.executable, *json.loads(asks[1])[1:]]
    with Server(sqlite_databases.empty()) as server:
        for port, code in ((server.port, 0), (free_port(), 1)):
            done = subprocess.run(command, env={"GAMEKEEPER_PORT": str(port)}, check=False, capture_output=True)
            assert done.returncode == code


def test_deploy_files_and_guide_name_existing_settings() -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.__dataclass_fields__}
    for file in (*DEPLOY.iterdir(), ROOT / "docs" / "deploy.md"):
        assert {*re.findall(rf"{PREFIX}[A-Z_]+", file.read_text())} <= known, file.name
