"""Create an export while servers run: all files from one snapshot, verified before the folder gets its final name.

Also exports all data stored about one person to a JSON file.
"""

import asyncio
import contextlib
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping
from pathlib import Path
from typing import IO, Any

from gamekeeper import __version__
from gamekeeper.copies import backups
from gamekeeper.copies.backups import open_atomic
from gamekeeper.copies.export_folder import (
    NESTED_NAMES,
    NESTED_TABLES,
    ExportFile,
    ExportFolder,
    ExportManifest,
    NestedTable,
    classify_columns,
    format_row,
)
from gamekeeper.copies.lines import (
    FORMAT,
    MANIFEST,
    BadCopy,
    ChecksumWriter,
    CopyProgress,
    encode_manifest,
    stop_on_cancel,
    translate_write_errors,
)
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.instants import format_instant
from gamekeeper.http.accounts.person import PersonExport, write_person
from gamekeeper.store.core import ledger
from gamekeeper.store.engine import clock, copies
from gamekeeper.store.engine.interface import Reading, Snapshot, Store
from gamekeeper.store.engine.migrate import read_applied

# Tables that are not exported: log-ins, presence, and short-lived data, which are useless in a new database.
LEFT_OUT = backups.LEFT_OUT | {
    "tokens", "token_rounds", "api_key_texts", "mails", "guesses", "known_callers", "known_addresses", "registrations",
    "servers", "presence", "epoch",
    "approval_gifts", "signal_checks", "item_growth", "player_gains",
}  # fmt: skip
# Tables that are exported in key order, each with a start value that is lower than every key.
LOWEST_KEYS: Mapping[str, str | int] = {
    "users": ZERO_GUID,
    "players": ZERO_GUID,
    "ledger": 0,
}
BATCH_LINES = 1000  # JSON lines that are written to an export file per batch
NounColumns = dict[str, dict[str, str]]  # table → column → form of its values in the database: plain, bytes or truth
ExportLine = dict[str, Any]


async def export(store: Store, path: Path, progress: CopyProgress) -> ExportManifest:
    """Write an export. Only the owner can read the folder; it gets its final name when it is on disk and verified."""
    progress = stop_on_cancel(progress)
    _require_free(path)
    with _create_part_folder(path) as part:

        async def copy(tx: Snapshot) -> ExportManifest:
            with translate_write_errors(path):
                return await _export_tables(tx, part, progress)

        manifest = await store.read(copy)
        written = ExportFolder(part)
        if written.manifest != manifest:
            raise BadCopy(f"{part} does not contain what was written to it. Check the disk.")
        written.verify(progress)
        await asyncio.sleep(0)  # last chance for a Ctrl-C to cancel the export
        _require_free(path)
        backups.sync_folder(part)
        part.rename(path)
        backups.sync_folder(path.parent)
    return manifest


async def _export_tables(tx: Snapshot, folder: Path, progress: CopyProgress) -> ExportManifest:
    nouns = [name for name in await copies.list_tables(tx) if name not in LEFT_OUT | NESTED_NAMES]
    files = [await _export_noun(tx, folder, noun, progress) for noun in nouns]
    made_at, (_, last, trimmed) = format_instant(await clock.now(tx)), await ledger.read_state(tx)
    manifest = ExportManifest(
        FORMAT, __version__, made_at, last, trimmed, list((await read_applied(tx)).values()), files
    )
    with _create_file(folder / MANIFEST) as file:
        file.write(encode_manifest(manifest))
    return manifest


async def _export_noun(tx: Snapshot, folder: Path, noun: str, progress: CopyProgress) -> ExportFile:
    tables = [noun, *(part.table for part in NESTED_TABLES.get(noun, ()))]
    columns = {table: await copies.read_columns(tx, table) for table in tables}
    with _create_file(folder / f"{noun}.jsonl") as file:
        page = ChecksumWriter(file)
        async for lines in _read_lines(tx, noun, columns):
            page.write(lines)
            progress(noun, page.rows, None)
    return ExportFile(noun, page.rows, page.sha256, {table: list(forms) for table, forms in columns.items()})


async def _read_lines(tx: Snapshot, noun: str, columns: NounColumns) -> AsyncGenerator[list[ExportLine]]:
    how = classify_columns(noun, list(columns[noun]))
    if noun not in LOWEST_KEYS:
        async for rows in copies.read_rows(tx, noun, columns[noun]):
            yield [format_row(row, how) for row in rows]
        return
    last = LOWEST_KEYS[noun]
    while rows := await copies.read_page(tx, noun, columns[noun], last, BATCH_LINES):
        lines = [format_row(row, how) for row in rows]
        for part in NESTED_TABLES.get(noun, ()):
            await _add_part(tx, part, columns[part.table], lines)
        yield lines
        last = rows[-1][0] or last


async def _add_part(tx: Snapshot, part: NestedTable, columns: dict[str, str], lines: list[ExportLine]) -> None:
    owners = {str(line["id"]): line for line in lines}
    for line in lines:
        line[part.field] = [] if part.many else None
    how = classify_columns(part.table, list(columns))
    for row in await copies.read_parts(tx, part.table, columns, str(lines[0]["id"]), str(lines[-1]["id"])):
        owned = format_row(row, how)
        owner = owners[str(owned.pop(part.owner))]
        if part.many:
            owner[part.field].append(owned)
        else:
            owner[part.field] = owned


@contextlib.contextmanager
def _create_file(path: Path) -> Generator[IO[bytes]]:
    """Create a file that only its owner can read; sync it to disk at the end."""
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def _require_free(path: Path) -> None:
    if path.exists():
        raise BadCopy(f"{path} already exists. Choose another name; an export never overwrites a folder.")


@contextlib.contextmanager
def _create_part_folder(path: Path) -> Generator[Path]:
    """Create a folder with a temporary name next to `path`; delete it afterwards unless it was renamed."""
    with translate_write_errors(path):
        part = Path(tempfile.mkdtemp(".part", f".{path.name}.", path.parent))  # readable by its owner only
        try:
            yield part
        finally:
            shutil.rmtree(part, ignore_errors=True)


async def export_person(keeper: Keeper, key: str, path: Path, *, force: bool) -> PersonExport:
    """Write a person's data from one snapshot to a file. Only its owner can read it; it exists only when complete."""
    with open_atomic(path, force=force) as (_, file):

        async def write(tx: Reading) -> PersonExport:
            file.seek(0)  # overwrite an earlier attempt: after a lost connection this function runs again
            file.truncate()
            with translate_write_errors(path):
                return await write_person(tx, key, file.write, _go_on, keeper.changes.codec)

        return await keeper.store.read(write)


async def _go_on() -> None:
    """Make no pause: a command has no other requests to run."""
