"""Backups that are damaged, newer or forged: a restore is complete or changes nothing."""

import random
from pathlib import Path
from typing import Any

import pytest
import state

import people
from backups import back_up, changed, give, restore, rewritten
from copied import is_untouched
from findings import unseen
from gamekeeper.copies import backups
from gamekeeper.copies.backups import Archive, BackupTable, BadBackup
from gamekeeper.copies.lines import BadCopy
from gamekeeper.copies.restores import NotEmpty
from gamekeeper.store.engine.migrate import AppliedMigration, SchemaMismatch
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
    monkeypatch.setattr(backups, "MAX_UNPACKED_BYTES", 1 << 20)
    monkeypatch.setattr(backups, "MAX_UNPACK_RATIO", 20)
    manifest, rows = back_up(world, file), [["x" * (1 << 20)]] * 8
    bomb = rewritten(file, tmp_path / "bomb.backup", manifest, "ledger", rows, truly=True)
    with pytest.raises(BadBackup, match=r"would unpack to 8 MiB.* Nothing was changed"):
        restore(bomb, empty_database)
    assert is_untouched(empty_database)


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
        (
            changed(made, migrations=older),
            SchemaMismatch,
            r"ends with migration 0017 .* `gamekeeper migrate`",
        ),
        (changed(made, migrations=newer), SchemaMismatch, r"The backup has migration 9999 .* a newer Gamekeeper"),
        (changed(made, format=2), BadBackup, "has the format 2"),
        (changed(made, tables=[odd, *made.tables[1:]]), BadBackup, unfit),
        (changed(made, tables=[*made.tables, BackupTable("x; --", ["id"], 0, "")]), BadBackup, unfit),
        *((changed(made, ledger=number), BadBackup, "is a damaged backup: .*ledger") for number in (2**63, -1)),
    ):
        bad = rewritten(file, tmp_path / "bad", manifest, "x; --", [], truly=said == unfit)
        with pytest.raises(error, match=said):
            restore(bad, empty_database)
        assert is_untouched(empty_database), said


def test_restore_into_used_database_is_refused(world: World, file: Path, database: str) -> None:
    back_up(world, file)
    give(world)
    before = state.fingerprint(world)
    with pytest.raises(NotEmpty, match="it was not changed"):
        restore(file, database)
    assert state.list_changed(before, state.fingerprint(world)) == []
