"""The indexes of the schema: a bulk load drops some and makes them anew when it is done, unless it is killed before."""

import asyncio
import contextlib
import re
from collections.abc import Mapping

from gamekeeper import log
from gamekeeper.store.engine import ClaimTaken, LockTimeout, Reading, Store, Writing
from gamekeeper.store.migrate import CLAIM, split_script
from gamekeeper.store.statements import FOLDER, Statement, Statements

SQL = Statements("indexes")
# an index by any other name: SQLite's for searches is a table, made whole by an INSERT and kept so by triggers
_CREATE = re.compile(
    r"^(?:CREATE\s+(?:INDEX|VIRTUAL\s+TABLE|TRIGGER)|INSERT\s+INTO)\s+((?<=INDEX\s)\w+|\w+_by_part)", re.MULTILINE
)
_NAME = re.compile(r"(?<=INDEX)\s+")  # what stands before the name
POLL_SECONDS = 0.5
REPORT_AFTER_SECONDS = 2.0  # after which the log says what is waited for
_DROPS = (
    SQL.drop_players_by_rank,
    SQL.drop_players_by_user,
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
    """Those that the schema has and the database has not."""
    there = await read_names(tx)
    return [name for name in _load_statements(engine) if name not in there]


async def drop(tx: Writing) -> None:
    """Those whose filling row by row costs more than making them of all rows."""
    for statement in _DROPS:
        await tx.returning(statement)


async def create_missing(store: Store) -> list[str]:
    """Return the names of the indexes that had to be made. On PostgreSQL other sessions go on meanwhile."""
    made: list[str] = []
    while absent := await find_missing(store, store.engine):
        name = absent[0]
        if await is_building(store, name):  # by another process
            await asyncio.sleep(POLL_SECONDS)
            continue
        statements = _load_statements(store.engine)[name]
        with contextlib.suppress(ClaimTaken, LockTimeout):  # another process makes it too
            await (_build(store, name) if len(statements) == 1 else _create_together(store, name))
            made.append(name)
    return made


async def is_building(tx: Reading, name: str) -> bool:
    return await tx.one(SQL.is_building, name) is not None


async def drop_invalid(store: Store, name: str) -> None:
    """Drop what a build that failed has left: it is never used for reading, and each write pays for it."""
    for (text,) in await store.all(SQL.drop_invalid, name):
        await store.execute_alone(Statement(name, {"": text}))


async def _build(store: Store, name: str) -> None:
    """Build it concurrently: that waits for transactions that began earlier, and holds up none that begin later."""
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
    """Create what takes several statements, in one transaction."""

    async def create(tx: Writing) -> None:
        if name in await find_missing(tx, store.engine):
            for statement in _load_statements(store.engine)[name]:
                await tx.returning(statement)

    await store.write(create, CLAIM)


def _load_statements(engine: str) -> Mapping[str, list[Statement]]:
    """What makes each of them."""
    known: dict[str, list[Statement]] = {}
    for text in split_script((FOLDER / "schema.sql").read_text(encoding="utf-8"), engine):
        match = _CREATE.search(text)
        if match:
            known.setdefault(match[1], []).append(Statement(match[1], {"": text}))
    return known
