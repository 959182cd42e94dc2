"""The indexes of the schema: a bulk load drops some and makes them anew when it is done, unless it is killed before."""

import contextlib
import re
from collections.abc import Mapping

from gamekeeper.store.engine import ClaimTaken, Reading, Store, Writing
from gamekeeper.store.migrate import CLAIM, split
from gamekeeper.store.statements import FOLDER, Statement, Statements

SQL = Statements("indexes")
# an index by any other name: SQLite's for searches is a table, made whole by an INSERT and kept so by triggers
_CREATE = re.compile(
    r"^(?:CREATE\s+(?:INDEX|VIRTUAL\s+TABLE|TRIGGER)|INSERT\s+INTO)\s+((?<=INDEX\s)\w+|\w+_by_part)", re.MULTILINE
)
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


async def names(tx: Reading) -> set[str]:
    return {row[0] for row in await tx.all(SQL.names)}


async def missing(tx: Reading, engine: str) -> list[str]:
    """Those that the schema has and the database has not."""
    there = await names(tx)
    return [name for name in _known(engine) if name not in there]


async def drop(tx: Writing) -> None:
    """Those whose filling row by row costs more than making them of all rows."""
    for statement in _DROPS:
        await tx.returning(statement)


async def create_missing(store: Store) -> list[str]:
    """Returns what had to be made. Looks first: when all are there nobody has to wait for a transaction."""

    async def create(tx: Writing) -> list[str]:
        made = await missing(tx, store.engine)
        for name in made:
            for statement in _known(store.engine)[name]:
                await tx.returning(statement)
        return made

    while await missing(store, store.engine):
        with contextlib.suppress(ClaimTaken):  # somebody else is making them: worth waiting for
            return await store.write(create, CLAIM)
    return []


def _known(engine: str) -> Mapping[str, list[Statement]]:
    """What makes each of them."""
    known: dict[str, list[Statement]] = {}
    for text in split((FOLDER / "schema.sql").read_text(encoding="utf-8"), engine):
        match = _CREATE.search(text)
        if match:
            known.setdefault(match[1], []).append(Statement(match[1], {"": text}))
    return known
