"""HTTP requests to the OpenID Connect provider, in threads of their own: the event loop does not wait for them."""

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from socket import socket
from typing import NamedTuple
from urllib.parse import urlsplit

SECONDS = 10.0  # timeout of one request as a whole; a person waits for it
MAX_BYTES = 1 << 20  # of an answer; usual ones have a few KiB
PIECE_BYTES = 1 << 16  # of an answer that are read at once
THREADS = 4  # requests at the same time; further ones wait within their timeout
MAX_WAITING = 16  # requests that run or wait; further ones are refused, because each keeps a slot of the admission


class Unreachable(Exception):
    """The provider did not answer, or its answer is too large; the message says why."""


class Busy(Unreachable):
    """Too many requests to the provider wait already. This says nothing about the provider."""


class Fetched(NamedTuple):
    status: int
    content: bytes


class Fetcher:
    """Sends requests. It follows no redirects, and verifies the certificates of https:// addresses."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="oidc")
        self._waiting = 0

    def close(self) -> None:
        """Cancel waiting requests. Those that run end by their timeout."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def fetch(self, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Fetched:
        """Send a GET, or a POST if there is a body."""
        if self._waiting >= MAX_WAITING:
            raise Busy("too many people are signing in at the same time")
        self._waiting += 1
        loop, deadline = asyncio.get_running_loop(), time.monotonic() + SECONDS
        try:
            sending = loop.run_in_executor(self._threads, _send, url, body, dict(headers or {}), deadline)
            async with asyncio.timeout(SECONDS):
                return await sending
        except TimeoutError:
            raise Unreachable(f"no answer within {SECONDS:.0f} seconds") from None
        except (OSError, HTTPException, ValueError) as error:
            raise Unreachable(str(error) or type(error).__name__) from None
        finally:
            self._waiting -= 1


def _send(url: str, body: bytes | None, headers: dict[str, str], deadline: float) -> Fetched:
    parts = urlsplit(url)
    connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = connect(parts.hostname or "", parts.port, timeout=_find_seconds_left(deadline))
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("GET" if body is None else "POST", path, body, {"accept": "application/json", **headers})
        sock = connection.sock  # kept: the connection forgets it if the provider closes after the answer
        with connection.getresponse() as answer:
            return Fetched(answer.status, _read(sock, answer, deadline))
    finally:
        connection.close()


def _read(sock: socket, answer: HTTPResponse, deadline: float) -> bytes:
    """Read the content in pieces: the timeout of a socket applies to each read, the deadline to all of them."""
    content, length = b"", answer.length  # the length is None if the provider did not send it
    while len(content) <= MAX_BYTES:
        sock.settimeout(_find_seconds_left(deadline))
        piece = b"" if len(content) == length else answer.read1(PIECE_BYTES)
        if not piece:
            return content
        content += piece
    raise Unreachable("its answer is too large")


def _find_seconds_left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
