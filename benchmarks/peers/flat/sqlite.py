"""The flat peer on SQLite: each operation is one function that does all of Gamekeeper's work for it, and no more."""

import asyncio
import queue
import threading
from collections.abc import Sequence
from hashlib import sha256
from time import monotonic, perf_counter_ns
from unicodedata import normalize
from urllib.parse import unquote_to_bytes

import apsw

from benchmarks.peers.flat import gifts, server
from benchmarks.peers.flat.gifts import Gift
from benchmarks.peers.flat.server import PLAYERS, Message, Peer, Receive, Send
from gamekeeper.game.core.lookup import is_nameable, parse_guid
from gamekeeper.ground.settings import Settings
from gamekeeper.store.access import tokens
from gamekeeper.store.core import idempotency_keys, ledger, ordered_lists
from gamekeeper.store.engine.clock import SteadyClock
from gamekeeper.store.engine.sqlite import BUSY_MS, CACHED_STATEMENTS, PLACEHOLDERS, PRAGMAS, READER_CACHE_KIB
from gamekeeper.store.engine.statements import AFTER_CLASHES, Statement
from gamekeeper.store.players import items, players
from gamekeeper.store.world import catalogue


def _render(statement: Statement) -> str:
    return statement.render("sqlite", PLACEHOLDERS).replace("$", "?")


FIND_TOKEN, FIND_NEWS = _render(tokens.SQL.caller), _render(ordered_lists.SQL.news)
FIND_ID, FIND_FOLD = _render(players.SQL.record_by_id), _render(players.SQL.record_by_fold)
SEEK_RANK, SEEK_NAME = _render(players.SQL.records_from_rank), _render(players.SQL.records_from_name)
FIND_KEY, TOUCH_KEY, INSERT_KEY = (
    _render(idempotency_keys.SQL.find),
    _render(idempotency_keys.SQL.touch),
    _render(idempotency_keys.SQL.insert),
)
LOCK_ID, LOCK_FOLD = _render(players.SQL.hold_by_id), _render(players.SQL.hold_by_fold)
FIND_ITEM, FIND_SLOTS = _render(catalogue.SQL.item), _render(items.SQL.slots_of_player)
SAVE_SLOTS, APPEND = _render(items.SQL.save_slots), _render(ledger.SQL.append)

MAX_BATCH = 256  # gifts in one transaction, as in Gamekeeper
Outcome = tuple[bytes, bool] | int  # the answer and whether it was stored before, or the status of a refusal
Job = tuple["asyncio.Future[Outcome]", Gift]


class SqlitePeer(Peer):
    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        path = settings.database.removeprefix("sqlite:///")
        self.reader, self.writer = _connect(path), _connect(path)
        self.reader.pragma("query_only", "ON")
        self.reader.pragma("cache_size", -READER_CACHE_KIB)
        # two cursors: `find` is for statements that are read to their end at once
        self.find, self.read, self.write = (each.cursor().execute for each in (self.reader, self.reader, self.writer))
        self.jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()

    async def connect(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.thread = threading.Thread(target=self._serve_writes, daemon=True)
        self.thread.start()

    async def disconnect(self) -> None:
        self.jobs.put(None)
        self.thread.join()
        self.reader.close()
        self.writer.close()

    async def get_player(self, scope: Message, send: Send) -> None:
        started, request_id, headers = perf_counter_ns(), next(server.ids), dict(scope["headers"])
        access_hash = sha256(headers[b"authorization"].removeprefix(b"Bearer ")).hexdigest()
        caller = self.believed.get(access_hash)
        if caller is None or caller[0] <= monotonic():
            rows = self.find(FIND_TOKEN, (access_hash,)).fetchall()
            if not rows:
                await server.refuse(send, 401)
                return
            caller = self.believed[access_hash] = server.believe(rows[0])
        key = scope["raw_path"][len(PLAYERS) :]
        text = (unquote_to_bytes(key) if b"%" in key else key).decode("utf-8", "replace")
        guid = parse_guid(text)
        if guid:
            rows = self.find(FIND_ID, (guid,)).fetchall()
        else:
            fold = normalize("NFC", text.casefold())
            rows = self.find(FIND_FOLD, (fold, text, fold + AFTER_CLASHES)).fetchall() if is_nameable(text) else []
        if not rows:
            await server.refuse(send, 404)
            return
        start, body = server.answer_read(request_id, headers, server.encode_record(rows[0]))
        await send(start)
        await send({"type": "http.response.body", "body": body})
        self.access(request_id, caller[1], server.LOOKUP, start["status"], started)

    async def list_players(self, scope: Message, send: Send, route: str) -> None:
        started, request_id, headers = perf_counter_ns(), next(server.ids), dict(scope["headers"])
        access_hash = sha256(headers[b"authorization"].removeprefix(b"Bearer ")).hexdigest()
        caller = self.believed.get(access_hash)
        if caller is None or caller[0] <= monotonic():
            rows = self.find(FIND_TOKEN, (access_hash,)).fetchall()
            if not rows:
                await server.refuse(send, 401)
                return
            caller = self.believed[access_hash] = server.believe(rows[0])
        ranked = route is server.RANK
        while True:
            view = self.view
            index = view.indexes["rank" if ranked else "names"]
            page, size, key, limit, offset = server.find_rows(
                index, scope["query_string"], self.settings.max_page_size, descending=ranked
            )
            news = self.read(FIND_NEWS, (view.mark,))  # open until the page is read: both from one snapshot
            where = (*key, limit, offset) if ranked else (key, limit, offset)
            rows = self.find(SEEK_RANK if ranked else SEEK_NAME, where).fetchall()
            ((number, whole, life, newest, _),) = news.fetchall()
            if newest is None and whole and (number, life) == (view.checkpoint, view.life):
                break
            await self.load_view()
        body = server.encode_page(index.total, page, size, rows[::-1] if ranked else rows)
        start, body = server.answer_read(request_id, headers, body)
        await send(start)
        await send({"type": "http.response.body", "body": body})
        self.access(request_id, caller[1], route, start["status"], started)

    async def give_item(self, scope: Message, receive: Receive, send: Send) -> None:
        started, request_id, headers = perf_counter_ns(), next(server.ids), dict(scope["headers"])
        async with asyncio.timeout(self.settings.receive_seconds):
            message = await receive()
            body = message["body"]
            while message.get("more_body") and len(body) <= self.settings.body_limit:
                message = await receive()
                body += message["body"]
        access_hash = sha256(headers[b"authorization"].removeprefix(b"Bearer ")).hexdigest()
        caller = self.believed.get(access_hash)
        if caller is None or caller[0] <= monotonic():
            rows = self.find(FIND_TOKEN, (access_hash,)).fetchall()
            if not rows:
                await server.refuse(send, 401)
                return
            caller = self.believed[access_hash] = server.believe(rows[0])
        gift = gifts.read(request_id, caller, scope["raw_path"], headers, body)
        if gift is None:
            await server.refuse(send, 400)
            return
        future = self.loop.create_future()
        self.jobs.put((future, gift))
        outcome = await future
        if isinstance(outcome, int):
            await server.refuse(send, outcome)
            return
        answer, replayed = outcome
        await send(server.answer_write(request_id, headers, answer, replayed=replayed))
        await send({"type": "http.response.body", "body": answer})
        self.access(request_id, caller[1], server.GIVE, 200, started)

    def _serve_writes(self) -> None:
        """Commit the waiting gifts together, in the one thread that writes."""
        while job := self.jobs.get():
            batch = [job]
            while len(batch) < MAX_BATCH and not self.jobs.empty() and (job := self.jobs.get()):
                batch.append(job)
            self.loop.call_soon_threadsafe(_resolve, batch, self._commit(batch))
            if job is None:
                break

    def _commit(self, batch: Sequence[Job]) -> list[Outcome]:
        """Commit gifts in one transaction; if that fails, each alone. A refused gift has written nothing."""
        try:
            self.write("BEGIN IMMEDIATE")
            outcomes = [self._give(gift) for _, gift in batch]
            self.write("COMMIT")
        except apsw.Error:
            self.write("ROLLBACK")
            return [503] if len(batch) == 1 else [outcome for each in batch for outcome in self._commit([each])]
        return outcomes

    def _give(self, gift: Gift) -> Outcome:
        write = self.write
        known = write(FIND_KEY, (gift.account_id, gift.key)).fetchone() if gift.key else None
        if known:
            write(TOUCH_KEY, (gift.account_id, gift.key))
            return (known[1], True) if known[0] == gift.fingerprint else 409
        fold = gift.fold
        player = (
            write(LOCK_ID, (gift.guid,)) if gift.guid else write(LOCK_FOLD, (fold, gift.name, fold + AFTER_CLASHES))
        )
        found, item = player.fetchone(), write(FIND_ITEM, (gift.item_id,)).fetchone()
        if found is None or item is None:
            return 404
        placed = gifts.place(gift, found[0], item[2:5], write(FIND_SLOTS, (found[0],)).fetchall(), self.room)
        if placed is None:
            return 409
        slots, before, after, answer = placed
        write(SAVE_SLOTS, (slots,))
        by = (gift.account_id, gift.token_id, False, found[0], None)
        write(APPEND, ("items_given", *by, before, after, gift.request_id, gift.reason, None))
        if gift.key:
            write(INSERT_KEY, (gift.account_id, gift.key, gift.fingerprint, answer, found[0], None))
        return answer, False


def _resolve(batch: Sequence[Job], outcomes: Sequence[Outcome]) -> None:
    for (future, _), outcome in zip(batch, outcomes, strict=True):
        if not future.cancelled():
            future.set_result(outcome)


def _connect(path: str) -> apsw.Connection:
    """Open the database with the settings of Gamekeeper's connections."""
    db = apsw.Connection(path, statementcachesize=CACHED_STATEMENTS)
    db.set_busy_timeout(BUSY_MS)
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    for name, value in PRAGMAS.items():
        db.pragma(name, value)
    db.create_scalar_function("julianday", SteadyClock().compute_julian_day, 1)
    return db


if __name__ == "__main__":
    server.run(SqlitePeer)
