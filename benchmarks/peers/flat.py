"""The flat peer: one function per operation that does Gamekeeper's work for it, and no more. README.md has its limits.

python -m benchmarks.peers.flat 5401 sqlite:////path/to/game.db     serves on port 5401

Of Gamekeeper it uses the SQL texts only.
"""

import asyncio
import gc
import itertools
import multiprocessing
import os
import queue
import re
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import date, timedelta
from functools import cache, partial
from hashlib import blake2b, sha256
from typing import Any, NamedTuple
from unicodedata import normalize
from urllib.parse import parse_qsl, unquote

import apsw
import asyncpg
import msgspec
from granian.constants import HTTPModes, Interfaces, Loops
from granian.server import MPServer

from gamekeeper.store.access import tokens
from gamekeeper.store.core import idempotency_keys, ledger
from gamekeeper.store.engine import postgres_connection, sqlite
from gamekeeper.store.engine.postgres import SESSION
from gamekeeper.store.engine.postgres_connection import BEGIN, RAISE_COMMIT
from gamekeeper.store.engine.statements import AFTER_CLASHES, combine
from gamekeeper.store.players import items, players
from gamekeeper.store.world import catalogue

Message = dict[str, Any]
Send = Callable[[Message], Awaitable[None]]
PLAYERS = "/api/v1/players"
GIVE_ROUTE = "/api/v1/players/[lookupKey]/items/give"
NAMES = {PLAYERS: "{0}fold", f"{PLAYERS}/rank": "{0}level DESC, {0}exp DESC, {0}id DESC"}  # path → order of the list
# The newest change of the lists stands beside each row: until there is another one, the number of players is known.
PAGE = """SELECT (SELECT CAST(MAX(mark) AS TEXT) FROM list_changes),
                 r.document, r.class_name, r.map_name, r.online, r.last_online
          FROM (SELECT id FROM players ORDER BY {0} LIMIT $1 OFFSET $2) page JOIN player_records r ON r.id = page.id
          ORDER BY {1}"""
EACH = "CROSS JOIN LATERAL (SELECT * FROM player_records WHERE id = page.id OFFSET 0) r"
COUNT = "SELECT (SELECT CAST(MAX(mark) AS TEXT) FROM list_changes), COUNT(*) FROM players"
BELIEVED_SECONDS, CONNECTIONS, MAX_BATCH, LOG_BYTES, LARGEST_PAGE = 4, 8, 256, 4096, 100
SIZES, STACK_CAP = {"inventory": 35, "bank": 100}, 1_000_000  # Gamekeeper's defaults
NO_BUFFS, NOTHING = "[0,0,0,0,0]", "00000000-0000-0000-0000-000000000000"
OK, NOT_MODIFIED, BAD, UNKNOWN, MISSING, CONFLICT = 200, 304, 400, 401, 404, 409
SAFE = [
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]
KEPT = [(b"cache-control", b"private, no-cache"), (b"vary", b"authorization")]
NOT_STORED, REPLAYED = (b"cache-control", b"no-store"), (b"idempotent-replay", b"true")
TYPE = (b"content-type", b"application/json; charset=utf-8")
encode = msgspec.json.Encoder().encode
is_guid = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch
ids = map((os.urandom(8).hex() + "%08x").__mod__, itertools.count())


class Gift(NamedTuple):
    request_id: str
    account_id: str
    token_id: str
    key: str | None
    fingerprint: str
    reason: str | None
    player: str
    item_id: str
    quantity: int
    overflow: bool


class Placed(NamedTuple):
    slots: str  # the changed slots, as `save_slots` in items.sql reads them
    before: str
    after: str
    answer: bytes


Outcome = tuple[int, bytes, bool]  # status, answer, and whether the answer was stored before
REFUSED = {status: (status, b"", False) for status in (MISSING, CONFLICT)}


def to_bytes(json: str | bytes) -> bytes:
    return json.encode() if isinstance(json, str) else json


def find_by(name: str) -> tuple[str, Sequence[str]]:
    """Tell by what a player is looked up, and the values of the statement."""
    if is_guid(name):
        return "id", (name,)
    fold = normalize("NFC", name.casefold())
    return "fold", (fold, name, fold + AFTER_CLASHES)


def render(engine: str, words: dict[str, str]) -> dict[str, str]:
    statements = {
        "token": tokens.SQL.caller,
        "by id": players.SQL.record_by_id,
        "by fold": players.SQL.record_by_fold,
        "lock id": players.SQL.hold_by_id,
        "lock fold": players.SQL.hold_by_fold,
        "key": idempotency_keys.SQL.find,
        "item": catalogue.SQL.item,
        "slots": items.SQL.slots_of_player,
        "save": items.SQL.save_slots,
        "append": ledger.SQL.append,
        "keep": idempotency_keys.SQL.insert,
    }
    found = {name: each.render(engine, words) for name, each in statements.items()}
    pages = {path: PAGE.format(order.format(""), order.format("r.")) for path, order in NAMES.items()}
    return found | pages | {"count": COUNT}


def place(gift: Gift, player_id: str, item: Sequence[Any], rows: Sequence[Any]) -> Placed | None:
    """Fill stacks in slot order, then free slots; then the bank, if that was asked for. None: they do not fit."""
    stackable, max_stack, bag_slots = item
    most = (max_stack or STACK_CAP) if stackable else 1
    left = gift.quantity
    changed: dict[str, list[tuple[int, int, int, str]]] = {where: [] for where in SIZES}  # slot, before, after, buffs
    held = {where: sum(row[3] for row in rows if (row[0], row[2]) == (where, gift.item_id)) for where in SIZES}
    for where in [*SIZES][: 1 + gift.overflow]:
        here = [row for row in rows if row[0] == where]
        stacks = [row[1::2] for row in here if stackable and row[2] == gift.item_id and row[3] < most and not row[4]]
        taken = {row[1] for row in here}
        free = ((slot, 0, NO_BUFFS) for slot in range(SIZES[where]) if slot not in taken)
        for slot, quantity, buffs in itertools.chain(stacks, free):
            if not left:
                break
            added = min(left, most - quantity)
            changed[where].append((slot, quantity, quantity + added, buffs))
            held[where] += added
            left -= added
    if left or bag_slots:
        return None

    def side(number: int) -> str:
        lists = [
            f'"{name}":[{",".join(write_slot(slot, counts[number], buffs) for slot, *counts, buffs in sorted(found))}]'
            for name, found in (("Items", changed["inventory"]), ("Bank", changed["bank"]))
            if found
        ]
        return f"{{{','.join(lists)}}}"

    def write_slot(slot: int, quantity: int, buffs: str) -> str:
        item_id = gift.item_id if quantity else NOTHING
        return f'{{"Slot":{slot},"BagId":null,"ItemId":"{item_id}","Quantity":{quantity},"StatBuffs":{buffs}}}'

    same = {"player_id": player_id, "item_id": gift.item_id, "bag_id": None}
    slots = [
        {**same, "place": where, "slot": slot, "quantity": after, "buffs": buffs}
        for where, found in changed.items()
        for slot, _, after, buffs in found
    ]
    counts = (gift.item_id.encode(), sum(held.values()), held["bank"], held["inventory"])
    answer = b'{"id":"%b","quantity":{"total":%d,"bank":%d,"inventory":%d}}' % counts
    return Placed(encode({str(number): each for number, each in enumerate(slots)}).decode(), side(0), side(1), answer)


# --- databases -----------------------------------------------------------------------------------------------------


class Sqlite:
    """Reads on the event loop, and one thread that commits the waiting gifts together."""

    def __init__(self, url: str) -> None:
        self.texts = {name: text.replace("$", "?") for name, text in render("sqlite", sqlite.PLACEHOLDERS).items()}
        self.read, self.write = (self._connect(url.removeprefix("sqlite:///")).execute for _ in range(2))
        self.jobs: queue.SimpleQueue[tuple[Gift, asyncio.Future[Outcome]]] = queue.SimpleQueue()

    def _connect(self, path: str) -> apsw.Connection:
        db = apsw.Connection(path, statementcachesize=256)
        db.set_busy_timeout(5000)
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        for name, value in {**sqlite.PRAGMAS, "cache_size": -sqlite.READER_CACHE_KIB}.items():
            db.pragma(name, value)
        return db

    async def open(self) -> None:
        self.loop = asyncio.get_running_loop()
        threading.Thread(target=self._serve_writes, daemon=True).start()

    async def fetch(self, name: str, *values: object) -> Sequence[Any]:
        return self.read(self.texts[name], values).fetchall()

    def give(self, gift: Gift) -> Awaitable[Outcome]:
        future: asyncio.Future[Outcome] = self.loop.create_future()
        self.jobs.put((gift, future))
        return future

    def _serve_writes(self) -> None:
        while True:
            batch = [self.jobs.get()]
            while len(batch) < MAX_BATCH and not self.jobs.empty():
                batch.append(self.jobs.get())
            self.write("BEGIN IMMEDIATE")
            outcomes = [self._give(gift) for gift, _ in batch]
            self.write("COMMIT")
            self.loop.call_soon_threadsafe(self._resolve, batch, outcomes)

    def _resolve(self, batch: list[tuple[Gift, "asyncio.Future[Outcome]"]], outcomes: list[Outcome]) -> None:
        for (_, future), outcome in zip(batch, outcomes, strict=True):
            future.set_result(outcome)

    def _fetch(self, name: str, *values: Any) -> list[Any]:  # noqa: ANN401 - apsw's own
        return self.write(self.texts[name], values).fetchall()

    def _give(self, gift: Gift) -> Outcome:
        known = self._fetch("key", gift.account_id, gift.key) if gift.key else []
        if known:
            return (OK, known[0][1], True) if known[0][0] == gift.fingerprint else REFUSED[CONFLICT]
        kind, values = find_by(gift.player)
        found, item = self._fetch(f"lock {kind}", *values), self._fetch("item", gift.item_id)
        if not found or not item:
            return REFUSED[MISSING]
        player_id = found[0][0]
        placed = place(gift, player_id, item[0][2:5], self._fetch("slots", player_id))
        if placed is None:
            return REFUSED[CONFLICT]
        by = (gift.account_id, gift.token_id, False, player_id, None)
        self._fetch("save", placed.slots)
        self._fetch("append", "items_given", *by, placed.before, placed.after, gift.request_id, gift.reason, None)
        if gift.key:
            self._fetch("keep", gift.account_id, gift.key, gift.fingerprint, placed.answer, player_id, None)
        return OK, placed.answer, False


class Postgres:
    """Prepared statements on connections of its own. A gift takes four messages: lock, read, write, commit."""

    # The first message keeps the id for the next one: reading the slots must begin when the lock is granted.
    KEEP_ID = "WITH locked AS ({}) SELECT set_config('flat.player', CAST(id AS text), true) FROM locked"
    READ = """SELECT k.fingerprint, k.answer, p.id, i.stackable, i.max_stack, i.bag_slots,
                     s.place, s.slot, s.item_id, s.quantity, s.bag_id, s.buffs
              FROM (SELECT CAST(NULLIF(current_setting('flat.player', true), '') AS uuid) AS id) p
              LEFT JOIN masked_keys k ON k.account_id = $1 AND k.key = $2
              LEFT JOIN items i ON i.id = $3 LEFT JOIN slots s ON s.player_id = p.id ORDER BY s.place, s.slot"""

    def __init__(self, url: str) -> None:
        self.url, self.texts = url, render("postgres", postgres_connection.PLACEHOLDERS)
        for path in NAMES:  # look each row up, whatever number of them the plan expects
            self.texts[path] = self.texts[path].replace("JOIN player_records r ON r.id = page.id", EACH)
        writes = [self.texts.pop(name) for name in ("save", "append", "keep")]
        kept = {name: self.KEEP_ID.format(self.texts[name]) for name in ("lock id", "lock fold")}
        self.texts |= {**kept, "read gift": self.READ, "write": combine(writes[:2]), "write and keep": combine(writes)}
        self.free: asyncio.Queue[tuple[Any, dict[str, Any]]] = asyncio.Queue()

    async def open(self) -> None:
        driver: Any = asyncpg
        for _ in range(CONNECTIONS):
            db = await driver.connect(self.url, server_settings=SESSION, statement_cache_size=0)
            plain: dict[str, Any] = {"schema": "pg_catalog", "encoder": str, "decoder": str}
            await db.set_type_codec("uuid", **plain)
            await db.set_type_codec("json", **plain | {"encoder": to_bytes, "decoder": bytes, "format": "binary"})
            prepared = {
                name: await db.prepare(text, name=name.replace(" ", "_").replace("/", "_"))
                for name, text in self.texts.items()
            }
            self.free.put_nowait((db, prepared))

    async def fetch(self, name: str, *values: object) -> Sequence[Any]:
        line = await self.free.get()
        try:
            return await line[1][name].fetch(*values)
        finally:
            self.free.put_nowait(line)

    async def give(self, gift: Gift) -> Outcome:
        line = db, prepared = await self.free.get()
        try:
            await db.execute(self._begin(gift))
            outcome = await self._give(prepared, gift)
            await db.execute("COMMIT")
            return outcome
        finally:
            if db.is_in_transaction():
                await db.execute("ROLLBACK")
            self.free.put_nowait(line)

    def _begin(self, gift: Gift) -> str:
        """Write the first message: begin, claim the key, and lock the player. Texts are in it as hex digits."""
        digest = blake2b(f"{gift.account_id}\n{gift.key}".encode(), digest_size=8).digest()
        number = int.from_bytes(digest, "big", signed=True)
        claim = f"; SELECT pg_advisory_xact_lock({number})" if gift.key else ""
        kind, values = find_by(gift.player)
        texts = [f"convert_from('\\x{each.encode().hex()}', 'UTF8')" for each in values]
        given = ", ".join([f"CAST({texts[0]} AS uuid)"] if kind == "id" else texts)
        return f"{BEGIN}; {RAISE_COMMIT}{claim}; EXECUTE lock_{kind}({given})"

    async def _give(self, prepared: dict[str, Any], gift: Gift) -> Outcome:
        rows = await prepared["read gift"].fetch(gift.account_id, gift.key or "", gift.item_id)
        fingerprint, answer, player_id, *item = rows[0][:6]
        if fingerprint is not None:
            return (OK, answer, True) if fingerprint == gift.fingerprint else REFUSED[CONFLICT]
        if player_id is None or item[0] is None:
            return REFUSED[MISSING]
        placed = place(gift, player_id, item, [row[6:] for row in rows if row[6]])
        if placed is None:
            return REFUSED[CONFLICT]
        by = (gift.account_id, gift.token_id, False, player_id, None)
        change = ("items_given", *by, placed.before, placed.after, gift.request_id, gift.reason, None)
        kept = (gift.account_id, gift.key, gift.fingerprint, placed.answer, player_id, None) if gift.key else ()
        await prepared["write and keep" if gift.key else "write"].fetch(placed.slots, *change, *kept)
        return OK, placed.answer, False


# --- the application -----------------------------------------------------------------------------------------------


@cache
def write_day(number: int) -> bytes:
    return (date(1970, 1, 1) + timedelta(number)).isoformat().encode()


def encode_record(document: bytes, class_name: str, map_name: str, online: int, last: int | None) -> bytes:
    """Put the tail in the place of the stored document's closing brace."""
    moment = b"null"
    if last is not None:
        day, rest = divmod(last, 86_400_000)
        clock = (rest // 3_600_000, rest // 60_000 % 60, rest // 1000 % 60, rest % 1000)
        moment = b'"%bT%02d:%02d:%02d.%03dZ"' % (write_day(day), *clock)
    tail = (document[:-1], encode(class_name), encode(map_name), b"true" if online else b"false", moment)
    return b'%b,"ClassName":%b,"MapName":%b,"Online":%b,"LastOnline":%b}' % tail


class Flat:
    def __init__(self, url: str) -> None:
        self.db = Sqlite(url) if url.startswith("sqlite") else Postgres(url)
        self.believed: dict[bytes, tuple[float, Sequence[Any]]] = {}  # callers by their header, and until when
        self.mark, self.total = "", 0  # newest change of the lists when the players were counted
        self.lines, self.size = list[bytes](), 0

    async def __call__(self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Send) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await self.db.open()
            gc.collect()
            gc.freeze()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        began, request_id, headers = time.perf_counter_ns(), next(ids), dict(scope["headers"])
        path, _, query = scope["raw_path"].decode().partition("?")
        caller = await self._find_caller(headers[b"authorization"])
        route, more, body = path, KEPT, b""
        if caller is None:
            status = UNKNOWN
        elif scope["method"] == "POST":
            sent = (await receive())["body"]
            route = GIVE_ROUTE
            status, body, replayed = await self._give(request_id, caller, path, headers, sent)
            more = [*([REPLAYED] if replayed else []), NOT_STORED]
        elif path in NAMES:
            status, body = OK, await self._list_players(path, query or scope["query_string"].decode())
        else:
            route = f"{PLAYERS}/[lookupKey]"
            kind, values = find_by(unquote(path[len(PLAYERS) + 1 :]))
            rows = await self.db.fetch(f"by {kind}", *values)
            status, body = (OK, encode_record(*rows[0])) if rows else (MISSING, b"")
        found = [(b"x-request-id", request_id.encode()), *SAFE]
        if more is KEPT:
            tag = b'"%b"' % sha256(body).hexdigest()[:32].encode()
            found += (*KEPT, (b"etag", tag))
            status, body = (NOT_MODIFIED, b"") if tag in headers.get(b"if-none-match", b"") else (status, body)
        else:
            found[2:2] = more[:-1]
            found.append(NOT_STORED)
        found += () if status == NOT_MODIFIED else (TYPE, (b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": status, "headers": found})
        await send({"type": "http.response.body", "body": body})
        self._log(request_id, encode(caller[4] if caller else ""), f"{scope['method']} {route}", status, began)

    async def _find_caller(self, authorization: bytes) -> Sequence[Any] | None:
        until, caller = self.believed.get(authorization, (0.0, ()))
        if until > time.monotonic():
            return caller
        rows = await self.db.fetch("token", sha256(authorization.removeprefix(b"Bearer ")).hexdigest())
        if not rows:
            return None
        life = min(BELIEVED_SECONDS, rows[0][2] / 1000)
        self.believed[authorization] = (time.monotonic() + life, rows[0])
        return rows[0]

    async def _list_players(self, path: str, query: str) -> bytes:
        given = dict(parse_qsl(query))
        page, size = int(given.get("page", 0)), min(int(given.get("pageSize", 5)), LARGEST_PAGE)
        rows = await self.db.fetch(path, size, page * size)
        if not rows or rows[0][0] != self.mark:
            ((self.mark, self.total),) = await self.db.fetch("count")
        head = b'{"Total":%d,"Page":%d,"PageSize":%d,"Count":%d,"Values":[' % (self.total, page, size, len(rows))
        return b"%b%b]}" % (head, b",".join([encode_record(*row[1:]) for row in rows]))

    async def _give(
        self, request_id: str, caller: Sequence[Any], path: str, headers: dict[bytes, bytes], body: bytes
    ) -> Outcome:
        wish = msgspec.json.decode(body)
        name, key, reason = unquote(path.split("/")[4]), headers.get(b"idempotency-key"), headers.get(b"x-reason")
        asked = {"itemid": "", "quantity": 1, "bankoverflow": False} | wish
        fingerprint = sha256(encode(["POST", GIVE_ROUTE, [name], asked])).hexdigest() if key else ""
        texts = (key.decode() if key else None, fingerprint, reason.decode() if reason else None, name)
        gift = Gift(request_id, caller[3], caller[0], *texts, *asked.values())
        return (BAD, b"", False) if caller[1] or not is_guid(gift.item_id) else await self.db.give(gift)

    def _log(self, request_id: str, caller: bytes, route: str, status: int, began: int) -> None:
        """Add a line to the access log, which is written some KiB at a time."""
        taken = (time.perf_counter_ns() - began) // 1000
        known = (time.time(), request_id.encode(), caller, route.encode(), status, taken)
        line = b'{"at":%.3f,"id":"%b","caller":%b,"route":"%b","status":%d,"us":%d}\n' % known
        self.lines.append(line)
        self.size += len(line)
        if self.size > LOG_BYTES:
            os.write(2, b"".join(self.lines))
            self.lines, self.size = [], 0


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn", force=True)
    port, database = sys.argv[1:]
    MPServer(
        "flat",
        address="127.0.0.1",
        port=int(port),
        interface=Interfaces.ASGI,
        loop=Loops.auto,
        http=HTTPModes.http1,
        websockets=False,
        log_enabled=False,
    ).serve(target_loader=partial(Flat, database), wrap_loader=False)
