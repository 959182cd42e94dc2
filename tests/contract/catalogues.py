"""Read the schema of a database from its system catalogue, to compare two databases."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

import apsw

from postgres_sessions import connected

Schema = Mapping[str, str]  # definitions of a database's columns, indexes and other schema objects, by name
POSTGRES = {
    "column": """
        SELECT table_name || '.' || column_name, concat_ws(' ', ordinal_position, data_type, is_nullable,
               column_default, collation_name)
        FROM information_schema.columns WHERE table_schema = 'public'""",
    "statistics": """
        SELECT attrelid::regclass || '.' || attname, array_to_string(attoptions, ' ')
        FROM pg_attribute WHERE attoptions IS NOT NULL""",
    "constraint": """
        SELECT conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace""",
    "index": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "view": "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'",
    "sequence": """
        SELECT sequencename, concat_ws(' ', data_type, start_value, min_value, max_value, increment_by, cycle,
               cache_size)
        FROM pg_sequences WHERE schemaname = 'public'""",
}


def of_sqlite(path: Path) -> Schema:
    db = apsw.Connection(str(path))
    try:
        rows = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    finally:
        db.close()
    return {f"{kind} {name}": _plain(f"{table}: {sql}") for kind, name, table, sql in rows}


async def of_postgres(url: str) -> Schema:
    async with connected(url) as db:
        return {
            f"{kind} {name}": _plain(made) for kind, query in POSTGRES.items() for name, made in await db.fetch(query)
        }


def read_schema(url: str) -> Schema:
    if url.startswith("sqlite"):
        return of_sqlite(Path(url.removeprefix("sqlite:///")))
    return asyncio.run(of_postgres(url))


def differences(ours: Schema, theirs: Schema) -> list[str]:
    """Return the objects that are missing or different in one of two schemas, except the migrations table."""
    own = re.compile(r"^\w+ (migrations|sqlite_\w+migrations)")
    names = sorted(name for name in ours.keys() | theirs.keys() if not own.match(name))
    return [f"{name}: {ours.get(name)} / {theirs.get(name)}" for name in names if ours.get(name) != theirs.get(name)]


def _plain(sql: str) -> str:
    """Remove comments and layout from a table's SQL, because ALTER TABLE does not keep them."""
    bare = " ".join(re.sub(r"--[^\n]*", " ", sql).split())
    return re.sub(r" ?([(),]) ?", r"\1", bare)
