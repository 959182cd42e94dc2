"""Format of an export folder: one file of JSON lines per noun (such as players.jsonl), and a manifest with checksums.

Fields are the columns of our tables, with times as ISO 8601 text, booleans and documents as JSON. Rows that belong to
an account or a player are nested in the line of their owner.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gamekeeper.copies.backups import StoredInt
from gamekeeper.copies.lines import (
    MANIFEST,
    BadCopy,
    CopyFiles,
    CopyProgress,
    LineChecksum,
    T,
    cut_at_lines,
    parse_manifest,
    read_pieces,
)
from gamekeeper.game.core import lookup
from gamekeeper.ground.instants import format_instant, parse_instant
from gamekeeper.store.engine import schema
from gamekeeper.store.engine.migrate import AppliedMigration


class NestedTable(NamedTuple):
    """A table of an export whose rows are nested in the JSON lines of their owners (accounts or players)."""

    field: str
    table: str
    owner: str  # name of the table's column with the id of the account or player that owns the row
    many: bool


NESTED_TABLES: Mapping[str, tuple[NestedTable, ...]] = {
    "users": (
        NestedTable("muted", "mutes", "user_id", many=False),
        NestedTable("banned", "bans", "user_id", many=False),
        NestedTable("roles", "user_roles", "user_id", many=True),
        NestedTable("permissions", "user_permissions", "user_id", many=True),
        NestedTable("second_factors", "second_factors", "user_id", many=True),
        NestedTable("recovery_codes", "recovery_codes", "user_id", many=True),
        NestedTable("identities", "identities", "user_id", many=True),
    ),
    "players": (
        NestedTable("bags", "bags", "player_id", many=True),
        NestedTable("items", "slots", "player_id", many=True),
        NestedTable("spells", "known_spells", "player_id", many=True),
        NestedTable("variables", "player_variables", "player_id", many=True),
        NestedTable("texts", "player_texts", "player_id", many=True),
        NestedTable("guild", "guild_members", "player_id", many=False),
    ),
}
NESTED_NAMES = frozenset(part.table for parts in NESTED_TABLES.values() for part in parts)


class ExportFile(msgspec.Struct, frozen=True):
    noun: str
    lines: int
    sha256: str
    columns: dict[str, list[str]]  # table → its columns, for each table whose rows are in the lines of this export file

    @property
    def name(self) -> str:
        return f"{self.noun}.jsonl"


class ExportManifest(msgspec.Struct, frozen=True):
    format: int
    gamekeeper: str  # version of Gamekeeper that wrote the export
    made_at: str
    ledger: StoredInt  # number of the last change of the audit log in the export
    # The audit log was trimmed up to this change number. Of the changes up to it, only deletions of accounts and the
    # newest change of each player are left (per player: one by each game server, and one from elsewhere).
    trimmed: StoredInt
    migrations: list[AppliedMigration]
    files: list[ExportFile]


class Kind(NamedTuple):
    """How the values of a column are written to JSON, and read from it."""

    type: Any
    write: Callable[[Any], object]
    read: Callable[[Any], Any]


def classify_columns(table: str, columns: Sequence[str]) -> dict[str, Kind]:
    """Return the kind of each database column in an export."""
    words = schema.read_column_types(table)
    return {column: _classify(column, words.get(column, "")) for column in columns}


def _classify(column: str, word: str) -> Kind:
    if column == "buffs":  # the column `buffs` holds a JSON list as text
        return _JSON
    return _TIME if schema.is_time(column, word) else _KINDS.get(word, _PLAIN)


def format_row(row: Sequence[Any], kinds: Mapping[str, Kind]) -> dict[str, object]:
    return {
        column: None if value is None else kind.write(value)
        for (column, kind), value in zip(kinds.items(), row, strict=True)
    }


def _format_time(value: int) -> str | int:
    try:
        return format_instant(value)
    except OverflowError:  # the timestamp is out of range for a date
        return value


def _format_document(text: str) -> msgspec.Raw:
    """Return a stored JSON document unchanged, but on one line."""
    return msgspec.Raw(msgspec.json.format(text.encode(), indent=-1) if "\n" in text else text.encode())


def _read_json(raw: msgspec.Raw) -> str | None:
    text = bytes(raw).decode()
    return None if text == "null" else text


def _read_time(value: str | int | None) -> int | None:
    if not isinstance(value, str):
        return value
    if not value.endswith("Z"):  # a timestamp without Z would be read as local time
        raise ValueError(f"'{value}' is not a time in UTC, such as 2026-01-31T12:00:00.000Z")
    return parse_instant(value)


def _read_guid(value: str | None) -> str | None:
    # only the canonical spelling of a guid is accepted: look-ups use it
    if value is not None and lookup.parse_guid(value) != value:
        raise ValueError(f"'{value}' is not an id: a guid in lower case, with hyphens")
    return value


def _keep(value: T) -> T:
    return value


_TIME = Kind(str | int | None, _format_time, _read_time)
_JSON = Kind(msgspec.Raw, _format_document, _read_json)
_TRUTH = Kind(bool, bool, int)
_GUID = Kind(str | None, _keep, _read_guid)
_PLAIN = Kind(str | int | None, _keep, _keep)
# type of a column, see `schema.read_column_types` → kind
_KINDS = {"boolean": _TRUTH, "json": _JSON, "document": _JSON, "guid": _GUID}


class ExportFolder(CopyFiles):
    """Reads an export folder. Errors are BadCopy with the file and the line.

    Tables may be missing, because people may write an export folder by hand.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            raw = (path / MANIFEST).read_bytes()
        except OSError as error:
            raise BadCopy(f"{path} is no export: {MANIFEST} cannot be read: {error.strerror or error}.") from error
        try:
            self.manifest = parse_manifest(raw, "export", ExportManifest)
            parse_instant(self.manifest.made_at)
        except (ValueError, RecursionError) as error:
            raise BadCopy(f"{path} is a damaged export: {MANIFEST}: {error}. Nothing was changed.") from error
        self.migrations = self.manifest.migrations
        self.columns = {table: columns for file in self.manifest.files for table, columns in file.columns.items()}

    def verify(self, progress: CopyProgress) -> None:
        """Read every file of the export folder, and compare its line count and checksum with the manifest."""
        for file in self.manifest.files:
            tally = LineChecksum()
            if not tally.matches(self._read_pieces(file), file.name, file.lines, file.sha256, progress):
                raise BadCopy(
                    f"{self.path / file.name} was changed after the export: it has {tally.rows} lines with the SHA-256 "
                    f"{tally.sha256}. Nothing was changed. If you changed it on purpose, update {MANIFEST}."
                )

    def read_rows(self, table: str, progress: CopyProgress) -> Generator[list[Any]]:
        file = next(file for file in self.manifest.files if table in file.columns)
        reader = _TableReader(file, table)
        for number, line in self._read_lines(file, reader.decoder):
            try:
                yield from reader.read_rows(line)
            except ValueError as error:
                raise self._build_line_error(file, number, error) from error
            if number % 1000 == 0 or number == file.lines:
                progress(table, number, file.lines)

    def _read_lines(self, file: ExportFile, decoder: msgspec.json.Decoder[Any]) -> Iterator[tuple[int, Any]]:
        number = 0
        for some in cut_at_lines(self._read_pieces(file)):
            try:
                decoded = decoder.decode_lines(some)
            except msgspec.DecodeError:
                self._find_broken_line(file, number, some, decoder)
                raise
            for line in decoded:
                number += 1
                yield number, line

    def _find_broken_line(self, file: ExportFile, number: int, some: bytes, decoder: msgspec.json.Decoder[Any]) -> None:
        for line in some.splitlines():
            number += 1
            try:
                decoder.decode(line)
            except msgspec.DecodeError as error:
                raise self._build_line_error(file, number, error) from error

    def _build_line_error(self, file: ExportFile, number: int, error: Exception) -> BadCopy:
        return BadCopy(f"{self.path / file.name}, line {number}: {str(error).rstrip('.')}. Nothing was changed.")

    def _read_pieces(self, file: ExportFile) -> Iterator[bytes]:
        try:
            with (self.path / file.name).open("rb") as opened:
                yield from read_pieces(opened)
        except (OSError, ValueError) as error:  # ValueError: U+0000 in the name
            raise BadCopy(
                f"{self.path / file.name} cannot be read: {getattr(error, 'strerror', error)}. Nothing was changed."
            ) from error


class _TableReader:
    """Reads the rows of one table from the JSON lines of an export file."""

    def __init__(self, file: ExportFile, table: str) -> None:
        parts = [part for part in NESTED_TABLES.get(file.noun, ()) if part.table in file.columns]
        self._part = next((part for part in parts if part.table == table), None)
        self._kinds = classify_columns(table, file.columns[table])
        fields = [
            *_define_fields(file.noun, file.columns[file.noun]),
            *(_define_nested_field(part, file.columns) for part in parts),
        ]
        self.decoder = msgspec.json.Decoder(msgspec.defstruct(file.noun, fields, forbid_unknown_fields=True))

    def read_rows(self, line: Any) -> Iterator[list[Any]]:  # noqa: ANN401 - a struct built from the file's columns
        if self._part is None:
            yield self._read_values(line)
            return
        found: Any = getattr(line, self._part.field)
        owned: Sequence[Any] = found if self._part.many else [] if found is None else [found]
        for each in owned:
            yield self._read_values(each, line.id)

    def _read_values(self, line: Any, owner: str | None = None) -> list[Any]:  # noqa: ANN401 - the same
        owned_by = self._part.owner if self._part else ""
        return [
            owner if column == owned_by else kind.read(getattr(line, column)) for column, kind in self._kinds.items()
        ]


def _define_fields(table: str, columns: Sequence[str]) -> list[tuple[str, Any]]:
    return [(column, kind.type) for column, kind in classify_columns(table, columns).items()]


def _define_nested_field(part: NestedTable, columns: Mapping[str, Sequence[str]]) -> tuple[str, Any]:
    own = [column for column in columns[part.table] if column != part.owner]
    shape: Any = msgspec.defstruct(part.table, _define_fields(part.table, own), forbid_unknown_fields=True)
    return part.field, list[shape] if part.many else shape | None
