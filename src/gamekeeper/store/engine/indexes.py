"""The indexes of the schema. A bulk load drops some and creates them again at its end, unless it is killed before."""

import asyncio
import contextlib
import re
from collections.abc import Mapping

from gamekeeper.ground import log
from gamekeeper.store.engine.interface import ClaimTaken, LockTimeout, Reading, Store, Writing
from gamekeeper.store.engine.migrate import CLAIM, split_script
from gamekeeper.store.engine.statements import FOLDER, Statement, Statements

SQL = Statements(__file__)
# SQLite's search index is a virtual table, filled by an INSERT and updated by triggers: it counts as an index here.
_CREATE = re.compile(
    r"^(?:CREATE\s+(?:INDEX|VIRTUAL\s+TABLE|TRIGGER)|INSERT\s+INTO)\s+((?<=INDEX\s)\w+|\w+_by_part)", re.MULTILINE
)
_NAME = re.compile(r"(?<=INDEX)\s+")  # the space before the index name in a CREATE INDEX statement
POLL_SECONDS = 0.5
REPORT_AFTER_SECONDS = 2.0  # if building an index takes longer than this, log what it waits for
_DROPS = (
    SQL.drop_players_by_rank,
    SQL.drop_players_by_user,
    SQL.drop_players_by_class,
    SQL.drop_players_by_map,
    SQL.drop_players_by_seen,
    SQL.drop_players_by_part,
    SQL.drop_users_by_part,
    SQL.drop_players_by_part_added,
    SQL.drop_players_by_part_removed,
    SQL.drop_players_by_part_renamed,
    SQL.drop_users_by_part_added,
    SQL.drop_users_by_part_removed,
    SQL.drop_users_by_part_renamed,
)


async def read_names(tx: Reading) -> set[str]:
    return {row[0] for row in await tx.all(SQL.names)}


async def find_missing(tx: Reading, engine: str) -> list[str]:
    """List indexes of the schema that the database lacks."""
    there = await read_names(tx)
    return [name for name in _load_statements(engine) if name not in there]


async def drop(tx: Writing) -> None:
    """Drop the indexes that are faster to build from all rows than to update row by row."""
    for statement in _DROPS:
        await tx.returning(statement)


async def create_missing(store: Store) -> list[str]:
    """Create the missing indexes and return their names. On PostgreSQL other sessions are not blocked."""
    made: list[str] = []
    while absent := await find_missing(store, store.engine):
        name = absent[0]
        if await is_building(store, name):  # another process builds this index
            await asyncio.sleep(POLL_SECONDS)
            continue
        statements = _load_statements(store.engine)[name]
        with contextlib.suppress(ClaimTaken, LockTimeout):  # another process builds this index too
            await (_build(store, name) if len(statements) == 1 else _create_together(store, name))
            made.append(name)
    return made


async def is_building(tx: Reading, name: str) -> bool:
    return await tx.one(SQL.is_building, name) is not None


async def drop_invalid(store: Store, name: str) -> None:
    """Drop the invalid index that a failed build left: no read uses it, but every write updates it."""
    for (text,) in await store.all(SQL.drop_invalid, name):
        await store.execute_alone(Statement(name, {"": text}))


async def _build(store: Store, name: str) -> None:
    """Build a PostgreSQL index concurrently: this waits for earlier transactions, and does not block later ones."""
    (statement,) = _load_statements(store.engine)[name]
    text = _NAME.sub(" {concurrently} IF NOT EXISTS ", statement.texts[""], 1)
    waits = (
        f"building the index {name}; on PostgreSQL this waits for transactions of other sessions "
        "(pg_stat_progress_create_index.current_locker_pid is the process of one)"
    )
    reminder = asyncio.get_running_loop().call_later(REPORT_AFTER_SECONDS, log.problem, "indexes", waits)
    try:
        await drop_invalid(store, name)
        await store.execute_alone(Statement(name, {"": text}))
    finally:
        reminder.cancel()


async def _create_together(store: Store, name: str) -> None:
    """Create an index that needs several statements, in one transaction."""

    async def create(tx: Writing) -> None:
        if name in await find_missing(tx, store.engine):
            for statement in _load_statements(store.engine)[name]:
                await tx.returning(statement)

    await store.write(create, CLAIM)


def _load_statements(engine: str) -> Mapping[str, list[Statement]]:
    """Read from schema.sql the statements that create each index."""
    known: dict[str, list[Statement]] = {}
    for text in split_script((FOLDER / "schema.sql").read_text(encoding="utf-8"), engine):
        match = _CREATE.search(text)
        if match:
            known.setdefault(match[1], []).append(Statement(match[1], {"": text}))
    return known
