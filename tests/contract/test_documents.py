"""A player's stored document equals its columns after every kind of write."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from record_writes import CREATE, JOIN, LEASE, NEW_ID, ONE_FIELD, WHOLE, WRITES, Write, carry_out

import people
import records
from gamekeeper.http import wire
from gamekeeper.http.operation import WRITE
from gamekeeper.http.routes import ROUTES
from world import World

pytestmark = pytest.mark.both_engines


def format_time(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_rows(world: World) -> list[Mapping[str, Any]]:
    """Return the rows of the players table, without the columns for presence."""
    rows = world.run(records.read_columns(world.keeper.store))
    return [{name: value for name, value in row.items() if not name.startswith("online ")} for row in rows]


def mismatches(world: World) -> list[str]:
    """Return differences between a player's columns, its stored document and the API's answer."""
    rows = read_rows(world)
    wrong = [f"{row['name']}: {problem}" for row in rows for problem in _in_answer(world, row)]
    return [*world.run(records.mismatches(world.keeper.store)), *wrong]


TAIL = """
SELECT (SELECT name FROM classes WHERE id = $1), (SELECT name FROM maps WHERE id = $2),
       (SELECT player_id FROM presence WHERE player_id = $3)
"""


def _in_answer(world: World, row: Mapping[str, Any]) -> list[str]:
    answer = world.get(f"/api/v1/players/{row['id']}")
    whole = bytes(row["document"])[:-1]
    if not answer.raw.startswith(whole + b","):
        return ["the record is not the document with its tail"]
    if list(json.loads(row["document"])) != list(wire.players.PlayerDocument.__struct_fields__):
        return [f"the document is {row['document']}"]
    tail = json.loads(b"{" + answer.raw.removeprefix(whole + b","))
    ((of_class, of_map, present),) = world.sql(TAIL, row["class_id"], row["map_id"], row["id"])
    wanted = {
        "ClassName": of_class or "",
        "MapName": of_map or "",
        "Online": present is not None,
        "LastOnline": None if row["last_online"] is None else format_time(row["last_online"]),
    }
    return [] if tail == wanted else [f"the tail is {tail}, not {wanted}"]


@pytest.mark.parametrize("write", WRITES, ids=lambda each: each.row.replace("[", "{").replace("]", "}"))
def test_document_and_columns_agree_after_every_kind_of_write(world: World, write: Write) -> None:
    before = read_rows(world)
    carry_out(world, write)
    assert mismatches(world) == []
    assert touches_record(write) == (read_rows(world) != before)


def test_document_and_columns_agree_after_each_single_field(world: World) -> None:
    assert mismatches(world) == []
    # give Zoe an item that she can equip
    world.post("/api/v1/players/Zoe/items/give", {"itemid": people.SWORD.id, "quantity": 1})
    for write in ONE_FIELD:
        before = read_rows(world)
        carry_out(world, write)
        assert mismatches(world) == [], write
        assert read_rows(world) != before, write


def touches_record(write: Write) -> bool:
    """Return whether the write changes a row of the players table."""
    belongings = (
        *("variables/", "give", "teach", "forget", "joined", "catalogue/", "admin/", "acks", "logs/", "guilds/"),
        *("slots/set", "slots/move", "picture"),
    )
    return not any(part in write.path for part in belongings) and write is not LEASE


def test_record_with_every_field_reads_back(world: World) -> None:
    carry_out(world, CREATE)
    record = world.get(f"/api/v1/players/{NEW_ID}").json
    fields = {name: value for name, value in WHOLE.items() if name in record and name != "CreationDate"}
    assert {name: record[name] for name in fields} == fields
    assert record["CreationDate"] == "2020-02-29T21:59:59.999Z"


def test_table_lists_every_write_of_players() -> None:
    writes = {f"{each.method} {each.path}" for each in ROUTES if each.access is WRITE}
    theirs = {each for each in writes if "/players" in each or "/api/link/" in each}
    assert {each.row for each in WRITES} == theirs


FAULTS: Mapping[str, Callable[[World], object]] = {
    "level": lambda world: world.sql("UPDATE players SET level = level + 1"),
    "exp": lambda world: world.sql("UPDATE players SET exp = exp + 1"),
    "name": lambda world: world.sql("UPDATE players SET name = 'Eve' WHERE fold = 'bob'"),
    "fold": lambda world: world.sql("UPDATE players SET fold = 'eve' WHERE fold = 'bob'"),
    "class_id": lambda world: world.sql(f"UPDATE players SET class_id = '{people.NOBODY_ID}'"),  # noqa: S608 - ours
    "created_at": lambda world: world.sql("UPDATE players SET created_at = created_at + 1"),
    "play_time": lambda world: world.sql("UPDATE players SET play_time = play_time + 1"),
    "online level": lambda world: world.sql("UPDATE presence SET level = level + 1"),
    "online exp": lambda world: world.sql("UPDATE presence SET exp = exp + 1"),
    "online fold": lambda world: world.sql("UPDATE presence SET fold = 'eve'"),
}


def test_column_changed_alone_is_noticed(world: World) -> None:
    carry_out(world, JOIN)
    for column, change in FAULTS.items():
        assert not any(f": {column} is" in problem for problem in mismatches(world))
        change(world)
        assert any(f": {column} is" in problem for problem in mismatches(world)), column


def test_document_changed_alone_is_noticed(world: World) -> None:
    document = read_rows(world)[0]["document"].replace(b'"Level":12', b'"Level":13')
    world.sql("UPDATE players SET document = $1 WHERE fold = 'ann'", document)
    assert any("level is 12, not 13" in problem for problem in mismatches(world))
