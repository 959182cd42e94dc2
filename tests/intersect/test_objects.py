"""Fields of the game's data, and objects that no rule depends on: they are given back as the engine sends them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import intersect_extras
import make_intersect
from command_line import CommandLine
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.intersect import details, objects
from intersect_files import Make, OpenImport, by_day, change, find_unaccounted, own, read_report, run
from loops import over
from world import World


def read_details(world: World, table: str, own_id: str) -> Any:
    ((found,),) = world.sql(f"SELECT details FROM {table} WHERE id = $1", own_id)  # noqa: S608 - names from here
    return json.loads(found)


@pytest.mark.parametrize("era", by_day("0.8", make_intersect.ERAS))
def test_fields_of_items_and_objects(era: str, whole_import: Callable[[str], OpenImport]) -> None:
    made, _, world = whole_import(era)
    sword = read_details(world, "items", str(make_intersect.SWORD))
    assert (sword["Description"], sword["Rarity"], sword["Price"]) == ("Sharp on both sides", 3, 250)
    assert (sword["TwoHanded"], sword["StatsGiven"], sword["CritMultiplier"]) == (True, [1, 2, 3, 4, 5], 1.25)
    assert sword["SpellId"] == str(make_intersect.STRIKE)
    assert sword["Consumable"] == {"Type": 0, "Value": 0, "Percentage": 0}
    assert sword["UsageRequirements"] == {"Lists": "[]"}
    assert (sword["ItemType"], "Name" in sword, "Spell" in sword) == (1, False, False)
    types = dict(world.sql("SELECT type, COUNT(*) FROM game_objects GROUP BY type"))
    users = {"uservariable": 2} if make_intersect.BY_NAME[era].guild_variables else {}
    named = ("animation", "projectile", "resource", "shop", "crafttables", "crafts", "tileset")
    assert types == {"npc": 3, "quest": 1, "event": 1, "time": 1, **dict.fromkeys(named, 2), **users}
    quest = read_details(world, "game_objects", str(intersect_extras.HUNT))
    assert (quest["Repeatable"], quest["StartEventId"], quest["Tasks"][0]["Quantity"]) == (True, own("event", 0), 5)
    assert read_details(world, "game_objects", own("npc", 0))["Drops"][0]["Chance"] == 12.5
    assert read_details(world, "game_objects", str(make_intersect.ZERO)) == {
        "DaylightHues": intersect_extras.HUES,
        "RangeInterval": 720,
        "Rate": 2.0,
        "SyncTime": False,
    }
    left = [line["id"] for line in read_report(made) if line["reason"] == objects.EVENT_OF_MAP]
    assert left == [own("event", 1)]


@over(
    "columns, row, expected",
    [
        (["Bound", "CanTrade"], [1, 1], {"Bound": False, "CanTrade": True, "CanDrop": True}),
        (["Bound"], [1], {"Bound": True, "CanDrop": False}),
        (["Name", "Icon", "Price"], ["x", "y", 5], {"Price": 5}),
        (["Color", None], ['{"A":255}', None], {"Color": {"A": 255}}),
        (["Description"], ["[1]"], {"Description": "[1]"}),
        (
            ["Price", "CritMultiplier", "TwoHanded", "Spell", "StatsGiven", "Effects", "UsageRequirements", "Folder"],
            [None] * 8,
            {"Price": 0, "CritMultiplier": 0.0, "TwoHanded": False, "SpellId": ZERO_GUID, "StatsGiven": [0] * 5}
            | {"Effects": [], "UsageRequirements": {"Lists": "[]"}, "Folder": None},
        ),
        (
            ["Price", "CritMultiplier", "Spell", "StatsGiven", "Effects", "Color"],
            ["many", float("inf"), "no guid", '[1,"x"]', "[no JSON", "5"],
            {"Price": 0, "CritMultiplier": 0.0, "SpellId": ZERO_GUID, "StatsGiven": [1, 0, 0, 0, 0]}
            | {"Effects": [], "Color": {"A": 255, "R": 255, "G": 255, "B": 255}},
        ),
        # columns that the engine does not have
        (["Mine", "MyList", "My_Id"], [1, "[1]", bytes(16)], {"Mine": 1, "MyList": "[1]"}),
    ],
)
def test_fields_of_columns(columns: list[str | None], row: list[Any], expected: Any) -> None:
    found = details.encode_details("items", columns, ("id", *row))
    assert found
    assert json.loads(found) == expected


def test_large_fields_are_left_out_and_listed(
    whole_files: Make, command: CommandLine, opened: Callable[[str], World]
) -> None:
    made = whole_files()
    large = "x" * details.MAX_BYTES
    change(made.game, f"UPDATE Npcs SET Drops = '[\"{large}\"]'", f"UPDATE Items SET Description = '{large}'")  # noqa: S608 - from here
    told = run(command, made)
    assert find_unaccounted(told) == []
    listed = [line["table"] for line in read_report(made) if line["reason"] == details.TOO_LARGE]
    assert (listed.count("Npcs"), listed.count("Items")) == (3, 5)
    world = opened(command.database)
    assert world.sql("SELECT details FROM game_objects WHERE type = 'npc'") == [(None,)] * 3
