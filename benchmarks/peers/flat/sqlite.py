"""The flat peer on SQLite: each operation is one function that does all of Gamekeeper's work for it, and no more."""

import sqlite3
from hashlib import sha256
from time import monotonic, perf_counter_ns
from unicodedata import normalize
from urllib.parse import unquote_to_bytes

from benchmarks.peers.flat import server
from benchmarks.peers.flat.server import LOOKUP, PLAYERS, AccessLog, App, Believed, Message, Receive, Send
from gamekeeper.game.lookup import is_nameable, parse_guid
from gamekeeper.settings import Settings
from gamekeeper.store import players, tokens
from gamekeeper.store.clock import SteadyClock
from gamekeeper.store.names import AFTER_CLASHES
from gamekeeper.store.sqlite import PLACEHOLDERS, READER_CACHE_KIB
from gamekeeper.store.statements import Statement


def build(settings: Settings) -> App:
    db = _connect(settings.database.removeprefix("sqlite:///"))
    db.executescript(f"PRAGMA query_only = ON; PRAGMA cache_size = -{READER_CACHE_KIB}")
    read = db.execute
    find_token, find_id, find_fold = map(
        _render, (tokens.SQL.caller, players.SQL.record_by_id, players.SQL.record_by_fold)
    )
    believed: dict[str, Believed] = {}  # callers by the hash of their token
    access = AccessLog().add

    async def get_player(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await server.live(receive, send)
            return
        started, request_id, headers = perf_counter_ns(), next(server.ids), dict(scope["headers"])
        access_hash = sha256(headers[b"authorization"].removeprefix(b"Bearer ")).hexdigest()
        caller = believed.get(access_hash)
        if caller is None or caller[0] <= monotonic():
            row = read(find_token, (access_hash,)).fetchone()
            if row is None:
                await server.refuse(send, 401)
                return
            caller = believed[access_hash] = server.believe(row)
        key = scope["raw_path"][len(PLAYERS) :]
        text = (unquote_to_bytes(key) if b"%" in key else key).decode("utf-8", "replace")
        guid = parse_guid(text)
        if guid:
            row = read(find_id, (guid,)).fetchone()
        else:
            fold = normalize("NFC", text.casefold())
            row = read(find_fold, (fold, text, fold + AFTER_CLASHES)).fetchone() if is_nameable(text) else None
        if row is None:
            await server.refuse(send, 404)
            return
        start, body = server.answer_read(request_id, headers, server.encode_record(row))
        await send(start)
        await send({"type": "http.response.body", "body": body})
        access(request_id, caller[1], LOOKUP, start["status"], started)

    return get_player


def _render(statement: Statement) -> str:
    return statement.render("sqlite", PLACEHOLDERS).replace("$", "?")


def _connect(path: str) -> sqlite3.Connection:
    """Open the database with the settings of Gamekeeper's connections."""
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)
    db.executescript("PRAGMA busy_timeout = 5000; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
    db.create_function("julianday", 1, SteadyClock().julian_day)
    return db


if __name__ == "__main__":
    server.run(build)
