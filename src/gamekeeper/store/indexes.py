"""The indexes of the schema: a bulk load drops some and makes them anew when it is done, unless it is killed before."""

import contextlib
import re
from collections.abc import Mapping

from gamekeeper.store.engine import ClaimTaken, Reading, Store, Writing
from gamekeeper.store.migrate import CLAIM, split
from gamekeeper.store.statements import FOLDER, Statement, Statements

SQL = Statements("indexes")
_CREATE = re.compile(r"^CREATE\s+INDEX\s+(\w+)", re.MULTILINE)


async def names(tx: Reading) -> set[str]:
    return {row[0] for row in await tx.all(SQL.names)}


async def missing(tx: Reading, engine: str) -> list[str]:
    """Those that the schema has and the database has not."""
    there = await names(tx)
    return [name for name in _known(engine) if name not in there]


async def create_missing(store: Store) -> list[str]:
    """Returns what had to be made. Looks first: when all are there nobody has to wait for a transaction."""

    async def create(tx: Writing) -> list[str]:
        made = await missing(tx, store.engine)
        for name in made:
            await tx.returning(_known(store.engine)[name])
        return made

    while await missing(store, store.engine):
        with contextlib.suppress(ClaimTaken):  # somebody else is making them: worth waiting for
            return await store.write(create, CLAIM)
    return []


def _known(engine: str) -> Mapping[str, Statement]:
    texts = split((FOLDER / "schema.sql").read_text(encoding="utf-8"), engine)
    found = [(_CREATE.search(text), text) for text in texts]
    return {match[1]: Statement(match[1], {"": text}) for match, text in found if match}
