"""PostgreSQL store: a connection pool, prepared statements, and deferred writes sent as one statement."""

import asyncio
import contextlib
import re
import secrets
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import asyncpg

from gamekeeper import crash
from gamekeeper.store import codecs, hosts, pool
from gamekeeper.store.engine import (
    AccessDenied,
    ClaimTaken,
    CommitUnknown,
    DatabaseUnavailable,
    DiskFull,
    LockTimeout,
    Row,
    Snapshot,
    StoreStats,
    UnusableDatabase,
    Value,
    Work,
)
from gamekeeper.store.failures import CONNECTION_ERRORS, RETRYABLE, TRANSLATABLE, StatementTimeout, translate
from gamekeeper.store.migrate import require_ours
from gamekeeper.store.pool import Pool
from gamekeeper.store.statements import SEPARATOR, Statement, combine, join_side_by_side
from gamekeeper.store.watch import ConnectionWatch

T = TypeVar("T")
MAX_ATTEMPTS = 8
FETCH_ROWS = 5_000  # rows per FETCH when a whole table is read
# The isolation level is explicit: under a stricter default a rule would read rows from before it got its lock.
BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
DURABLE = ("fsync", "full_page_writes")
# With these values of synchronous_commit a crash of the server or of its standby can lose acknowledged commits.
WEAK_COMMITS = ("off", "local", "remote_write")
# Raises synchronous_commit. Sent together with BEGIN, so it needs no extra round trip. Set in each transaction: behind
# PgBouncer a transaction may run in any session. remote_apply is stronger than on and is left unchanged.
RAISE_COMMIT = f"""SELECT set_config('synchronous_commit', 'on', true)
                   WHERE current_setting('synchronous_commit') IN {WEAK_COMMITS}"""
# Idle timeout in a transaction in seconds, for a client that froze or lost its network. Less than pool.LOCK_SECONDS, so
# that writes waiting for the transaction's locks get them before they time out.
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
COMMIT_RAISED = (
    "PostgreSQL's synchronous_commit is {} for this database. Gamekeeper turns it on for its own changes, but a crash "
    "can lose the changes of other programs. Set it to on (or remote_apply)."
)
PLACEHOLDERS = {
    "guid": "uuid",
    "json": "json",
    "document": "json",
    "boolean": "boolean",
    "ordered": 'text COLLATE "C"',
    "bytewise": 'COLLATE "C"',
    "long": "bigint",
    # A transaction gets its transaction id before it draws a change number: the change feed relies on this order.
    "ledger_number": (
        "bigint PRIMARY KEY DEFAULT (CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('ledger_seq') END)"
    ),
    "list_mark": "xid8 NOT NULL DEFAULT pg_current_xact_id()",
    "true": "TRUE",
    "false": "FALSE",
    "never": "'1:1:'",
    "never_null": "NOT NULL",
    # id of the database server's run: changes when the server restarts, and when a copy replaces the table `lists`.
    "life": "concat(pg_postmaster_start_time(), ' ', pg_relation_filepath('lists'))",
    "cluster": "(SELECT CAST(system_identifier AS text) FROM pg_control_system())",
    "concurrently": "CONCURRENTLY",
    "strict": "",
    "clustered": "",
    "now": "CAST(extract(epoch FROM now()) * 1000 AS bigint)",
    "for_update": "FOR UPDATE",
    "keep_key": "FOR KEY SHARE",  # row lock that blocks renames and deletes until the commit
    # `each` makes PostgreSQL look up a joined table's rows one by one in an index. A generic plan expects a tenth of
    # the table to match, and would scan it.
    "each": "LATERAL (SELECT r.* FROM",
    "end_each": "OFFSET 0) AS r",
    "new_guid": "gen_random_uuid()",
}
_INSERT = re.compile(r"INSERT INTO (\w+) \(([^)]*)\)")


class _NotCommitted(Exception):
    """The connection broke before COMMIT was sent: the transaction did not happen."""


class _Connection:
    """A PostgreSQL connection with its prepared statements and, inside `write`, its deferred statements."""

    def __init__(self, db: Any, session: str) -> None:  # noqa: ANN401 - asyncpg has no types
        self.db = db
        self.session = session
        self.warnings: list[str] = []
        db.add_log_listener(self._note_warning)
        self._prepared: dict[Any, Any] = {}
        # the same for two SQL statements run as one, each with the number of columns before the separating one
        self._joined: dict[tuple[Statement, Statement], tuple[Any, int]] = {}
        # prefix for names of prepared statements: unique, because PgBouncer may share a session
        self._name, self._number = f"gamekeeper_{secrets.token_hex(8)}", 0
        self._late: list[tuple[Statement, Sequence[Value]]] = []
        self._loads: list[tuple[str, Sequence[str], Iterable[Row]]] = []

    def _note_warning(self, _: object, message: Any) -> None:  # noqa: ANN401 - asyncpg has no types
        self.warnings.append(str(message.message))

    async def all(self, statement: Statement, *values: Value) -> Sequence[Row]:
        if self._late or self._loads:
            await self.flush()
        return await (self._prepared.get(statement) or await self._get_prepared(statement)).fetch(*values)

    async def one(self, statement: Statement, *values: Value) -> Row | None:
        if self._late or self._loads:
            await self.flush()
        return await (self._prepared.get(statement) or await self._get_prepared(statement)).fetchrow(*values)

    async def fetch_both(
        self, first: Statement, value: Value, statement: Statement, *values: Value
    ) -> tuple[Row | None, list[Any]]:
        """Run both SQL statements as one: they share a snapshot without the round trips of a transaction."""
        if self._late or self._loads:
            await self.flush()
        prepared, width = self._joined.get((first, statement)) or await self._prepare_both(first, statement)
        rows = await prepared.fetch(value, *values)
        return rows[0][: width - 1], [row[width + 1 :] for row in rows if row[width]]

    async def returning(self, statement: Statement, *values: Value) -> Sequence[Row]:
        return await self.all(statement, *values)

    def defer(self, statement: Statement, *values: Value) -> None:
        self._late.append((statement, values))

    def load(self, statement: Statement, rows: Iterable[Row]) -> None:
        table, columns = _INSERT.findall(_render(statement))[0]
        self.fill(table, columns.replace(",", " ").split(), rows)

    def fill(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        self._loads.append((table, columns, rows))

    async def read_table(self, name: str, columns: Sequence[str]) -> AsyncGenerator[Sequence[Row]]:
        await self.db.execute(f"DECLARE copied NO SCROLL CURSOR FOR SELECT {', '.join(columns)} FROM {name}")  # noqa: S608 - names come from the schema
        while rows := await self.db.fetch(f"FETCH {FETCH_ROWS} FROM copied"):
            yield rows
        await self.db.execute("CLOSE copied")

    async def flush(self) -> None:
        """Run the bulk loads in order (later rows refer to earlier ones), then the deferred SQL statements."""
        loads, self._loads = self._loads, []
        for table, columns, rows in loads:
            await self.db.copy_records_to_table(table, records=rows, columns=columns)
        if not self._late:
            return
        late, self._late = self._late, []
        key = tuple(statement for statement, _ in late)
        if key not in self._prepared:
            self._prepared[key] = await self._prepare(combine([_render(statement) for statement in key]))
        await self._prepared[key].fetch(*[value for _, values in late for value in values])

    def is_idle(self) -> bool:
        """Tell whether the connection is open, outside a transaction and without deferred statements."""
        return not (self._late or self._loads or self.db.is_closed() or self.db.is_in_transaction())

    async def rollback(self) -> None:
        self._late.clear()
        self._loads.clear()
        if not self.db.is_closed() and self.db.is_in_transaction():
            await self.db.execute("ROLLBACK")

    async def _prepare(self, text: str) -> Any:  # noqa: ANN401 - asyncpg has no types
        """Prepare an SQL statement under a name: an unnamed one would be parsed and planned again for every request."""
        # count the statement name up before the await: after a cancellation the server may already use the name
        self._number += 1
        return await self.db.prepare(text, name=f"{self._name}_{self._number}")

    async def _prepare_both(self, first: Statement, statement: Statement) -> tuple[Any, int]:
        prepared = await self._prepare(join_side_by_side(_render(first), _render(statement)))
        width = [attribute.name for attribute in prepared.get_attributes()].index(SEPARATOR)
        self._joined[first, statement] = prepared, width
        return prepared, width

    async def _get_prepared(self, statement: Statement) -> Any:  # noqa: ANN401 - asyncpg has no types
        prepared = self._prepared[statement] = await self._prepare(_render(statement))
        return prepared


class PostgresStore:
    engine, path = "postgres", None

    def __init__(self, url: str, connections: int, most_queued: int = MAX_QUEUED) -> None:
        url, self._connect_seconds = hosts.split_timeout(url)
        self._urls = hosts.split_hosts(url)
        self._session = SESSION
        self._watch = ConnectionWatch[_Connection](
            self._find_working_sessions, (self._connect_seconds + 1) * len(self._urls)
        )
        self._pool = Pool[_Connection](self._connect, self._watch.busy, connections, most_queued)
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
        async def in_one_snapshot(line: _Connection) -> T:
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

    dry_run = write

    async def execute_alone(self, statement: Statement) -> None:
        db = await self._open_connection({**SESSION, **UNLIMITED})
        try:
            await db.execute(_render(statement))
        except (*RETRYABLE, *TRANSLATABLE) as error:
            raise (LockTimeout(str(error)) if isinstance(error, RETRYABLE) else translate(error)) from error
        finally:
            db.terminate()

    async def check_integrity(self) -> list[str]:
        """Check that no setting lets a crash lose acknowledged changes. PostgreSQL itself verifies its pages."""

        async def off(line: _Connection) -> list[str]:
            return [name for name in DURABLE if await line.db.fetchval(f"SHOW {name}") == "off"]

        return [f"{name} is off: a crash loses acknowledged changes" for name in await self._pool.run(off)]

    async def find_cautions(self) -> list[str]:
        async def read(line: _Connection) -> str:
            return await line.db.fetchval("SHOW synchronous_commit")

        found = await self._pool.run(read)
        return [COMMIT_RAISED.format(found)] if found in WEAK_COMMITS else []

    async def _write(self, work: Work[T], claim: int | None, queue: str | None, *, reserved: bool) -> T:
        """Run a write transaction. Wait for its claim before its queue: the other order could deadlock."""
        late = LockTimeout("Another change to the same player or account takes too long.")
        async with self._pool.hold_turn(claim, ClaimTaken()), self._pool.hold_turn(queue, late):
            for _ in range(MAX_ATTEMPTS):
                with contextlib.suppress(*RETRYABLE, _NotCommitted):
                    return await self._pool.run(lambda line: self._attempt(line, work, claim), write=not reserved)
        raise DatabaseUnavailable("The transaction failed at every retry; nothing was changed.")

    async def _attempt(self, line: _Connection, work: Work[T], claim: int | None) -> T:
        try:
            crash.crash_at("before_begin")
            await self._begin(line, claim)
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

    async def _commit(self, line: _Connection) -> None:
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

    async def _begin(self, line: _Connection, claim: int | None) -> None:
        lock = "" if claim is None else f"; SELECT pg_advisory_xact_lock({claim:d})"
        try:
            await line.db.execute(f"{BEGIN}; {RAISE_COMMIT}{lock}")
        except asyncpg.LockNotAvailableError as error:
            raise ClaimTaken from error

    async def _read_with_retry(self, work: Callable[[_Connection], Coroutine[Any, Any, T]]) -> T:
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

    async def _connect(self) -> _Connection:
        db = await self._open_connection()
        try:
            async with asyncio.timeout(self._connect_seconds):
                pid, session = await db.fetchrow(OWN_SESSION)
                await codecs.register_codecs(db)
        except BaseException:
            db.terminate()
            raise
        # the session's id; empty behind a pooler, where the server process's pid differs
        return _Connection(db, session if pid == db.get_server_pid() else "")

    async def _open_connection(self, session: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401 - asyncpg has no types
        """Connect to the first database server that accepts writes, failed ones last. A single one may be read-only."""
        driver: Any = asyncpg
        session = session or {**self._session, "lock_timeout": f"{pool.LOCK_SECONDS}s"}
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


async def _require_usable(line: _Connection) -> None:
    version = line.db.get_server_version()
    if version.major < MIN_VERSION:
        raise UnusableDatabase(f"This is PostgreSQL {version.major}; Gamekeeper needs {MIN_VERSION} or newer.")
    await require_ours(line)


def _render(statement: Statement) -> str:
    return statement.render("postgres", PLACEHOLDERS)
