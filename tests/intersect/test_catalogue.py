"""Fields of the game's data, objects that no rule depends on, and the vitals of players."""

import json
from typing import Any

from command_line import CommandLine
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.intersect import catalogue
from gamekeeper.intersect import world as intersect_world
from gamekeeper.intersect.catalogue import ClassGrowth, GameData, ItemBonus, Vitals
from gamekeeper.intersect.data import Report
from gamekeeper.store.world.catalogue import CatalogueItem
from intersect_files import Make, change, own, read_report, run
from loops import over
from world import OpenWorld

ID = "00000000-0000-4000-8000-000000000001"


@over(
    "kind, flag, stacks",
    (0, 1, True),
    (0, 0, False),
    (3, 0, True),
    (1, 1, False),
    (6, 1, False),
    (2, 1, True),
    (2, b"\x00", False),
)
def test_item_type_decides_stacking(kind: int, flag: object, *, stacks: bool) -> None:
    found = catalogue.read_item((ID, "Thing", kind, flag, "thing.png", 8, 500, None, None))
    assert found == CatalogueItem(ID, "Thing", stacks, 500 if stacks else None, 8 if kind == 6 else 0, "thing.png")


def test_too_large_bag_is_limited_and_listed() -> None:
    game = GameData(Report({"items": "Items"}))
    game.add("items", [(ID, "Sack", 6, 0, None, 2**31 - 1, None, None, None)], [None] * 8)
    assert game.entries["items"] == {ID: CatalogueItem(ID, "Sack", False, None, 1000, None)}
    ((table, own_id, reason, taken),) = game.report.entries
    assert (table, own_id, taken) == ("Items", ID, True)
    assert "2147483647" in reason


@over("level", "²", "9" * 5000, "-1", "")
def test_invalid_experience_overrides_are_ignored(level: str) -> None:
    row = (ID, "Warrior", "[1,1]", "[1,1]", 0, 1, 1, f'{{"{level}": 5, "2": {2**70}, "3": 7}}')
    assert catalogue.read_class(row).overrides == {3: 7}


WARRIOR = ClassGrowth((100, 20), (10, 2), by_percent=False, first_exp=100, exp_increase=50, overrides={3: 777})
MAGE = ClassGrowth((50, 80), (5, 10), by_percent=True)
VITALS = Vitals(
    {"w": WARRIOR, "m": MAGE}, {"helmet": ItemBonus((10, 2), (10, 0)), "curse": ItemBonus((-1000, -1000))}, 100
)


def test_vitals_grow_by_level() -> None:
    assert VITALS.compute_max("w", 1, []) == (100, 20)
    assert VITALS.compute_max("w", 5, []) == (140, 28)
    assert VITALS.compute_max("m", 3, []) == (55, 96)  # by percent: 50 * 1.05², 80 * 1.1²
    assert VITALS.compute_max("?", 50, []) == (20, 20)  # of a deleted class


def test_vitals_of_extreme_levels_are_limited() -> None:
    most = 2**31 - 1
    giant = ClassGrowth((10, -10), (50, 50), by_percent=True, first_exp=1, exp_increase=50)
    there = Vitals({"g": giant, "w": WARRIOR}, {"helmet": ItemBonus((10, 2), (10, 0))}, most)
    assert there.compute_max("g", 2_000_000, ["helmet"]) == (most, 0)
    assert there.compute_max("w", most, ["helmet"]) == (most, most)
    assert there.compute_exp_to_next("g", 2_000_000) == 2**63 - 1


def test_equipment_adds_to_vitals() -> None:
    assert VITALS.compute_max("w", 5, ["helmet", "unknown"]) == (140 + 10 + 14, 28 + 2)
    assert VITALS.compute_max("w", 1, ["curse"]) == (1, 0)


def test_experience_to_next_level() -> None:
    assert [VITALS.compute_exp_to_next("w", level) for level in (1, 2, 3, 100)] == [100, 150, 777, -1]
    assert VITALS.compute_exp_to_next("?", 1) == 0


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
