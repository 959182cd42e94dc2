"""PostgreSQL: own connections with kept prepared statements, late writes sent as one statement."""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Any, TypeVar

import asyncpg

from gamekeeper.store.engine import Away, ClaimTaken, Reading, Row, Undecided, Value, Writing
from gamekeeper.store.statements import Statement

T = TypeVar("T")
ATTEMPTS = 8
# said, not inherited: under another level a rule would read what was there before it got its lock
BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
DURABLE = ("synchronous_commit", "fsync", "full_page_writes")
CONNECT_SECONDS = 5
LOCK_SECONDS = 5
LEAST_VERSION = 15
WORDS = {
    "guid": "uuid",
    "json": "json",
    "document": "json",
    "boolean": "boolean",
    "ordered": 'text COLLATE "C"',
    "long": "bigint",
    # a number is drawn only by a transaction that already owns its id: the change feed relies on it
    "ledger_number": (
        "bigint PRIMARY KEY DEFAULT (CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('ledger_seq') END)"
    ),
    "strict": "",
    "clustered": "",
    "now": "CAST(extract(epoch FROM now()) * 1000 AS bigint)",
    "for_update": "FOR UPDATE",
    "new_guid": "gen_random_uuid()",
}
_AGAIN = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.UniqueViolationError,  # somebody else was first: decided anew, the rule sees their row
    asyncpg.ForeignKeyViolationError,  # what it is about went away meanwhile: decided anew, the rule misses it
)
_LOST = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # what asyncpg says when a connection died while it was idle
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InsufficientResourcesError,
)


class OldPostgres(Exception):
    """The server is too old."""


class _Unsettled(Exception):
    """The connection broke before COMMIT was sent: the transaction did not happen."""


class _Line:
    """One connection and the statements prepared on it; inside `write` also the statements kept for later."""

    def __init__(self, db: Any) -> None:  # noqa: ANN401 - asyncpg has no types
        self.db = db
        self._prepared: dict[Any, Any] = {}
        self._late: list[tuple[Statement, Sequence[Value]]] = []

    async def all(self, statement: Statement, *values: Value) -> Sequence[Row]:
        await self.flush()
        return await (await self._ready(statement)).fetch(*values)

    async def one(self, statement: Statement, *values: Value) -> Row | None:
        await self.flush()
        return await (await self._ready(statement)).fetchrow(*values)

    async def returning(self, statement: Statement, *values: Value) -> Sequence[Row]:
        return await self.all(statement, *values)

    def later(self, statement: Statement, *values: Value) -> None:
        self._late.append((statement, values))

    async def flush(self) -> None:
        if not self._late:
            return
        late, self._late = self._late, []
        key = tuple(statement for statement, _ in late)
        if key not in self._prepared:
            self._prepared[key] = await self.db.prepare(_as_one([_text(statement) for statement in key]))
        await self._prepared[key].fetch(*[value for _, values in late for value in values])

    async def rollback(self) -> None:
        self._late.clear()
        if not self.db.is_closed() and self.db.is_in_transaction():
            await self.db.execute("ROLLBACK")

    async def _ready(self, statement: Statement) -> Any:  # noqa: ANN401 - asyncpg has no types
        prepared = self._prepared.get(statement)
        if prepared is None:
            prepared = self._prepared[statement] = await self.db.prepare(_text(statement))
        return prepared


class PostgresStore:
    engine = "postgres"

    def __init__(self, url: str, connections: int) -> None:
        self._url = url
        self._free: list[_Line] = []
        self._places = asyncio.Semaphore(connections)

    async def open(self) -> None:
        async with self._line() as line:
            version = line.db.get_server_version()
            if version.major < LEAST_VERSION:
                raise OldPostgres(f"This is PostgreSQL {version.major}; Gamekeeper needs {LEAST_VERSION} or newer.")

    async def close(self) -> None:
        while self._free:
            with contextlib.suppress(*_LOST):
                await self._free.pop().db.close(timeout=CONNECT_SECONDS)

    async def all(self, statement: Statement, *values: Value) -> Sequence[Row]:
        return await self._reading(lambda line: line.all(statement, *values))

    async def one(self, statement: Statement, *values: Value) -> Row | None:
        return await self._reading(lambda line: line.one(statement, *values))

    async def read(self, work: Callable[[Reading], Coroutine[Any, Any, T]]) -> T:
        async def in_one_snapshot(line: _Line) -> T:
            await line.db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            result = await work(line)
            await line.db.execute("COMMIT")
            return result

        return await self._reading(in_one_snapshot)

    async def write(self, work: Callable[[Writing], Coroutine[Any, Any, T]], claim: int | None = None) -> T:
        # a caller that goes away must not cancel a COMMIT half-way: a cancelled one may report success
        return await asyncio.shield(asyncio.ensure_future(self._write(work, claim)))

    async def integrity(self) -> list[str]:
        """PostgreSQL verifies its own pages; what it cannot know is that we promise to lose nothing."""
        async with self._line() as line:
            values = {name: await line.db.fetchval(f"SHOW {name}") for name in DURABLE}
        return [
            f"{name} is off: a crash loses acknowledged changes" for name, value in values.items() if value == "off"
        ]

    async def _write(self, work: Callable[[Writing], Coroutine[Any, Any, T]], claim: int | None) -> T:
        for _ in range(ATTEMPTS):
            with contextlib.suppress(*_AGAIN, _Unsettled):
                async with self._line() as line:
                    return await self._attempt(line, work, claim)
        raise Away("The database kept refusing the transaction; nothing was changed.")

    async def _attempt(self, line: _Line, work: Callable[[Writing], Coroutine[Any, Any, T]], claim: int | None) -> T:
        try:
            await self._begin(line, claim)
            result = await work(line)
            await line.flush()
        except _LOST as error:
            line.db.terminate()
            raise _Unsettled from error
        await self._commit(line)
        return result

    async def _commit(self, line: _Line) -> None:
        try:
            done = await line.db.execute("COMMIT")
        except _LOST as error:
            line.db.terminate()
            raise Undecided(str(error)) from error
        if done != "COMMIT":
            raise Away("The database rolled the transaction back.")

    async def _begin(self, line: _Line, claim: int | None) -> None:
        if claim is None:
            await line.db.execute(BEGIN)
            return
        try:
            await line.db.execute(f"{BEGIN}; SELECT pg_advisory_xact_lock({claim:d})")
        except asyncpg.LockNotAvailableError as error:
            raise ClaimTaken from error

    async def _reading(self, work: Callable[[_Line], Coroutine[Any, Any, T]]) -> T:
        """A read is safe to repeat: a connection that turns out dead costs one more try, not an error."""
        with contextlib.suppress(Away):
            async with self._line() as line:
                return await work(line)
        async with self._line() as line:
            return await work(line)

    @contextlib.asynccontextmanager
    async def _line(self) -> AsyncGenerator[_Line]:
        async with self._place():
            line: _Line | None = None
            try:
                line = self._free.pop() if self._free else await self._connect()
                yield line
            except asyncpg.LockNotAvailableError as error:
                raise Away("Another change of the same thing takes too long.") from error
            except (*_LOST, TimeoutError) as error:
                if line is not None:
                    line.db.terminate()
                raise Away(str(error) or type(error).__name__) from error
            finally:
                if line is not None:
                    await self._put_back(line)

    @contextlib.asynccontextmanager
    async def _place(self) -> AsyncGenerator[None]:
        try:
            async with asyncio.timeout(LOCK_SECONDS):
                await self._places.acquire()
        except TimeoutError as error:
            raise Away("Every connection is busy.") from error
        try:
            yield
        finally:
            self._places.release()

    async def _put_back(self, line: _Line) -> None:
        try:
            await line.rollback()
        except _LOST:
            line.db.terminate()
        if not line.db.is_closed():
            self._free.append(line)

    async def _connect(self) -> _Line:
        driver: Any = asyncpg
        try:
            db = await driver.connect(
                self._url,
                timeout=CONNECT_SECONDS,
                statement_cache_size=0,
                server_settings={"application_name": "gamekeeper", "lock_timeout": f"{LOCK_SECONDS}s"},
            )
        except asyncpg.PostgresError as error:  # a wrong password, no such database
            raise Away(str(error)) from error
        await db.set_type_codec("uuid", schema="pg_catalog", encoder=_guid_bytes, decoder=_guid_text, format="binary")
        await db.set_type_codec("json", schema="pg_catalog", encoder=_json_bytes, decoder=bytes, format="binary")
        return _Line(db)


def _text(statement: Statement) -> str:
    return statement.text("postgres", WORDS)


def _as_one(texts: Sequence[str]) -> str:
    """Several INSERT, UPDATE and DELETE statements as one; they must touch different rows."""
    if len(texts) == 1:
        return texts[0]
    parts: list[str] = []
    shift = 0
    for number, text in enumerate(texts):
        parts.append(f"s{number} AS ({_shifted(text, shift)})")
        shift += max((int(found) for found in re.findall(r"\$(\d+)", text)), default=0)
    return "WITH " + ",\n".join(parts) + "\nSELECT"


def _shifted(text: str, by: int) -> str:
    return re.sub(r"\$(\d+)", lambda found: f"${int(found[1]) + by}", text)


def _guid_bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("-", ""))


def _guid_text(raw: bytes) -> str:
    digits = bytes(raw).hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def _json_bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode()
