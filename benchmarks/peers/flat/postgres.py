"""The flat peer on PostgreSQL: the functions of sqlite.py with prepared statements on connections of its own."""

import asyncio
import hashlib
from hashlib import sha256
from time import monotonic, perf_counter_ns
from typing import Any
from unicodedata import normalize
from urllib.parse import unquote_to_bytes

import asyncpg

from benchmarks.peers.flat import gifts, server
from benchmarks.peers.flat.gifts import Gift
from benchmarks.peers.flat.server import PLAYERS, Message, Peer, Receive, Send
from gamekeeper.game.core.lookup import is_nameable, parse_guid
from gamekeeper.ground.settings import Settings
from gamekeeper.store.access import tokens
from gamekeeper.store.core import idempotency_keys, ledger, ordered_lists
from gamekeeper.store.engine.postgres import SESSION
from gamekeeper.store.engine.postgres_connection import BEGIN, PLACEHOLDERS, RAISE_COMMIT, register_codecs
from gamekeeper.store.engine.statements import AFTER_CLASHES, Statement, combine, join_side_by_side
from gamekeeper.store.players import items, players

NEWS_COLUMNS = 5  # columns of the statement `news` in ordered_lists.sql
KEY_COLUMNS, ITEM_COLUMNS = 3, 3  # columns of READ_GIFT: stored answer and player, the item; then a slot
# The first message of a gift locks the player, and keeps the id for the statement that reads the player's slots: that
# one must begin when the lock is granted.
LOCKED = "NULLIF(current_setting('flat.player', true), '')"
KEEP_ID = "WITH locked AS ({}) SELECT set_config('flat.player', CAST(id AS text), true) FROM locked"
READ_GIFT = f"""SELECT k.fingerprint, k.answer, p.id, i.stackable, i.max_stack, i.bag_slots,
                       s.place, s.slot, s.item_id, s.quantity, s.bag_id, s.buffs
                FROM (SELECT CAST({LOCKED} AS uuid) AS id) p
                LEFT JOIN masked_keys k ON k.account_id = $1 AND k.key = $2
                LEFT JOIN items i ON i.id = $3
                LEFT JOIN slots s ON s.player_id = p.id
                ORDER BY s.place, s.slot"""  # noqa: S608 - a constant of ours


def _render(statement: Statement) -> str:
    return statement.render("postgres", PLACEHOLDERS)


WRITES = [_render(each) for each in (items.SQL.save_slots, ledger.SQL.append, idempotency_keys.SQL.insert)]
STATEMENTS = {
    "find_token": _render(tokens.SQL.caller),
    "find_id": _render(players.SQL.record_by_id),
    "find_fold": _render(players.SQL.record_by_fold),
    # the news of the ordered lists and the page in one snapshot
    "seek_rank": join_side_by_side(_render(ordered_lists.SQL.news), _render(players.SQL.records_from_rank)),
    "seek_name": join_side_by_side(_render(ordered_lists.SQL.news), _render(players.SQL.records_from_name)),
    "lock_id": KEEP_ID.format(_render(players.SQL.hold_by_id)),
    "lock_fold": KEEP_ID.format(_render(players.SQL.hold_by_fold)),
    "read_gift": READ_GIFT,
    "touch_key": _render(idempotency_keys.SQL.touch),
    "write_gift": combine(WRITES[:2]),
    "write_gift_and_key": combine(WRITES),
}


class PostgresPeer(Peer):
    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.free: list[tuple[Any, dict[str, Any]]] = []  # idle connections with their prepared statements
        self.places = asyncio.Semaphore(settings.connections)

    async def connect(self) -> None:
        driver: Any = asyncpg
        for _ in range(self.settings.connections):
            db: Any = await driver.connect(self.settings.database, server_settings=SESSION, statement_cache_size=0)
            await register_codecs(db)
            self.free.append((db, {name: await db.prepare(text, name=name) for name, text in STATEMENTS.items()}))

    async def disconnect(self) -> None:
        for db, _ in self.free:
            await db.close()

    async def get_player(self, scope: Message, send: Send) -> None:
        started, request_id, headers = perf_counter_ns(), next(server.ids), dict(scope["headers"])
        access_hash = sha256(headers[b"authorization"].removeprefix(b"Bearer ")).hexdigest()
        caller = self.believed.get(access_hash)
        async with self.places:
            line = _, prepared = self.free.pop()
            try:
                if caller is None or caller[0] <= monotonic():
                    row = await prepared["find_token"].fetchrow(access_hash)
                    if row is None:
                        await server.refuse(send, 401)
                        return
                    caller = self.believed[access_hash] = server.believe(row)
                key = scope["raw_path"][len(PLAYERS) :]
                text = (unquote_to_bytes(key) if b"%" in key else key).decode("utf-8", "replace")
                guid = parse_guid(text)
                if guid:
                    row = await prepared["find_id"].fetchrow(guid)
                elif is_nameable(text):
                    fold = normalize("NFC", text.casefold())
                    row = await prepared["find_fold"].fetchrow(fold, text, fold + AFTER_CLASHES)
                else:
                    row = None
            finally:
                self.free.append(line)
        if row is None:
            await server.refuse(send, 404)
            return
        start, body = server.answer_read(request_id, headers, server.encode_record(row))
        await send(start)
        await send({"type": "http.response.body", "body": body})
        self.access(request_id, caller[1], server.LOOKUP, start["status"], started)

    async def list_players(self, scope: Message, send: Send, route: str) -> None:
        started, request_id, headers = perf_counter_ns(), next(server.ids), dict(scope["headers"])
        access_hash = sha256(headers[b"authorization"].removeprefix(b"Bearer ")).hexdigest()
        caller = self.believed.get(access_hash)
        ranked = route is server.RANK
        async with self.places:
            line = _, prepared = self.free.pop()
            try:
                if caller is None or caller[0] <= monotonic():
                    row = await prepared["find_token"].fetchrow(access_hash)
                    if row is None:
                        await server.refuse(send, 401)
                        return
                    caller = self.believed[access_hash] = server.believe(row)
                while True:
                    view = self.view
                    index = view.indexes["rank" if ranked else "names"]
                    page, size, key, limit, offset = server.find_rows(
                        index, scope["query_string"], self.settings.max_page_size, descending=ranked
                    )
                    where = (*key, limit, offset) if ranked else (key, limit, offset)
                    rows = await prepared["seek_rank" if ranked else "seek_name"].fetch(view.mark, *where)
                    number, whole, life, newest, _ = rows[0][:NEWS_COLUMNS]
                    if newest is None and whole and (number, life) == (view.checkpoint, view.life):
                        break
                    await self.load_view()
            finally:
                self.free.append(line)
        # after the news: the place by which both statements are joined, twice
        found = [row[NEWS_COLUMNS + 2 :] for row in rows if row[NEWS_COLUMNS + 1]]
        body = server.encode_page(index.total, page, size, found[::-1] if ranked else found)
        start, body = server.answer_read(request_id, headers, body)
        await send(start)
        await send({"type": "http.response.body", "body": body})
        self.access(request_id, caller[1], route, start["status"], started)

    async def give_item(self, scope: Message, receive: Receive, send: Send) -> None:  # noqa: C901, PLR0912, PLR0915 - flat on purpose
        """Give an item in four messages: begin and lock, read, write, commit."""
        started, request_id, headers = perf_counter_ns(), next(server.ids), dict(scope["headers"])
        async with asyncio.timeout(self.settings.receive_seconds):
            message = await receive()
            body = message["body"]
            while message.get("more_body") and len(body) <= self.settings.body_limit:
                message = await receive()
                body += message["body"]
        access_hash = sha256(headers[b"authorization"].removeprefix(b"Bearer ")).hexdigest()
        caller = self.believed.get(access_hash)
        async with self.places:
            line = db, prepared = self.free.pop()
            try:
                if caller is None or caller[0] <= monotonic():
                    row = await prepared["find_token"].fetchrow(access_hash)
                    if row is None:
                        await server.refuse(send, 401)
                        return
                    caller = self.believed[access_hash] = server.believe(row)
                gift = gifts.read(request_id, caller, scope["raw_path"], headers, body)
                if gift is None:
                    await server.refuse(send, 400)
                    return
                await db.execute(_begin(gift))
                rows = await prepared["read_gift"].fetch(gift.account_id, gift.key or "", gift.item_id)
                fingerprint, answer, player_id = rows[0][:KEY_COLUMNS]
                item = rows[0][KEY_COLUMNS : KEY_COLUMNS + ITEM_COLUMNS]
                status, replayed = 200, fingerprint is not None
                if replayed:
                    status = 200 if fingerprint == gift.fingerprint else 409
                    await prepared["touch_key"].fetch(gift.account_id, gift.key)
                elif player_id is None or item[0] is None:
                    status = 404
                else:
                    slots = [row[KEY_COLUMNS + ITEM_COLUMNS :] for row in rows if row[KEY_COLUMNS + ITEM_COLUMNS]]
                    placed = gifts.place(gift, player_id, item, slots, self.room)
                    status = 200 if placed else 409
                    if placed:
                        changed, before, after, answer = placed
                        by = (gift.account_id, gift.token_id, False, player_id, None)
                        values = (changed, "items_given", *by, before, after, request_id, gift.reason, None)
                        if gift.key:
                            kept = (gift.account_id, gift.key, gift.fingerprint, answer, player_id, None)
                            await prepared["write_gift_and_key"].fetch(*values, *kept)
                        else:
                            await prepared["write_gift"].fetch(*values)
                if await db.execute("COMMIT") != "COMMIT":
                    status = 503
            finally:
                if db.is_in_transaction():
                    await db.execute("ROLLBACK")
                self.free.append(line)
        if status != 200:  # noqa: PLR2004 - OK
            await server.refuse(send, status)
            return
        await send(server.answer_write(request_id, headers, answer, replayed=replayed))
        await send({"type": "http.response.body", "body": answer})
        self.access(request_id, caller[1], server.GIVE, 200, started)


def _begin(gift: Gift) -> str:
    """Return the first message of a gift: begin, claim the key, and lock the player. Texts are in it as hex digits."""
    claim = ""
    if gift.key:
        digest = hashlib.blake2b(f"{gift.account_id}\n{gift.key}".encode(), digest_size=8).digest()
        claim = f"; SELECT pg_advisory_xact_lock({int.from_bytes(digest, 'big', signed=True)})"
    if gift.guid:
        return f"{BEGIN}; {RAISE_COMMIT}{claim}; EXECUTE lock_id('{gift.guid}')"
    fold = gift.fold
    texts = ", ".join(
        [f"convert_from('\\x{each.encode().hex()}', 'UTF8')" for each in (fold, gift.name, fold + AFTER_CLASHES)]
    )
    return f"{BEGIN}; {RAISE_COMMIT}{claim}; EXECUTE lock_fold({texts})"


if __name__ == "__main__":
    server.run(PostgresPeer)
