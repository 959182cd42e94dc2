"""Gamekeeper on SQLite with a commit mode that is not a setting; writes.py runs it as a program."""

import itertools
import secrets
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

import apsw

from gamekeeper.cli import serve
from gamekeeper.ground import settings
from gamekeeper.ground.settings import Settings
from gamekeeper.http.server.asgi import Asgi, Scope, Send
from gamekeeper.http.server.request import Receive
from gamekeeper.store.engine import sqlite, sqlite_writer

AS_IT_COMES, NORMAL, ALONE = "as-it-comes", "normal", "alone"


class AddKeys:
    """ASGI middleware that adds a unique Idempotency-Key to each request, because wrk repeats fixed requests."""

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
    """Build the application in the worker, because changes in the parent process do not reach it."""
    if way == NORMAL:
        setattr(sqlite, "_connect", partial(_connect_normally, sqlite._connect))  # noqa: B010, SLF001 - a constant to everybody else  # pyright: ignore[reportPrivateUsage] - the same
    if way == ALONE:
        sqlite_writer.MAX_BATCH = 1
    return cast("Asgi", AddKeys(serve.build_app(settings)))  # safe cast: granian accepts any ASGI app


def _connect_normally(connect: Callable[[Path], apsw.Connection], path: Path) -> apsw.Connection:
    db = connect(path)
    db.pragma("synchronous", "NORMAL")
    return db


if __name__ == "__main__":
    database, port, way = sys.argv[1:]
    serve.run(settings.load({}, database=database, port=int(port)), partial(build, way=way), "ready")
