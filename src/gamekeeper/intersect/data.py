"""The databases of an Intersect server, opened and counted; and the report of what became of their rows."""

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.intersect import sources
from gamekeeper.intersect.engines import SCHEME, MysqlSource, SqliteSource
from gamekeeper.intersect.sources import OWNER_TABLES, BadSource, Row, Source, SourceTable
from gamekeeper.intersect.values import show_id

DUPLICATE_ID = "another row has the same id"
BAD_ID = "its id is not a guid, or is a duplicate"


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

    def __add__(self, other: "RowCounts") -> "RowCounts":
        return RowCounts(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))


class CountsByTable(defaultdict[str, RowCounts]):
    """Row counts by the tables' names in the source."""

    def __init__(self, counts: Mapping[str, RowCounts] = MappingProxyType({})) -> None:
        super().__init__(RowCounts, counts)

    def add(self, more: "CountsByTable") -> "CountsByTable":
        return CountsByTable({name: self[name] + more[name] for name in {**self, **more}})


@dataclass(slots=True)
class Report:
    """Counts of rows, and report entries of skipped and altered rows. Its methods take Gamekeeper's table names."""

    tables: Mapping[str, str]  # Gamekeeper's table names → names of the tables in the source
    counts: CountsByTable = field(default_factory=CountsByTable)
    entries: list[ReportEntry] = field(default_factory=list[ReportEntry])

    def count(self, noun: str) -> RowCounts:
        return self.counts[self.tables[noun]]

    def skip(self, noun: str, row_id: object, reason: str) -> None:
        self.count(noun).left += 1
        self.entries.append(ReportEntry(self.tables[noun], show_id(row_id), reason))

    def skip_doubled(self, noun: str, own_id: str, rows: Sequence[Row]) -> None:
        """Skip all rows of an id but the first."""
        for _ in rows[1:]:
            self.skip(noun, own_id, DUPLICATE_ID)

    def note(self, noun: str, row_id: object, reason: str) -> None:
        """Report a row that is imported with an alteration or an unusual value."""
        self.entries.append(ReportEntry(self.tables[noun], show_id(row_id), reason, taken=True))


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


IDS_PER_READ = 10_000
REQUEST_LOG = "requests"
MIGRATION_TABLE_PREFIX = "__ef"  # start of the name of Entity Framework's migration table


@dataclass(frozen=True)
class SourceData:
    players: Source
    game: Source
    tables: Mapping[str, SourceTable]  # tables of the Intersect server, by Gamekeeper's names for them
    version: str
    logs: Source | None = None

    @property
    def sources(self) -> list[Source]:
        return [self.players, self.game, *([self.logs] if self.logs else [])]

    def close(self) -> None:
        for source in self.sources:
            source.close()

    def find_source(self, noun: str) -> Source:
        if self.logs and noun in sources.LOG_TABLES:
            return self.logs
        return self.players if noun in OWNER_TABLES else self.game

    @cached_property
    def names(self) -> dict[str, str]:
        return {noun: table.name for noun, table in self.tables.items()}

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all ids and row counts of an Intersect server. A server with other rows has another fingerprint.

        The same server with its logs has another fingerprint than without them, so that they can be imported later.
        """
        digest = blake2b(b"with logs" if self.logs else b"", digest_size=16)
        for noun, table in self.tables.items():
            if noun in OWNER_TABLES and OWNER_TABLES[noun] == noun:
                last = ZERO_GUID
                while some := self.find_source(noun).read_ids(table, last, IDS_PER_READ):
                    digest.update("".join(some).encode())
                    last = some[-1]
            elif noun not in OWNER_TABLES:
                only_ids = table._replace(columns=(table.key,))
                digest.update("".join(str(row[0]) for row in self.game.read_table(only_ids)).encode())
            digest.update(f"{noun} {self.find_source(noun).count_all(table.name)}\n".encode())
        return digest.hexdigest()

    def count_rows(self) -> CountsByTable:
        """Count the rows of every table of an Intersect server. Rows of unsupported tables count as skipped."""
        found = CountsByTable()
        for noun, table in self.tables.items():
            rows, filled = self.find_source(noun).count_rows(table)
            found[table.name] = RowCounts(rows, rows - filled)
        for source in self.sources:
            for name in sorted(source.read_tables()):
                if name not in found and not name.lower().startswith(MIGRATION_TABLE_PREFIX):
                    rows = source.count_all(name)
                    found[name] = RowCounts(rows=rows, left=rows)
        return found


def open_sources(players: str, game: str, logs: str | None = None) -> SourceData:
    """Open and check the databases of an Intersect server before the import starts."""
    opened: list[Source] = []
    try:
        for given in (players, game, *([logs] if logs else [])):
            opened.append(_open_source(given))  # noqa: PERF401 - if one cannot be opened, those before it are closed
        return _match_layouts(*opened)
    except BaseException:
        for source in opened:
            source.close()
        raise


def _match_layouts(players: Source, game: Source, logs: Source | None = None) -> SourceData:
    there = players.read_tables()
    tables = sources.match_tables(players.name, "player", sources.PLAYER_TABLES, there)
    tables |= sources.match_tables(game.name, "game", sources.GAME_TABLES, game.read_tables())
    if logs:
        tables |= sources.match_tables(logs.name, "logging", sources.LOG_TABLES, logs.read_tables())
        tables.pop(REQUEST_LOG, None)
    data = SourceData(players, game, tables, sources.detect_version(there, players.read_migrations()), logs)
    for noun in set(OWNER_TABLES.values()) & tables.keys():
        data.find_source(noun).index_ids(tables[noun])
    return data


def _open_source(given: str) -> Source:
    if given.startswith(SCHEME):
        return MysqlSource(given)
    if "://" in given:
        raise BadSource(
            f"{given.partition('://')[0]}:// is not supported. Give a file or mysql://user:password@host/name."
        )
    return SqliteSource(Path(given))
