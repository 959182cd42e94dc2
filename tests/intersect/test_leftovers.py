"""Rows that have no place in Gamekeeper are kept as JSON, are part of a person's export, and are erased with it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import intersect_extras
import make_intersect
from command_line import CommandLine
from intersect_files import Imported, OpenImport, by_day, own, run
from world import OpenWorld, World


def read_leftovers(world: World, owner: str = "player") -> dict[tuple[str, str], Any]:
    rows = world.sql(f"SELECT {owner}_id, kind, data FROM {owner}_leftovers")  # noqa: S608 - names from here
    return {(row[0], row[1]): json.loads(row[2]) for row in rows}


@pytest.mark.parametrize("era", by_day("0.8", make_intersect.ERAS))
def test_friends_quests_and_hotbars_are_kept(era: str, whole_import: Callable[[str], OpenImport]) -> None:
    _, told, world = whole_import(era)
    prefix = "Character" if era == "0.6" else "Player"
    counted = {name: each for name, each in told["tables"].items() if name.startswith(prefix)}
    assert counted[f"{prefix}_Friends"] == {"rows": 4, "empty": 0, "taken": 4, "there": 0, "left": 0}
    assert counted[f"{prefix}_Quests"] == {"rows": 3, "empty": 0, "taken": 2, "there": 0, "left": 1}
    assert counted[f"{prefix}_Hotbar"] == {"rows": 4, "empty": 1, "taken": 3, "there": 0, "left": 0}
    kept = read_leftovers(world)
    friends = {(owner, row["TargetId"]) for (owner, kind), rows in kept.items() if kind == "friends" for row in rows}
    pairs = {(own("player", a), own("player", b)) for a, b in ((0, 1), (1, 0), (2, 3))}
    assert friends == {*pairs, (own("player", 0), None)}
    (quest,) = kept[own("player", 0), "quests"]
    assert (quest["QuestId"], quest["TaskProgress"]) == (str(intersect_extras.HUNT), 3)
    assert [row["Slot"] for row in kept[own("player", 0), "hotbars"]] == [0, 1]
    assert {row["PreferredStatBuffs"] for row in kept[own("player", 0), "hotbars"]} == {"[0,0,0,0,0]"}


@pytest.mark.parametrize("era", by_day("0.8", ["0.7.1", "0.8"]))
def test_variables_of_accounts_are_kept(era: str, whole_import: Callable[[str], OpenImport]) -> None:
    _, told, world = whole_import(era)
    assert told["tables"]["User_Variables"]["taken"] == 3
    kept = read_leftovers(world, "user")
    values = {row["VariableId"]: row["Value"] for row in kept[own("user", 0), "user_variables"]}
    assert values == {
        str(intersect_extras.VOTES): '{"Type":2,"Value":12}',
        str(intersect_extras.NICK): '{"Type":3,"Value":"Zed"}',
    }


def test_leftovers_are_exported_and_erased_with_a_person(
    imported: Callable[..., Imported], opened: OpenWorld, tmp_path: Path
) -> None:
    made, _, database = imported("0.8")
    command = CommandLine(database)
    command.says("users", "export", "Hero1", str(tmp_path / "hero.json"))
    found = json.loads((tmp_path / "hero.json").read_text())["leftovers"]
    assert {(each["owner_id"], each["kind"]) for each in found} == {
        (own("user", 1), "user_variables"),
        *((own("player", 1), kind) for kind in ("friends", "quests", "hotbars")),
    }
    assert all(each["data"] for each in found)
    command.says("users", "delete", "Hero1", "--yes")
    world = opened(database)
    assert {owner for owner, _ in read_leftovers(world)} == {own("player", 0), own("player", 2)}
    assert {owner for owner, _ in read_leftovers(world, "user")} == {own("user", 0)}
    told = run(command, made._replace(logs=None, report=tmp_path / "again.jsonl"))
    assert told["tables"]["Player_Hotbar"]["left"] == 1
    assert {owner for owner, _ in read_leftovers(world)} == {own("player", 0), own("player", 2)}
