"""Whether the database user may read and change every table of the schema, and call its functions."""

import re

from gamekeeper.store.engine import AccessDenied, Reading
from gamekeeper.store.statements import FOLDER, Statements

SQL = Statements("privileges")
# `migrations` is not among them: it is not in schema.sql, and nothing writes to it while serving.
_OURS = re.compile(r"^CREATE (?:TABLE|SEQUENCE|FUNCTION) (\w+)", re.MULTILINE)
OURS = frozenset(_OURS.findall((FOLDER / "schema.sql").read_text(encoding="utf-8")))


async def find_lacking(tx: Reading) -> list[str]:
    """Return our tables, sequences and functions that this user may not use; those of other programs do not count."""
    return sorted(OURS.intersection(row[0] for row in await tx.all(SQL.lacking)))


async def require_privileges(tx: Reading) -> None:
    denied = await find_lacking(tx)
    if denied:
        raise AccessDenied(f"The database user lacks privileges on: {', '.join(denied)}.")


async def find_schema(tx: Reading) -> tuple[str | None, bool]:
    """Return the schema that is worked in, if there is one, and whether transactions are read-only by default."""
    row = await tx.one(SQL.schema)
    return (row[0], bool(row[1])) if row else (None, False)
