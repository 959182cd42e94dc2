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
from typing import Any, cast

from gamekeeper.cli import serve
from gamekeeper.game.lists import ordered_lists
from gamekeeper.game.lists.list_index import BucketIndex
from gamekeeper.game.players import inventory
from gamekeeper.ground import log, settings
from gamekeeper.ground.instants import DAY_MS, MILLISECONDS, MINUTES, SECONDS, encode_date
from gamekeeper.ground.settings import Settings
from gamekeeper.http import keeper_builder
from gamekeeper.http.contract.shapes import DEFAULT_SIZE, encode
from gamekeeper.http.players.player_shapes import encode_player_tail
from gamekeeper.http.players.players import encode_records
from gamekeeper.http.server import caller, static_files
from gamekeeper.http.server.asgi import Asgi
from gamekeeper.http.server.response import JSON, POLICY, REPLAY_HEADER
from gamekeeper.http.server.response_headers import SECURITY_HEADERS
from gamekeeper.store.players.players import RecordRow

Message = dict[str, Any]
Headers = Mapping[bytes, bytes]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
BuildApp = Callable[[Settings], Asgi]
LogAccess = Callable[[str, str, str, int, int], None]  # request id, name as JSON, route, status, start

PLAYERS = b"/api/v1/players/"
LOOKUP = "GET /api/v1/players/[lookupKey]"
GIVE = "POST /api/v1/players/[lookupKey]/items/give"
NAMES, RANK = "GET /api/v1/players", "GET /api/v1/players/rank"

ids = map((os.urandom(8).hex() + "%08x").__mod__, itertools.count())  # request ids, as Gamekeeper makes them
MOST_CHUNKS = log.QUEUE_BYTES // log.PIPE_BYTES

# What a caller's token is believed to be: until when (monotonic), the name as JSON, account id, token id, read-only
Believed = tuple[float, str, str, str, bool]


def believe(row: Sequence[Any]) -> Believed:
    """Make a caller from a row of the statement `caller` in tokens.sql."""
    until = monotonic() + min(caller.CACHE_SECONDS, row[2] / 1000)
    return until, encode(row[4]).decode(), row[3], row[0], bool(row[1])


def encode_record(row: RecordRow) -> bytes:
    """Encode a player from a row of player_records: the stored document with its tail."""
    document, class_name, map_name, online, last = row
    tail = encode_player_tail(class_name, map_name, online)
    if last is None:
        return b"".join((document[:-1], tail, b"null}"))
    rest = last % DAY_MS
    clock = MINUTES[rest // 60_000], SECONDS[rest // 1000 % 60], MILLISECONDS[rest % 1000]
    return b"".join((document[:-1], tail, b'"', encode_date(last // DAY_MS), *clock, b'"}'))


def find_rows(index: BucketIndex, query: bytes, largest: int, *, descending: bool) -> tuple[int, int, Any, int, int]:
    """Find a page of an ordered list: its number and size, and where to seek: key, limit and offset."""
    values = dict(pair.split(b"=") for pair in query.split(b"&")) if query else {}
    page, size = int(values.get(b"page", 0)), min(int(values.get(b"pageSize", DEFAULT_SIZE)), largest)
    end = index.total - page * size if descending else min(page * size + size, index.total)
    first = max(end - size, 0) if descending else page * size
    if first >= end:
        return page, size, index.blocks[0].starts[0], 0, 0
    bucket = index.find_at_position(first)
    return page, size, bucket.start, end - first, first - bucket.before


def encode_page(total: int, page: int, size: int, rows: Sequence[Any]) -> bytes:
    head = b'{"Total":%d,"Page":%d,"PageSize":%d,"Count":%d,"Values":[' % (total, page, size, len(rows))
    return b"%b%b]}" % (head, b",".join(encode_records(rows)))


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
    if held is not None and static_files.is_listed(tag, held):
        status, body = 304, b""
    else:
        found += (TYPE, (b"content-length", b"%d" % len(body)))
    if headers.get(b"connection") == b"close":
        found.append(CLOSE)
    return {"type": "http.response.start", "status": status, "headers": found}, body


def answer_write(request_id: str, headers: Headers, body: bytes, *, replayed: bool) -> Message:
    """Return the start of an answer to a change."""
    found = [
        (b"x-request-id", request_id.encode()),
        POLICY_HEADER,
        NO_SNIFFING,
        NO_REFERRER,
        NOT_STORED,
        TYPE,
        (b"content-length", b"%d" % len(body)),
    ]
    if replayed:
        found.insert(2, REPLAY_HEADER)
    if headers.get(b"connection") == b"close":
        found.append(CLOSE)
    return {"type": "http.response.start", "status": 200, "headers": found}


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


class Peer:
    """What the peers of both engines have; their operations are below them, one function each."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.room = inventory.read_capacity(settings)
        self.believed: dict[str, Believed] = {}  # callers by the hash of their token
        self.access: LogAccess = (
            AccessLog().add if settings.access_log else lambda _id, _name, _route, _status, _start: None
        )
        # the counts of the ordered lists; Gamekeeper's store loads them at the start and when the lists have changed
        self.store = keeper_builder.open_store(settings)
        self.view: Any = None

    def __call__(self, scope: Message, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "lifespan":
            return self.live(receive, send)
        if scope["method"] == "POST":
            return self.give_item(scope, receive, send)
        path = scope["raw_path"].partition(b"?")[0]
        if path == b"/api/v1/players":
            return self.list_players(scope, send, NAMES)
        if path == b"/api/v1/players/rank":
            return self.list_players(scope, send, RANK)
        return self.get_player(scope, send)

    async def live(self, receive: Receive, send: Send) -> None:
        """Answer granian's lifespan messages."""
        await receive()
        await self.open()
        gc.collect()
        gc.freeze()  # as Gamekeeper does
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def open(self) -> None:
        await self.store.open()
        await ordered_lists.Lists(self.store).prepare()
        await self.load_view()
        await self.connect()

    async def close(self) -> None:
        await self.disconnect()
        await self.store.close()

    async def load_view(self) -> None:
        self.view = await self.store.read(ordered_lists.load_view)

    async def connect(self) -> None:
        raise NotImplementedError

    async def disconnect(self) -> None:
        raise NotImplementedError

    async def get_player(self, scope: Message, send: Send) -> None:
        raise NotImplementedError

    async def list_players(self, scope: Message, send: Send, route: str) -> None:
        raise NotImplementedError

    async def give_item(self, scope: Message, receive: Receive, send: Send) -> None:
        raise NotImplementedError


def run(build: Callable[[Settings], Peer]) -> None:
    """Serve a flat peer: the port and the database URL are the program's arguments."""
    port, database = sys.argv[1:]
    app = cast("BuildApp", build)  # safe cast: granian accepts any ASGI app
    serve.run(settings.load({}, port=int(port), database=database), app, "flat")
