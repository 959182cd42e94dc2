"""HTTP requests to the OpenID Connect provider.

They run in threads of their own: the event loop does not wait for them. It ends each at its deadline.
"""

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from socket import SHUT_RDWR, SOCK_STREAM, getaddrinfo, socket
from threading import Lock
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


class Exchange:
    """One request in a thread, which the event loop can end at any time.

    The timeout of a socket alone would not do: it starts again with each byte that the provider sends.
    """

    def __init__(self) -> None:
        self._deadline = time.monotonic() + SECONDS
        self._lock = Lock()
        self._socket: socket | None = None  # duplicate of the connection's socket: TLS detaches the original
        self._ended = False

    def connect(self, host: str, port: int) -> socket:
        """Connect to the first address of the host that answers."""
        failure = OSError(f"{host} has no address")
        for family, kind, protocol, _, address in getaddrinfo(host, port, type=SOCK_STREAM):
            connected = socket(family, kind, protocol)
            try:
                connected.settimeout(max(self._deadline - time.monotonic(), 0.001))
                self._watch(connected)
                connected.connect(address)
            except OSError as error:
                connected.close()
                failure = error
            else:
                return connected
        raise failure

    def end(self) -> None:
        """Shut the connection down: whatever the thread waits for ends."""
        with self._lock:
            self._ended = True
            if self._socket:
                with suppress(OSError):  # it is not connected any more
                    self._socket.shutdown(SHUT_RDWR)
                self._socket.close()

    def require_running(self) -> None:
        if self._ended:
            raise TimeoutError

    def _watch(self, connected: socket) -> None:
        with self._lock:
            self.require_running()
            if self._socket:
                self._socket.close()
            self._socket = connected.dup()


class _Connection(HTTPConnection):
    exchange: Exchange

    def connect(self) -> None:
        self.sock = self.exchange.connect(self.host, self.port)


class _TlsConnection(HTTPSConnection, _Connection):
    """HTTPSConnection calls `connect` of the next class, here `_Connection`, and adds TLS."""


class Fetcher:
    """Sends requests. It follows no redirects, and verifies the certificates of https:// addresses."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="oidc")
        self._exchanges = set[Exchange]()  # that run or wait

    def close(self) -> None:
        """Cancel waiting requests, and end those that run."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for each in self._exchanges:
            each.end()

    async def fetch(self, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Fetched:
        """Send a GET, or a POST if there is a body."""
        if len(self._exchanges) >= MAX_WAITING:
            raise Busy("too many people are signing in at the same time")
        exchange = Exchange()
        self._exchanges.add(exchange)
        try:
            async with asyncio.timeout(SECONDS):
                sending = asyncio.get_running_loop().run_in_executor(
                    self._threads, _send, exchange, url, body, dict(headers or {})
                )
                return await sending
        except TimeoutError:
            raise Unreachable(f"no answer within {SECONDS:.0f} seconds") from None
        except (OSError, HTTPException, ValueError) as error:
            raise Unreachable(str(error) or type(error).__name__) from None
        finally:
            self._exchanges.remove(exchange)
            exchange.end()


def _send(exchange: Exchange, url: str, body: bytes | None, headers: dict[str, str]) -> Fetched:
    exchange.require_running()
    parts = urlsplit(url)
    connection = (_TlsConnection if parts.scheme == "https" else _Connection)(parts.hostname or "", parts.port)
    connection.exchange = exchange
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("GET" if body is None else "POST", path, body, {"accept": "application/json", **headers})
        with connection.getresponse() as answer:
            fetched = Fetched(answer.status, _read(answer))
    finally:
        connection.close()
    exchange.require_running()  # otherwise the answer may be incomplete
    return fetched


def _read(answer: HTTPResponse) -> bytes:
    content, length = b"", answer.length  # the length is None if the provider did not send it
    while len(content) <= MAX_BYTES:
        piece = b"" if len(content) == length else answer.read1(PIECE_BYTES)
        if not piece:
            return content
        content += piece
    raise Unreachable("its answer is too large")
