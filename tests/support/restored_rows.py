"""Restores the rows of a PostgreSQL database after a test: far cheaper than to copy the template again."""

import io
from dataclasses import dataclass
from typing import Any

import asyncpg

# A database that was restored so often is dropped: deleted rows and prepared statements add up.
MAX_RESTORES = 100
# Rows written so far to each table, and to those of PostgreSQL's own tables that describe tables and their privileges.
WRITES = """SELECT c.relname, c.relnamespace = 'public'::regnamespace,
       pg_stat_get_tuples_inserted(c.oid) + pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid)
FROM pg_class c
WHERE c.relkind = 'r' AND (c.relnamespace = 'public'::regnamespace OR c.oid IN (
    'pg_class'::regclass, 'pg_attribute'::regclass, 'pg_attrdef'::regclass, 'pg_index'::regclass, 'pg_proc'::regclass,
    'pg_trigger'::regclass, 'pg_constraint'::regclass, 'pg_rewrite'::regclass, 'pg_namespace'::regclass,
    'pg_extension'::regclass, 'pg_default_acl'::regclass, 'pg_type'::regclass))"""
# The same database, not another one with its name, without settings of its own and without other sessions.
IS_RESTORABLE = """SELECT d.oid = $1 AND d.datallowconn AND d.datconnlimit = -1 AND d.datacl IS NULL
       AND NOT EXISTS (SELECT FROM pg_db_role_setting WHERE setdatabase = d.oid)
       AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE datid = d.oid AND pid <> pg_backend_pid()
                       AND backend_type = 'client backend')
FROM pg_database d WHERE d.datname = current_database()"""
# what the test left in the session, and its counts of rows, which PostgreSQL otherwise adds up a second later
END_SESSION = "ROLLBACK; RESET ALL; UNLISTEN *; SELECT pg_advisory_unlock_all(), pg_stat_force_next_flush()"
COLUMNS = """SELECT c.relname, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
  AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
GROUP BY c.relname"""
SEQUENCES = "SELECT relname FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace"


class CannotRestore(Exception):
    """The test changed more than rows, or another program is still connected to the database."""


@dataclass
class Use:
    """A database: its number in PostgreSQL, how often it was restored, and the rows that each table had got by then."""

    number: int
    times: int
    writes: dict[str, int]


class Restorer:
    def __init__(self, rows: dict[str, bytes], columns: dict[str, str], sequences: str) -> None:
        self._rows = rows  # table → its rows in PostgreSQL's binary form, if it has any
        self._columns = columns
        self._sequences = sequences  # SQL that sets all sequences
        self._uses: dict[str, Use] = {}

    @classmethod
    async def read(cls, url: str) -> "Restorer":
        """Read all rows of the template."""
        driver: Any = asyncpg
        db = await driver.connect(url)
        columns: dict[str, str] = dict(tuple(row) for row in await db.fetch(COLUMNS))
        rows: dict[str, bytes] = {}
        for name, each in columns.items():
            if await db.fetchval(f'SELECT EXISTS (SELECT FROM "{name}")'):  # noqa: S608 - names of our own tables
                output = io.BytesIO()
                query = f'SELECT {each} FROM "{name}" ORDER BY ctid'  # noqa: S608 - names of our own tables
                await db.copy_from_query(query, output=output, format="binary")
                rows[name] = output.getvalue()
        values = [
            (name, *await db.fetchrow(f'SELECT last_value, is_called FROM "{name}"'))  # noqa: S608 - our own sequences
            for (name,) in await db.fetch(SEQUENCES)
        ]
        await db.close()
        sequences = "; ".join(f"SELECT setval('\"{name}\"', {last}, {called})" for name, last, called in values)
        return cls(rows, columns, sequences)

    def expect(self, url: str, number: int) -> None:
        """Note a new copy of the template."""
        self._uses[url] = Use(number, 0, {})

    def forget(self, url: str) -> None:
        self._uses.pop(url, None)

    async def restore(self, url: str, db: Any) -> None:
        """Give every table that was written to the rows of the template."""
        use = self._uses.get(url)
        await db.execute(END_SESSION)
        if not use or use.times == MAX_RESTORES or not await db.fetchval(IS_RESTORABLE, use.number):
            raise CannotRestore
        written = [(name, ours) for name, ours, count in await db.fetch(WRITES) if count != use.writes.get(name, 0)]
        if not all(ours for _, ours in written) or not {name for name, _ in written} <= self._columns.keys():
            raise CannotRestore
        if written:
            await self._write(db, [name for name, _ in written])
            use.times += 1
            await db.execute("SELECT pg_stat_force_next_flush()")
            use.writes = {name: count for name, _, count in await db.fetch(WRITES)}
        else:
            await db.execute(self._sequences)

    async def _write(self, db: Any, tables: list[str]) -> None:
        await db.execute("BEGIN; SET LOCAL session_replication_role = replica")  # without triggers and foreign keys
        await db.execute("; ".join(f'DELETE FROM "{name}"' for name in tables))  # noqa: S608 - names of our own tables
        for name in tables:
            if name in self._rows:
                columns = [each.strip('"') for each in self._columns[name].split(", ")]
                source = io.BytesIO(self._rows[name])
                await db.copy_to_table(name, source=source, columns=columns, format="binary")
        await db.execute(f"{self._sequences}; COMMIT")
