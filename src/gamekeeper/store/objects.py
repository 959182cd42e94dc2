"""Find tables, views, triggers, functions and sequences of the schema that the database lacks.

Indexes are in `indexes.py`, because a bulk load drops some of them temporarily.
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
    """List objects of the schema that the database lacks, except triggers of a missing search index."""
    there = {SchemaObject(*row) for row in await tx.all(SQL.names)}
    absent = await indexes.find_missing(tx, engine)
    return [each for each in _list_expected(engine) if each not in there and not each.name.startswith(tuple(absent))]


def _list_expected(engine: str) -> list[SchemaObject]:
    statements = split_script((FOLDER / "schema.sql").read_text(encoding="utf-8"), engine)
    found = [_CREATE.search(text) for text in statements]
    return [SchemaObject(match[1].lower(), match[2]) for match in found if match]
