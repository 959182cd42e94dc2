"""Check that the database user has all privileges on the tables, sequences and functions of the schema."""

import re

from gamekeeper.store.engine import AccessDenied, Reading
from gamekeeper.store.statements import FOLDER, Statements

SQL = Statements("privileges")
# Tables, sequences and functions to check, without the table `migrations`: `serve` does not write to it.
_OURS = re.compile(r"^CREATE (?:TABLE|SEQUENCE|FUNCTION) (\w+)", re.MULTILINE)
OURS = frozenset(_OURS.findall((FOLDER / "schema.sql").read_text(encoding="utf-8")))


async def find_lacking(tx: Reading) -> list[str]:
    """Return our tables, sequences and functions that the database user may not use; ignore those of other programs."""
    return sorted(OURS.intersection(row[0] for row in await tx.all(SQL.lacking)))


async def require_privileges(tx: Reading) -> None:
    denied = await find_lacking(tx)
    if denied:
        raise AccessDenied(f"The database user lacks privileges on: {', '.join(denied)}.")


async def find_schema(tx: Reading) -> tuple[str | None, bool]:
    """Return the current database schema (None: there is none), and whether transactions are read-only by default."""
    row = await tx.one(SQL.schema)
    return (row[0], bool(row[1])) if row else (None, False)
