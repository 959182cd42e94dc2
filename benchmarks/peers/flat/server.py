"""What the flat peers share: granian as `gamekeeper serve` starts it, the fixed headers, and the access log."""

import asyncio
import gc
import itertools
import os
import queue
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from time import monotonic, perf_counter_ns, time
from typing import Any

from gamekeeper import log, settings
from gamekeeper.cli import serve
from gamekeeper.http import caller, etags
from gamekeeper.http.instants import format_instant
from gamekeeper.http.response import JSON, POLICY
from gamekeeper.http.response_headers import SECURITY_HEADERS
from gamekeeper.http.wire.scalars import encode
from gamekeeper.settings import Settings

Message = dict[str, Any]
Headers = Mapping[bytes, bytes]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

PLAYERS = b"/api/v1/players/"
LOOKUP = "GET /api/v1/players/[lookupKey]"

ids = map((os.urandom(8).hex() + "%08x").__mod__, itertools.count())  # request ids, as Gamekeeper makes them
MOST_CHUNKS = log.QUEUE_BYTES // log.PIPE_BYTES

# What a caller's token is believed to be: until when (monotonic), the name as JSON, account id, token id, read-only
Believed = tuple[float, str, str, str, bool]


def believe(row: Sequence[Any]) -> Believed:
    """Make a caller from a row of the statement `caller` in tokens.sql."""
    until = monotonic() + min(caller.CACHE_SECONDS, row[2] / 1000)
    return until, encode(row[4]).decode(), row[3], row[0], bool(row[1])


def encode_record(row: Sequence[Any]) -> bytes:
    """Encode a player from a row of player_records: the stored document with its tail."""
    _, _, document, class_name, map_name, online, last = row
    return b'%b,"ClassName":%b,"MapName":%b,"Online":%b,"LastOnline":%b}' % (
        document[:-1],
        encode(class_name),
        encode(map_name),
        b"true" if online else b"false",
        b"null" if last is None else b'"%b"' % format_instant(last).encode(),
    )


# --- answers -------------------------------------------------------------------------------------------------------

POLICY_HEADER = (b"content-security-policy", POLICY)
NO_SNIFFING, NO_REFERRER = SECURITY_HEADERS
REVALIDATED = (b"cache-control", b"private, no-cache")
NOT_STORED = (b"cache-control", b"no-store")
VARY = (b"vary", b"authorization")
TYPE = (b"content-type", JSON)
CLOSE = (b"connection", b"close")


def answer_read(request_id: str, headers: Headers, body: bytes) -> tuple[Message, bytes]:
    """Return the start of an answer that the client may keep, and its body: empty if the client has it already."""
    tag = b'"%b"' % sha256(body).hexdigest()[:32].encode()
    found = [
        (b"x-request-id", request_id.encode()),
        POLICY_HEADER,
        NO_SNIFFING,
        NO_REFERRER,
        REVALIDATED,
        VARY,
        (b"etag", tag),
    ]
    status, held = 200, headers.get(b"if-none-match")
    if held is not None and etags.is_listed(tag, held):
        status, body = 304, b""
    else:
        found += (TYPE, (b"content-length", b"%d" % len(body)))
    if headers.get(b"connection") == b"close":
        found.append(CLOSE)
    return {"type": "http.response.start", "status": status, "headers": found}, body


async def refuse(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


# --- access log ----------------------------------------------------------------------------------------------------


class AccessLog:
    """Access log like Gamekeeper's: entries are joined, and a thread writes them to standard error."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._size = 0
        self._chunks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._write, daemon=True).start()

    def add(self, request_id: str, name: str, route: str, status: int, started: int) -> None:
        """Add an entry. `name`: the caller's name as JSON."""
        at, taken = round(time(), 3), (perf_counter_ns() - started) // 1000
        line = f'{{"at":{at},"id":"{request_id}","caller":{name},"route":"{route}","status":{status},"us":{taken}}}\n'
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


# --- the process ---------------------------------------------------------------------------------------------------


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
