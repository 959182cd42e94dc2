"""The flat peer on SQLite: each operation is one function that does all of Gamekeeper's work for it, and no more."""

import hashlib
import sqlite3
import time
import unicodedata
from urllib.parse import unquote_to_bytes

from benchmarks.peers.flat import server
from benchmarks.peers.flat.server import AccessLog, App, Message, Receive, Send
from gamekeeper.game import lookup
from gamekeeper.http import caller, etags
from gamekeeper.http.instants import format_instant
from gamekeeper.http.wire.scalars import encode
from gamekeeper.settings import Settings
from gamekeeper.store import players, tokens
from gamekeeper.store.clock import SteadyClock
from gamekeeper.store.names import AFTER_CLASHES
from gamekeeper.store.sqlite import PLACEHOLDERS, READER_CACHE_KIB
from gamekeeper.store.statements import Statement

PLAYERS = b"/api/v1/players/"
ROUTE = '"route":"GET /api/v1/players/[lookupKey]"'


def build(settings: Settings) -> App:
    db = _connect(settings.database.removeprefix("sqlite:///"))
    db.executescript(f"PRAGMA query_only = ON; PRAGMA cache_size = -{READER_CACHE_KIB}")
    find_token, find_id, find_fold = map(
        _render, (tokens.SQL.caller, players.SQL.record_by_id, players.SQL.record_by_fold)
    )
    believed: dict[str, tuple[float, str]] = {}  # by hash of the token: expiry, and the caller's part of the access log
    access = AccessLog().add

    async def get_player(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await server.live(receive, send)
            return
        started = time.perf_counter_ns()
        request_id = next(server.ids)
        headers = dict(scope["headers"])
        # the caller
        scheme, _, token = headers[b"authorization"].decode("latin-1").strip().partition(" ")
        access_hash = hashlib.sha256(token.strip().encode()).hexdigest()
        found = believed.get(access_hash)
        if found is None or found[0] <= time.monotonic():
            row = db.execute(find_token, (access_hash,)).fetchone() if scheme.lower() == "bearer" else None
            if row is None:
                await _refuse(send, 401)
                return
            life = min(caller.CACHE_SECONDS, row[2] / 1000)
            found = believed[access_hash] = time.monotonic() + life, f'"caller":{encode(row[4]).decode()},{ROUTE}'
        # the player
        key = scope["raw_path"][len(PLAYERS) :]
        text = (unquote_to_bytes(key) if b"%" in key else key).decode("utf-8", "replace")
        guid = lookup.parse_guid(text)
        if guid:
            row = db.execute(find_id, (guid,)).fetchone()
        elif lookup.is_nameable(text):
            fold = unicodedata.normalize("NFC", text.casefold())
            row = db.execute(find_fold, (fold, text, fold + AFTER_CLASHES)).fetchone()
        else:
            row = None
        if row is None:
            await _refuse(send, 404)
            return
        # the answer
        _, _, document, class_name, map_name, online, last = row
        body = b'%b,"ClassName":%b,"MapName":%b,"Online":%b,"LastOnline":%b}' % (
            document[:-1],
            encode(class_name),
            encode(map_name),
            b"true" if online else b"false",
            b"null" if last is None else b'"%b"' % format_instant(last).encode(),
        )
        tag = b'"%b"' % hashlib.sha256(body).hexdigest()[:32].encode()
        answer = [
            (b"x-request-id", request_id.encode()),
            server.POLICY_HEADER,
            server.NO_SNIFFING,
            server.NO_REFERRER,
            server.REVALIDATED,
            server.VARY,
            (b"etag", tag),
        ]
        status, held = 200, headers.get(b"if-none-match")
        if held is not None and etags.is_listed(tag, held):
            status, body = 304, b""
        else:
            answer += (server.TYPE, (b"content-length", b"%d" % len(body)))
        if headers.get(b"connection") == b"close":
            answer.append(server.CLOSE)
        await send({"type": "http.response.start", "status": status, "headers": answer})
        await send({"type": "http.response.body", "body": body})
        access(request_id, found[1], status, started)

    return get_player


async def _refuse(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


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
