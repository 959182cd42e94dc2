"""What became of every row: counts per table, and a file that names each row which was not taken as it was."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec

from gamekeeper.intersect.schemas import BadSource


class ReportEntry(NamedTuple):
    """A row that was not taken, or was but not as it is."""

    table: str
    id: str
    reason: str
    taken: bool = False


@dataclass(slots=True)
class RowCounts:
    rows: int = 0
    empty: int = 0  # they stand for empty slots, which are not stored here
    taken: int = 0
    there: int = 0  # before this import
    left: int = 0  # not taken

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
    """JSON Lines, after one that says of which source. No other file is ever written to.

    What is written goes after a place that is known, so that a second try writes the same bytes.
    """

    def __init__(self, path: Path, source: str) -> None:
        self.path = path.resolve()
        self._first = msgspec.json.encode({"source": source}) + b"\n"
        self._is_new = not path.exists()
        if not self._is_new and not path.is_file():
            raise BadSource(f"{path} is not a file. Name another with --report.")
        try:
            if self._is_new:
                path.touch(mode=0o600, exist_ok=False)  # it has people's names
            self._file = path.open("r+b")
        except OSError as error:
            raise BadSource(f"{path} cannot be written: {error.strerror}. Name another with --report.") from error
        if self._file.readline(len(self._first)) not in (b"", self._first):
            self._file.close()
            raise BadSource(f"{path} is there already and is no report of this import. Name another with --report.")

    def size(self) -> int:
        return self._file.seek(0, os.SEEK_END)

    def write(self, after: int, lines: Iterable[ReportEntry]) -> int:
        """Cuts off whatever else is there; returns where it ends now."""
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
        """Leaves nothing behind where nothing was written."""
        if self._is_new and not self.size():
            self.path.unlink()
        self._file.close()
