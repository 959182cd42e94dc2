"""Restoring a backup into an empty database: all of it is there in the end, or nothing."""

import contextlib
import secrets
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

from gamekeeper import app
from gamekeeper.backup.archive import Archive, BadBackup, Moved, Table
from gamekeeper.backup.making import sync_folder
from gamekeeper.game.keeper import Keeper
from gamekeeper.settings import Settings
from gamekeeper.store import copies, indexes, lists, mails, players
from gamekeeper.store.engine import Away, Reading, Writing
from gamekeeper.store.migrate import CLAIM, applied, apply, known, require_known

EPOCH, LISTS, MIGRATIONS = "epoch", "lists", "migrations"


class NotEmpty(Exception):
    """There is something in the database already; the message says what to do."""


@contextlib.contextmanager
def place(settings: Settings) -> Generator[Settings]:
    """Where to restore to: a server's own database, or a file that gets its name when it is whole."""
    file = app.database_file(settings)
    if file is None:
        yield settings
        return
    _require_no_file(file)
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    try:
        yield replace(settings, database=f"sqlite:///{part}")
        _require_no_file(file)
        if any(each.exists() for each in _files(part) if each != part):
            raise Away(f"{file} could not be written whole: is there room on the disk? Nothing was restored.")
        part.rename(file)
        sync_folder(file.parent)
    finally:
        for each in _files(part):
            each.unlink(missing_ok=True)


async def restore(keeper: Keeper, archive: Archive, moved: Moved, *, keep_tokens: bool = False) -> None:
    """In one transaction, under the claim of whoever changes the schema: a server that starts meanwhile waits."""
    engine = keeper.store.engine
    numbers = {each.number for each in archive.manifest.migrations}
    require_known(archive.manifest.migrations, known(), "backup")

    async def work(tx: Writing) -> None:
        await _require_empty(tx)
        await apply(tx, engine, [each for each in known() if each.number in numbers])
        await _fill(tx, archive, moved)
        await apply(tx, engine, known())
        await _settle(tx, keep_tokens=keep_tokens)

    await keeper.store.write(work, CLAIM)
    await indexes.create_missing(keeper.store)
    await keeper.lists.rebuild()


async def _require_empty(tx: Reading) -> None:
    there = await copies.tables(tx)
    if not there or (there == [MIGRATIONS] and not await applied(tx)):
        return
    raise NotEmpty(
        "There is something in this database already, and it is left alone. Stop the servers that use it, make an "
        "empty one beside it (createdb game2), restore into that, and start the servers on it."
    )


async def _fill(tx: Writing, archive: Archive, moved: Moved) -> None:
    there = await copies.tables(tx)
    if LISTS in there:
        await lists.load_unlisted(tx)
    await players.drop_indexes(tx)  # they are quicker made anew
    tables = {table.name: table for table in archive.manifest.tables}
    if not tables.keys() <= set(there):
        raise _unfit(archive, ", ".join(sorted(tables.keys() - set(there))))
    for table in [tables[name] for name in there if name in tables]:
        await _fill_table(tx, archive, table, moved)
    if LISTS in there:
        await lists.resume(tx)


async def _fill_table(tx: Writing, archive: Archive, table: Table, moved: Moved) -> None:
    forms = await copies.columns(tx, table.name)
    if forms.keys() != set(table.columns):
        raise _unfit(archive, table.name)
    if table.name == EPOCH:
        await copies.clear_epoch(tx)
    with contextlib.closing(archive.rows(table, moved)) as rows:
        copies.fill(tx, table.name, {name: forms[name] for name in table.columns}, rows)
        await tx.flush()


async def _settle(tx: Writing, *, keep_tokens: bool) -> None:
    """What must not be as it was at the moment of the backup."""
    copies.renew_epoch(tx)
    await copies.continue_ledger(tx)
    mails.retire(tx)  # their codes are not in a backup, so nobody wants them: none is sent a second time
    if not keep_tokens:
        copies.revoke_tokens(tx)  # else one that was revoked after the backup would be good again


def _unfit(archive: Archive, what: str) -> BadBackup:
    return BadBackup(f"{archive.path} does not fit its own schema number: {what}. Nothing was changed.")


def _require_no_file(file: Path) -> None:
    there = [each for each in _files(file) if each.exists()]
    if there:
        names = " ".join(str(each) for each in there)
        raise NotEmpty(
            f"There is a database {file} already, and it is left alone. Stop the server that uses it, move it away "
            f"({names}), and run the same command again."
        )


def _files(database: Path) -> list[Path]:
    return [database, *(database.with_name(database.name + more) for more in ("-wal", "-shm"))]
