"""Checks of a database: objects of the schema that it lacks, privileges of its user, and synchronous standbys.

Indexes are in `indexes.py`, because a bulk load drops some of them temporarily.
"""

import re
from typing import NamedTuple

from gamekeeper.store.engine import indexes
from gamekeeper.store.engine.interface import AccessDenied, Reading
from gamekeeper.store.engine.migrate import split_script
from gamekeeper.store.engine.statements import FOLDER, Statements

SQL = Statements(__file__)
_CREATE = re.compile(r"^CREATE\s+(TABLE|VIEW|TRIGGER|FUNCTION|SEQUENCE)\s+(\w+)", re.MULTILINE)


class SchemaObject(NamedTuple):
    kind: str
    name: str


async def find_missing_objects(tx: Reading, engine: str) -> list[SchemaObject]:
    """List objects of the schema that the database lacks, except triggers of a missing search index."""
    there = {SchemaObject(*row) for row in await tx.all(SQL.names)}
    absent = await indexes.find_missing(tx, engine)
    return [each for each in _list_expected(engine) if each not in there and not each.name.startswith(tuple(absent))]


def _list_expected(engine: str) -> list[SchemaObject]:
    statements = split_script((FOLDER / "schema.sql").read_text(encoding="utf-8"), engine)
    found = [_CREATE.search(text) for text in statements]
    return [SchemaObject(match[1].lower(), match[2]) for match in found if match]


# Tables, sequences and functions to check, without the table `migrations`: `serve` does not write to it.
_OURS = re.compile(r"^CREATE (?:TABLE|SEQUENCE|FUNCTION) (\w+)", re.MULTILINE)
OURS = frozenset(_OURS.findall((FOLDER / "schema.sql").read_text(encoding="utf-8")))


async def find_lacking_privileges(tx: Reading) -> list[str]:
    """Return our tables, sequences and functions that the database user may not use; ignore those of other programs."""
    return sorted(OURS.intersection(row[0] for row in await tx.all(SQL.lacking)))


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
