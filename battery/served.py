"""A real Gamekeeper server with a seeded fault.

    with Served(EARLY_ANSWER, run.database) as server: …    like scripts/server.py's Server, with the same settings

To seed another fault, write a function that patches the product and add it to WAYS, or one that alters answers and add
it to ALTERATIONS. It runs in the worker: see scripts/built_server.py.
A request with the header `Battery-Crash: after_commit` makes its process crash at that point of `crash.POINTS`. A
process that is started later is not affected.
"""

import asyncio
import contextlib
import json
import os
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import apsw
from argon2 import PasswordHasher

from built_server import BuiltServer
from gamekeeper import app
from gamekeeper.game.access import guess_limits
from gamekeeper.game.access.guess_limits import Guess
from gamekeeper.game.access.passwords import Passwords
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lists import ordered_lists
from gamekeeper.game.players import presence
from gamekeeper.ground import crash
from gamekeeper.ground.settings import Settings
from gamekeeper.http.server.asgi import Asgi, Scope, Send
from gamekeeper.http.server.request import Receive
from gamekeeper.store.access import tokens as token_rows
from gamekeeper.store.engine import sqlite
from gamekeeper.store.engine.interface import CommitUnknown, Reading, Row, Store, Value, Writing
from gamekeeper.store.engine.postgres import PostgresStore
from gamekeeper.store.engine.sqlite import SqliteStore
from gamekeeper.store.engine.statements import Statement

AS_IT_IS, EARLY_ANSWER, NORMAL = "as-it-is", "early-answer", "normal"
WALL_CLOCK, LEAK, ASSUMED_COMMIT = "wall-clock", "leak", "assumed-commit"
NO_DUMMY_HASH, COUNTED_AFTER = "no-dummy-hash", "counted-after-check"
BROKEN, ECHOED, APPLIED = "500-for-400", "echoed-token", "refused-and-applied"
RESHAPED, HIDDEN = "other-shape", "hidden-route"
CRASH_HEADER = b"battery-crash"
EARLY_SECONDS = 0.03  # seconds from the early answer (seeded fault) to the COMMIT that it should have waited for
BAD = 400
Work = Callable[[Writing], Coroutine[Any, Any, Any]]
Answer = tuple[int, bytes]


class Served(BuiltServer):
    """A Gamekeeper server with the seeded fault `way`; otherwise like `gamekeeper serve`.

    `hashes`: a file that gets one byte for each password that argon2 checks.
    """

    builder = "battery.served"

    def __init__(self, way: str, database: str, hashes: Path | None = None, **settings: Any) -> None:  # noqa: ANN401 - of Gamekeeper
        super().__init__(f"{way}:{hashes or ''}", database, **settings)


def build(settings: Settings, argument: str) -> Asgi:
    """Build the application in the worker, without background jobs, which could reach the fail point first."""
    way, _, hashes = argument.partition(":")
    if hashes:
        _count_hashes(os.open(hashes, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    presence.JOBS = ordered_lists.JOBS = ()
    WAYS.get(way, lambda: None)()
    keeper = app.build_keeper(settings)
    return cast("Asgi", Middleware(app.build(keeper), keeper, way))  # safe cast: granian accepts any ASGI app


class Middleware:
    """ASGI middleware that enables the fail point named in a request header, and alters answers."""

    def __init__(self, app: Asgi, keeper: Keeper, way: str) -> None:
        self._app, self._keeper, self._way = app, keeper, way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        named = dict(scope["headers"]).get(CRASH_HEADER) if scope["type"] == "http" else None
        if named:
            setattr(crash, "_armed", named.decode())  # noqa: B010 - a constant to everybody else
        if scope["type"] == "http" and self._way in ALTERATIONS:
            await self._alter(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _alter(self, scope: Scope, receive: Receive, send: Send) -> None:
        said: list[Any] = []

        async def hold(message: Any) -> None:  # noqa: ANN401 - a message of ASGI
            said.append(message)

        await self._app(scope, receive, hold)
        whole = b"".join(each.get("body", b"") for each in said[1:])
        status, body = ALTERATIONS[self._way](scope, (said[0]["status"], whole))
        if self._way == APPLIED and status == BAD:
            await self._keeper.store.write(lambda tx: tx.returning(UNWANTED))
        headers = [(name, value) for name, value in said[0]["headers"] if name != b"content-length"]
        length = (b"content-length", str(len(body)).encode())
        await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
        await send({"type": "http.response.body", "body": body})


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


# --- faults of password checks -------------------------------------------------------------------------------------


def _count_hashes(file: int) -> None:
    verify = PasswordHasher.verify

    def verify_and_count(self: PasswordHasher, stored: str | bytes, sent: str | bytes) -> bool:
        os.write(file, b".")
        return verify(self, stored, sent)

    setattr(PasswordHasher, "verify", verify_and_count)  # noqa: B010 - a method is a constant to everybody else


def _hash_for_known_names_only() -> None:
    matched = Passwords.verify_and_upgrade

    async def hasty(self: Passwords, sent: str, stored: str | None) -> str | None:
        return None if stored is None else await matched(self, sent, stored)

    Passwords.verify_and_upgrade = hasty


def _count_after_the_check() -> None:
    reserved = guess_limits.reserve_guess

    @asynccontextmanager
    async def late(store: Store, settings: Settings, guess: Guess) -> AsyncGenerator[None]:
        yield
        async with reserved(store, settings, guess):
            pass

    guess_limits.reserve_guess = late


WAYS: dict[str, Callable[[], None]] = {
    EARLY_ANSWER: _answer_early,
    NORMAL: _commit_normally,
    WALL_CLOCK: _trust_the_wall_clock,
    LEAK: _keep_every_answer,
    ASSUMED_COMMIT: _assume_the_commit,
    NO_DUMMY_HASH: _hash_for_known_names_only,
    COUNTED_AFTER: _count_after_the_check,
}


# --- altered answers -----------------------------------------------------------------------------------------------

# what a refused request changes nevertheless (APPLIED)
UNWANTED = Statement("unwanted", {"": "UPDATE users SET name = name || 'x' RETURNING id"})


def _echo_headers(scope: Scope, answer: Answer) -> Answer:
    """Seeded fault: repeat the request's headers in refusals, like a debugging page."""
    if answer[0] != BAD:
        return answer
    sent = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
    return BAD, json.dumps({**json.loads(answer[1]), "Sent": sent}).encode()


def _hide_operation(scope: Scope, answer: Answer) -> Answer:
    """Seeded fault: drop one operation from the OpenAPI document."""
    if scope["path"] != "/api/openapi.json":
        return answer
    document = json.loads(answer[1])
    document["paths"].popitem()
    return answer[0], json.dumps(document).encode()


ALTERATIONS: dict[str, Callable[[Scope, Answer], Answer]] = {
    BROKEN: lambda scope, answer: (500 if answer[0] == BAD and scope["method"] == "PUT" else answer[0], answer[1]),
    ECHOED: _echo_headers,
    APPLIED: lambda _, answer: answer,
    RESHAPED: lambda _, answer: (answer[0], answer[1].replace(b'"Total":', b'"Count":')),
    HIDDEN: _hide_operation,
}
