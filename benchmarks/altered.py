"""Gamekeeper with changes that are not settings, which the benchmark compares with it: see `servers.altered`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import apsw

from gamekeeper.cli import worker
from gamekeeper.game.insight import activity
from gamekeeper.game.insight.board_follower import BoardFollower
from gamekeeper.game.insight.economy import Economy
from gamekeeper.ground.settings import Settings
from gamekeeper.http.server.asgi import Asgi
from gamekeeper.store.engine import sqlite, sqlite_writer

AS_IT_COMES = "as-it-comes"
NORMAL, ALONE = "normal", "alone"  # commits of SQLite: not durable, and one for each request
UNCOUNTED = "uncounted"  # without the jobs that count changes
NO_REST = 0.0


def build(settings: Settings, way: str) -> Asgi:
    if way == NORMAL:
        setattr(sqlite, "_connect", partial(_connect_normally, sqlite._connect))  # noqa: B010, SLF001 - a constant to everybody else  # pyright: ignore[reportPrivateUsage] - the same
    elif way == ALONE:
        sqlite_writer.MAX_BATCH = 1
    elif way == UNCOUNTED:
        Economy.follow = BoardFollower.follow = _do_nothing
        activity.ROLLUPS = ()
    return worker.build_app(settings)


def _connect_normally(connect: Callable[[Path], apsw.Connection], path: Path) -> apsw.Connection:
    db = connect(path)
    db.pragma("synchronous", "NORMAL")
    return db


async def _do_nothing(self: object, rest_factor: float = NO_REST) -> None:
    """Replace the job that follows the audit log."""
