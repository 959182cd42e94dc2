"""The flat peer on PostgreSQL: the functions of sqlite.py with prepared statements on connections of its own."""

import asyncio
from hashlib import sha256
from time import monotonic, perf_counter_ns
from typing import Any
from unicodedata import normalize
from urllib.parse import unquote_to_bytes

import asyncpg

from benchmarks.peers.flat import server
from benchmarks.peers.flat.server import LOOKUP, PLAYERS, AccessLog, App, Believed, Message, Receive, Send
from gamekeeper.game.lookup import is_nameable, parse_guid
from gamekeeper.settings import Settings
from gamekeeper.store import codecs, players, tokens
from gamekeeper.store.names import AFTER_CLASHES
from gamekeeper.store.postgres import PLACEHOLDERS, SESSION

STATEMENTS = {
    "find_token": tokens.SQL.caller,
    "find_id": players.SQL.record_by_id,
    "find_fold": players.SQL.record_by_fold,
}


def build(settings: Settings) -> App:
    free: list[Any] = []  # the prepared statements of each idle connection
    places = asyncio.Semaphore(settings.connections)
    believed: dict[str, Believed] = {}  # callers by the hash of their token
    access = AccessLog().add

    async def connect() -> None:
        for _ in range(settings.connections):
            db = await asyncpg.connect(settings.database, server_settings=SESSION, statement_cache_size=0)
            await codecs.register_codecs(db)
            texts = {name: each.render("postgres", PLACEHOLDERS) for name, each in STATEMENTS.items()}
            free.append({name: await db.prepare(text, name=name) for name, text in texts.items()})

    async def get_player(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await server.live(receive, send, connect)
            return
        started, request_id, headers = perf_counter_ns(), next(server.ids), dict(scope["headers"])
        access_hash = sha256(headers[b"authorization"].removeprefix(b"Bearer ")).hexdigest()
        caller = believed.get(access_hash)
        async with places:
            prepared = free.pop()
            try:
                if caller is None or caller[0] <= monotonic():
                    row = await prepared["find_token"].fetchrow(access_hash)
                    if row is None:
                        await server.refuse(send, 401)
                        return
                    caller = believed[access_hash] = server.believe(row)
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
                free.append(prepared)
        if row is None:
            await server.refuse(send, 404)
            return
        start, body = server.answer_read(request_id, headers, server.encode_record(row))
        await send(start)
        await send({"type": "http.response.body", "body": body})
        access(request_id, caller[1], LOOKUP, start["status"], started)

    return get_player


if __name__ == "__main__":
    server.run(build)
