"""What the flat peers share: granian as `gamekeeper serve` starts it, the fixed headers, and the access log."""

import asyncio
import gc
import itertools
import os
import queue
import sys
import threading
from collections.abc import Awaitable, Callable
from time import perf_counter_ns, time
from typing import Any

from gamekeeper import log, settings
from gamekeeper.cli import serve
from gamekeeper.http.response import JSON, POLICY
from gamekeeper.http.response_headers import SECURITY_HEADERS
from gamekeeper.settings import Settings

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

POLICY_HEADER = (b"content-security-policy", POLICY)
NO_SNIFFING, NO_REFERRER = SECURITY_HEADERS
REVALIDATED = (b"cache-control", b"private, no-cache")
NOT_STORED = (b"cache-control", b"no-store")
VARY = (b"vary", b"authorization")
TYPE = (b"content-type", JSON)
CLOSE = (b"connection", b"close")
MOST_CHUNKS = log.QUEUE_BYTES // log.PIPE_BYTES

ids = map((os.urandom(8).hex() + "%08x").__mod__, itertools.count())  # request ids, as Gamekeeper makes them


class AccessLog:
    """Access log like Gamekeeper's: entries are joined, and a thread writes them to standard error."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._size = 0
        self._chunks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._write, daemon=True).start()

    def add(self, request_id: str, caller_and_route: str, status: int, started: int) -> None:
        at, taken = round(time(), 3), (perf_counter_ns() - started) // 1000
        line = f'{{"at":{at},"id":"{request_id}",{caller_and_route},"status":{status},"us":{taken}}}\n'
        if self._size + len(line) > log.PIPE_BYTES:
            self._flush()
        if not self._lines:
            asyncio.get_running_loop().call_later(log.BUFFER_SECONDS, self._flush)
        self._lines.append(line)
        self._size += len(line)

    def _flush(self) -> None:
        lines, self._lines, self._size = self._lines, [], 0
        if lines and self._chunks.qsize() < MOST_CHUNKS:
            self._chunks.put("".join(lines).encode())

    def _write(self) -> None:
        while True:
            os.write(2, self._chunks.get())


async def live(receive: Receive, send: Send, start: Callable[[], Awaitable[None]] | None = None) -> None:
    """Answer granian's lifespan messages."""
    await receive()
    if start:
        await start()
    gc.collect()
    gc.freeze()  # as Gamekeeper does
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


def run(build: Callable[[Settings], App]) -> None:
    """Serve a flat peer: the port and the database URL are the program's arguments."""
    port, database = sys.argv[1:]
    serve.run(settings.load({}, port=int(port), database=database), build, "flat")
