"""A connection to PostgreSQL: prepared statements, and deferred writes sent as one statement.

Includes the binary encoding of guids and JSON, the settings that decide whether a commit survives a crash, and the
translation of asyncpg's exceptions to those of `interface.py`.
"""

import re
import secrets
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Any

import asyncpg

from gamekeeper.store.engine.interface import (
    OWNER_ADVICE,
    SCHEMA_ADVICE,
    AccessDenied,
    ClaimTaken,
    DatabaseUnavailable,
    DiskFull,
    LockTimeout,
    Reading,
    Row,
    RowExists,
    Value,
)
from gamekeeper.store.engine.statements import (
    KIND_LISTS,
    SEPARATOR,
    Statement,
    combine,
    insert_values,
    join_side_by_side,
)

# PostgreSQL errors after which the transaction is rolled back and retried on the current rows.
RETRYABLE = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.UniqueViolationError,  # a unique violation: another transaction inserted the same key first
    # a foreign key violation: another transaction deleted the row that this one refers to
    asyncpg.ForeignKeyViolationError,
)
# Errors after which a PostgreSQL connection cannot be used any more.
CONNECTION_ERRORS = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # asyncpg raises InternalClientError for a connection that died while it was idle
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InsufficientResourcesError,
)
# Errors that PostgreSQL raises if our schema is not in the search_path, or if the user lacks USAGE on it.
NOT_FOUND_ERRORS = (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError)
TRANSLATABLE = (
    *CONNECTION_ERRORS,
    *NOT_FOUND_ERRORS,
    TimeoutError,
    asyncpg.LockNotAvailableError,
    asyncpg.InsufficientPrivilegeError,
)


class StatementTimeout(DatabaseUnavailable):
    """PostgreSQL cancelled an SQL statement at its timeout; a retry would take as long."""


def translate(error: BaseException) -> DatabaseUnavailable:
    """Return the exception of `interface.py` to raise instead of an exception of asyncpg."""
    match error:
        case asyncpg.QueryCanceledError():
            return StatementTimeout("A statement took too long.")
        case asyncpg.LockNotAvailableError():
            return LockTimeout("Another change to the same player or account takes too long.")
        case asyncpg.InsufficientPrivilegeError():
            return AccessDenied(f"The database does not allow it: {error}. {OWNER_ADVICE}")
        case asyncpg.UndefinedTableError() | asyncpg.InvalidSchemaNameError():
            return AccessDenied(f"The database does not find our tables: {error}. {SCHEMA_ADVICE}")
        case asyncpg.DiskFullError():
            return DiskFull(str(error))
        case _:
            return DatabaseUnavailable(str(error) or type(error).__name__)


def encode_guid(text: str) -> bytes:
    return bytes.fromhex(text.replace("-", ""))


def decode_guid(raw: bytes) -> str:
    digits = bytes(raw).hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def encode_json(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode()


CODECS: tuple[dict[str, Any], ...] = (
    {"typename": "uuid", "encoder": encode_guid, "decoder": decode_guid},
    {"typename": "json", "encoder": encode_json, "decoder": bytes},
)


async def register_codecs(db: Any) -> None:  # noqa: ANN401 - asyncpg has no types
    for codec in CODECS:
        await db.set_type_codec(**codec, schema="pg_catalog", format="binary")


DURABLE = ("fsync", "full_page_writes")
# With these values of synchronous_commit a crash of the server or of its standby can lose acknowledged commits.
WEAK_COMMITS = ("off", "local", "remote_write")
# Raises synchronous_commit. Sent together with BEGIN, so it needs no extra round trip. Set in each transaction: behind
# PgBouncer a transaction may run in any session. remote_apply is stronger than on and is left unchanged.
RAISE_COMMIT = f"""SELECT set_config('synchronous_commit', 'on', true)
                   WHERE current_setting('synchronous_commit') IN {WEAK_COMMITS}"""
COMMIT_RAISED = (
    "PostgreSQL's synchronous_commit is {} for this database. Gamekeeper turns it on for its own changes, but a crash "
    "can lose the changes of other programs. Set it to on (or remote_apply)."
)


async def find_durability_errors(db: Any) -> list[str]:  # noqa: ANN401 - asyncpg has no types
    """Find settings with which a crash loses acknowledged changes. PostgreSQL itself verifies its pages."""
    off = [name for name in DURABLE if await db.fetchval("SELECT current_setting($1)", name) == "off"]
    return [f"{name} is off: a crash loses acknowledged changes" for name in off]


async def find_durability_cautions(db: Any) -> list[str]:  # noqa: ANN401 - asyncpg has no types
    found = await db.fetchval("SHOW synchronous_commit")
    return [COMMIT_RAISED.format(found)] if found in WEAK_COMMITS else []


FETCH_ROWS = 5_000  # rows per FETCH when a whole table is read
# The isolation level is explicit: under a stricter default a rule would read rows from before it got its lock.
BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
# runs a statement that locks a row, and keeps the id that it selects until the transaction ends; see {locked}
KEEP_LOCKED = "SELECT set_config('gamekeeper.locked', COALESCE(CAST(({}) AS text), ''), true)"
NO_ROW = "SELECT 0"  # result of a message whose last statement selected no row
PLACEHOLDERS = {
    "guid": "uuid",
    "json": "json",
    "json_text": "text",
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
    "take_one": "FOR UPDATE OF one SKIP LOCKED",  # lock one row of the table whose alias is `one`; skip locked rows
    "skip_locked": "FOR UPDATE SKIP LOCKED",
    # the id of the row that `lock` locked last in this transaction
    "locked": "CAST(NULLIF(current_setting('gamekeeper.locked', true), '') AS uuid)",
    "keep_key": "FOR KEY SHARE",  # row lock that blocks renames and deletes until the commit
    # `each` makes PostgreSQL look up a joined table's rows one by one in an index. A generic plan expects a tenth of
    # the table to match, and would scan it.
    "each": "LATERAL (SELECT r.* FROM",
    # `any` makes PostgreSQL run a subquery first: it would join its rows by reading the whole table.
    "any": "= ANY(ARRAY(",
    "end_any": "))",
    "join_texts": "string_agg",
    **KIND_LISTS,
    "end_each": "OFFSET 0) AS r",
    "new_guid": "gen_random_uuid()",
}
_INSERT = re.compile(r"INSERT INTO (\w+) \(([^)]*)\)")


class PostgresConnection(Reading):
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
        self._opening, self._claim = "", None  # BEGIN of a write transaction that is not sent yet, and its claim
        self._unwanted = ""  # SQL text that finds the row that must not exist; sent with BEGIN
        self._late: list[tuple[Statement, Sequence[Value]]] = []
        self._loads: list[tuple[str, Sequence[str], Iterable[Row]]] = []

    def _note_warning(self, _: object, message: Any) -> None:  # noqa: ANN401 - asyncpg has no types
        self.warnings.append(str(message.message))

    async def all(self, statement: Statement, *values: Value) -> Sequence[Row]:
        if self._opening or self._late or self._loads:
            await self.flush()
        return await (self._prepared.get(statement) or await self._get_prepared(statement)).fetch(*values)

    async def one(self, statement: Statement, *values: Value) -> Row | None:
        if self._opening or self._late or self._loads:
            await self.flush()
        return await (self._prepared.get(statement) or await self._get_prepared(statement)).fetchrow(*values)

    async def fetch_both(
        self, first: Statement, value: Value, statement: Statement, *values: Value
    ) -> tuple[Row | None, list[Any]]:
        """Run both SQL statements as one: they share a snapshot without the round trips of a transaction."""
        if self._opening or self._late or self._loads:
            await self.flush()
        prepared, width = self._joined.get((first, statement)) or await self._prepare_both(first, statement)
        rows = await prepared.fetch(value, *values)
        return rows[0][: width - 1], [row[width + 1 :] for row in rows if row[width]]

    async def returning(self, statement: Statement, *values: Value) -> Sequence[Row]:
        return await self.all(statement, *values)

    def begin(self, claim: int | None) -> None:
        """Begin a write transaction. BEGIN is sent with the first lock, or before the first other statement."""
        self._opening, self._claim, self._unwanted = f"{BEGIN}; {RAISE_COMMIT}", claim, ""

    def require_absent(self, statement: Statement, *values: Value) -> None:
        self._unwanted = insert_values(render(statement), values)

    async def lock(self, statement: Statement, *values: Value) -> None:
        if self._late or self._loads:
            await self.flush()
        await self._open(KEEP_LOCKED.format(insert_values(render(statement), values)))

    async def _open(self, lock: str = "") -> None:
        """Send BEGIN, the claim and a lock in one message; each statement in it sees what was committed before it.

        The last statement locks nothing and selects no row if the unwanted row exists: the result that the message
        returns is the number of rows that it selected.
        """
        opening, self._opening = self._opening, ""
        unwanted, self._unwanted = self._unwanted, ""
        claim = f"SELECT pg_advisory_xact_lock({self._claim:d})" if opening and self._claim is not None else ""
        last = lock
        if unwanted:
            last = f"{lock or 'SELECT'} WHERE NOT EXISTS ({unwanted})"
        try:
            result = await self.db.execute("; ".join(filter(None, (opening, claim, last))))
        except asyncpg.LockNotAvailableError as error:
            if claim and (not lock or await self._is_claim_taken()):
                raise ClaimTaken from error
            raise
        if unwanted and result == NO_ROW:
            raise RowExists

    async def _is_claim_taken(self) -> bool:
        """Tell, after a timeout, whether it was the claim that the transaction waited for."""
        await self.db.execute("ROLLBACK")
        return not await self.db.fetchval(f"SELECT pg_try_advisory_xact_lock({self._claim:d})")

    def defer(self, statement: Statement, *values: Value) -> None:
        self._late.append((statement, values))

    def load(self, statement: Statement, rows: Iterable[Row]) -> None:
        table, columns = _INSERT.findall(render(statement))[0]
        self.fill(table, columns.replace(",", " ").split(), rows)

    def fill(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        self._loads.append((table, columns, rows))

    async def read_table(self, name: str, columns: Sequence[str]) -> AsyncGenerator[Sequence[Row]]:
        await self.flush()
        await self.db.execute(f"DECLARE copied NO SCROLL CURSOR FOR SELECT {', '.join(columns)} FROM {name}")  # noqa: S608 - names come from the schema
        while rows := await self.db.fetch(f"FETCH {FETCH_ROWS} FROM copied"):
            yield rows
        await self.db.execute("CLOSE copied")

    async def flush(self) -> None:
        """Run the bulk loads in order (later rows refer to earlier ones), then the deferred SQL statements."""
        if self._opening:
            await self._open()
        loads, self._loads = self._loads, []
        for table, columns, rows in loads:
            await self.db.copy_records_to_table(table, records=rows, columns=columns)
        if not self._late:
            return
        late, self._late = self._late, []
        key = tuple(statement for statement, _ in late)
        if key not in self._prepared:
            self._prepared[key] = await self._prepare(combine([render(statement) for statement in key]))
        await self._prepared[key].fetch(*[value for _, values in late for value in values])

    def is_idle(self) -> bool:
        """Tell whether the connection is open, outside a transaction and without deferred statements."""
        return not (self._opening or self._late or self._loads or self.db.is_closed() or self.db.is_in_transaction())

    async def rollback(self) -> None:
        self._opening = ""
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
        prepared = await self._prepare(join_side_by_side(render(first), render(statement)))
        width = [attribute.name for attribute in prepared.get_attributes()].index(SEPARATOR)
        self._joined[first, statement] = prepared, width
        return prepared, width

    async def _get_prepared(self, statement: Statement) -> Any:  # noqa: ANN401 - asyncpg has no types
        prepared = self._prepared[statement] = await self._prepare(render(statement))
        return prepared


def render(statement: Statement) -> str:
    return statement.render("postgres", PLACEHOLDERS)
