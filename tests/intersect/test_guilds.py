"""Guilds with members and ranks, and variables of the server, of guilds and of players with text and fractions."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import intersect_extras
import make_intersect
from command_line import CommandLine
from findings import errors
from gamekeeper.intersect import importer
from gamekeeper.intersect import world as intersect_world
from gamekeeper.intersect.import_run import COMPLETED
from intersect_extras import MISSING, OTHER, RED
from intersect_files import Imported, OpenImport, by_day, change, own, read_report, run
from world import OpenWorld

WITH_GUILDS = [each for each in make_intersect.ERAS if make_intersect.BY_NAME[each].guilds]
WITH_VARIABLES = [each for each in WITH_GUILDS if make_intersect.BY_NAME[each].guild_variables]
JUNE = 1_622_541_600_000  # 2021-06-01 10:00 UTC


def find_notes(made: Any, table: str) -> dict[str, str]:
    return {line["id"]: line["reason"] for line in read_report(made) if line["table"] == table and line["taken"]}


@pytest.mark.parametrize("era", by_day("0.8", WITH_GUILDS))
def test_guilds_with_members_ranks_and_banks(era: str, whole_import: Callable[[str], OpenImport]) -> None:
    made, told, world = whole_import(era)
    assert told["tables"]["Guilds"] == {"rows": 3, "empty": 0, "taken": 3, "there": 0, "left": 0}
    twin = "Blue Hand" if era == "0.8" else "red hand"
    found = {row[0]: row[1:] for row in world.sql("SELECT id, name, bank_slots, members FROM guilds")}
    assert found == {
        str(RED): ("Red Hand", 50, 3),
        str(OTHER): (twin, 50, 1),
        str(intersect_extras.EMPTY): ("Empty", 50, 0),
    }
    assert world.sql("SELECT founded_at FROM guilds WHERE id = $1", str(RED)) == [(JUNE,)]
    (instance,) = world.sql("SELECT instance_id FROM guilds WHERE id = $1", str(RED))[0]
    assert instance == (own("instance", 0) if era in WITH_VARIABLES else None)
    members = world.sql("SELECT player_id, guild_id, rank, joined_at FROM guild_members ORDER BY rank, player_id")
    assert sorted(members) == sorted(
        [
            (own("player", 0), str(RED), 0, JUNE),
            (own("player", 1), str(RED), 1, 1_625_097_600_123),
            (own("player", 2), str(RED), 3, None),
            (own("player", 3), str(OTHER), 2, 1_627_776_000_000),
        ]
    )
    assert f"its guild {MISSING} is missing" in find_notes(made, "Players")[own("player", 4)]
    notes = find_notes(made, "Guilds")
    assert notes[str(intersect_extras.EMPTY)] == intersect_world.NO_OWNER
    names = [line["id"] for line in read_report(made) if line["reason"] == intersect_world.SAME_NAME]
    assert len(names) == (0 if era == "0.8" else 1)
    ((owner, kind, data),) = world.sql("SELECT guild_id, kind, data FROM guild_leftovers")
    assert (owner, kind) == (str(RED), "guild_bank")
    assert {(row["Slot"], row["ItemId"], row["Quantity"]) for row in json.loads(data)} == {
        (0, str(make_intersect.COIN), 500),
        (1, str(make_intersect.HELMET), 1),
    }


@pytest.mark.parametrize("era", by_day("0.8", WITH_VARIABLES))
def test_variables_of_guilds(era: str, whole_import: Callable[[str], OpenImport]) -> None:
    _, told, world = whole_import(era)
    assert told["tables"]["GuildVariables"]["taken"] == 4
    # one value was never set, one belongs to a missing guild
    assert told["tables"]["Guild_Variables"] == {"rows": 8, "empty": 0, "taken": 6, "there": 0, "left": 2}
    declared = world.sql("SELECT name, type FROM guild_variables ORDER BY name")
    assert declared == [("Motto", "String"), ("Open", "Boolean"), ("Tax", "Number"), ("Wins", "Integer")]
    found = world.sql("SELECT guild_id, variable_id, type, value FROM guild_values")
    assert {(row[0], row[1]): row[2:] for row in found} == {
        (str(RED), str(intersect_extras.WINS)): ("Integer", "7"),
        (str(RED), str(intersect_extras.MOTTO)): ("String", '"Onward"'),
        (str(RED), str(intersect_extras.TAX)): ("Number", "0.5"),
        (str(RED), str(intersect_extras.OPEN)): ("Boolean", "true"),
        (str(OTHER), str(intersect_extras.WINS)): ("String", '"some"'),
        (str(OTHER), own("guild variable", 77)): ("Integer", "5"),
    }


@pytest.mark.parametrize("era", by_day("0.8", make_intersect.ERAS))
def test_variables_of_the_server(era: str, whole_import: Callable[[str], OpenImport]) -> None:
    made, told, world = whole_import(era)
    found = {row[0]: row[1:] for row in world.sql("SELECT name, type, value, text_id FROM server_variables")}
    huge = str(intersect_extras.HUGE)
    if era == "0.6":
        assert (told["tables"]["ServerVariables"]["taken"], told["tables"]["ServerSwitches"]["taken"]) == (2, 1)
        assert found == {
            "Rate": ("Integer", "10", "rate"),
            "Big": ("Integer", huge, "big"),
            "Double XP": ("Boolean", "true", "dxp"),
        }
        return
    assert told["tables"]["ServerVariables"]["taken"] == 7
    assert {name: row[:2] for name, row in found.items()} == {
        "Double XP": ("Boolean", "true"),
        "Rate": ("Integer", "10"),
        "Message of the day": ("String", "\"Hëllo 'you'\""),
        "Bonus": ("Number", "1.5"),
        "Mixed": ("Integer", "2.5"),
        "Unset": ("Integer", None),
        "Big": ("Integer", huge),
    }
    notes = find_notes(made, "ServerVariables")
    assert notes[str(intersect_extras.MIXED)] == "its value is a Number, but its variable is an Integer: kept"
    assert "never set" in notes[str(intersect_extras.UNSET)]


@pytest.mark.parametrize("era", by_day("0.8", make_intersect.ERAS[1:]))
def test_text_and_fractions_of_players(era: str, whole_import: Callable[[str], OpenImport]) -> None:
    made, told, world = whole_import(era)
    found = {
        (row[0], row[1]): row[2:] for row in world.sql("SELECT player_id, variable_id, type, value FROM player_texts")
    }
    title, ratio = str(make_intersect.TITLE), str(make_intersect.RATIO)
    assert found == {
        (own("player", 0), title): ("String", '"The Bold"'),
        (own("player", 1), title): ("String", '""'),
        (own("player", 0), ratio): ("Number", "0.25"),
        (own("player", 4), ratio): ("Number", "3.0"),  # an integer in the source, declared as a number
    }
    # one text was never set, one integer holds text
    assert told["tables"]["Player_Variables"]["left"] == 2
    types = dict(world.sql("SELECT name, type FROM variables"))
    assert types == {"Kills": "Integer", "Title": "String", "Tutorial done": "Boolean", "Luck": "Number"}
    reasons = {
        line["reason"] for line in read_report(made) if line["table"] == "Player_Variables" and not line["taken"]
    }
    assert "its value is a String, but its variable is an Integer" in reasons


def test_another_source_adds_what_existing_players_and_entries_lack(
    imported: Callable[..., Imported], opened: OpenWorld
) -> None:
    """A player who is in a guild, or has a value, keeps it. Counts and report say what was added."""
    first, _, database = imported("0.8")
    made = first._replace(report=first.report.with_name("second.jsonl"))
    command, world = CommandLine(database), opened(database)
    members = world.sql("SELECT * FROM guild_members ORDER BY 1")
    texts = world.sql("SELECT * FROM player_texts ORDER BY 1, 2")
    details = world.sql("SELECT id, details FROM items UNION ALL SELECT id, details FROM game_objects ORDER BY 1")
    moved, kept = own("player", 1), own("player", 3)
    world.sql("DELETE FROM guild_members WHERE player_id <> $1", kept)
    world.sql("DELETE FROM player_texts WHERE player_id = $1", own("player", 0))
    world.sql("UPDATE items SET details = NULL WHERE id = $1", str(make_intersect.SWORD))
    world.sql("UPDATE game_objects SET details = NULL WHERE type = 'npc' AND id <> $1", own("npc", 0))
    change(
        made.players,
        f"UPDATE Players SET GuildRank = 7 WHERE Id = '{kept.upper()}'",  # noqa: S608 - from here
        f"DELETE FROM Player_Spells WHERE PlayerId = '{moved.upper()}'",  # noqa: S608 - from here
    )
    tried = run(command, made, "--dry-run")
    told = run(command, made)
    assert tried["tables"] == told["tables"]
    assert world.sql("SELECT * FROM guild_members ORDER BY 1") == members
    assert world.sql("SELECT * FROM player_texts ORDER BY 1, 2") == texts
    found = world.sql("SELECT id, details FROM items UNION ALL SELECT id, details FROM game_objects ORDER BY 1")
    assert found == details
    variables = told["tables"]["Player_Variables"]
    assert (variables["taken"], variables["there"]) == (2, variables["rows"] - 2)
    added = [(line["table"], line["id"]) for line in read_report(made) if line["reason"] == importer.MEMBERSHIP_ADDED]
    assert added == [("Players", row[0]) for row in members if row[0] != kept]
    completed = {(line["table"], line["id"]) for line in read_report(made) if line["reason"] == COMPLETED}
    assert completed == {("Items", str(make_intersect.SWORD)), ("Npcs", own("npc", 1)), ("Npcs", own("npc", 2))}
    assert errors(world) == []
