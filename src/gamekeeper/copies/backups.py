"""A backup: a ZIP with a file of JSON lines per table, and a manifest with their row counts and checksums.

It is created while servers run: all tables from one snapshot, verified before the file gets its final name.
"""

import asyncio
import contextlib
import errno
import os
import tempfile
import zlib
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import IO, Annotated, Self
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import msgspec

from gamekeeper import __version__
from gamekeeper.copies.lines import (
    FORMAT,
    MANIFEST,
    BadCopy,
    ChecksumWriter,
    CopyFiles,
    CopyProgress,
    LineChecksum,
    cut_at_lines,
    encode_manifest,
    parse_manifest,
    read_pieces,
    stop_on_cancel,
    translate_write_errors,
)
from gamekeeper.doctor.audit import find_range
from gamekeeper.store.core import ledger
from gamekeeper.store.engine import clock, copies
from gamekeeper.store.engine.interface import Row, Snapshot, Store
from gamekeeper.store.engine.migrate import AppliedMigration, read_applied

COMPRESSION_LEVEL = 1  # ZIP compression level: higher levels take twice the time to save a tenth of the size
MAX_MANIFEST_BYTES = 1 << 20  # size limit of a backup's manifest: a real one has about 10,000 bytes
# Protection against ZIP bombs: a backup may unpack to MAX_UNPACKED_BYTES or to MAX_UNPACK_RATIO times its size,
# whichever is more. Real backups unpack to 5 to 20 times their size; a ZIP bomb can reach 1,032 times.
MAX_UNPACKED_BYTES = 256 << 20
MAX_UNPACK_RATIO = 250
StoredInt = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]  # range of a 64-bit column
StoredTime = Annotated[int, msgspec.Meta(ge=0, le=253_402_300_799_999)]  # milliseconds since 1970, up to the year 9999
# A value of a row. Rows have no nested values, which could take 20 times the memory of their text.
StoredValue = str | Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)] | None
# Exceptions that zipfile raises for a damaged file.
_BROKEN = (BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError, ValueError)


class BackupTable(msgspec.Struct, frozen=True):
    name: str
    columns: list[str]
    rows: StoredInt
    sha256: str


class BackupManifest(msgspec.Struct, frozen=True):
    format: int
    gamekeeper: str  # version of Gamekeeper that wrote the backup
    engine: str
    made_at: StoredTime  # when the backup was made, by the database's clock
    ledger: StoredInt  # number of the last change of the audit log in the backup
    migrations: list[AppliedMigration]
    tables: list[BackupTable]

    @property
    def schema(self) -> int:
        return max((each.number for each in self.migrations), default=0)

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)


class Archive(CopyFiles):
    """Reads a backup file; damage anywhere in the file raises BadCopy."""

    def __init__(self, path: Path, *, made_here: bool = False) -> None:
        """Open a backup. `made_here`: this process has just written it, so skip the ZIP bomb check of its tables."""
        self.path, self.left_out = path, LEFT_OUT
        if path.exists() and not path.is_file() and not path.is_dir():
            raise BadCopy(f"{path} is a device, a pipe or a socket. Name the file of a backup.")
        with _translate_read_errors(path), contextlib.ExitStack() as opened:
            self._zip = opened.enter_context(ZipFile(path))
            self._require_size((MANIFEST,), MAX_MANIFEST_BYTES)
            self.manifest = parse_manifest(self._zip.read(MANIFEST), "backup", BackupManifest)
            self._require_names()
            if not made_here:
                tables = [_name_file(table.name) for table in self.manifest.tables]
                self._require_size(tables, max(MAX_UNPACKED_BYTES, MAX_UNPACK_RATIO * path.stat().st_size))
            opened.pop_all()  # it stays open if it is usable
        self.migrations = self.manifest.migrations
        self.columns = {table.name: table.columns for table in self.manifest.tables}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def require_last_change(self, number: int) -> None:
        if number != self.manifest.ledger:
            why = f"its last change is {number}, and its manifest says {self.manifest.ledger}"
            raise _build_damage_error(self.path, why)

    def verify(self, progress: CopyProgress) -> None:
        """Read every table of the backup, and compare its row count and checksum with the manifest."""
        for table in self.manifest.tables:
            pieces = self._read_pieces(table.name)
            if not LineChecksum().matches(pieces, table.name, table.rows, table.sha256, progress):
                raise _build_damage_error(self.path, f"the table {table.name} was changed")

    def read_rows(self, table: str, progress: CopyProgress) -> Generator[Row]:
        made, done = next(each for each in self.manifest.tables if each.name == table), 0
        # the clock of a machine may have been wrong for a while, so times may be up to a year later than the backup
        ranges = [find_range(table, column, self.manifest.made_at) for column in made.columns]
        limits = [(position, allowed) for position, allowed in enumerate(ranges) if allowed]
        decoder: msgspec.json.Decoder[Row] = msgspec.json.Decoder(tuple[(StoredValue,) * len(made.columns)])
        for lines in cut_at_lines(self._read_pieces(table)):
            try:
                some = decoder.decode_lines(lines)
            except ValueError as error:
                raise _build_damage_error(self.path, f"the table {table!r} has a wrong row: {error}") from error
            for position, allowed in limits:
                for row in some:
                    if isinstance(row[position], int) and row[position] not in allowed:
                        why = f"has {made.columns[position]!r} {row[position]}: not {allowed[0]} to {allowed[-1]}"
                        raise _build_damage_error(self.path, f"a row of the table {table!r} {why}")
            yield from some
            done += len(some)
            progress(table, done, made.rows)
        if done != made.rows:
            raise _build_damage_error(self.path, f"the table {table!r} has {done} rows instead of {made.rows}")

    def _require_names(self) -> None:
        """Refuse names that no table or column has, before they are printed, and repeated ones."""
        tables = self.manifest.tables
        for names in ([table.name for table in tables], *(table.columns for table in tables)):
            for name in names:
                if not name.isascii() or not name.isidentifier():
                    raise self.build_mismatch_error(repr(name))
            if len(set(names)) != len(names):
                again = next(name for name in names if names.count(name) > 1)
                raise _build_damage_error(self.path, f"its manifest lists {again!r} twice")

    def _require_size(self, names: Iterable[str], most: int) -> None:
        """Refuse a ZIP bomb before unpacking it. The sizes in the ZIP's index are reliable: zipfile reads no more."""
        size = sum(self._zip.getinfo(name).file_size for name in names)
        if size > most:
            raise BadCopy(
                f"{self.path} would unpack to {size >> 20:,} MiB, far more than a real backup of its size. "
                "Nothing was changed. Use another one. If it is your own, pack its files again without compression "
                "(unzip, then zip -0)."
            )

    def _read_pieces(self, table: str) -> Iterator[bytes]:
        with _translate_read_errors(self.path), self._zip.open(_name_file(table)) as file:
            yield from read_pieces(file)


def _name_file(table: str) -> str:
    return f"{table}.jsonl"


def _build_damage_error(path: Path, why: str) -> BadCopy:
    return BadCopy(f"{path} is a damaged backup: {why}. Nothing was changed. Use another one.")


@contextlib.contextmanager
def _translate_read_errors(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        # zipfile raises such an OSError for impossible offsets or compression methods
        if error.errno in (None, errno.EINVAL):
            raise _build_damage_error(path, "its index does not match its contents") from error
        raise BadCopy(f"{path} cannot be read: {error.strerror or error}.") from error
    except _BROKEN as error:
        raise _build_damage_error(path, str(error).rstrip(".") or type(error).__name__) from error


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
                raise BadCopy(f"{part} does not contain what was written to it. Check the disk.")
            archive.verify(progress)
        await asyncio.sleep(0)  # last chance for a Ctrl-C to cancel the backup
    return manifest


@contextlib.contextmanager
def open_atomic(path: Path, *, force: bool) -> Generator[tuple[Path, IO[bytes]]]:
    """Open a temporary file for writing, readable by its owner only.

    On success the file is synced to disk and renamed to `path`; on failure it is deleted.
    """
    _require_free(path, force=force)
    with translate_write_errors(path):
        number, name = tempfile.mkstemp(".part", f".{path.name}.", path.parent)  # readable by its owner only
        part = Path(name)
        with os.fdopen(number, "w+b") as file:
            try:
                yield part, file
                _sync_and_close(file)
                _require_free(path, force=force)
                part.replace(path)
                sync_folder(path.parent)
            finally:
                part.unlink(missing_ok=True)


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
    with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=COMPRESSION_LEVEL) as archive:
        names = [name for name in await copies.list_tables(tx) if name not in LEFT_OUT]
        tables = [await _copy_table(tx, archive, name, progress) for name in names]
        made_at, last = await clock.now(tx), await ledger.read_last(tx)
        migrations = list((await read_applied(tx)).values())
        manifest = BackupManifest(FORMAT, __version__, engine, made_at, last, migrations, tables)
        archive.writestr(MANIFEST, encode_manifest(manifest))  # last: a file without it is not a valid backup
    return manifest


async def _copy_table(tx: Snapshot, archive: ZipFile, name: str, progress: CopyProgress) -> BackupTable:
    columns = await copies.read_columns(tx, name)
    with archive.open(_name_file(name), "w", force_zip64=True) as file:
        page = ChecksumWriter(file)
        async for rows in copies.read_rows(tx, name, columns):
            page.write(rows)
            progress(name, page.rows, None)
    return BackupTable(name, list(columns), page.rows, page.sha256)


def _require_free(path: Path, *, force: bool) -> None:
    if path.is_dir():
        raise BadCopy(f"{path} is a folder. Name a file in it.")
    if path.exists() and not path.is_file():
        raise BadCopy(f"{path} is a device, a pipe or a socket. Choose another name.")
    if path.exists() and not force:
        raise BadCopy(f"{path} already exists. Choose another name, or overwrite it with --force.")
