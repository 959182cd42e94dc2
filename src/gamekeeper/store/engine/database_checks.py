"""Checks of a database: objects of the schema that it lacks, privileges of its user, synchronous standbys, indexes.

A bulk load drops some indexes and creates them again at its end, unless it is killed before.
"""

import asyncio
import contextlib
import re
from collections.abc import Mapping
from typing import NamedTuple

from gamekeeper.ground import log
from gamekeeper.store.engine import schema
from gamekeeper.store.engine.interface import AccessDenied, ClaimTaken, LockTimeout, Reading, Store, Writing
from gamekeeper.store.engine.migrate import CLAIM
from gamekeeper.store.engine.statements import Statement, Statements

SQL = Statements(__file__)
_OBJECTS = frozenset({"TABLE", "VIEW", "TRIGGER", "FUNCTION", "SEQUENCE"})
# objects with privileges, without the table `migrations`: `serve` does not write to it
_GRANTED = frozenset({"TABLE", "SEQUENCE", "FUNCTION"})


class SchemaObject(NamedTuple):
    kind: str
    name: str


async def find_missing_objects(tx: Reading, engine: str) -> list[SchemaObject]:
    """List objects of the schema that the database lacks, except triggers of a missing search index."""
    there = {SchemaObject(*row) for row in await tx.all(SQL.names)}
    absent = await find_missing_indexes(tx, engine)
    expected = [SchemaObject(each.kind.lower(), each.name) for each in schema.assemble(engine) if each.kind in _OBJECTS]
    return [each for each in expected if each not in there and not each.name.startswith(tuple(absent))]


async def find_lacking_privileges(tx: Reading) -> list[str]:
    """Return our tables, sequences and functions that the database user may not use; ignore those of other programs."""
    lacking = {row[0] for row in await tx.all(SQL.lacking)}
    if not lacking:
        return []  # on SQLite always: there are no privileges
    return sorted(each.name for each in schema.assemble("postgres") if each.name in lacking and each.kind in _GRANTED)


async def require_privileges(tx: Reading) -> None:
    denied = await find_lacking_privileges(tx)
    if denied:
        raise AccessDenied(f"The database user lacks privileges on: {', '.join(denied)}.")


async def find_schema(tx: Reading) -> tuple[str | None, bool]:
    """Return the current database schema (None: there is none), and whether transactions are read-only by default."""
    row = await tx.one(SQL.schema)
    return (row[0], bool(row[1])) if row else (None, False)


# number of standbys in `synchronous_standby_names`; a list without a count means FIRST 1
_COUNT = re.compile(r"\s*(?:(?:FIRST|ANY)\s+)?(\d+)\s*\(", re.IGNORECASE)
STANDBY_SECONDS = 10.0  # interval between checks of the standbys
RISK = "changes are acknowledged with fewer copies than expected, and the loss of a machine can lose them"
REMEDY = (
    "Check that the standbys are connected, and synchronous_standby_names on the primary; with Patroni, "
    "`patronictl list`. docs/deploy.md names the versions that work together"
)


async def count_synchronous_standbys(tx: Reading) -> int:
    """Count the synchronous standbys, which receive every change before it is acknowledged; 0 on SQLite.

    A COMMIT waits for the number in `synchronous_standby_names`. Disconnected standbys are not counted if our database
    role may see them (pg_read_all_stats).
    """
    row = await tx.one(SQL.synchronous_standbys)
    names, connected = row or ("", 0)
    required = parse_required_standbys(names)
    return required if connected is None else min(required, connected)


def parse_required_standbys(names: str) -> int:
    """Read the number of standbys out of PostgreSQL's `synchronous_standby_names`."""
    counted = _COUNT.match(names)
    return int(counted[1]) if counted else int(bool(names.strip()))


async def find_standby_shortage(store: Store, expected: int) -> str:
    """Describe missing synchronous standbys. Empty text: there are as many as `synchronous_standbys` expects."""
    present = await count_synchronous_standbys(store) if expected else 0
    if present >= expected:
        return ""
    return f"The database has {present} synchronous standbys, but synchronous_standbys is {expected}: {RISK}. {REMEDY}."


class StandbyMonitor:
    """Logs a shortage of synchronous standbys when it begins and when it ends."""

    def __init__(self, store: Store, expected: int) -> None:
        self._store = store
        self._expected = expected
        self._shortage = ""

    async def check(self) -> None:
        shortage = await find_standby_shortage(self._store, self._expected)
        if shortage != self._shortage:
            log.problem("standbys", shortage or "The database has enough synchronous standbys again.")
        self._shortage = shortage


# SQLite's search index is a virtual table, filled by an INSERT and updated by triggers: it counts as an index here.
_CREATE_INDEX = re.compile(
    r"^(?:CREATE\s+(?:INDEX|VIRTUAL\s+TABLE|TRIGGER)|INSERT\s+INTO)\s+((?<=INDEX\s)\w+|\w+_by_part)", re.MULTILINE
)
_INDEX_NAME = re.compile(r"(?<=INDEX)\s+")  # the space before the index name in a CREATE INDEX statement
POLL_SECONDS = 0.5
REPORT_AFTER_SECONDS = 2.0  # if building an index takes longer than this, log what it waits for
_DROPS = [statement for name, statement in SQL.named.items() if name.startswith(("drop_players_", "drop_users_"))]


async def find_missing_indexes(tx: Reading, engine: str) -> list[str]:
    """List indexes of the schema that the database lacks."""
    there = {row[0] for row in await tx.all(SQL.names_index)}
    return [name for name in _load_statements(engine) if name not in there]


async def drop_indexes(tx: Writing) -> None:
    """Drop the indexes that are faster to build from all rows than to update row by row."""
    for statement in _DROPS:
        await tx.returning(statement)


async def create_missing_indexes(store: Store) -> list[str]:
    """Create the missing indexes and return their names. On PostgreSQL other sessions are not blocked."""
    made: list[str] = []
    while absent := await find_missing_indexes(store, store.engine):
        name = absent[0]
        if await store.one(SQL.is_building, name):  # another process builds this index
            await asyncio.sleep(POLL_SECONDS)
            continue
        statements = _load_statements(store.engine)[name]
        with contextlib.suppress(ClaimTaken, LockTimeout):  # another process builds this index too
            await (_build(store, name) if len(statements) == 1 else _create_together(store, name))
            made.append(name)
    return made


async def drop_invalid_indexes(store: Store, name: str) -> None:
    """Drop the invalid index that a failed build left: no read uses it, but every write updates it."""
    for (text,) in await store.all(SQL.drop_invalid, name):
        await store.execute_alone(Statement(name, {"": text}))


async def _build(store: Store, name: str) -> None:
    """Build a PostgreSQL index concurrently: this waits for earlier transactions, and does not block later ones."""
    (statement,) = _load_statements(store.engine)[name]
    text = _INDEX_NAME.sub(" {concurrently} IF NOT EXISTS ", statement.texts[""], 1)
    waits = (
        f"building the index {name}; on PostgreSQL this waits for transactions of other sessions "
        "(pg_stat_progress_create_index.current_locker_pid is the process of one)"
    )
    reminder = asyncio.get_running_loop().call_later(REPORT_AFTER_SECONDS, log.problem, "indexes", waits)
    try:
        await drop_invalid_indexes(store, name)
        await store.execute_alone(Statement(name, {"": text}))
    finally:
        reminder.cancel()


async def _create_together(store: Store, name: str) -> None:
    """Create an index that needs several statements, in one transaction."""

    async def create(tx: Writing) -> None:
        if name in await find_missing_indexes(tx, store.engine):
            for statement in _load_statements(store.engine)[name]:
                await tx.returning(statement)

    await store.write(create, CLAIM)


def _load_statements(engine: str) -> Mapping[str, list[Statement]]:
    """Return the statements that create each index of the schema."""
    known: dict[str, list[Statement]] = {}
    for each in schema.assemble(engine):
        match = _CREATE_INDEX.search(each.text)
        if match:
            known.setdefault(match[1], []).append(Statement(match[1], {"": each.text}))
    return known
