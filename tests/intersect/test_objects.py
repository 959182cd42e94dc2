"""Fields of the game's data, and objects that no rule depends on: they are given back as the engine sends them."""

import json
from typing import Any

from command_line import CommandLine
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.intersect import catalogue
from gamekeeper.intersect import world as intersect_world
from intersect_files import Make, change, own, read_report, run
from loops import over
from world import OpenWorld


@over(
    "columns, row, expected",
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
)
def test_fields_of_columns(columns: list[str | None], row: list[Any], expected: Any) -> None:
    found = catalogue.encode_details("items", columns, ("id", *row))
    assert found
    assert json.loads(found) == expected


def test_large_fields_are_left_out_and_listed(whole_files: Make, command: CommandLine, opened: OpenWorld) -> None:
    made = whole_files()
    large = "x" * catalogue.MAX_BYTES
    change(made.game, f"UPDATE Npcs SET Drops = '[\"{large}\"]'", f"UPDATE Items SET Description = '{large}'")  # noqa: S608 - from here
    run(command, made)
    listed = [line["table"] for line in read_report(made) if line["reason"] == catalogue.TOO_LARGE]
    assert (listed.count("Npcs"), listed.count("Items")) == (3, 5)
    world = opened(command.database)
    assert world.sql("SELECT details FROM game_objects WHERE type = 'npc'") == [(None,)] * 3
    left = [line["id"] for line in read_report(made) if line["reason"] == intersect_world.EVENT_OF_MAP]
    assert left == [own("event", 1)]
