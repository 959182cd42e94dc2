"""Complete imports on both engines: imported and listed rows, dry runs, and imports beside existing rows."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import make_intersect
import world as worlds
from command_line import CommandLine
from findings import errors
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.accounts import erasures
from gamekeeper.game.core.lookup import make_clashing_fold
from gamekeeper.game.players import player_edits
from gamekeeper.intersect import importer
from gamekeeper.store.accounts import users
from gamekeeper.store.players import players
from intersect_files import (
    PLAYERS,
    SPOILT,
    Imported,
    Make,
    by_day,
    change,
    own,
    read_left_rows,
    read_report,
    run,
    spoil,
)
from world import OpenWorld


@pytest.mark.parametrize("era", by_day("0.6", make_intersect.ERAS))
def test_import_of_each_version(era: str, files: Make, command: CommandLine, opened: OpenWorld) -> None:
    made = files(era)
    before = made.players.read_bytes(), made.game.read_bytes()
    told = run(command, made)
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


def test_imported_login_bans_and_permissions(imported: Callable[..., Imported], opened: OpenWorld) -> None:
    world = opened(imported("0.8", PLAYERS).database)

    def log_in(name: str, number: int) -> Any:
        form = {"grant_type": "password", "username": name, "password": hash_for_wire(make_intersect.password(number))}
        return world.call("POST", "/api/oauth/token", by=None, form=form)

    first = log_in("hero0", 0).accepted()
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
    files: Make, unmigrated: CommandLine, opened: OpenWorld, engine: str
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


def test_deleted_players_and_erased_accounts_are_not_imported_again(
    imported: Callable[..., Imported], opened: OpenWorld
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
    run(command, newer)
    assert [row[0] for row in world.sql("SELECT name FROM players")] == ["Knight2"]
    assert world.run(users.count(world.keeper.store)) == 2
    gone = {(line["table"], line["id"]) for line in read_report(newer) if line["reason"] == importer.DELETED_HERE}
    assert gone == {("Users", own("user", 1)), ("Players", own("player", 0)), ("Players", own("player", 1))}
    assert errors(world) == []


@pytest.mark.both_engines
def test_clashing_names_and_invalid_emails(files: Make, command: CommandLine, opened: OpenWorld) -> None:
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
    listed = [line["table"] for line in read_report(made) if line["id"] and line["taken"]]
    # a name clash; two accounts without an email, a duplicate email and a reserved name
    assert (listed.count("Players"), listed.count("Users")) == (1, 5)
    # a change of the player keeps the clash; a new name ends it
    form = {"grant_type": "password", "username": "Hero0", "password": hash_for_wire(make_intersect.password(0))}
    token = world.call("POST", "/api/oauth/token", by=None, form=form).json["access_token"]
    for path, body, fold in (
        ("level", {"level": 9}, make_clashing_fold("knight0", other)),
        ("name", {"name": "Other"}, "other"),
    ):
        assert world.post(f"/api/v1/players/{other}/{path}", body, token=token).status == 200
        assert world.sql("SELECT fold FROM players WHERE id = $1", other) == [(fold,)]
    assert errors(world) == []


@pytest.mark.both_engines
def test_skipped_rows_are_listed(files: Make, command: CommandLine, opened: OpenWorld) -> None:
    made = files("0.8", 5)
    spoil(made)
    told = run(command, made)
    left = read_left_rows(made)
    assert left >= SPOILT
    assert told["tables"]["Players"]["left"] == 1
    assert sum(each["left"] for each in told["tables"].values()) == len(left)
    world = opened(command.database)
    assert errors(world) == []
    assert run(command, made, "--dry-run")["tables"] == told["tables"]
