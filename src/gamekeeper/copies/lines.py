"""Rows as JSON lines, with their count and SHA-256; and the progress of a copy, which Ctrl-C interrupts.

asyncio cancels a task only at an await, and a copy on SQLite has none.
"""

import asyncio
import contextlib
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from gamekeeper.store.engine.interface import Row
from gamekeeper.store.engine.migrate import AppliedMigration

T = TypeVar("T")
FORMAT = 1  # of backups and exports
MANIFEST = "manifest.json"
PIECE_BYTES = 1 << 20
# Longest line of a backup or export file, in bytes. The longest of a real file is a change with two records, each as
# large as a game server can report by default (8 MiB); the quotes in them can take twice the space.
MAX_LINE_BYTES = 32 << 20
_encoder = msgspec.json.Encoder()

# progress callback: table, rows done, rows in total (None: unknown)
CopyProgress = Callable[[str, int, int | None], None]


class BadCopy(Exception):
    """A copy of a database cannot be written, is damaged, or cannot be filled in; the message says what to do."""


class TableSource(ABC):
    """Source of the tables for a new database: a backup, an export folder or another database."""

    migrations: Sequence[AppliedMigration] = ()  # migrations that were applied to the source database
    columns: Mapping[str, Sequence[str]]  # columns of each table, in the order of the values in its rows
    left_out: frozenset[str] | None = None  # tables of its schema that the source leaves out; None: may be any

    @abstractmethod
    def read_rows(self, table: str, progress: CopyProgress) -> Generator[Row]: ...

    @abstractmethod
    def build_mismatch_error(self, what: str) -> BadCopy:
        """Return the error for tables or columns that do not match the source's migrations."""


class CopyFiles(TableSource):
    """Source that is a backup or an export folder."""

    path: Path

    def build_mismatch_error(self, what: str) -> BadCopy:
        return BadCopy(f"{self.path} does not fit its own schema number: {what}. Nothing was changed.")


def parse_manifest(raw: bytes, name: str, shape: type[T]) -> T:
    version: object = msgspec.json.decode(raw, type=dict[str, Any]).get("format")
    if version != FORMAT:
        raise BadCopy(f"This {name} has the format {version}, and this Gamekeeper knows {FORMAT}. Use a newer one.")
    return msgspec.json.decode(raw, type=shape)


def encode_manifest(manifest: msgspec.Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(manifest))


@contextlib.contextmanager
def translate_write_errors(path: Path) -> Generator[None]:
    """Raise BadCopy for an error in writing the file, but let connection errors of the database pass."""
    try:
        yield
    except (ConnectionError, TimeoutError):
        raise
    except OSError as error:
        raise BadCopy(f"{path} cannot be written: {error.strerror or error}.") from error


class LineChecksum:
    """Count and SHA-256 of the lines of a file."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.rows = 0

    def add(self, lines: bytes) -> None:
        self._hash.update(lines)
        self.rows += lines.count(b"\n")

    def matches(self, pieces: Iterable[bytes], name: str, rows: int, sha256: str, progress: CopyProgress) -> bool:
        """Add all pieces of a file, and compare them with what its manifest says."""
        for piece in pieces:
            self.add(piece)
            progress(f"{name}, checked", self.rows, rows)
        return (self.rows, self.sha256) == (rows, sha256)

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


class ChecksumWriter(LineChecksum):
    """Writes rows as JSON lines to a file, and computes their count and checksum."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file

    def write(self, rows: Sequence[object]) -> None:
        lines = _encoder.encode_lines(rows)
        self._file.write(lines)
        self.add(lines)


class TableChecksum:
    """Checksum of a table's rows that does not depend on their order: the sum of the SHA-256 of each row."""

    def __init__(self) -> None:
        self._total = 0
        self.rows = 0

    def add(self, rows: Iterable[Sequence[object]]) -> None:
        for _ in self.add_while_passing(rows):
            pass

    def add_while_passing(self, rows: Iterable[T]) -> Generator[T]:
        """Yield the rows unchanged, and add each row to the table's checksum."""
        for row in rows:
            self._total += int.from_bytes(hashlib.sha256(_encoder.encode(row)).digest(), "big")
            self.rows += 1
            yield row

    def __str__(self) -> str:
        return f"{self._total % (1 << 256):064x}"


def read_pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Read a file of lines in pieces; refuse an overlong line, because a whole line is kept in memory."""
    line = 0  # bytes since the last newline
    while piece := file.read(PIECE_BYTES):
        end = piece.rfind(b"\n")
        line = line + len(piece) if end < 0 else len(piece) - end - 1
        if line > MAX_LINE_BYTES:
            raise BadCopy(
                f"A line is longer than {MAX_LINE_BYTES >> 20} MiB: no copy of ours has one. Nothing was changed."
            )
        yield piece


def cut_at_lines(pieces: Iterable[bytes]) -> Generator[bytes]:
    """Regroup the pieces of a file, so that each piece ends at the end of a line."""
    left: list[bytes] = []  # start of a line; joined once at its end, because each join copies all of it
    for piece in pieces:
        lines, end, rest = piece.rpartition(b"\n")
        if end:
            yield b"".join((*left, lines, end))
            left.clear()
        left.append(rest)
    if last := b"".join(left):
        yield last


def stop_on_cancel(progress: CopyProgress) -> CopyProgress:
    """Wrap a progress callback, so that it raises CancelledError when the current task is being cancelled.

    It also works when the store calls it from its writer thread.
    """
    task = asyncio.current_task()

    def report_unless_interrupted(what: str, done: int, total: int | None) -> None:
        if task and task.cancelling():
            raise asyncio.CancelledError
        progress(what, done, total)

    return report_unless_interrupted


async def wait_for_outcome(writing: Coroutine[Any, Any, T]) -> T:
    """Wait for the end of a write, even if this task is cancelled. If the write succeeded, ignore the cancellation."""
    task = asyncio.ensure_future(writing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if task.exception():
            raise
        return task.result()


def is_cancelled() -> bool:
    """Return whether the current task was cancelled (Ctrl-C), even if too late to stop a write."""
    task = asyncio.current_task()
    return bool(task and task.cancelling())
