"""Schema migrations, and closing a database to all writes: during a move, and permanently after it.

Each migration is a numbered SQL file, applied once in its own transaction and recorded with its checksum. The first one
is the baseline, the schema of version 0.1.0. It replaces older migrations and has the number of the last of them, so
that a database with those older migrations counts as up to date.

Migrations run while other instances serve. So a migration waits only briefly for a lock and retries later: while it
waits, later sessions queue behind it. Indexes of tables in use are left to `create_missing_indexes`, which builds them
concurrently.
"""

import asyncio
import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from gamekeeper.ground import log
from gamekeeper.store.engine import copies
from gamekeeper.store.engine.interface import LockTimeout, Reading, Row, Store, UnusableDatabase, Work, Writing
from gamekeeper.store.engine.statements import FOLDER, Statement, Statements

SQL = Statements(__file__)
MIGRATIONS_TABLE = "migrations"  # the table in which applied migrations are recorded
MIGRATIONS_COLUMNS = frozenset(
    {"number", "name", "checksum", "applied_at"}
)  # columns that tell our table `migrations` from another program's table of the same name
UTF8 = "UTF8"
NAMED_TABLES = 3  # how many tables of another program an error message names
CLAIM = 0x67616D65  # key of the advisory lock for migrations; the number is arbitrary
# Checksum of the last migration that the baseline replaced.
SQUASHED_CHECKSUM = "ec615ff6de2b2e7ed6e4bc96c7a5530deb1c2f6b28ede7aa1f7f03dde5e7364e"  # pragma: allowlist secret
CLOSED_NUMBER = 10_000  # migration number that marks a closed database; real ones have four digits
# seconds between attempts of a blocked migration: ten times its lock timeout, so others are blocked a tenth of the time
RETRY_SECONDS = 2.0
LOGGED_TRIES = 15  # a waiting migration logs every 15th attempt, once in 30 seconds
_INDEX = re.compile(r"^CREATE\s+INDEX (\w+)\s+ON (\w+)", re.MULTILINE)
_TABLE = re.compile(r"^CREATE\s+TABLE (\w+)", re.MULTILINE)
_FILE = re.compile(r"(\d{4})_(\w+)\.sql")
_ONLY = re.compile(r"^-- only: (\w+)\n", re.MULTILINE)
_EXPLANATION = re.compile(
    r"^--:.*\n|(?<![ \t])[ \t]+--:.*$", re.MULTILINE
)  # not part of the migration, which may be applied already


class SchemaMismatch(Exception):
    """This version of Gamekeeper cannot work with the database's schema; the message says what to do."""


class ClosedDatabase(SchemaMismatch):
    """The database was closed by a move; the message says why, and what to do."""


class Migration(NamedTuple):
    number: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


class AppliedMigration(NamedTuple):
    number: int
    name: str
    checksum: str


def load_migrations(folder: Path = FOLDER / "migrations") -> list[Migration]:
    found = [(_FILE.fullmatch(path.name), path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.sql"))]
    return [Migration(int(match[1]), match[2], _EXPLANATION.sub("", text)) for match, text in found if match]


async def migrate(store: Store, migrations: list[Migration] | None = None) -> list[Migration]:
    """Apply the missing migrations and return them.

    In a database that was not empty, new indexes are missing until `create_missing_indexes` runs.
    """
    used = await _is_used(store)
    if not used:
        await require_utf8(store)
    migrations = load_migrations() if migrations is None else migrations
    steps = [(migration, _build_step(store.engine, migration, migrations, used=used)) for migration in migrations]
    return [migration for migration, step in steps if await _write_when_unlocked(store, migration, step)]


async def find_pending(store: Store) -> list[Migration]:
    """Return the migrations that are not applied yet, without changing anything."""

    async def look(tx: Reading) -> list[Migration]:
        there = await read_applied(tx) if MIGRATIONS_TABLE in await copies.list_tables(tx) else {}
        require_known(there.values(), load_migrations())
        return [migration for migration in load_migrations() if migration.number not in there]

    return await store.read(look)


async def apply_missing(tx: Writing, engine: str, migrations: list[Migration]) -> None:
    """Apply the missing migrations in the given transaction, for a restore that is all or nothing."""
    if not await _is_used(tx):
        await require_utf8(tx)
    there = await _prepare_and_read_applied(tx, load_migrations())
    for migration in migrations:
        if migration.number not in there:
            await _apply(tx, engine, migration, used=False)


async def read_applied(tx: Reading) -> dict[int, AppliedMigration]:
    return {row[0]: AppliedMigration(*row) for row in await tx.all(SQL.applied_migrations)}


async def require_ours(tx: Reading) -> None:
    """Refuse a database that contains tables of another program."""
    there = await copies.list_tables(tx)
    if MIGRATIONS_TABLE in there and (await copies.read_columns(tx, MIGRATIONS_TABLE)).keys() >= MIGRATIONS_COLUMNS:
        if await read_applied(tx):
            return
        there.remove(MIGRATIONS_TABLE)
    if there:
        names = ", ".join(sorted(there)[:NAMED_TABLES]) + (", …" if len(there) > NAMED_TABLES else "")
        raise UnusableDatabase(f"This database has tables that Gamekeeper did not make ({names}): name an empty one.")


async def require_utf8(tx: Reading) -> None:
    """Refuse a database encoding other than UTF8, which could not store every name."""
    row = await tx.one(SQL.encoding)
    if row and row[0] != UTF8:
        raise UnusableDatabase(
            f"This database's encoding is {row[0]}, not UTF8: not every name can be kept in it as it is written. "
            "Make one in UTF8: createdb --encoding=UTF8 --template=template0 …; what is in this one gets there with "
            "gamekeeper backup and gamekeeper restore."
        )


async def _is_used(tx: Reading) -> bool:
    """Return whether Gamekeeper has used the database. A used one is migrated in any encoding, so it can be moved."""
    return MIGRATIONS_TABLE in await copies.list_tables(tx) and bool(await read_applied(tx))


def require_known(applied: Iterable[AppliedMigration], migrations: list[Migration], what: str = "database") -> None:
    checksums = {migration.number: {migration.checksum} for migration in migrations}
    baseline = min(checksums)
    checksums[baseline].add(SQUASHED_CHECKSUM)
    found = list(applied)
    newest = max(found, default=None)
    if newest and newest.number < baseline:
        raise SchemaMismatch(
            f"The {what} ends with migration {newest.number:04} ({newest.name}): it was written by a Gamekeeper from "
            f"before 0.1.0, and this version starts from migration {baseline:04}. Nothing was changed. Run "
            f"`gamekeeper migrate` of a Gamekeeper that still has migrations 0001 to {baseline:04}, then this version."
        )
    for number, name, checksum in found:
        if number == CLOSED_NUMBER:
            raise ClosedDatabase(name)
        if number < baseline:
            continue
        if number not in checksums:
            raise SchemaMismatch(
                f"The {what} has migration {number:04} ({name}), which this version does not know: "
                "it was written by a newer Gamekeeper. Run that version, or a newer one."
            )
        if checksum not in checksums[number]:
            raise SchemaMismatch(
                f"Migration {number:04} ({name}) is not the one that was applied to this {what}. "
                "Run the version of Gamekeeper that wrote it, or restore a backup."
            )


async def _write_when_unlocked(store: Store, migration: Migration, step: Work[bool]) -> bool:
    """Run a step of a migration, and retry it until no other transaction holds a lock that it needs."""
    tries = 0
    while True:
        try:
            return await store.write(step, CLAIM)
        except LockTimeout:
            if tries % LOGGED_TRIES == 0:
                what = f"migration {migration.number:04} waits for a table that a transaction of another session uses"
                log.problem("migrate", f"{what}; it tries again every {RETRY_SECONDS:g} seconds")
        tries += 1
        await asyncio.sleep(RETRY_SECONDS)


def _build_step(engine: str, migration: Migration, migrations: list[Migration], *, used: bool) -> Work[bool]:
    async def apply(tx: Writing) -> bool:
        if migration.number in await _prepare_and_read_applied(tx, migrations):
            return False
        await tx.returning(SQL.limit_lock_wait)
        await _apply(tx, engine, migration, used=used)
        return True

    return apply


async def _apply(tx: Writing, engine: str, migration: Migration, *, used: bool) -> None:
    made = set(_TABLE.findall(migration.text))  # tables that the migration creates, which no session uses yet
    for text in split_script(migration.text, engine):
        index = _INDEX.search(text)
        if not used or index is None or index[2] in made:
            await tx.returning(Statement(migration.name, {"": text}))
    tx.defer(SQL.record_migration, migration.number, migration.name, migration.checksum)


async def _prepare_and_read_applied(tx: Writing, migrations: list[Migration]) -> set[int]:
    await tx.returning(SQL.create_migrations)
    found = await read_applied(tx)
    require_known(found.values(), migrations)
    return set(found)


def split_script(script: str, engine: str) -> list[str]:
    """Split an SQL script into this engine's statements; a statement ends with a semicolon at the end of a line."""
    wanted: list[str] = []
    for text in re.split(r";[ \t]*\n", script):
        only = _ONLY.search(text)
        if re.sub(r"--[^\n]*", "", text).strip() and (only is None or only[1] == engine):
            wanted.append(text.strip())
    return wanted


async def block_writes(tx: Writing) -> None:
    """Block writes of all other database sessions until the transaction ends."""
    await _run(tx, await tx.returning(SQL.hold))


async def close_database(tx: Writing, why: str) -> None:
    """Close the database: no server can start on it, and running servers cannot write."""
    await mark_closed(tx, why)
    # triggers reject every write: a running server does not read the closed mark
    await _run(tx, await tx.returning(SQL.guard))


async def reopen_database(tx: Writing) -> bool:
    """Reopen a closed database; return whether it was closed."""
    if MIGRATIONS_TABLE not in await copies.list_tables(tx):
        raise SchemaMismatch("Gamekeeper has never used this database. Check --database.")
    await _run(tx, await tx.returning(SQL.unguard))
    return bool(await tx.returning(SQL.unmark, CLOSED_NUMBER))


async def mark_closed(tx: Writing, why: str) -> None:
    """Mark the database as closed: a server that starts on it stops with the message `why`."""
    tx.defer(SQL.mark, CLOSED_NUMBER, why)
    await tx.flush()


async def _run(tx: Writing, statements: Sequence[Row]) -> None:
    for (text,) in statements:
        await tx.returning(Statement("closing", {"": text}))
