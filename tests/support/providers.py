"""OpenID Connect providers for tests: a real one (npm's oidc-provider), and a scripted one for bad answers."""

import base64
import hashlib
import hmac
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from server import free_port
from world import PUBLIC_URL

CALLBACK = "/console/sign-in/oidc/callback"
CLIENT_ID, SECRET = "gamekeeper", "provider-secret"
ROOT = Path(__file__).parents[2]
INSTALLED = ROOT / ".venv" / "oidc-provider"
PROGRAM = ROOT / "tests" / "oidc_provider" / "provider.mjs"
MISSING = "oidc-provider is not installed: `make setup` does that where there is Node with npm"
READY_SECONDS = 120.0
POLL_SECONDS = 0.05  # interval at which the scripted provider looks whether it has to stop


def make_settings(issuer: str, folder: Path, roles: str = "") -> dict[str, Any]:
    """Return the settings of a server that uses a provider of this file."""
    file = folder / "oidc-client-secret"
    file.write_text(f"{SECRET}\n")
    file.chmod(0o600)
    return {
        "oidc_issuer": issuer,
        "oidc_client_id": CLIENT_ID,
        "oidc_client_secret_file": str(file),
        "oidc_roles": roles,
    }


class RealProvider:
    """Runs npm's oidc-provider on this machine. It accepts every login, with any password."""

    def __init__(self, folder: Path, console: str = PUBLIC_URL) -> None:
        if not (INSTALLED / "ready").exists() or shutil.which("node") is None:
            pytest.skip(MISSING)
        self.port = free_port()
        self.issuer = f"http://127.0.0.1:{self.port}"
        self._groups = folder / "groups.json"
        self._callback = console + CALLBACK
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.set_groups({})
        library = INSTALLED / "node_modules" / "oidc-provider" / "lib" / "index.js"
        self._process = subprocess.Popen(
            [shutil.which("node") or "", str(PROGRAM), str(self.port), self._callback, str(self._groups)],
            env={**os.environ, "OIDC_PROVIDER": library.as_uri()},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._wait_until_ready(self._process)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()

    def set_groups(self, groups: Mapping[str, list[str]]) -> None:
        self._groups.write_text(json.dumps(groups))

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            assert process.poll() is None, "oidc-provider has stopped"
            try:
                httpx.get(f"{self.issuer}/.well-known/openid-configuration").raise_for_status()
            except httpx.HTTPError:
                time.sleep(0.1)
            else:
                return
        pytest.fail("oidc-provider did not start")


@cache
def make_key(kid: str = "one") -> RSAKey:
    """Make a key once for all tests: that takes longer than a test."""
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig"})


class ScriptedProvider:
    """A provider in a thread of this process. A test chooses the claims of its ID tokens, and how they are signed."""

    def __init__(self) -> None:
        self.key = make_key()
        self.published = [self.key]  # keys in its JWKS
        self.claims: dict[str, Any] = {}  # claims that replace or extend the usual ones; None: left out
        self.algorithm = "RS256"
        self.answers: dict[
            str, tuple[int, object]
        ] = {}  # path → answer instead of the usual one; bytes are sent as such
        self.open = threading.Event()  # while it is not set, no request is answered
        self.open.set()
        self.requests: list[str] = []
        self.accepts_codes_twice = False
        self._codes: dict[str, dict[str, str]] = {}  # code → query of the request that began its sign-in
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(self))
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=[POLL_SECONDS], daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def sign_in(self, address: str, subject: str = "ann-at-work", **claims: Any) -> str:
        """Sign a person in; return the path of the callback. `claims`: see `self.claims`."""
        asked = dict(parse_qsl(urlsplit(address).query))
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{asked['state']}"
        self._codes[code] = asked
        self.claims = {"sub": subject, "preferred_username": "Dora", **claims}
        return f"{CALLBACK}?{urlencode({'code': code, 'state': asked['state'], 'iss': self.issuer})}"

    def answer(self, path: str, form: Mapping[str, str], authorization: str) -> tuple[int, object]:
        self.requests.append(path)
        self.open.wait()
        if path in self.answers:
            return self.answers[path]
        if path == "/.well-known/openid-configuration":
            return 200, self._describe()
        if path == "/jwks":
            return 200, {"keys": [each.as_dict(private=False) for each in self.published]}
        if path != "/token" or authorization != f"Basic {_encode(f'{CLIENT_ID}:{SECRET}'.encode(), pad=True)}":
            return 401, {"error": "invalid_client"}
        asked = self._codes.get(form["code"])
        if not self.accepts_codes_twice:
            self._codes.pop(form["code"], None)
        hashed = _encode(hashlib.sha256(form["code_verifier"].encode()).digest())
        if asked is None or asked["code_challenge"] != hashed or asked["redirect_uri"] != form["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        return 200, {"token_type": "Bearer", "access_token": "unused", "id_token": self._make_token(asked)}

    def _describe(self) -> dict[str, Any]:
        paths = {"authorization_endpoint": "/auth", "token_endpoint": "/token", "jwks_uri": "/jwks"}
        return {"issuer": self.issuer, **{name: self.issuer + path for name, path in paths.items()}}

    def _make_token(self, asked: Mapping[str, str]) -> str:
        now = int(time.time())
        usual = {"iss": self.issuer, "aud": CLIENT_ID, "nonce": asked["nonce"], "iat": now, "exp": now + 300}
        claims = {name: value for name, value in (usual | self.claims).items() if value is not None}
        if self.algorithm in {"none", "HS256"}:
            parts = ({"alg": self.algorithm, "kid": self.key.kid}, claims)
            text = ".".join(_encode(json.dumps(each).encode()) for each in parts)
            return f"{text}.{self._sign_with_public_key(text) if self.algorithm == 'HS256' else ''}"
        header = {"alg": self.algorithm, "kid": self.key.kid}
        return jwt.encode(header, claims, self.key, algorithms=[self.algorithm])

    def _sign_with_public_key(self, text: str) -> str:
        """Sign with what everybody knows: a client that takes the public key for a shared secret would accept it."""
        return _encode(hmac.digest(self.key.as_pem(private=False), text.encode(), "sha256"))


def _encode(content: bytes, *, pad: bool = False) -> str:
    if pad:
        return base64.b64encode(content).decode()
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _make_handler(provider: ScriptedProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(provider.answer(self.path, {}, ""))

        def do_POST(self) -> None:
            form = dict(parse_qsl(self.rfile.read(int(self.headers["content-length"])).decode()))
            self._send(provider.answer(self.path, form, self.headers.get("authorization", "")))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named so by the base class
            """Write no log."""

        def _send(self, answer: tuple[int, object]) -> None:
            content = answer[1] if isinstance(answer[1], bytes) else json.dumps(answer[1]).encode()
            self.send_response(answer[0])
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler
