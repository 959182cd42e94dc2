"""Numbered SQL files, applied once each in a transaction of their own, with their checksums remembered."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from gamekeeper.store import copies
from gamekeeper.store.engine import Reading, Store, Unusable, Writing
from gamekeeper.store.statements import FOLDER, Statement, Statements

SQL = Statements("migrate")
MIGRATIONS = "migrations"  # the table that remembers them
COLUMNS = frozenset({"number", "name", "checksum", "applied_at"})  # of it: other programs have one of that name too
UTF8 = "UTF8"
NAMED = 3  # of the tables that are not ours
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
    await _require_utf8_for_new(store)
    migrations = known() if migrations is None else migrations
    steps = [(migration, _step(store.engine, migration, migrations)) for migration in migrations]
    return [migration for migration, step in steps if await store.write(step, CLAIM)]


async def pending(store: Store) -> list[Migration]:
    """Only looks: a database that has nothing yet is left with nothing."""

    async def look(tx: Reading) -> list[Migration]:
        there = await applied(tx) if MIGRATIONS in await copies.tables(tx) else {}
        require_known(there.values(), known())
        return [migration for migration in known() if migration.number not in there]

    return await store.read(look)


async def apply(tx: Writing, engine: str, migrations: list[Migration]) -> None:
    """Those that are missing, in this one transaction: for a database that is there as a whole or not at all."""
    await _require_utf8_for_new(tx)
    there = await _applied(tx, known())
    for migration in migrations:
        if migration.number not in there:
            await _apply(tx, engine, migration)


async def applied(tx: Reading) -> dict[int, Applied]:
    return {row[0]: Applied(*row) for row in await tx.all(SQL.applied_migrations)}


async def require_ours(tx: Reading) -> None:
    """Nothing is written into a database that another program has made."""
    there = await copies.tables(tx)
    if MIGRATIONS in there and (await copies.columns(tx, MIGRATIONS)).keys() >= COLUMNS:
        if await applied(tx):
            return
        there.remove(MIGRATIONS)
    if there:
        names = ", ".join(sorted(there)[:NAMED]) + (", …" if len(there) > NAMED else "")
        raise Unusable(f"This database has tables that Gamekeeper did not make ({names}): name an empty one.")


async def require_utf8(tx: Reading) -> None:
    """Another encoding would have no place for some names, and that would be noticed when somebody has one."""
    row = await tx.one(SQL.encoding)
    if row and row[0] != UTF8:
        raise Unusable(
            f"This database's encoding is {row[0]}, not UTF8: not every name can be kept in it as it is written. "
            "Make one in UTF8: createdb --encoding=UTF8 --template=template0 …; what is in this one gets there with "
            "gamekeeper backup and gamekeeper restore."
        )


async def _require_utf8_for_new(tx: Reading) -> None:
    """One that is ours already is brought up to date: only so can it be read, and moved away. Doctor tells of it."""
    if MIGRATIONS not in await copies.tables(tx) or not await applied(tx):
        await require_utf8(tx)


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
