"""Create a backup while servers run: all tables from one snapshot, verified before the file gets its final name."""

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import IO

from gamekeeper import __version__
from gamekeeper.backup.archive import FORMAT, Archive, ArchiveWriter, BackupManifest, BackupTable, BadBackup
from gamekeeper.backup.interrupt import stop_on_cancel
from gamekeeper.backup.lines import CopyProgress, translate_write_errors
from gamekeeper.store import clock, copies, ledger
from gamekeeper.store.engine import Snapshot, Store
from gamekeeper.store.migrate import read_applied

# Tables that a backup leaves out. Reset codes are plain-text secrets that expire within minutes. Invitations that were
# accepted or withdrawn after the backup must not be valid again. The counts of the ordered lists and of the logs are
# recounted after a restore. Migrations are in the manifest. Erased data is masked in the copy.
LEFT_OUT = frozenset(
    {
        *("resets", "invitations", "invitation_links", "migrations", "erasures"),
        *("lists", "list_blocks", "list_changes", "log_counts"),
    }
)


async def create_backup(store: Store, path: Path, progress: CopyProgress, *, force: bool = False) -> BackupManifest:
    """Write a backup file. Only its owner can read it. It gets its final name when it is on disk and verified."""
    progress = stop_on_cancel(progress)
    with open_atomic(path, force=force) as (part, file):

        async def copy(tx: Snapshot) -> BackupManifest:
            file.seek(0)  # overwrite an earlier attempt: after a lost connection this function runs again
            file.truncate()
            with translate_write_errors(path):
                return await _copy_database(tx, store.engine, file, progress)

        manifest = await store.read(copy)
        _sync_and_close(file)
        with Archive(part, made_here=True) as archive:
            if archive.manifest != manifest:
                raise BadBackup(f"{part} does not contain what was written to it. Check the disk.")
            archive.verify(progress)
        await asyncio.sleep(0)  # last chance for a Ctrl-C to cancel the backup
    return manifest


@contextlib.contextmanager
def open_atomic(path: Path, *, force: bool) -> Generator[tuple[Path, IO[bytes]]]:
    """Open a temporary file for writing, readable by its owner only.

    On success the file is synced to disk and renamed to `path`; on failure it is deleted.
    """
    _require_free(path, force=force)
    with _open_part_file(path) as (part, file):
        yield part, file
        _sync_and_close(file)
        _require_free(path, force=force)
        part.replace(path)
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that a renamed file keeps its name after a crash; does nothing on Windows."""
    if os.name == "posix":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _sync_and_close(file: IO[bytes]) -> None:
    """Sync the file to disk and close it."""
    if not file.closed:
        file.flush()
        os.fsync(file.fileno())
        file.close()


async def _copy_database(tx: Snapshot, engine: str, file: IO[bytes], progress: CopyProgress) -> BackupManifest:
    with ArchiveWriter(file) as writer:
        names = [name for name in await copies.list_tables(tx) if name not in LEFT_OUT]
        tables = [await _copy_table(tx, writer, name, progress) for name in names]
        made_at, last = await clock.now(tx), await ledger.read_last(tx)
        migrations = list((await read_applied(tx)).values())
        manifest = BackupManifest(FORMAT, __version__, engine, made_at, last, migrations, tables)
        writer.write_manifest(manifest)
    return manifest


async def _copy_table(tx: Snapshot, writer: ArchiveWriter, name: str, progress: CopyProgress) -> BackupTable:
    columns = await copies.read_columns(tx, name)
    with writer.open_table(name) as page:
        async for rows in copies.read_rows(tx, name, columns):
            page.write(rows)
            progress(name, page.rows, None)
    return BackupTable(name, list(columns), page.rows, page.sha256)


def _require_free(path: Path, *, force: bool) -> None:
    if path.is_dir():
        raise BadBackup(f"{path} is a folder. Name a file in it.")
    if path.exists() and not path.is_file():
        raise BadBackup(f"{path} is a device, a pipe or a socket. Choose another name.")
    if path.exists() and not force:
        raise BadBackup(f"{path} already exists. Choose another name, or overwrite it with --force.")


@contextlib.contextmanager
def _open_part_file(path: Path) -> Generator[tuple[Path, IO[bytes]]]:
    """Open a file with a temporary name in the same folder; delete it afterwards unless it was renamed."""
    try:
        number, name = tempfile.mkstemp(".part", f".{path.name}.", path.parent)  # readable by its owner only
        part = Path(name)
        with os.fdopen(number, "w+b") as file:
            try:
                yield part, file
            finally:
                part.unlink(missing_ok=True)
    except OSError as error:
        raise BadBackup(f"{path} cannot be written: {error.strerror or error}.") from error
