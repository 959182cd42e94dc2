"""The configuration of HAProxy in deploy/, checked with HAProxy where it is installed."""

import subprocess
from pathlib import Path

import httpx
import pytest

import people
import run_cluster
from databases import Sqlite
from run_cluster import Proxy
from server import Server
from smtp_sink import make_certificate

pytestmark = pytest.mark.long_only

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
HSTS = "Strict-Transport-Security"


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
