"""Round trip of all columns of the game's data in each version, with the engine's names, types and values."""

import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import make_intersect
from command_line import CommandLine
from game_columns import Column, read_schema
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.intersect.catalogue import EQUIPMENT
from intersect_files import IntersectFiles, by_day, run
from make_intersect import Era, File, compact
from world import OpenWorld

TYPES = {
    "Animations": "animation",
    "Classes": "class",
    "Crafts": "crafts",
    "CraftingTables": "crafttables",
    "Events": "event",
    "GuildVariables": "guildvariable",
    "Items": "item",
    "Maps": "map",
    "Npcs": "npc",
    "PlayerSwitches": "playervariable",
    "PlayerVariables": "playervariable",
    "Projectiles": "projectile",
    "Quests": "quest",
    "Resources": "resource",
    "ServerSwitches": "servervariable",
    "ServerVariables": "servervariable",
    "Shops": "shop",
    "Spells": "spell",
    "Tilesets": "tileset",
    "Time": "time",
    "UserVariables": "uservariable",
}
# type of an engine's property → type of its column in SQLite; all others are text
SQL_TYPES = {
    **dict.fromkeys(("bool", "true", "byte", "int", "long", "type", "ticks"), "INTEGER"),
    **dict.fromkeys(("double", "float"), "REAL"),
    "bytes": "BLOB",
}
TICKS_AT_1970 = 621_355_968_000_000_000
# texts that look like another type
AMBIGUOUS = ("[1,2]", '{"Lists":"[]"}', "00000000-0000-4000-8000-000000000001", "true", "0")
# type of an engine's property → a unique value of the answer, made from a number
UNIQUE: Mapping[str, Callable[[int], Any]] = {
    "bool": lambda _: True,
    "true": lambda _: True,
    **dict.fromkeys(("byte", "int", "long", "ticks", "value"), int),
    **dict.fromkeys(("double", "float"), lambda number: number + 0.5),
    "type": lambda _: 2,
    "text": lambda number: f"text {number}",
    "guid": lambda number: str(make_intersect.guid("column", number)),
    "list": lambda number: [{"AutoRotate": True, "Chance": 0.5, "Text": "[]", "Number": number}],
    "object": lambda number: {"2": number},
    "colour": lambda number: {"A": 255, "R": number % 256, "G": 1, "B": 0},
    "int[2]": lambda number: [number, -number],
    "int[5]": lambda number: [number, 0, 1, 2, -number],
    "lists": lambda number: {"Lists": f'[{{"Name":"list {number}","Conditions":[]}}]'},
    "bytes": lambda _: None,
}
# the same for values that look like one of another type, or are those of a new object
MISLEADING: Mapping[str, Callable[[int], Any]] = {
    **UNIQUE,
    "bool": lambda _: False,
    **dict.fromkeys(("byte", "int", "long"), lambda number: number % 2),
    **dict.fromkeys(("double", "float"), lambda number: float(number % 2)),
    "type": lambda _: 1,
    "value": lambda _: True,
    "text": lambda number: AMBIGUOUS[number % len(AMBIGUOUS)],
    "guid": lambda _: ZERO_GUID,
    "list": lambda _: [],
    "object": lambda _: {},
    "int[2]": lambda _: [0, 1],
    "int[5]": lambda _: [0, 0, 0, 0, 1],
    "lists": lambda _: {"Lists": "[]"},
}


def store(era: Era, kind: str, sent: Any) -> object:
    """Return the value of a column in the database for a value of the engine's answer."""
    match kind:
        case "bool" | "true":
            return int(sent)
        case "guid":
            return era.guid(uuid.UUID(sent))
        case "list" | "object" | "colour" | "int[2]" | "int[5]":
            return compact(sent)
        case "lists":
            return sent["Lists"]
        case "value":
            return compact({"Type": 1 if sent is True else 2, "Value": sent})
        case _:
            return {"ticks": TICKS_AT_1970 + (sent if kind == "ticks" else 0) * 10_000, "bytes": bytes(16)}.get(
                kind, sent
            )


def make_rows(era: Era, table: str, columns: list[Column]) -> Iterator[tuple[tuple[object, ...], dict[str, Any]]]:
    """Yield the rows of a table, each with the engine's answer."""
    for place, values in enumerate([UNIQUE] if table == "Time" else [UNIQUE, MISLEADING]):
        own_id, name = make_intersect.guid(table, place), f"{table} {place}"
        row: list[object] = [era.guid(own_id), *([] if table == "Time" else [name])]
        answer: dict[str, Any] = {"Id": str(own_id), "Name": name}
        for number, column in enumerate(columns, 1000):
            sent = values[column.type](number)
            row.append(store(era, column.type, sent))
            if column.type != "bytes":
                *outer, name = column.path
                inner = answer
                for each in outer:
                    inner = inner.setdefault(each, {})
                inner[name] = sent
        yield tuple(row), answer


def complete_answer(table: str, answer: dict[str, Any]) -> None:
    """Change an answer of the engine to ours, where docs/switching.md and docs/decisions name a difference."""
    if table == "Time":
        del answer["Name"]
        answer["Id"] = ZERO_GUID
    if table == "Items":  # sizes are what one slot really holds, and these items are no bags
        answer["Stackable"] = answer["ItemType"] != EQUIPMENT
        most = (answer.get("MaxInventoryStack") or 1_000_000) if answer["Stackable"] else 1
        answer["MaxInventoryStack"] = answer["MaxBankStack"] = most
        answer["SlotCount"] = 0
        # one of both is the engine's, depending on the version
        droppable = answer["CanDrop"] if "CanDrop" in answer else not answer["Bound"]
        answer |= {"CanDrop": droppable, "Bound": not droppable}
    if table.endswith(("Variables", "Switches")) and table != "UserVariables":
        answer.setdefault("Type", 1 if table.endswith("Switches") else 2)
    if table in ("ServerVariables", "ServerSwitches"):
        answer.setdefault("Folder", "")


@pytest.fixture
def engine() -> str:
    """Import into SQLite only: the fields are JSON text, the same in both databases."""
    return "sqlite"


@pytest.mark.parametrize("era_name", by_day("0.8", make_intersect.ERAS))
def test_answers_have_each_column_with_the_engines_name_type_and_value(
    era_name: str, tmp_path: Path, command: CommandLine, opened: OpenWorld
) -> None:
    era, schema = make_intersect.BY_NAME[era_name], read_schema(era_name)
    players, game = make_intersect.make(tmp_path, era_name, 1)
    expected: dict[str, dict[str, str]] = {kind: {} for kind in TYPES.values()}
    with File(game, era) as file:
        for table, columns in schema.items():
            file.db.execute(f"DROP TABLE IF EXISTS {table}")
            declared = [f"{each.name} {SQL_TYPES.get(each.type, 'TEXT')}" for each in columns]
            named = [] if table == "Time" else ["Name TEXT"]
            file.add(table, f"Id GUID, {', '.join([*named, *declared])}")
            for row, answer in make_rows(era, table, columns):
                file.fill(table, [row])
                complete_answer(table, answer)
                expected[TYPES[table]][answer["Id"]] = _write(answer)
    made = IntersectFiles(players, game, tmp_path / "report.jsonl")
    run(command, made)
    world = opened(command.database)
    form = {"grant_type": "password", "username": "Hero0", "password": hash_for_wire(make_intersect.password(0))}
    token = world.call("POST", "/api/oauth/token", by=None, form=form).json["access_token"]
    for kind, answers in expected.items():
        path = f"/api/v1/gameobjects/{kind}"
        if kind == "time":
            assert [_write(world.get(path, token=token).json)] == list(answers.values())
            continue
        for own_id, answer in answers.items():
            assert _write(world.get(f"{path}/{own_id}", token=token).json) == answer, kind
        listed = world.post(path, {"page": 0, "count": 100}, token=token).json
        assert listed["total"] == len(answers)
        assert {each["Key"]: _write(each["Value"]) for each in listed["entries"]} == answers


def _write(answer: Any) -> str:
    """Write an answer so that values of different types differ, such as 1, 1.0 and true."""
    return json.dumps(answer, sort_keys=True, indent=1)
