"""Call processes of the server, and wait for what other processes do."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from server import Server

SECONDS = 120  # longest wait for a condition or an answer, long enough for a busy machine


class Remote:
    """Calls a server as one of the test accounts."""

    def __init__(self, server: Server, tokens: Mapping[str, str]) -> None:
        self.server, self._tokens = server, tokens

    def call(self, method: str, path: str, body: object = None, by: str = "Root", **headers: str) -> httpx.Response:
        """Send a request, with headers such as `idempotency_key`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"authorization": f"Bearer {self._tokens[by]}"} | named
        return httpx.request(method, self.server.url + path, headers=sent, json=body, timeout=SECONDS)

    def read(self, path: str) -> Any:
        return self.call("GET", path).raise_for_status().json()

    def restart_killed(self) -> None:
        self.server.kill()
        self.server.start()


def wait_until(reached: Callable[[], bool], seconds: float = SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, "the condition was not reached"
        time.sleep(0.02)
