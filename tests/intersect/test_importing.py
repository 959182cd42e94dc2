"""Complete imports on both engines: imported and listed rows, dry runs, and imports beside existing rows."""

import json
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest
import state

import make_intersect
import world as worlds
from command_line import CommandLine
from findings import errors
from gamekeeper.game import erasures, player_edits
from gamekeeper.game.lookup import make_clashing_fold
from gamekeeper.game.passwords import hash_for_wire
from gamekeeper.intersect import importer
from gamekeeper.store import players, users
from intersect_files import (
    PLAYERS,
    SPOILT,
    Imported,
    Make,
    add,
    by_day,
    change,
    find_unaccounted,
    own,
    read_left_rows,
    read_report,
    run,
    spoil,
)
from world import World


@pytest.mark.parametrize("era", by_day("0.6", make_intersect.ERAS))
def test_import_of_each_version(era: str, files: Make, command: CommandLine, opened: Callable[[str], World]) -> None:
    made = files(era)
    before = made.players.read_bytes(), made.game.read_bytes()
    told = run(command, made)
    assert find_unaccounted(told) == []
    tables = {name: each["taken"] for name, each in told["tables"].items()}
    prefix = "Character" if era == "0.6" else "Player"
    assert (tables["Users"], tables[f"{prefix}s"], tables["Bags"], tables["Bag_Items"]) == (3, 3, 2, 3)
    assert (tables[f"{prefix}_Items"], tables[f"{prefix}_Bank"], tables[f"{prefix}_Spells"]) == (9, 7, 6)
    assert (tables["Bans"], tables["Mutes"], tables["Items"], tables["Maps"]) == (2, 1, 5, 1)
    assert (made.players.read_bytes(), made.game.read_bytes()) == before
    world = opened(command.database)
    assert errors(world) == []
    for number in range(3):
        user = world.run(users.find_by_id(world.keeper.store, own("user", number)))
        assert user
        sent = hash_for_wire(make_intersect.password(number))
        assert world.run(world.keeper.passwords.is_right(sent, user.password))
        if number == 0:  # a wrong password is tried for the first account only, because hashing is slow
            assert not world.run(world.keeper.passwords.is_right(hash_for_wire("another"), user.password))
    record = world.run(players.find_record_by_fold(world.keeper.store, "knight2"))
    assert record
    # maximum vitals of a warrior of level 3 with a sword
    assert json.loads(record.document)["MaxVitals"] == [100 + 20 + 5, 20 + 4]
    assert json.loads(record.document)["Equipment"] == [-1, -1, 0, -1, -1]
    assert (record.class_name, record.map_name) == ("Warrior", "Meadow")
    values = world.sql("SELECT type, value FROM player_variables WHERE player_id = $1 ORDER BY type", own("player", 2))
    assert values == [("Boolean", 1), ("Integer", 6)]


def test_imported_login_bans_and_permissions(imported: Callable[..., Imported], opened: Callable[[str], World]) -> None:
    world = opened(imported("0.8", PLAYERS).database)

    def log_in(name: str, number: int) -> Any:
        form = {"grant_type": "password", "username": name, "password": hash_for_wire(make_intersect.password(number))}
        return world.call("POST", "/api/oauth/token", by=None, form=form)

    first = log_in("hero0", 0)
    assert first.status == 200
    record = world.get("/api/v1/users/Hero0", token=first.json["access_token"])
    assert record.json["Email"] == "hero0@example.test"
    assert log_in("Hero1", 1).status != 200  # Hero1 is banned permanently
    assert log_in("Hero2", 2).status == 200  # the ban of Hero2 has ended
    muted = world.run(users.find_by_id(world.keeper.store, own("user", 1)))
    assert muted
    assert (muted.mute_reason, muted.ban_reason) == ("mute for a reason", "ban for a reason")
    assert world.sql("SELECT moderator, started_at, ends_at FROM bans WHERE user_id = $1", own("user", 1)) == [
        ("Hero0", 1_704_164_645_000, None)
    ]


def test_dry_run_reports_the_same_and_writes_nothing(
    files: Make, unmigrated: CommandLine, opened: Callable[[str], World], engine: str
) -> None:
    made, command = files(), unmigrated
    tried = run(command, made, "--dry-run")
    lines = made.report.read_bytes()
    if engine == "sqlite":
        assert not Path(command.database.removeprefix("sqlite:///")).exists()
    else:
        assert opened(command.database).sql("SELECT 1 FROM pg_class WHERE relname = 'migrations'") == []
    done = run(command, made)
    assert tried["tables"] == done["tables"]
    assert made.report.read_bytes() == lines
    assert (tried["dry_run"], tried["changed"]) == (True, False)
    again = run(command, made, "--dry-run")
    assert again["tables"] == done["tables"]


@pytest.mark.both_engines
def test_dry_run_on_imported_database(
    files: Make, imported: Callable[..., Imported], opened: Callable[[str], World]
) -> None:
    command = CommandLine(imported("0.8", PLAYERS).database)
    world = opened(command.database)
    before = state.fingerprint(world)
    more = files("0.8", 5)
    tried = run(command, more, "--dry-run")
    assert state.list_changed(before, state.fingerprint(world)) == []
    done = run(command, more)
    assert tried["tables"] == done["tables"]
    assert {name: (each["taken"], each["there"]) for name, each in done["tables"].items() if name in TAKEN} == TAKEN
    assert find_unaccounted(done) == []
    assert errors(world) == []


TAKEN = {
    "Users": (2, 3),
    "Players": (2, 3),
    "Player_Items": (6, 9),
    "Bags": (2, 2),
    "Bag_Items": (3, 3),
    "Items": (0, 5),
}


def test_deleted_players_and_erased_accounts_are_not_imported_again(
    imported: Callable[..., Imported], opened: Callable[[str], World]
) -> None:
    """Neither from the same source nor from a newer copy of it."""
    made, _, database = imported("0.8", PLAYERS)
    command, world = CommandLine(database), opened(database)
    spelling = world.keeper.changes.codec
    apply = partial(world.keeper.changes.apply, worlds.CLI)
    world.run(apply(partial(player_edits.delete, key=own("player", 0), codec=spelling), lambda _: b""))
    world.run(apply(partial(erasures.erase, key=own("user", 1), codec=spelling, actor=None), lambda _: b""))
    run(command, made)
    assert [row[0] for row in world.sql("SELECT name FROM players")] == ["Knight2"]
    change(made.players, "DELETE FROM Player_Spells WHERE rowid = (SELECT MAX(rowid) FROM Player_Spells)")
    newer = made._replace(report=made.report.with_name("second.jsonl"))
    told = run(command, newer)
    assert find_unaccounted(told) == []
    assert [row[0] for row in world.sql("SELECT name FROM players")] == ["Knight2"]
    assert world.run(users.count(world.keeper.store)) == 2
    gone = {(line["table"], line["id"]) for line in read_report(newer) if line["reason"] == importer.DELETED_HERE}
    assert gone == {("Users", own("user", 1)), ("Players", own("player", 0)), ("Players", own("player", 1))}
    assert errors(world) == []


@pytest.mark.both_engines
def test_clashing_names_and_invalid_emails(files: Make, command: CommandLine, opened: Callable[[str], World]) -> None:
    made = files("0.8", 6)
    change(
        made.players,
        "UPDATE Users SET Name = 'HERO0' WHERE Name = 'Hero1'",
        "UPDATE Users SET Email = '' WHERE Name IN ('Hero2', 'Hero3')",
        "UPDATE Users SET Email = 'HERO0@example.test' WHERE Name = 'Hero4'",
        "UPDATE Users SET Name = 'register' WHERE Name = 'Hero5'",
        "UPDATE Players SET Name = 'KNIGHT0' WHERE Name = 'Knight1'",
    )
    told = run(command, made)
    assert find_unaccounted(told) == []
    assert (told["tables"]["Users"]["taken"], told["tables"]["Players"]["taken"]) == (6, 6)
    world = opened(command.database)
    assert errors(world) == []
    pair = {own("player", 0), own("player", 1)}
    found = world.run(players.find_record_by_fold(world.keeper.store, "knight0"))
    assert found
    found_id = json.loads(found.document)["Id"]
    assert found_id in pair
    (other,) = pair - {found_id}
    reached = world.run(players.find_record_by_id(world.keeper.store, other))
    assert reached
    assert json.loads(reached.document)["Name"] in ("Knight0", "KNIGHT0")
    folds = world.sql("SELECT fold FROM players WHERE id = $1", other)
    assert folds == [(make_clashing_fold("knight0", other),)]
    lines = [(line["table"], line["taken"]) for line in read_report(made) if line["id"]]
    assert lines.count(("Players", True)) == 1
    # report entries: a name clash, two accounts without an email, a duplicate email, a reserved name
    assert sum(taken for table, taken in lines if table == "Users") == 5


def test_player_with_clashing_name_can_be_changed(
    files: Make, command: CommandLine, opened: Callable[[str], World]
) -> None:
    """Changing the record of a player with a clashing name keeps the clash; a new name ends it."""
    made = files()
    change(made.players, "UPDATE Players SET Name = 'KNIGHT0' WHERE Name = 'Knight1'")
    run(command, made)
    world = opened(command.database)
    (second,) = world.sql("SELECT id, fold FROM players WHERE fold LIKE 'knight0_%' AND fold <> 'knight0'")
    token = _token(world)
    path = f"/api/v1/players/{second[0]}/level"
    assert world.post(path, {"level": 9}, token=token).status == 200
    assert world.sql("SELECT fold FROM players WHERE id = $1", second[0]) == [(second[1],)]
    assert world.post(f"/api/v1/players/{second[0]}/name", {"name": "Other"}, token=token).status == 200
    assert world.sql("SELECT fold FROM players WHERE id = $1", second[0]) == [("other",)]
    assert errors(world) == []


def _token(world: World) -> str:
    form = {"grant_type": "password", "username": "Hero0", "password": hash_for_wire(make_intersect.password(0))}
    return world.call("POST", "/api/oauth/token", by=None, form=form).json["access_token"]


@pytest.mark.both_engines
def test_skipped_rows_are_listed(files: Make, command: CommandLine, opened: Callable[[str], World]) -> None:
    made = files("0.8", 5)
    spoil(made)
    told = run(command, made)
    assert find_unaccounted(told) == []
    left = read_left_rows(made)
    assert left >= SPOILT
    assert told["tables"]["Players"]["left"] == 1
    assert sum(each["left"] for each in told["tables"].values()) == len(left)
    world = opened(command.database)
    assert errors(world) == []
    assert run(command, made, "--dry-run")["tables"] == told["tables"]


def test_mixed_guid_spellings_in_one_file(files: Make, command: CommandLine, opened: Callable[[str], World]) -> None:
    """A file can mix spellings of guids after an interrupted update of the game."""
    made = files("0.7.1", 4)
    with closing(apsw.Connection(str(made.players))) as db, db:
        for number, form in ((1, str.upper), (2, str.lower)):
            spelt = form(own("player", number)), make_intersect.guid("player", number).bytes_le
            db.execute("UPDATE Players SET Id = ? WHERE Id = ?", spelt)
            db.execute("UPDATE Player_Items SET PlayerId = ? WHERE PlayerId = ?", spelt)
        twice = db.execute("SELECT * FROM Players WHERE Name = 'Knight3'").fetchone()
    add(made.players, "Players", (own("player", 3).upper(), *twice[1:]))
    told = run(command, made)
    assert find_unaccounted(told) == []
    assert (told["tables"]["Players"]["taken"], told["tables"]["Player_Items"]["taken"]) == (4, 12)
    # all eight spells are imported, although those of players 1 and 2 name their owner in the old, binary spelling
    assert told["tables"]["Player_Spells"]["taken"] == 8
    doubled = [line["id"] for line in read_report(made) if line["table"] == "Players"]
    assert doubled == [own("player", 3)]
    assert errors(opened(command.database)) == []


@pytest.mark.both_engines
def test_import_beside_existing_accounts(files: Make, database: str, opened: Callable[[str], World]) -> None:
    """Import into a database with accounts: the existing accounts keep their names."""
    made = files()
    change(made.players, "UPDATE Players SET Name = 'ann' WHERE Name = 'Knight0'")
    told = run(CommandLine(database), made)
    assert find_unaccounted(told) == []
    world = opened(database)
    found = world.run(players.find_record_by_fold(world.keeper.store, "ann"))
    assert found
    assert json.loads(found.document)["Id"] != own("player", 0)
    assert world.run(players.count(world.keeper.store)) == 6
    assert errors(world) == []


def test_import_prints_a_table(files: Make, unmigrated: CommandLine) -> None:
    made = files("0.7.0")
    said = unmigrated.says("import", "intersect", *made.options).splitlines()
    assert said[0] == "Intersect 0.7.0."
    assert said[1].startswith("table             rows  empty slots  imported  existing  skipped")
    assert ["Player_Items", "105", "96", "9", "0", "0"] in [line.split() for line in said]
    assert said[-2:] == ["Imported.", f"Skipped and altered rows are listed in {made.report}."]
    assert made.report.stat().st_mode & 0o077 == 0
    again = unmigrated.says("import", "intersect", *made.options)
    assert "nothing was changed. The table shows the counts of that import." in again
