"""Report of an import: row counts per table, and a file that lists every skipped or altered row."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec

from gamekeeper.intersect.schemas import BadSource


class ReportEntry(NamedTuple):
    """A row that an import skipped, or imported with alterations (`taken`)."""

    table: str
    id: str
    reason: str
    taken: bool = False


@dataclass(slots=True)
class RowCounts:
    rows: int = 0
    empty: int = 0  # rows of empty slots, which Gamekeeper does not store
    taken: int = 0
    there: int = 0  # number of rows that existed before the import
    left: int = 0  # number of rows that the import skipped

    @property
    def unaccounted(self) -> int:
        return self.rows - self.empty - self.taken - self.there - self.left


@dataclass(slots=True)
class CountsByTable:
    tables: dict[str, RowCounts] = field(default_factory=dict[str, RowCounts])

    def __getitem__(self, table: str) -> RowCounts:
        return self.tables.setdefault(table, RowCounts())

    def add(self, more: "CountsByTable") -> "CountsByTable":
        names = {**self.tables, **more.tables}
        return CountsByTable(
            {
                name: _add_counts(self.tables.get(name, RowCounts()), more.tables.get(name, RowCounts()))
                for name in names
            }
        )

    def to_json(self) -> str:
        return msgspec.json.encode(self.to_dict()).decode()

    def to_dict(self) -> dict[str, dict[str, int]]:
        return {name: asdict(count) for name, count in self.tables.items()}

    @staticmethod
    def from_json(text: str) -> "CountsByTable":
        found = msgspec.json.decode(text, type=Mapping[str, RowCounts])
        return CountsByTable(dict(found))


def _add_counts(one: RowCounts, other: RowCounts) -> RowCounts:
    return RowCounts(
        one.rows + other.rows,
        one.empty + other.empty,
        one.taken + other.taken,
        one.there + other.there,
        one.left + other.left,
    )


class ReportFile:
    """The report as JSON Lines. Its first line names the source; a file with another first line is never changed.

    Each batch writes from a known offset, so a retry writes the same bytes.
    """

    def __init__(self, path: Path, source: str) -> None:
        self.path = path.resolve()
        self._first = msgspec.json.encode({"source": source}) + b"\n"
        self._is_new = not path.exists()
        if not self._is_new and not path.is_file():
            raise BadSource(f"{path} is not a regular file. Choose another report file with --report.")
        try:
            if self._is_new:
                path.touch(mode=0o600, exist_ok=False)  # private, because the report contains names
            self._file = path.open("r+b")
        except OSError as error:
            raise BadSource(
                f"Cannot write {path}: {error.strerror}. Choose another report file with --report."
            ) from error
        if self._file.readline(len(self._first)) not in (b"", self._first):
            self._file.close()
            raise BadSource(
                f"{path} exists and is not a report of this import. Choose another report file with --report."
            )

    def measure_size(self) -> int:
        return self._file.seek(0, os.SEEK_END)

    def write(self, after: int, lines: Iterable[ReportEntry]) -> int:
        """Truncate the report file at offset `after`, append the entries, and return the new length."""
        self._file.seek(after)
        self._file.truncate()
        if not after:
            self._file.write(self._first)
        self._file.writelines(msgspec.json.encode(line._asdict()) + b"\n" for line in lines)
        if self._file.tell() > after:
            self._file.flush()
            os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Close the import's report file; delete it if it is new and empty."""
        if self._is_new and not self.measure_size():
            self.path.unlink()
        self._file.close()
