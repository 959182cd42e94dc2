"""Rows as JSON lines: written with their count and SHA-256, and read back in pieces."""

import contextlib
import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TypeVar

import msgspec

T = TypeVar("T")
PIECE_BYTES = 1 << 20
# longest line of a backup or export file, in bytes: ten times the largest change that a game server can report
MAX_LINE_BYTES = 256 << 20
_encoder = msgspec.json.Encoder()

# progress callback: table, rows done, rows in total (None: unknown)
CopyProgress = Callable[[str, int, int | None], None]


class BadCopy(Exception):
    """A copy of a database cannot be written or is damaged; the message says what to do."""


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
    left = b""
    for piece in pieces:
        lines, end, left = (left + piece).rpartition(b"\n")
        yield lines + end
    if left:
        yield left
