"""Making an export beside those who read and write: every noun at one moment, read back before it gets its name."""

import asyncio
import contextlib
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping
from pathlib import Path
from typing import IO, Any

import msgspec

from gamekeeper import __version__
from gamekeeper.backup import making
from gamekeeper.backup.folder import (
    FORMAT,
    MANIFEST,
    OWNED,
    PARTS,
    BadExport,
    File,
    Folder,
    Manifest,
    Part,
    kinds,
    spelt,
)
from gamekeeper.backup.interrupt import heeding
from gamekeeper.backup.lines import Moved, Page, writing
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.http.instants import instant
from gamekeeper.store import clock, copies, feed
from gamekeeper.store.engine import Snapshot, Store
from gamekeeper.store.migrate import read_applied

# what a copy that begins a life of its own has no use for: who is logged in and online, and what lasts for minutes
LEFT_OUT = making.LEFT_OUT | {
    "tokens", "token_rounds", "mails", "guesses", "known_callers", "registrations", "servers", "presence", "epoch",
}  # fmt: skip
FIRST: Mapping[str, str | int] = {
    "users": ZERO_GUID,
    "players": ZERO_GUID,
    "ledger": 0,
}  # below every key; these are in order
SOME = 1000  # lines in one go
Columns = dict[str, dict[str, str]]  # of each table that a noun is made of: their names and forms
Line = dict[str, Any]


async def export(store: Store, path: Path, moved: Moved) -> Manifest:
    """The folder is for its owner only, and has its name only when all of it is on the disk and was read back."""
    moved = heeding(moved)
    _require_free(path)
    with _unnamed(path) as part:

        async def copy(tx: Snapshot) -> Manifest:
            with writing(path):
                return await _exported(tx, part, moved)

        manifest = await store.read(copy)
        written = Folder(part)
        if written.manifest != manifest:
            raise BadExport(f"What was read back from {part} is not what was written. Is the disk in order?")
        written.verify(moved)
        await asyncio.sleep(0)  # the last place to stop
        _require_free(path)
        making.sync_folder(part)
        part.rename(path)
        making.sync_folder(path.parent)
    return manifest


async def _exported(tx: Snapshot, folder: Path, moved: Moved) -> Manifest:
    nouns = [name for name in await copies.list_tables(tx) if name not in LEFT_OUT | OWNED]
    files = [await _noun(tx, folder, noun, moved) for noun in nouns]
    made_at, (_, last, trimmed) = instant(await clock.now(tx)), await feed.read_state(tx)
    manifest = Manifest(FORMAT, __version__, made_at, last, trimmed, list((await read_applied(tx)).values()), files)
    with _file(folder / MANIFEST) as file:
        file.write(msgspec.json.format(msgspec.json.encode(manifest)))
    return manifest


async def _noun(tx: Snapshot, folder: Path, noun: str, moved: Moved) -> File:
    tables = [noun, *(part.table for part in PARTS.get(noun, ()))]
    columns = {table: await copies.read_columns(tx, table) for table in tables}
    with _file(folder / f"{noun}.jsonl") as file:
        page = Page(file)
        async for lines in _lines(tx, noun, columns):
            page.write(lines)
            moved(noun, page.rows, None)
    return File(noun, page.rows, page.sha256, {table: list(forms) for table, forms in columns.items()})


async def _lines(tx: Snapshot, noun: str, columns: Columns) -> AsyncGenerator[list[Line]]:
    how = kinds(noun, list(columns[noun]))
    if noun not in FIRST:
        async for rows in copies.read_rows(tx, noun, columns[noun]):
            yield [spelt(row, how) for row in rows]
        return
    last = FIRST[noun]
    while rows := await copies.read_page(tx, noun, columns[noun], last, SOME):
        lines = [spelt(row, how) for row in rows]
        for part in PARTS.get(noun, ()):
            await _add_part(tx, part, columns[part.table], lines)
        yield lines
        last = rows[-1][0] or last


async def _add_part(tx: Snapshot, part: Part, columns: dict[str, str], lines: list[Line]) -> None:
    owners = {str(line["id"]): line for line in lines}
    for line in lines:
        line[part.field] = [] if part.many else None
    how = kinds(part.table, list(columns))
    for row in await copies.read_parts(tx, part.table, columns, str(lines[0]["id"]), str(lines[-1]["id"])):
        owned = spelt(row, how)
        owner = owners[str(owned.pop(part.owner))]
        if part.many:
            owner[part.field].append(owned)
        else:
            owner[part.field] = owned


@contextlib.contextmanager
def _file(path: Path) -> Generator[IO[bytes]]:
    """For its owner only; on the disk in the end."""
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def _require_free(path: Path) -> None:
    if path.exists():
        raise BadExport(f"{path} is there already. Choose another name; nothing is overwritten.")


@contextlib.contextmanager
def _unnamed(path: Path) -> Generator[Path]:
    """Where nobody takes it for an export; gone when it did not become one."""
    try:
        part = Path(tempfile.mkdtemp(".part", f".{path.name}.", path.parent))  # for its owner only
        try:
            yield part
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise BadExport(f"{path} cannot be written: {error.strerror or error}.") from error
