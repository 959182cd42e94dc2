"""HTTP requests to the OpenID Connect provider, in threads of their own: the event loop does not wait for them."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import NamedTuple
from urllib.parse import urlsplit

SECONDS = 10.0  # timeout of one request; a person waits for it
MOST_BYTES = 1 << 20  # of an answer; usual ones have a few KiB
THREADS = 4  # requests at the same time; further ones wait within their timeout


class Unreachable(Exception):
    """The provider did not answer, or its answer is too large; the message says why."""


class Fetched(NamedTuple):
    status: int
    content: bytes


class Fetcher:
    """Sends requests. It follows no redirects, and verifies the certificates of https:// addresses."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="oidc")

    async def fetch(self, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Fetched:
        """Send a GET, or a POST if there is a body."""
        sending = asyncio.get_running_loop().run_in_executor(self._threads, _send, url, body, dict(headers or {}))
        try:
            async with asyncio.timeout(SECONDS):
                return await sending
        except TimeoutError:
            raise Unreachable(f"no answer within {SECONDS:.0f} seconds") from None
        except (OSError, HTTPException, ValueError) as error:
            raise Unreachable(str(error) or type(error).__name__) from None


def _send(url: str, body: bytes | None, headers: dict[str, str]) -> Fetched:
    parts = urlsplit(url)
    connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = connect(parts.hostname or "", parts.port, timeout=SECONDS)
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("GET" if body is None else "POST", path, body, {"accept": "application/json", **headers})
        with connection.getresponse() as answer:
            content = answer.read(MOST_BYTES + 1)
    finally:
        connection.close()
    if len(content) > MOST_BYTES:
        raise Unreachable("its answer is too large")
    return Fetched(answer.status, content)
