"""A real Gamekeeper server with a seeded fault.

    with Served(EARLY_ANSWER, run.database) as server: …    like scripts/server.py's Server, with the same settings

To seed another fault, write a function that patches the product and add it to WAYS. It runs in the worker before the
application is built: see scripts/built_server.py.
A request with the header `Battery-Crash: after_commit` makes its process crash at that point of `crash.POINTS`; with
`after_commit:2` at the second time. A process that is started later is not affected.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, MutableMapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import apsw

from built_server import BuiltServer
from gamekeeper import app
from gamekeeper.game.audit import history, retention
from gamekeeper.game.audit.retention import ProvenClock
from gamekeeper.game.lists import ordered_lists
from gamekeeper.game.players import presence
from gamekeeper.ground import crash, log
from gamekeeper.ground.settings import Settings
from gamekeeper.http.server.admission import Gate
from gamekeeper.http.server.asgi import Asgi, Scope, Send
from gamekeeper.http.server.request import Receive
from gamekeeper.store.access import tokens as token_rows
from gamekeeper.store.engine import clock, postgres, postgres_connection, postgres_pool, sqlite
from gamekeeper.store.engine.interface import CommitUnknown, Reading, Row, Value, Writing
from gamekeeper.store.engine.postgres import PostgresStore
from gamekeeper.store.engine.postgres_pool import Pool
from gamekeeper.store.engine.sqlite import SqliteStore
from gamekeeper.store.engine.statements import Statement
from gamekeeper.store.players import items as item_rows
from gamekeeper.store.players import players as player_rows

AS_IT_IS, EARLY_ANSWER, NORMAL = "as-it-is", "early-answer", "normal"
WALL_CLOCK, LEAK, ASSUMED_COMMIT = "wall-clock", "leak", "assumed-commit"
UNRAISED_COMMIT, UNQUEUED = "unraised-commit", "unqueued"
MERGED_COMMIT, MERGED_LOCK = "merged-commit", "merged-lock"
FREQUENT_RETENTION, HASTY_RETENTION = "frequent-retention", "hasty-retention"
RETENTION_SECONDS = 0.2  # seconds between two runs of the retention job, instead of ten
LOG_ON_LOOP, NO_GATE = "log-on-loop", "no-gate"
CRASH_HEADER = b"battery-crash"
EARLY_SECONDS = 0.03  # seconds from the early answer (seeded fault) to the COMMIT that it should have waited for
Work = Callable[[Writing], Coroutine[Any, Any, Any]]


class Served(BuiltServer):
    """A Gamekeeper server with the seeded fault `way`; otherwise like `gamekeeper serve`."""

    builder = "battery.served"


class Crashing:
    """ASGI middleware that enables the fail point named in a request header."""

    def __init__(self, app: Asgi) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        named = dict(scope["headers"]).get(CRASH_HEADER) if scope["type"] == "http" else None
        if named:
            point, _, times = named.decode().partition(":")
            setattr(crash, "_armed", point)  # noqa: B010 - a constant to everybody else
            setattr(crash, "_times", times)  # noqa: B010 - the same
        await self._app(scope, receive, send)


def build(settings: Settings, way: str) -> Asgi:
    """Build the application in the worker, without background jobs, which could reach the fail point first."""
    presence.JOBS = ordered_lists.JOBS = ()
    WAYS[way]()
    return cast("Asgi", Crashing(app.build(app.build_keeper(settings))))  # safe cast: granian accepts any ASGI app


def _nothing() -> None:
    pass


def _answer_early() -> None:
    """Seeded fault: send the answer before the COMMIT."""
    for store in (SqliteStore, PostgresStore):
        setattr(store, "write", _early(store.write))  # noqa: B010 - a constant to everybody else


def _early(write: Callable[..., Coroutine[Any, Any, object]]) -> Callable[..., Coroutine[Any, Any, object]]:
    async def early(self: object, work: Work, claim: int | None = None, **more: object) -> object:
        loop = asyncio.get_running_loop()
        told: asyncio.Future[Any] = loop.create_future()

        async def hasty(tx: Writing) -> object:
            result = await work(tx)
            loop.call_soon_threadsafe(_tell, told, result)
            await _linger()
            return result

        committed = asyncio.ensure_future(write(self, hasty, claim, **more))
        await asyncio.wait((told, committed), return_when=asyncio.FIRST_COMPLETED)
        return told.result() if told.done() else await committed

    return early


def _tell(told: asyncio.Future[Any], result: object) -> None:
    if not told.done():
        told.set_result(result)


async def _linger() -> None:
    if threading.current_thread() is threading.main_thread():
        await asyncio.sleep(EARLY_SECONDS)
    else:  # in SQLite's writer thread, which has no event loop to sleep on
        time.sleep(EARLY_SECONDS)  # noqa: ASYNC251 - see above


def _commit_normally() -> None:
    connect = sqlite._connect  # noqa: SLF001 - a constant to everybody else  # pyright: ignore[reportPrivateUsage] - the same

    def normally(path: Path) -> apsw.Connection:
        db = connect(path)
        db.pragma("synchronous", "NORMAL")
        return db

    setattr(sqlite, "_connect", normally)  # noqa: B010 - see above


def _trust_the_wall_clock() -> None:
    """Seeded fault: expire tokens by this machine's clock instead of the database's."""
    statement = Statement("caller", {"": token_rows.SQL.caller.texts[""].replace("{now}", "$2")})

    class ByWallClock:
        def __init__(self, store: Reading) -> None:
            self._store = store

        async def one(self, _: Statement, *values: Value) -> Row | None:
            return await self._store.one(statement, *values, int(time.time() * 1000))

    caller = token_rows.find_caller

    async def by_wall_clock(tx: Reading, access_hash: str) -> token_rows.CallerRow | None:
        return await caller(cast("Reading", ByWallClock(tx)), access_hash)

    token_rows.find_caller = by_wall_clock


def _keep_every_answer() -> None:
    """Seeded fault: keep every request and answer in memory."""
    kept: list[object] = []
    call = Asgi.__call__

    async def keeping(self: Asgi, scope: Scope, receive: Receive, send: Send) -> None:
        async def keep_and_send(message: MutableMapping[str, Any]) -> None:
            kept.append((scope, message))
            await send(message)

        await call(self, scope, receive, keep_and_send)

    Asgi.__call__ = keeping


def _assume_the_commit() -> None:
    """Seeded fault: count a COMMIT without an answer as done."""
    commit: Any = PostgresStore._commit  # noqa: SLF001 - a constant to everybody else  # pyright: ignore[reportPrivateUsage] - the same

    async def assuming(self: PostgresStore, line: object) -> None:
        with contextlib.suppress(CommitUnknown):
            await commit(self, line)

    setattr(PostgresStore, "_commit", assuming)  # noqa: B010 - see above


def _commit_with_writes() -> None:
    """Seeded fault: COMMIT as a part of the write message, so that its lost answer looks like writes that failed."""
    commit: Any = PostgresStore._commit  # noqa: SLF001 - a constant to everybody else  # pyright: ignore[reportPrivateUsage] - the same

    async def merged(self: PostgresStore, line: object) -> None:
        try:
            await commit(self, line)
        except CommitUnknown as error:
            raise postgres._NotCommitted from error  # noqa: SLF001 - the same  # pyright: ignore[reportPrivateUsage] - the same

    setattr(PostgresStore, "_commit", merged)  # noqa: B010 - see above


def _lock_with_slots() -> None:
    """Seeded fault: one statement waits for a player's lock and reads its slots, so they are from before the lock."""
    merged = item_rows.SQL.holdings.texts[""] + " FOR UPDATE OF p"
    vars(item_rows.SQL)["holdings"] = Statement("holdings", {"": merged})
    setattr(player_rows, "hold_by_id", player_rows.find_id)  # noqa: B010 - a constant to everybody else
    setattr(player_rows, "hold_by_fold", player_rows.find_id_by_fold)  # noqa: B010 - the same


def _tidy_often() -> None:
    """Not a fault: run the retention job often, so that a short test sees many runs."""
    retention.JOBS = tuple(replace(each, seconds=RETENTION_SECONDS) for each in retention.JOBS)


def _delete_at_once() -> None:
    """Seeded fault: the retention job trusts the database's clock at once."""
    _tidy_often()

    async def find_time(self: ProvenClock) -> int:
        return await clock.now(vars(self)["_store"])

    setattr(ProvenClock, "find_time", find_time)  # noqa: B010 - a constant to everybody else


def _write_log_on_loop() -> None:
    """Seeded fault: write log lines on the event loop, without a queue."""
    setattr(log._writer, "put", log._write_bytes)  # noqa: B010, SLF001 - a constant to everybody else  # pyright: ignore[reportPrivateUsage] - the same


def _open_gate() -> None:
    """Seeded fault: run long reads without pauses and without a limit."""

    async def run(
        _: Gate, account: str, work: Callable[..., Coroutine[Any, Any, Any]], *, long: bool = False
    ) -> object:
        del account, long
        return await work(history.do_not_pause)

    setattr(Gate, "run", run)  # noqa: B010 - a constant to everybody else


def _leave_commits_weak() -> None:
    """Seeded fault: use the database's synchronous_commit for our changes."""
    setattr(postgres_connection, "RAISE_COMMIT", "SELECT 0")  # noqa: B010 - a constant to everybody else


def _take_every_connection() -> None:
    """Seeded fault: changes of one player may occupy all connections while they wait for the lock of its row."""

    @contextlib.asynccontextmanager
    async def at_once(*_: object) -> AsyncGenerator[None]:
        yield

    setattr(Pool, "hold_turn", at_once)  # noqa: B010 - a constant to everybody else
    setattr(postgres_pool, "_count_reserved", lambda _: 0)  # noqa: B010 - the same  # pyright: ignore[reportUnknownLambdaType] - the same


WAYS: dict[str, Callable[[], None]] = {
    AS_IT_IS: _nothing,
    EARLY_ANSWER: _answer_early,
    NORMAL: _commit_normally,
    WALL_CLOCK: _trust_the_wall_clock,
    LEAK: _keep_every_answer,
    ASSUMED_COMMIT: _assume_the_commit,
    LOG_ON_LOOP: _write_log_on_loop,
    NO_GATE: _open_gate,
    UNRAISED_COMMIT: _leave_commits_weak,
    UNQUEUED: _take_every_connection,
    MERGED_COMMIT: _commit_with_writes,
    MERGED_LOCK: _lock_with_slots,
    FREQUENT_RETENTION: _tidy_often,
    HASTY_RETENTION: _delete_at_once,
}
