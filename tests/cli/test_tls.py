"""HTTPS of the server with a real certificate, and error messages for invalid certificates."""

import shutil
import socket
import ssl
import subprocess
import sys
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from command_line import CommandLine
from server import free_port

SECONDS = 30
KEY = ["-newkey", "rsa:2048", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]


class Pair(NamedTuple):
    cert: str
    key: str


def make_certificate(folder: Path, name: str, *protection: str) -> Pair:
    openssl = shutil.which("openssl")
    assert openssl, "install openssl (Debian: openssl)"
    pair = Pair(str(folder / f"{name}.crt"), str(folder / f"{name}.key"))
    files = ["-out", pair.cert, "-keyout", pair.key]
    subprocess.run(
        [openssl, "req", "-x509", *KEY, *files, *(protection or ["-nodes"])], check=True, capture_output=True
    )
    return pair


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def pair(folder: Path) -> Pair:
    return make_certificate(folder, "ours")


@pytest.fixture
def port(database: str, pair: Pair) -> Generator[int]:
    """Start an HTTPS server on all addresses and yield its port; the server must not warn."""
    port = free_port()
    command = [sys.executable, "-m", "gamekeeper", "serve", "--database", database, "--port", str(port)]
    command += ["--host", "0.0.0.0", "--tls-cert", pair.cert, "--tls-key", pair.key]  # noqa: S104 - what is being tested
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == f"Gamekeeper is ready: https://0.0.0.0:{port} (stop with Ctrl-C)\n"
    yield port
    process.terminate()
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 0
    assert "WARNING" not in said


def trusting(pair: Pair, newest: ssl.TLSVersion | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=pair.cert)
    if newest is not None:
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        # allow weak ciphers in this client, so that the server must refuse the connection
        context.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings(action="ignore"):  # ignored: Python warns of old TLS versions
            context.maximum_version = newest
    return context


@pytest.mark.long_only
def test_serve_answers_https(port: int, pair: Pair) -> None:
    with httpx.Client(verify=trusting(pair), base_url=f"https://127.0.0.1:{port}") as client:
        answer = client.get("/health/ready")
        assert (answer.status_code, answer.headers["strict-transport-security"]) == (200, "max-age=31536000")
    with httpx.Client(verify=trusting(pair, ssl.TLSVersion.TLSv1_2)) as client:
        assert client.get(f"https://127.0.0.1:{port}/health/live").is_success
    old = trusting(pair, ssl.TLSVersion.TLSv1_1)
    with (
        socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as line,
        pytest.raises((ssl.SSLError, ConnectionError)),
    ):
        old.wrap_socket(line, server_hostname="127.0.0.1")


def test_invalid_certificates_proxies_and_origins_are_refused_at_start(
    command: CommandLine, folder: Path, pair: Pair
) -> None:
    locked = make_certificate(folder, "locked", "-passout", "pass:open sesame")
    no_file, unread = "cannot be read: No such file or directory.", "must be a PEM certificate and its PEM key without"
    for cert, key, problem in (
        (pair.cert, "", "--tls-key is missing."),
        (pair.cert, str(folder / "none"), no_file),
        (pair.cert, make_certificate(folder, "other").key, "do not match: the key belongs to another certificate."),
        (locked.cert, locked.key, unread),
        (pair.key, pair.cert, unread),
    ):
        said = command.refuses("serve", "--port", str(free_port()), "--tls-cert", cert, "--tls-key", key)
        assert said.startswith("Error: ")
        assert problem in said
    for setting, value in (("TRUSTED_PROXIES", "proxy.example.com"), ("CORS_ORIGINS", "*"), ("RECEIVE_SECONDS", "0")):
        environment: dict[str, Any] = {f"GAMEKEEPER_{setting}": value}
        said = command.refuses("serve", "--port", str(free_port()), **environment)
        assert said.startswith(f"Error: GAMEKEEPER_{setting} ")
