"""PostgreSQL store: a connection pool, write transactions with retries, and COMMIT."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import asyncpg

from gamekeeper.ground import crash
from gamekeeper.store.engine import postgres_connection, postgres_pool, postgres_url
from gamekeeper.store.engine.interface import (
    AccessDenied,
    ClaimTaken,
    CommitUnknown,
    DatabaseUnavailable,
    DiskFull,
    LockTimeout,
    Reading,
    Row,
    Snapshot,
    StoreStats,
    UnusableDatabase,
    Value,
    Work,
)
from gamekeeper.store.engine.migrate import require_ours
from gamekeeper.store.engine.postgres_connection import (
    CONNECTION_ERRORS,
    RETRYABLE,
    TRANSLATABLE,
    PostgresConnection,
    StatementTimeout,
    render,
    translate,
)
from gamekeeper.store.engine.postgres_pool import ConnectionWatch, Pool
from gamekeeper.store.engine.statements import Statement

T = TypeVar("T")
MAX_ATTEMPTS = 8
# Idle timeout in a transaction in seconds, for a client that froze or lost its network. Less than the LOCK_SECONDS of
# postgres_pool.py, so that writes waiting for the transaction's locks get them before they time out.
IDLE_LIMIT = {"idle_in_transaction_session_timeout": "3s"}
MAX_QUEUED = 64  # writes that may wait for other writes to the same player
SESSION = {
    "application_name": "gamekeeper",
    # Every SQL statement uses an index whatever its values are: so plan it once, and do not JIT-compile it.
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
}
# No timeouts for statements that wait for other sessions' transactions, even if the role has timeouts by default.
UNLIMITED = {"lock_timeout": "0", "statement_timeout": "0"}
# Query whether the server works on each of our sessions, or has answered it within the last second. If one of the
# sessions is dead (half-open connection), all are terminated: they have waited as long on the same network, and a dead
# session keeps its locks. Sessions that wait for a standby are kept: their commit would stay on one machine only.
FIND_WORKING = """WITH sessions AS (
                 SELECT pid, concat(pid, ' ', backend_start) AS session,
                        wait_event IS NOT DISTINCT FROM 'SyncRep' AS waits_for_standby,
                        COALESCE(state = 'active' OR state_change > clock_timestamp() - INTERVAL '1 s', TRUE) AS working
                 FROM pg_stat_activity)
             SELECT session, waits_for_standby OR (SELECT bool_and(working) FROM sessions WHERE session = ANY($1))
                             OR NOT pg_terminate_backend(pid) FROM sessions WHERE session = ANY($1)"""
OWN_SESSION = "SELECT pid, concat(pid, ' ', backend_start) FROM pg_stat_activity WHERE pid = pg_backend_pid()"
MIN_VERSION = 15


class _NotCommitted(Exception):
    """The connection broke before COMMIT was sent: the transaction did not happen."""


class PostgresStore(Reading):
    engine, path = "postgres", None

    def __init__(self, url: str, connections: int, most_queued: int = MAX_QUEUED) -> None:
        url, self._connect_seconds = postgres_url.split_timeout(url)
        self._urls = postgres_url.split_hosts(url)
        self._session = SESSION
        self._watch = ConnectionWatch[PostgresConnection](
            self._find_working_sessions, (self._connect_seconds + 1) * len(self._urls)
        )
        self._pool = Pool[PostgresConnection](self._connect, self._watch.busy, connections, most_queued)
        self._watching: asyncio.Task[None] | None = None

    async def open(self) -> None:
        await self._pool.run(_require_usable)

    async def close(self) -> None:
        if self._watching:
            self._watching.cancel()
        await self._pool.close_idle()

    async def limit_statements(self, statement_seconds: int) -> None:
        # statement timeout; it does not apply to COMMIT: PostgreSQL stops the timer before it
        self._session = {**SESSION, **IDLE_LIMIT, "statement_timeout": f"{statement_seconds}s"}
        self._watching = asyncio.create_task(self._watch.run(statement_seconds))
        await self._pool.close_idle()  # close the idle connections: they were opened without the statement timeout

    def collect_stats(self) -> StoreStats:
        return StoreStats(pool=self._pool.collect_stats())

    # these three return the coroutine of `_read_with_retry` instead of awaiting it: one coroutine less for each read
    def all(self, statement: Statement, *values: Value) -> Coroutine[Any, Any, Sequence[Row]]:
        return self._read_with_retry(lambda line: line.all(statement, *values))

    def one(self, statement: Statement, *values: Value) -> Coroutine[Any, Any, Row | None]:
        return self._read_with_retry(lambda line: line.one(statement, *values))

    def fetch_both(
        self, first: Statement, value: Value, statement: Statement, *values: Value
    ) -> Coroutine[Any, Any, tuple[Row | None, list[Any]]]:
        return self._read_with_retry(lambda line: line.fetch_both(first, value, statement, *values))

    async def read(self, work: Callable[[Snapshot], Coroutine[Any, Any, T]]) -> T:
        async def in_one_snapshot(line: PostgresConnection) -> T:
            await line.db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            result = await work(line)
            await line.db.execute("COMMIT")
            return result

        return await self._read_with_retry(in_one_snapshot)

    async def read_in_pieces(self, work: Callable[[Snapshot], Coroutine[Any, Any, T]]) -> T:
        async with self._pool.reserve_long_read():
            return await self.read(work)

    async def write(
        self, work: Work[T], claim: int | None = None, *, queue: str | None = None, reserved: bool = False
    ) -> T:
        # Shielded: a disconnected caller must not cancel a COMMIT, whose outcome would then be unknown.
        return await asyncio.shield(asyncio.ensure_future(self._write(work, claim, queue, reserved=reserved)))

    async def dry_run(self, work: Work[T], *, queue: str | None = None) -> T:
        return await self.write(work, queue=queue)

    async def execute_alone(self, statement: Statement) -> None:
        db = await self._open_connection({**SESSION, **UNLIMITED})
        try:
            await db.execute(render(statement))
        except (*RETRYABLE, *TRANSLATABLE) as error:
            raise (LockTimeout(str(error)) if isinstance(error, RETRYABLE) else translate(error)) from error
        finally:
            db.terminate()

    async def check_integrity(self) -> list[str]:
        return await self._pool.run(lambda line: postgres_connection.find_durability_errors(line.db))

    async def find_cautions(self) -> list[str]:
        return await self._pool.run(lambda line: postgres_connection.find_durability_cautions(line.db))

    async def _write(self, work: Work[T], claim: int | None, queue: str | None, *, reserved: bool) -> T:
        """Run a write transaction. Wait for its claim before its queue: the other order could deadlock."""
        late = LockTimeout("Another change to the same player or account takes too long.")
        async with self._pool.hold_turn(claim, ClaimTaken()), self._pool.hold_turn(queue, late):
            for _ in range(MAX_ATTEMPTS):
                with contextlib.suppress(*RETRYABLE, _NotCommitted):
                    return await self._pool.run(lambda line: self._attempt(line, work, claim), write=not reserved)
        raise DatabaseUnavailable("The transaction failed at every retry; nothing was changed.")

    async def _attempt(self, line: PostgresConnection, work: Work[T], claim: int | None) -> T:
        try:
            crash.crash_at("before_begin")
            line.begin(claim)
            result = await work(line)
            await line.flush()
            crash.crash_at("before_commit")
        except (asyncpg.QueryCanceledError, asyncpg.DiskFullError):
            raise
        except CONNECTION_ERRORS as error:
            line.db.terminate()
            raise _NotCommitted from error
        await self._commit(line)
        return result

    async def _commit(self, line: PostgresConnection) -> None:
        """Send COMMIT, once and in a message of its own.

        If the connection breaks before this message, nothing was changed. If it breaks here, the outcome is unknown.
        """
        line.warnings.clear()
        try:
            done = await line.db.execute("COMMIT")
        except CONNECTION_ERRORS as error:
            line.db.terminate()
            raise CommitUnknown(str(error)) from error
        # a warning means that the wait for the standby was cancelled; PostgreSQL reports that COMMIT as success
        if line.warnings:
            raise CommitUnknown(line.warnings[0])
        if done != "COMMIT":
            raise DatabaseUnavailable("The database rolled back the transaction.")
        crash.crash_at("after_commit")

    async def _read_with_retry(self, work: Callable[[PostgresConnection], Coroutine[Any, Any, T]]) -> T:
        """Run a read, and retry it once if the connection turns out to be dead: reads are safe to repeat."""
        try:
            return await self._pool.run(work)
        except (StatementTimeout, DiskFull, AccessDenied, LockTimeout):
            raise
        except DatabaseUnavailable:
            return await self._pool.run(work)

    async def _find_working_sessions(self, sessions: list[str]) -> set[str]:
        """Return the sessions that the server works on, and terminate the others; uses a new connection."""
        db = await self._open_connection()
        try:
            return {row[0] for row in await db.fetch(FIND_WORKING, sessions) if row[1]}
        except (*CONNECTION_ERRORS, asyncpg.PostgresError) as error:
            raise DatabaseUnavailable(str(error)) from error
        finally:
            db.terminate()

    async def _connect(self) -> PostgresConnection:
        db = await self._open_connection()
        try:
            async with asyncio.timeout(self._connect_seconds):
                pid, session = await db.fetchrow(OWN_SESSION)
                await postgres_connection.register_codecs(db)
        except BaseException:
            db.terminate()
            raise
        # the session's id; empty behind a pooler, where the server process's pid differs
        return PostgresConnection(db, session if pid == db.get_server_pid() else "")

    async def _open_connection(self, session: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401 - asyncpg has no types
        """Connect to the first database server that accepts writes, failed ones last. A single one may be read-only."""
        driver: Any = asyncpg
        session = session or {**self._session, "lock_timeout": f"{postgres_pool.LOCK_SECONDS}s"}
        wanted = "read-write" if len(self._urls) > 1 else "any"
        options = {"timeout": self._connect_seconds, "statement_cache_size": 0, "target_session_attrs": wanted}
        why = ""
        for url in self._urls:
            try:
                return await driver.connect(url, server_settings=session, **options)
            # connection errors include a wrong password or database name
            except (*CONNECTION_ERRORS, asyncpg.PostgresError) as error:
                silent = f"no answer within {self._connect_seconds} seconds"
                why = str(error) or (silent if isinstance(error, TimeoutError) else type(error).__name__)
                self._urls = sorted(self._urls, key=url.__eq__)
        raise DatabaseUnavailable(why)


async def _require_usable(line: PostgresConnection) -> None:
    version = line.db.get_server_version()
    if version.major < MIN_VERSION:
        raise UnusableDatabase(f"This is PostgreSQL {version.major}; Gamekeeper needs {MIN_VERSION} or newer.")
    await require_ours(line)
