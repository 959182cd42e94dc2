"""Numbered SQL files, applied once each in a transaction of their own, with their checksums remembered."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from gamekeeper.store.engine import Reading, Store, Writing
from gamekeeper.store.statements import FOLDER, Statement, Statements

SQL = Statements("migrate")
MIGRATIONS = "migrations"  # the table that remembers them
CLAIM = 0x67616D65  # any number that no other program on the database uses
CLOSED = 10_000  # in the place of a migration: no file has five digits, so no version ever takes it for one of its own
_FILE = re.compile(r"(\d{4})_(\w+)\.sql")
_ONLY = re.compile(r"^-- only: (\w+)\n", re.MULTILINE)


class SchemaMismatch(Exception):
    """The database's schema is not one this version can work on; the message says what to do."""


class Closed(SchemaMismatch):
    """The database is not to be used; the message says why, and what to do."""


class Migration(NamedTuple):
    number: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


class Applied(NamedTuple):
    number: int
    name: str
    checksum: str


def known(folder: Path = FOLDER / "migrations") -> list[Migration]:
    found = [(_FILE.fullmatch(path.name), path) for path in sorted(folder.glob("*.sql"))]
    return [Migration(int(match[1]), match[2], path.read_text(encoding="utf-8")) for match, path in found if match]


async def migrate(store: Store, migrations: list[Migration] | None = None) -> list[Migration]:
    """Brings the schema up to date; returns what had to be applied."""
    migrations = known() if migrations is None else migrations
    steps = [(migration, _step(store.engine, migration, migrations)) for migration in migrations]
    return [migration for migration, step in steps if await store.write(step, CLAIM)]


async def pending(store: Store) -> list[Migration]:
    async def look(tx: Writing) -> list[Migration]:
        applied = await _applied(tx, known())
        return [migration for migration in known() if migration.number not in applied]

    return await store.write(look, CLAIM)


async def apply(tx: Writing, engine: str, migrations: list[Migration]) -> None:
    """Those that are missing, in this one transaction: for a database that is there as a whole or not at all."""
    there = await _applied(tx, known())
    for migration in migrations:
        if migration.number not in there:
            await _apply(tx, engine, migration)


async def applied(tx: Reading) -> dict[int, Applied]:
    return {row[0]: Applied(*row) for row in await tx.all(SQL.applied_migrations)}


def require_known(applied: Iterable[Applied], migrations: list[Migration], what: str = "database") -> None:
    checksums = {migration.number: migration.checksum for migration in migrations}
    for number, name, checksum in applied:
        if number == CLOSED:
            raise Closed(name)
        if number not in checksums:
            raise SchemaMismatch(
                f"The {what} has migration {number:04} ({name}), which this version does not know: "
                "it was written by a newer Gamekeeper. Run that version, or a newer one."
            )
        if checksums[number] != checksum:
            raise SchemaMismatch(
                f"Migration {number:04} ({name}) is not the one that was applied to this {what}. "
                "Run the version of Gamekeeper that wrote it, or restore a backup."
            )


def _step(engine: str, migration: Migration, migrations: list[Migration]):  # noqa: ANN202 - a closure for Store.write
    async def apply(tx: Writing) -> bool:
        if migration.number in await _applied(tx, migrations):
            return False
        await _apply(tx, engine, migration)
        return True

    return apply


async def _apply(tx: Writing, engine: str, migration: Migration) -> None:
    for text in split(migration.text, engine):
        await tx.returning(Statement(migration.name, {"": text}))
    tx.later(SQL.record_migration, migration.number, migration.name, migration.checksum)


async def _applied(tx: Writing, migrations: list[Migration]) -> set[int]:
    await tx.returning(SQL.create_migrations)
    found = await applied(tx)
    require_known(found.values(), migrations)
    return set(found)


def split(script: str, engine: str) -> list[str]:
    """The script's statements for this engine; one statement ends with a semicolon at the end of a line."""
    wanted: list[str] = []
    for text in re.split(r";[ \t]*\n", script):
        only = _ONLY.search(text)
        if re.sub(r"--[^\n]*", "", text).strip() and (only is None or only[1] == engine):
            wanted.append(text.strip())
    return wanted
