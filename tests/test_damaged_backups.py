"""Backups that are damaged, newer or forged: a restore is complete or changes nothing."""

import random
import re
import warnings
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
import state

import people
from backups import back_up, changed, give, restore, rewritten
from copied import is_untouched
from findings import unseen
from gamekeeper.backup import archive, lines
from gamekeeper.backup.archive import Archive, BackupTable, BadBackup
from gamekeeper.backup.filling import NotEmpty
from gamekeeper.backup.lines import BadCopy
from gamekeeper.store.migrate import AppliedMigration, SchemaMismatch
from people import ANN
from world import World

# tests of the file's format, which does not depend on the engine
ON_SQLITE = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "game.backup"


# --- a restore is complete or changes nothing ----------------------------------------------------------------------


@pytest.mark.long_only
@ON_SQLITE
def test_flipped_byte_is_detected(world: World, file: Path, tmp_path: Path) -> None:
    """A flipped byte is detected, unless it has no meaning (such as a date in the ZIP's index)."""
    back_up(world, file)
    whole, chance, noticed = file.read_bytes(), random.Random(1), 0
    wanted = contents(file)
    broken = tmp_path / "broken.backup"
    for _ in range(200):
        flipped = bytearray(whole)
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
        broken.write_bytes(flipped)
        try:
            assert contents(broken) == wanted
        except BadBackup as problem:
            assert "Nothing was changed. Use another one." in str(problem)  # noqa: PT017 - some flipped bytes raise nothing
            noticed += 1
    assert noticed > 100


@pytest.mark.long_only
@ON_SQLITE
@pytest.mark.parametrize(
    ("part", "place", "value"),
    [(b"PK\x01\x02", 10, 12), (b"PK\x05\x06", 18, 0xFF)],
    ids=["packed otherwise", "an index that is elsewhere"],
)
def test_backup_with_wrong_zip_index_is_refused(world: World, file: Path, part: bytes, place: int, value: int) -> None:
    back_up(world, file)
    whole = bytearray(file.read_bytes())
    whole[whole.index(part) + place] = value
    file.write_bytes(whole)
    with pytest.raises(BadBackup, match=r"Nothing was changed\. Use another one\."):
        contents(file)


def contents(file: Path) -> list[Any]:
    with Archive(file) as archive:
        archive.verify(unseen)
        return [archive.manifest, *(list(archive.read_rows(table.name, unseen)) for table in archive.manifest.tables)]


def test_truncated_backup_is_refused(world: World, file: Path, empty_database: str) -> None:
    back_up(world, file)
    whole = file.read_bytes()
    for part in (0.0, 0.3, 0.9, 0.999):
        file.write_bytes(whole[: int(len(whole) * part)])
        with pytest.raises(BadBackup, match="is a damaged backup"):
            restore(file, empty_database)
        assert is_untouched(empty_database)


@pytest.mark.long_only
@ON_SQLITE
def test_missing_rows_are_detected(world: World, file: Path, tmp_path: Path) -> None:
    """Missing rows are detected, because the manifest has the row count and the checksum of each table."""
    manifest = back_up(world, file)
    poor = rewritten(file, tmp_path / "poor.backup", manifest, "users", [])
    with Archive(poor) as archive, pytest.raises(BadBackup, match="the table users was changed"):
        archive.verify(unseen)


def test_row_refused_by_database_leaves_target_empty(
    world: World, file: Path, tmp_path: Path, empty_database: str
) -> None:
    """A row that violates a constraint, in one of the last tables of a valid backup, leaves the target empty."""
    manifest = back_up(world, file)
    bad = tmp_path / "bad.backup"
    rewritten(file, bad, manifest, "ledger", [[None] * 13], truly=True)
    with pytest.raises(Exception, match=r"(?i)null"):
        restore(bad, empty_database)
    assert is_untouched(empty_database)


def test_value_changed_by_the_engine_is_detected(
    world: World, file: Path, tmp_path: Path, empty_database: str, engine: str
) -> None:
    """The restore reads each table back and compares: here the engine stores another value than it was given."""
    odd = {"sqlite": [ANN.id, 5, None], "postgres": [people.guid(0xABC).upper(), "Meadow", None]}
    bad = rewritten(file, tmp_path / "bad", back_up(world, file), "maps", [odd[engine]], truly=True)
    message = r"The table maps was not stored correctly: it has 1 rows with the checksum \w{64} instead of"
    with pytest.raises(BadCopy, match=message):
        restore(bad, empty_database)
    assert is_untouched(empty_database)


def test_zip_bomb_is_refused(
    world: World, file: Path, tmp_path: Path, empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup whose table of 8 MiB is compressed to some kilobytes is refused, even with right checksums."""
    monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", 1 << 20)
    monkeypatch.setattr(archive, "MAX_UNPACK_RATIO", 20)
    manifest, rows = back_up(world, file), [["x" * (1 << 20)]] * 8
    bomb = rewritten(file, tmp_path / "bomb.backup", manifest, "ledger", rows, truly=True)
    with pytest.raises(BadBackup, match=r"would unpack to 8 MiB.* Nothing was changed"):
        restore(bomb, empty_database)
    assert is_untouched(empty_database)


@pytest.mark.long_only
@ON_SQLITE
def test_oversized_manifest_is_refused(world: World, file: Path) -> None:
    back_up(world, file)
    with ZipFile(file, "a", ZIP_DEFLATED) as changed, warnings.catch_warnings(action="ignore"):
        changed.writestr(archive.MANIFEST, changed.read(archive.MANIFEST) + b" " * (archive.MAX_MANIFEST_BYTES + 1))
    with pytest.raises(BadBackup, match="would unpack to 1 MiB"):
        Archive(file)


@pytest.mark.long_only
@pytest.mark.parametrize("field", ["made_at", "ledger", "rows"])
@pytest.mark.parametrize("number", [10**30, -1])
def test_a_number_out_of_range_in_the_manifest_is_refused(
    world: World, file: Path, empty_database: str, field: str, number: int
) -> None:
    back_up(world, file)
    with ZipFile(file, "a", ZIP_DEFLATED) as changed, warnings.catch_warnings(action="ignore"):
        text = re.sub(rf'"{field}": \d+', f'"{field}": {number}', changed.read(archive.MANIFEST).decode())
        changed.writestr(archive.MANIFEST, text)
    with pytest.raises(BadBackup, match=rf"is a damaged backup: .*{field}.* Nothing was changed"):
        restore(file, empty_database)
    assert is_untouched(empty_database)


@pytest.mark.long_only
def test_overlong_line_is_refused(
    world: World, file: Path, tmp_path: Path, empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 2 << 20)
    rows = [["x" * (4 << 20)]]
    bad = rewritten(file, tmp_path / "bad.backup", back_up(world, file), "ledger", rows, truly=True)
    with pytest.raises(BadCopy, match="A line is longer than 2 MiB"):
        restore(bad, empty_database)
    assert is_untouched(empty_database)


def test_a_newer_schema_is_refused(world: World, file: Path, tmp_path: Path, empty_database: str) -> None:
    manifest = back_up(world, file)
    newer = [*manifest.migrations, AppliedMigration(9999, "from_the_future", "x")]
    future = rewritten(file, tmp_path / "f", changed(manifest, migrations=newer), "", [])
    with pytest.raises(SchemaMismatch, match=r"The backup has migration 9999 .* a newer Gamekeeper"):
        restore(future, empty_database)
    assert is_untouched(empty_database)


@pytest.mark.long_only
def test_a_newer_format_is_refused(world: World, file: Path, tmp_path: Path) -> None:
    future = rewritten(file, tmp_path / "f", changed(back_up(world, file), format=2), "", [])
    with pytest.raises(BadBackup, match="has the format 2"):
        Archive(future)


def test_tables_that_do_not_match_the_schema_are_refused(
    world: World, file: Path, tmp_path: Path, empty_database: str
) -> None:
    """Names of tables and columns from a file are used in SQL only if the schema has them."""
    manifest = back_up(world, file)
    first = manifest.tables[0]
    odd = BackupTable(first.name, [*first.columns[:-1], "id) SELECT 1; --"], first.rows, first.sha256)
    for tables in ([odd, *manifest.tables[1:]], [*manifest.tables, BackupTable("x; --", ["id"], 0, "")]):
        made = rewritten(file, tmp_path / "odd", changed(manifest, tables=tables), "x; --", [], truly=True)
        with pytest.raises(BadBackup, match="does not fit its own schema number"):
            restore(made, empty_database)
        assert is_untouched(empty_database)


def test_restore_into_used_database_is_refused(world: World, file: Path, database: str) -> None:
    back_up(world, file)
    give(world)
    before = state.fingerprint(world)
    with pytest.raises(NotEmpty, match="it was not changed"):
        restore(file, database)
    assert state.list_changed(before, state.fingerprint(world)) == []
