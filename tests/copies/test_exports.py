"""An export is a folder of plain JSON files, and is restored completely or not at all."""

import hashlib
import json
import os
import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import game_server
import playing
from backups import bring_back, give
from copied import contents, fill, is_untouched
from findings import errors, unseen
from gamekeeper.copies import exports
from gamekeeper.copies.export_folder import NESTED_NAMES, ExportFolder, ExportManifest
from gamekeeper.copies.lines import MANIFEST, BadCopy
from gamekeeper.store.engine.migrate import SchemaMismatch
from people import ANN, PASSWORD, USER_IDS, ZOE
from world import SENT, OpenWorld, World

LEFT_OUT = exports.LEFT_OUT - {"migrations"}
ENDED = {*LEFT_OUT, "play_sessions"}  # an import ends open sessions
Moved = Callable[[str, int, int | None], None]


def export(world: World, folder: Path, moved: Moved = unseen) -> ExportManifest:
    return world.run(exports.export(world.keeper.store, folder, moved))


def lines(folder: Path, noun: str) -> list[Any]:
    return [json.loads(line) for line in (folder / f"{noun}.jsonl").read_text(encoding="utf-8").splitlines()]


def rewrite(folder: Path, noun: str, change: Callable[[list[Any]], object]) -> None:
    """Rewrite a file of the export folder, and update the manifest's checksums."""
    rows = lines(folder, noun)
    change(rows)
    text = "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in rows)
    (folder / f"{noun}.jsonl").write_text(text, encoding="utf-8")
    manifest = json.loads((folder / MANIFEST).read_text())
    file = next(each for each in manifest["files"] if each["noun"] == noun)
    file |= {"lines": len(rows), "sha256": hashlib.sha256(text.encode()).hexdigest()}
    (folder / MANIFEST).write_text(json.dumps(manifest))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "exports").mkdir()
    return tmp_path / "exports" / "game"


# --- export and restore all tables ---------------------------------------------------------------------------------


def test_export_restores_every_table(
    world: World, folder: Path, target: str, opened: OpenWorld, tmp_path: Path
) -> None:
    """Restore to each engine: all tables are equal, except for sessions and presence; it exports the same again."""
    fill(world)
    give(world, headers={"Idempotency-Key": "once"})
    start = playing.find_midnight(world, 3)
    playing.play(world, [(ANN.id, start, start + 5000)], days=5)
    playing.roll_up(world)
    game_server.heartbeat(world)
    game_server.join(world, ZOE.id)
    # a ban that ends at a time beyond the calendar
    world.insert("bans", user_id=USER_IDS["Bob"], reason="x", moderator="y", started_at=0, ends_at=2**60)
    world.sql("UPDATE epoch SET trimmed = 3")
    before = without_zoe(world)
    export(world, folder)
    give(world)  # this gift is a change after the export
    bring_back(folder, target)
    copy = opened(target)
    assert without_zoe(copy) == before
    assert copy.sql("SELECT COUNT(*), COUNT(ended_at) FROM play_sessions") == [(2, 2)]
    playing.roll_up(copy)
    [only] = errors(copy)
    assert "the table bans have a value in ends_at that is not a time" in only
    export(copy, tmp_path / "again")
    for noun in ("users", "items", "ledger"):
        assert sorted(map(repr, lines(folder, noun))) == sorted(map(repr, lines(tmp_path / "again", noun)))
    assert copy.sql("SELECT trimmed FROM epoch") == [(3,)]
    assert copy.sql("SELECT id FROM epoch") != world.sql("SELECT id FROM epoch")
    assert [copy.sql(f"SELECT COUNT(*) FROM {table}") for table in ("tokens", "presence")] == [[(0,)], [(0,)]]  # noqa: S608 - two names
    form = {"grant_type": "password", "username": "Root", "password": SENT}
    assert copy.post("/api/oauth/token", form, by=None).status == 200, PASSWORD


def without_zoe(world: World) -> dict[str, list[str]]:
    """Return the tables without the rows of Zoe, who is online at the export: the import stores when that ended."""
    return {table: [row for row in rows if ZOE.id not in row] for table, rows in contents(world, ENDED).items()}


def test_export_contains_every_table_except_listed_ones(world: World, folder: Path) -> None:
    columns = [table for file in export(world, folder).files for table in file.columns]
    assert set(columns) == set(contents(world, LEFT_OUT))
    assert len(columns) == len(set(columns))
    assert not NESTED_NAMES & {file.noun for file in ExportFolder(folder).manifest.files}


@pytest.mark.both_engines
def test_export_is_one_snapshot(world: World, folder: Path, empty_database: str, opened: OpenWorld) -> None:
    """Changes made during the export, between writing any two files, are not in the export."""
    before, other, names = contents(world, LEFT_OUT), opened(world.url), set[str]()

    def meanwhile(what: str, _done: int, _total: int | None) -> None:
        if what not in names:
            names.add(what)
            giving = threading.Thread(target=give, args=(other,))
            giving.start()
            giving.join()

    export(world, folder, meanwhile)
    bring_back(folder, empty_database)
    copy = opened(empty_database)
    assert len(names) > 5
    assert contents(copy, LEFT_OUT) == before
    assert errors(copy) == []


# --- a restore of an export is complete or changes nothing ---------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="there are no such permissions elsewhere")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_export_is_readable_by_its_owner_only(world: World, folder: Path) -> None:
    before = os.umask(0)
    try:
        export(world, folder)
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {each.stat().st_mode & 0o777 for each in folder.iterdir()} == {0o600}


def test_failed_export_leaves_no_folder(world: World, folder: Path) -> None:
    def fail(what: str, _done: int, _total: int | None) -> None:
        if what == "ledger":
            raise RuntimeError("pulled the plug")

    with pytest.raises(RuntimeError):
        export(world, folder, fail)
    assert list(folder.parent.iterdir()) == []
    with pytest.raises(BadCopy, match="cannot be written: No such file or directory"):
        export(world, folder / "deeper")


BROKEN: dict[str, tuple[str, Callable[[list[Any]], object], str]] = {
    "no JSON": ("players", lambda rows: rows.__setitem__(1, "{"), r"players\.jsonl, line 2: .*truncated"),
    "a field gone": ("players", lambda rows: rows[2].pop("level"), r"players\.jsonl, line 3: .*`level`"),
    "a wrong time": ("users", lambda rows: rows[0].update(created_at="soon"), r"users\.jsonl, line 1: .*soon"),
    "an id in upper case": (
        "maps",
        lambda rows: rows[0].update(id=rows[0]["id"].replace("0", "A").upper()),
        r"maps\.jsonl, line 1: 'A.*' is not an id",
    ),
    "a name twice": ("users", lambda rows: rows[1].update(fold=rows[0]["fold"]), r"does not accept the table users"),
    "an orphan": ("players", lambda rows: rows[0].update(user_id=ANN.id), r"does not accept the table players"),
}


# mistakes that a database refuses, and one that it never sees; the others do not depend on the engine
ON_POSTGRES = ("no JSON", "a name twice", "an orphan")


def test_malformed_line_is_refused(
    world: World, engine: str, folder: Path, tmp_path: Path, empty_database: str
) -> None:
    export(world, folder)
    for number, (case, (noun, change, problem)) in enumerate(BROKEN.items()):
        if engine == "sqlite" or case in ON_POSTGRES:
            broken = tmp_path / f"broken {number}"
            shutil.copytree(folder, broken)
            rewrite(broken, noun, change)
            with pytest.raises(BadCopy, match=rf"{problem}.*Nothing was changed"):
                bring_back(broken, empty_database)
            assert is_untouched(empty_database), case


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_incomplete_export_is_refused(world: World, folder: Path, empty_database: str) -> None:
    export(world, folder)
    users, manifest = folder / "users.jsonl", folder / MANIFEST
    whole, listed = users.read_bytes(), manifest.read_text()
    for change, problem in (
        (
            lambda: users.write_bytes(whole.replace(b"Mona", b"Nona")),
            r"users\.jsonl was changed after the export: it has 7 lines",
        ),
        (lambda: users.write_bytes(whole[:-300]), r"users\.jsonl was changed after the export: it has 6 lines"),
        (users.unlink, r"users\.jsonl cannot be read: No such file"),
        (lambda: manifest.write_text(listed[:99]), r"is a damaged export: manifest\.json"),
        (lambda: manifest.write_text(re.sub('"trimmed": 0', f'"trimmed": {2**63}', listed)), "is a damaged export"),
        (lambda: manifest.write_text(listed.replace('"users"', '"us\\u0000ers"', 1)), "cannot be read: embedded null"),
        (lambda: manifest.write_text(listed.replace('"format": 1', '"format": 2')), "has the format 2, .* a newer one"),
        (lambda: manifest.write_text(listed.replace('"foundation"', '"other"').replace(" 1,", " 9999,")), "newer"),
        (manifest.unlink, r"is no export: manifest\.json cannot be read"),
    ):
        change()
        with pytest.raises((BadCopy, SchemaMismatch), match=problem):
            bring_back(folder, empty_database)
        users.write_bytes(whole)
        manifest.write_text(listed)
    assert is_untouched(empty_database)
