"""Backups that are damaged, newer or forged: a restore is complete or changes nothing."""

import random
import time
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import msgspec
import pytest
import state

import people
from backups import back_up, changed, give, restore, rewritten
from copied import is_untouched
from findings import unseen
from gamekeeper.copies import backups
from gamekeeper.copies.backups import Archive, BackupManifest, BackupTable
from gamekeeper.copies.lines import BadCopy, cut_at_lines
from gamekeeper.store.engine.migrate import AppliedMigration, SchemaMismatch
from people import ANN
from world import World

# tests of the file's format, which does not depend on the engine
ON_SQLITE = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
ON_POSTGRES = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


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
        except BadCopy as problem:
            assert "Nothing was changed. Use another one." in str(problem)  # noqa: PT017 - some flipped bytes raise nothing
            noticed += 1
    assert noticed > 100


def require_refusal(file: Path, url: str, said: str, error: type[Exception] = BadCopy) -> None:
    """Require that a restore of the file is refused, and leaves the target database empty."""
    with pytest.raises(error, match=said):
        restore(file, url)
    assert is_untouched(url), said


def contents(file: Path) -> list[Any]:
    with Archive(file) as archive:
        archive.verify(unseen)
        return [archive.manifest, *(list(archive.read_rows(table.name, unseen)) for table in archive.manifest.tables)]


def test_truncated_backup_is_refused(world: World, file: Path, empty_database: str) -> None:
    back_up(world, file)
    whole = file.read_bytes()
    for part in (0.0, 0.3, 0.9, 0.999):
        file.write_bytes(whole[: int(len(whole) * part)])
        require_refusal(file, empty_database, "is a damaged backup")


def test_row_refused_by_database_leaves_target_empty(
    world: World, file: Path, tmp_path: Path, empty_database: str
) -> None:
    """A row that violates a constraint, in one of the last tables of a valid backup, leaves the target empty."""
    manifest = back_up(world, file)
    bad = tmp_path / "bad.backup"
    rewritten(file, bad, manifest, "ledger", [[None] * 13], truly=True)
    require_refusal(bad, empty_database, r"(?i)null", Exception)


@ON_POSTGRES
def test_value_that_the_engine_changes_or_cannot_convert_is_refused(
    world: World, file: Path, tmp_path: Path, empty_database: str
) -> None:
    """The restore reads each table back and compares: here the engine stores another value than it was given."""
    changed_value = r"The table maps was not stored correctly: it has 1 rows with the checksum \w{64} instead of"
    manifest, unfit = back_up(world, file), "A value in the table maps has the wrong form. Nothing was changed."
    for guid, message in ((people.guid(0xABC).upper(), changed_value), ("x" * 36, f"^{unfit}$")):
        bad = rewritten(file, tmp_path / "bad", manifest, "maps", [[guid, "Meadow", None]], truly=True)
        require_refusal(bad, empty_database, message)


@ON_SQLITE
def test_rows_of_the_wrong_form_are_refused(world: World, file: Path, tmp_path: Path, empty_database: str) -> None:
    manifest = back_up(world, file)
    rows: list[tuple[list[Any], str]] = [
        ([ANN.id, 5, None], r"The table maps has a name that is not a text\. Nothing"),
        ([ANN.id, "Meadow"], "'maps' has a wrong row: Expected `array` of length 3"),
        ([[]] * 100_000, r"'maps' has a wrong row: .* got `array`"),  # would take 20 times the memory of its text
        (["x" * (33 << 20)], "A line is longer than 32 MiB"),
    ]
    for row, message in rows:
        bad = rewritten(file, tmp_path / "bad", manifest, "maps", [row], truly=True)
        require_refusal(bad, empty_database, message)


def test_long_line_is_joined_once() -> None:
    start = time.process_time()
    assert [len(lines) for lines in cut_at_lines([b"x" * 10_000] * 2_000 + [b"\nab\n", b"c"])] == [20_000_004, 1]
    assert time.process_time() - start < 1


@ON_SQLITE
def test_values_that_make_a_database_unusable_are_refused(
    world: World, file: Path, tmp_path: Path, empty_database: str
) -> None:
    """Change numbers and SQLite's clock continue after the largest ones."""
    give(world)
    manifest = back_up(world, file)
    columns = {table.name: table.columns for table in manifest.tables}
    for table, column, value in (
        ("ledger", "seq", 2**63 - 1),
        ("ledger", "seq", 0),
        ("ledger", "at", 253_402_300_799_999),
        ("ledger", "at", -1),
        ("tokens", "issued_at", 2**63 - 1),
    ):
        with Archive(file) as archive:
            rows = [list(row) for row in archive.read_rows(table, unseen)]
        rows[-1][columns[table].index(column)] = value
        bad = rewritten(file, tmp_path / "bad", manifest, table, rows, truly=True)
        require_refusal(bad, empty_database, f"a row of the table '{table}' has '{column}' {value}: ")


def with_manifest(file: Path, to: Path, manifest: BackupManifest) -> Path:
    with ZipFile(file) as old, ZipFile(to, "w") as new:
        for name in old.namelist():
            new.writestr(name, msgspec.json.encode(manifest) if name == backups.MANIFEST else old.read(name))
    return to


@ON_SQLITE
def test_manifest_that_lacks_or_repeats_a_table_is_refused(
    world: World, file: Path, tmp_path: Path, empty_database: str
) -> None:
    made = back_up(world, file)
    first = made.tables[0]
    double = BackupTable(first.name, [*first.columns, first.columns[0]], first.rows, first.sha256)
    edits: list[tuple[dict[str, Any], str]] = [
        ({"tables": [each for each in made.tables if each.name != "bans"]}, "it lacks the tables bans"),
        ({"tables": []}, "it lacks the tables .*ledger"),
        ({"tables": [*made.tables, first]}, f"its manifest lists '{first.name}' twice"),
        ({"tables": [double, *made.tables[1:]]}, "its manifest lists 'id' twice"),
        ({"tables": [*made.tables, BackupTable("\x1b[2J", ["id"], 0, "")]}, r"number: '\\x1b\[2J'\."),
        ({"ledger": made.ledger + 1}, f"its last change is {made.ledger}, and its manifest says {made.ledger + 1}"),
    ]
    for fields, message in edits:
        bad = with_manifest(file, tmp_path / "bad", changed(made, **fields))
        require_refusal(bad, empty_database, message)


def test_zip_bomb_is_refused(
    world: World, file: Path, tmp_path: Path, empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup whose table of 8 MiB is compressed to some kilobytes is refused, even with right checksums."""
    monkeypatch.setattr(backups, "MAX_UNPACKED_BYTES", 1 << 20)
    monkeypatch.setattr(backups, "MAX_UNPACK_RATIO", 20)
    manifest, rows = back_up(world, file), [["x" * (1 << 20)]] * 8
    bomb = rewritten(file, tmp_path / "bomb.backup", manifest, "ledger", rows, truly=True)
    require_refusal(bomb, empty_database, r"would unpack to 8 MiB.* Nothing was changed")


def test_malformed_manifest_or_one_of_another_version_is_refused(
    world: World, file: Path, tmp_path: Path, empty_database: str
) -> None:
    """Names of tables and columns from a file are used in SQL only if the schema has them."""
    made = back_up(world, file)
    first = made.tables[0]
    odd = BackupTable(first.name, [*first.columns[:-1], "id) SELECT 1; --"], first.rows, first.sha256)
    older = [AppliedMigration(17, "filters", "x")]
    newer = [*made.migrations, AppliedMigration(9999, "from_the_future", "x")]
    unfit = "does not fit its own schema number"
    for manifest, error, said in (
        (changed(made, migrations=older), SchemaMismatch, r"ends with migration 0017 .* `gamekeeper migrate`"),
        (changed(made, migrations=newer), SchemaMismatch, r"The backup has migration 9999 .* a newer Gamekeeper"),
        (changed(made, format=2), BadCopy, "has the format 2"),
        (changed(made, tables=[odd, *made.tables[1:]]), BadCopy, unfit),
        (changed(made, tables=[*made.tables, BackupTable("x; --", ["id"], 0, "")]), BadCopy, unfit),
        *((changed(made, ledger=number), BadCopy, "is a damaged backup: .*ledger") for number in (2**63, -1)),
    ):
        bad = rewritten(file, tmp_path / "bad", manifest, "x; --", [], truly=said == unfit)
        require_refusal(bad, empty_database, said, error)


def test_restore_into_used_database_is_refused(world: World, file: Path, database: str) -> None:
    back_up(world, file)
    give(world)
    before = state.fingerprint(world)
    with pytest.raises(BadCopy, match="it was not changed"):
        restore(file, database)
    assert state.list_changed(before, state.fingerprint(world)) == []
