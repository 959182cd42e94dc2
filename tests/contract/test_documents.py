"""A player's stored document says what the columns beside it say, after every kind of write."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

import people
from gamekeeper.game.lookup import fold
from gamekeeper.http import wire
from gamekeeper.http.routes import ROUTES, WRITE
from world import World

NEW_ID = people.guid(0x70)
REALM = "/api/link/v1/servers/realm1"
COLUMNS = "id, user_id, name, fold, level, exp, class_id, map_id, created_at, last_online, document, play_time"
WHOLE = {
    "Name": "Xena",
    "UserId": people.USER_IDS["Bob"],
    "InBank": True,
    "MaxVitals": [9, 8],
    "Level": 40,
    "Exp": 2**62,
    "ExperienceToNextLevel": -1,
    "ClassId": people.WARRIOR.id,
    "Gender": 1,
    "Vitals": [1, 2],
    "BaseStats": [1, 2, 3, 4, 5],
    "StatPointAllocations": [5, 4, 3, 2, 1],
    "StatPoints": 6,
    "Equipment": [0, -1, -1, -1, -1],
    "MapId": people.MEADOW.id,
    "X": -3,
    "Y": 2**31 - 1,
    "Z": -(2**31),
    "Dir": 3,
    "Sprite": "größe \"quoted\" \\ / 'sprite'.png",
    "Face": "😀.png",
    "Dead": True,
    "LastOnline": "2026-01-31T12:00:00.123Z",
    "CreationDate": "2020-02-29T23:59:59.999+02:00",
    "PlayTimeSeconds": 2**40,
    "Items": [{"Slot": 0, "ItemId": people.SWORD.id, "Quantity": 1}],
    "Bank": [{"Slot": 99, "ItemId": people.COIN.id, "Quantity": 5}],
    "Spells": [{"Slot": 3, "SpellId": people.HEAL.id}],
    "Variables": [{"VariableId": people.KILLS.id, "Value": 3}],
}


class Write(NamedTuple):
    row: str  # method and path of the table
    path: str
    body: object = None
    first: Sequence["Write"] = ()  # what must have happened before


CREATE = Write("PUT /api/link/v1/players/[id]", f"/api/link/v1/players/{NEW_ID}", WHOLE)
LEASE = Write("PUT /api/link/v1/servers/[server]", REALM, {"Lease": 60})
JOIN = Write("POST /api/link/v1/servers/[server]/joined", f"{REALM}/joined", {"Players": [people.ANN.id]}, [LEASE])
BAN = Write("POST /api/v1/players/[lookupKey]/admin/ban", "/api/v1/players/Ann/admin/ban", {})
MUTE = Write("POST /api/v1/players/[lookupKey]/admin/mute", "/api/v1/players/Ann/admin/mute", {})
ONE_FIELD = [
    Write("PUT /api/link/v1/players/[id]", f"/api/link/v1/players/{people.ZOE.id}", {name: value})
    for name, value in WHOLE.items()
    if name not in {"Items", "Bank", "Spells", "Variables", "LastOnline"}  # presence moves the last
]
WRITES = [
    Write(
        "POST /api/v1/players/[lookupKey]/variables/[variableId]",
        f"/api/v1/players/Ann/variables/{people.KILLS.id}",
        {"value": -1},
    ),
    Write(
        "POST /api/v1/players/[lookupKey]/items/give",
        "/api/v1/players/Ann/items/give",
        {"itemid": people.POUCH.id, "quantity": 2},
    ),
    Write(  # the sword she wears: taking it changes her record too
        "POST /api/v1/players/[lookupKey]/items/take",
        "/api/v1/players/Ann/items/take",
        {"itemid": people.SWORD.id, "quantity": 1},
    ),
    Write(
        "POST /api/v1/players/[lookupKey]/spells/teach", "/api/v1/players/Bob/spells/teach", {"spellid": people.HEAL.id}
    ),
    Write(
        "POST /api/v1/players/[lookupKey]/spells/forget",
        "/api/v1/players/Ann/spells/forget",
        {"spellid": people.FIREBALL.id},
    ),
    CREATE,
    Write(  # emptying the slot of what she wears
        "PUT /api/link/v1/players/[id]",
        f"/api/link/v1/players/{people.ANN.id}",
        {"Items": [{"Slot": 2}], "Spells": [{"Slot": 0, "SpellId": people.HEAL.id}], "Level": 13},
    ),
    Write("PUT /api/link/v1/players/[id]", CREATE.path, {"Name": "Xenia", "Exp": 0}, [CREATE]),
    Write("DELETE /api/link/v1/players/[id]", f"/api/link/v1/players/{people.ANN.id}"),
    LEASE,
    Write("POST /api/v1/players/[lookupKey]/name", "/api/v1/players/Ann/name", {"name": "Anne"}, [LEASE, JOIN]),
    Write("POST /api/v1/players/[lookupKey]/level", "/api/v1/players/Ann/level", {"level": 99}),
    Write("POST /api/v1/players/[lookupKey]/class", "/api/v1/players/Bob/class", {"classid": people.WARRIOR.id}),
    Write("DELETE /api/v1/players/[lookupKey]", "/api/v1/players/Ann", None),
    BAN,
    MUTE,
    Write("POST /api/v1/players/[lookupKey]/admin/unban", "/api/v1/players/Ann/admin/unban", {}, [BAN]),
    Write("POST /api/v1/players/[lookupKey]/admin/unmute", "/api/v1/players/Ann/admin/unmute", {}, [MUTE]),
    Write("POST /api/v1/players/[lookupKey]/admin/kick", "/api/v1/players/Ann/admin/kick", {}, [LEASE, JOIN]),
    JOIN,
    Write("POST /api/link/v1/servers/[server]/left", f"{REALM}/left", {"Players": [people.ANN.id]}, [LEASE, JOIN]),
    Write("DELETE /api/link/v1/servers/[server]", REALM, None, [LEASE, JOIN]),
    Write("PUT /api/link/v1/players/[id]", f"/api/link/v1/players/{people.ANN.id}", {"Name": "Anne"}, [LEASE, JOIN]),
    Write(
        "PUT /api/link/v1/catalogue/[kind]",
        "/api/link/v1/catalogue/classes",
        [{"Id": people.WARRIOR.id, "Name": "Knight"}],
    ),
    Write(
        "PUT /api/link/v1/catalogue/[kind]",
        "/api/link/v1/catalogue/maps",
        [{"Id": people.MEADOW.id, "Name": 'A "quoted" map'}],
    ),
]


def carry_out(world: World, write: Write) -> None:
    for each in (*write.first, write):
        answer = world.call(each.row.partition(" ")[0], each.path, body=each.body)
        assert answer.status == 200, answer.raw


def instant(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def written(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def stored(world: World) -> list[Mapping[str, Any]]:
    names = COLUMNS.split(", ")
    return [dict(zip(names, row, strict=True)) for row in world.sql(f"SELECT {COLUMNS} FROM players ORDER BY id")]  # noqa: S608 - a list of ours


def mismatches(world: World) -> list[str]:
    """What the columns say otherwise than the document, and what a reader is told otherwise than both."""
    return [problem for row in stored(world) for problem in [*_in_columns(row), *_in_answer(world, row)]]


def _in_columns(row: Mapping[str, Any]) -> list[str]:
    document = json.loads(row["document"])
    told = {
        "id": document["Id"],
        "user_id": document["UserId"],
        "name": document["Name"],
        "fold": fold(document["Name"]),
        "level": document["Level"],
        "exp": document["Exp"],
        "class_id": document["ClassId"],
        "map_id": document["MapId"],
        "created_at": instant(document["CreationDate"]),
    }
    wrong = [
        f"{row['name']}: {name} is {row[name]!r}, not {said!r}" for name, said in told.items() if row[name] != said
    ]
    if list(document) != list(wire.PlayerDocument.__struct_fields__):
        wrong.append(f"{row['name']}: the document has the fields {list(document)}")
    return wrong


def _in_answer(world: World, row: Mapping[str, Any]) -> list[str]:
    answer = world.get(f"/api/v1/players/{row['id']}")
    whole = bytes(row["document"])[:-1]
    if not answer.raw.startswith(whole + b","):
        return [f"{row['name']}: the record is not the document with its tail"]
    tail = json.loads(b"{" + answer.raw.removeprefix(whole + b","))
    wanted = {
        "ClassName": _one(world, "SELECT name FROM classes WHERE id = $1", row["class_id"]) or "",
        "MapName": _one(world, "SELECT name FROM maps WHERE id = $1", row["map_id"]) or "",
        "Online": _one(world, "SELECT player_id FROM presence WHERE player_id = $1", row["id"]) is not None,
        "LastOnline": None if row["last_online"] is None else written(row["last_online"]),
    }
    return [] if tail == wanted else [f"{row['name']}: the tail is {tail}, not {wanted}"]


def _one(world: World, text: str, key: str) -> Any:
    rows = world.sql(text, key)
    return rows[0][0] if rows else None


@pytest.mark.parametrize("write", WRITES, ids=lambda each: each.row.replace("[", "{").replace("]", "}"))
def test_document_and_columns_agree_after_every_kind_of_write(world: World, write: Write) -> None:
    assert mismatches(world) == []
    before = stored(world)
    carry_out(world, write)
    assert mismatches(world) == []
    assert touches_record(write) == (stored(world) != before)


def test_document_and_columns_agree_after_each_single_field(world: World) -> None:
    world.post("/api/v1/players/Zoe/items/give", {"itemid": people.SWORD.id, "quantity": 1})  # something to wear
    for write in ONE_FIELD:
        before = stored(world)
        carry_out(world, write)
        assert mismatches(world) == [], write
        assert stored(world) != before, write


def touches_record(write: Write) -> bool:
    """Whether the write is one that changes a row of players."""
    belongings = ("variables/", "give", "teach", "forget", "joined", "catalogue/", "admin/")
    return not any(part in write.path for part in belongings) and write is not LEASE


def test_a_record_of_every_field_reads_back(world: World) -> None:
    carry_out(world, CREATE)
    record = world.get(f"/api/v1/players/{NEW_ID}").json
    fields = {name: value for name, value in WHOLE.items() if name in record and name != "CreationDate"}
    assert {name: record[name] for name in fields} == fields
    assert record["CreationDate"] == "2020-02-29T21:59:59.999Z"


def test_every_write_on_characters_is_among_them() -> None:
    writes = {f"{each.method} {each.path}" for each in ROUTES if each.does is WRITE}
    theirs = {each for each in writes if "/players" in each or "/api/link/" in each}
    assert {each.row for each in WRITES} == theirs


FAULTS: Mapping[str, Callable[[World], object]] = {
    "level": lambda world: world.sql("UPDATE players SET level = level + 1"),
    "exp": lambda world: world.sql("UPDATE players SET exp = exp + 1"),
    "name": lambda world: world.sql("UPDATE players SET name = 'Eve' WHERE fold = 'bob'"),
    "fold": lambda world: world.sql("UPDATE players SET fold = 'eve' WHERE fold = 'bob'"),
    "class_id": lambda world: world.sql(f"UPDATE players SET class_id = '{people.NOBODY_ID}'"),  # noqa: S608 - ours
    "created_at": lambda world: world.sql("UPDATE players SET created_at = created_at + 1"),
}


@pytest.mark.parametrize("column", FAULTS)
def test_a_column_changed_alone_is_noticed(world: World, column: str) -> None:
    FAULTS[column](world)
    assert any(f"{column} is" in problem for problem in mismatches(world))


def test_a_document_changed_alone_is_noticed(world: World) -> None:
    document = stored(world)[0]["document"].replace(b'"Level":12', b'"Level":13')
    world.sql("UPDATE players SET document = $1 WHERE fold = 'ann'", document)
    assert any("level is 12, not 13" in problem for problem in mismatches(world))
