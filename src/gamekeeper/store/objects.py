"""Tables, views, triggers, functions and sequences: those of the schema, and those that the database has.

Indexes have a file of their own, `indexes.py`: a bulk load drops some of them for a while.
"""

import re
from typing import NamedTuple

from gamekeeper.store import indexes
from gamekeeper.store.engine import Reading
from gamekeeper.store.migrate import split_script
from gamekeeper.store.statements import FOLDER, Statements

SQL = Statements("objects")
_CREATE = re.compile(r"^CREATE\s+(TABLE|VIEW|TRIGGER|FUNCTION|SEQUENCE)\s+(\w+)", re.MULTILINE)


class SchemaObject(NamedTuple):
    kind: str
    name: str


async def find_missing(tx: Reading, engine: str) -> list[SchemaObject]:
    """Those that the schema has and the database has not; without triggers of an index that is missing itself."""
    there = {SchemaObject(*row) for row in await tx.all(SQL.names)}
    absent = await indexes.find_missing(tx, engine)
    return [each for each in _list_expected(engine) if each not in there and not each.name.startswith(tuple(absent))]


def _list_expected(engine: str) -> list[SchemaObject]:
    statements = split_script((FOLDER / "schema.sql").read_text(encoding="utf-8"), engine)
    found = [_CREATE.search(text) for text in statements]
    return [SchemaObject(match[1].lower(), match[2]) for match in found if match]
