"""Gamekeeper on SQLite, committing in another way than it lets anybody choose; run as a program by writes.py."""

import itertools
import secrets
import sqlite3
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

from gamekeeper import settings
from gamekeeper.cli import serve
from gamekeeper.http.asgi import Asgi, Scope, Send
from gamekeeper.http.request import Receive
from gamekeeper.settings import Settings
from gamekeeper.store import sqlite

AS_IT_COMES, NORMAL, ALONE = "as-it-comes", "normal", "alone"


class Keyed:
    """Every request with an Idempotency-Key of its own: wrk has a list of requests and takes one many times."""

    def __init__(self, app: Asgi) -> None:
        self._app = app
        self._first = secrets.token_hex(8)
        self._numbers = itertools.count()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            key = f"{self._first}-{next(self._numbers)}"
            scope["headers"] = [*scope["headers"], (b"idempotency-key", key.encode())]
        await self._app(scope, receive, send)


def build(settings: Settings, way: str) -> Asgi:
    """In the worker: what is set in the process that starts it, a worker does not see."""
    if way == NORMAL:
        setattr(sqlite, "_connect", partial(_connect_normally, sqlite._connect))  # noqa: B010, SLF001 - a constant to everybody else  # pyright: ignore[reportPrivateUsage] - the same
    if way == ALONE:
        sqlite.MAX_BATCH = 1
    return cast("Asgi", Keyed(serve.build_app(settings)))  # the server asks no more of it than to be ASGI


def _connect_normally(connect: Callable[[Path], sqlite3.Connection], path: Path) -> sqlite3.Connection:
    db = connect(path)
    db.execute("PRAGMA synchronous = NORMAL")
    return db


if __name__ == "__main__":
    database, port, way = sys.argv[1:]
    serve.run(settings.load({}, database=database, port=int(port)), partial(build, way=way), "ready")
