"""A player's stored document after every kind of write, also if another version wrote it.

It equals the columns and the answer; missing fields get defaults, and unknown fields survive.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from record_writes import CREATE, LEASE, NEW_ID, ONE_FIELD, WHOLE, WRITES, carry_out

import long_forms
import people
import records
from expectations import refused
from findings import errors
from gamekeeper.game.audit.history import PLAYER_KINDS
from gamekeeper.http.players import player_shapes
from undos import CHANGES, last, undone
from world import World

FIELDS = player_shapes.PlayerDocument.__struct_fields__
# the last field of version 0.1.0 and all added since, and some that are treated as if they were added later, too
MISSING = ("InBank", "MaxVitals", "StatPoints", "Sprite", "Dead", *FIELDS[24:])
UNKNOWN = rb',"FromLater":{"Id":7,"Weight":1.50,"Tags":["\u00e9",null],"Stats":[{"Id":"a","Name":"b"}]},"Rank2":1e3'
RECORD = set(player_shapes.PlayerRecord.__struct_fields__)
LIFTED = [f"/api/v1/players/Ann/admin/{act}" for act in ("unban", "unmute")]
KNOWN_IDS = {people.ANN.id, people.BOB.id, people.ZOE.id}
TAIL = """
SELECT (SELECT name FROM classes WHERE id = $1), (SELECT name FROM maps WHERE id = $2),
       (SELECT player_id FROM presence WHERE player_id = $3)
"""


def older(document: bytes) -> bytes:
    fields = {name: value for name, value in json.loads(document).items() if name not in MISSING}
    return json.dumps(fields, separators=(",", ":")).encode()


def newer(document: bytes) -> bytes:
    return document[:-1] + UNKNOWN + b"}"


# `make long` also tries records that lack fields and have unknown ones.
VERSIONS: Mapping[str, Callable[[bytes], bytes]] = {
    "older": older,
    "newer": newer,
    **({"neither": lambda document: newer(older(document))} if long_forms.LONG else {}),
}


def rewrite(world: World, version: Callable[[bytes], bytes]) -> None:
    """Rewrite all stored player documents as another version would have written them."""
    for row in read_rows(world):
        world.sql("UPDATE players SET document = $1 WHERE id = $2", version(row["document"]), row["id"])
    if version is not newer:
        world.sql("UPDATE players SET play_time = 0")


def read_rows(world: World) -> list[Mapping[str, Any]]:
    return world.run(records.read_columns(world.keeper.store))


def find_mismatches(world: World) -> list[str]:
    """Return differences between a player's columns, its stored document and the API's answer."""
    wrong = [f"{row['name']}: {problem}" for row in read_rows(world) for problem in _in_answer(world, row)]
    return [*world.run(records.mismatches(world.keeper.store)), *wrong]


def _in_answer(world: World, row: Mapping[str, Any]) -> list[str]:
    answer = world.get(f"/api/v1/players/{row['id']}")
    whole = bytes(row["document"])[:-1]
    if not answer.raw.startswith(whole + b","):
        return ["the record is not the document with its tail"]
    if list(json.loads(row["document"])) != list(FIELDS):
        return [f"the document is {row['document']}"]
    tail = json.loads(b"{" + answer.raw.removeprefix(whole + b","))
    ((of_class, of_map, present),) = world.sql(TAIL, row["class_id"], row["map_id"], row["id"])
    wanted = {
        "ClassName": of_class or "",
        "MapName": of_map or "",
        "Online": present is not None,
        "LastOnline": None if row["last_online"] is None else _format_time(row["last_online"]),
    }
    return [] if tail == wanted else [f"the tail is {tail}, not {wanted}"]


def _format_time(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def find_losses(world: World, *, unknown: bool) -> list[str]:
    """Return fields missing in API answers, and stored documents that have lost unknown fields."""
    found: list[str] = []
    for row in read_rows(world):
        record = world.get(f"/api/v1/players/{row['id']}").json
        found += [f"{row['name']} lacks {name}" for name in sorted(RECORD - record.keys())]
        if unknown and row["id"] in KNOWN_IDS and UNKNOWN + b"}" not in row["document"]:
            found.append(f"{row['name']} has lost what is unknown: {row['document']}")
    return found


def take_back(world: World, since: int) -> None:
    """Undo changes of players with a number above `since`, sorted by kind, so that items come before equipment."""
    for path in LIFTED:
        world.post(path, {})
    world.call("DELETE", LEASE.path)  # end the lease: the next write may delete the player, which must be offline
    changes = [each for each in world.ledger() if each.seq > since and each.kind in PLAYER_KINDS]
    for each in sorted(changes, key=lambda each: each.kind):
        # Not sent by `undos.undone`, which checks the answer and rejects fields of a later version
        answer = world.post(f"{CHANGES}/{each.seq}/undo")
        # the undo of a take has equipped the item again, so the unequipping has nothing left to undo
        is_done = each.kind == "player_changed" and b"its equipment was changed again" in answer.raw
        assert answer.status == 200 or is_done, (each.kind, answer.raw)


@pytest.mark.both_engines
def test_document_columns_and_answer_agree_after_every_kind_of_write(world: World) -> None:
    assert find_mismatches(world) == []
    for write in WRITES:
        since = last(world)
        carry_out(world, write)
        assert find_mismatches(world) == [], write
        take_back(world, since)
        assert find_mismatches(world) == [], f"undo of {write}"
    # give Zoe an item that she can equip
    world.post("/api/v1/players/Zoe/items/give", {"itemid": people.SWORD.id, "quantity": 1})
    for write in ONE_FIELD:
        before = read_rows(world)
        carry_out(world, write)
        assert find_mismatches(world) == [], write
        assert read_rows(world) != before, write


@pytest.mark.both_engines
def test_record_with_every_field_reads_back(world: World) -> None:
    carry_out(world, CREATE)
    record = world.get(f"/api/v1/players/{NEW_ID}").json
    fields = {name: value for name, value in WHOLE.items() if name in record and name != "CreationDate"}
    assert {name: record[name] for name in fields} == fields
    assert record["CreationDate"] == "2020-02-29T21:59:59.999Z"


# --- records of other versions -------------------------------------------------------------------------------------


@pytest.mark.long_form
@pytest.mark.parametrize("version", VERSIONS)
def test_every_write_works_on_records_of_other_versions(
    world: World, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # act as if fields of players were added after version 0.1.0, like those in MISSING
    monkeypatch.setattr("gamekeeper.http.players.players._HAS_GROWN", True)
    rewrite(world, VERSIONS[version])
    assert find_losses(world, unknown=version != "older") == []
    for write in WRITES:
        since = last(world)
        carry_out(world, write)
        assert find_losses(world, unknown=version != "older") == [], write
        take_back(world, since)
        assert find_losses(world, unknown=version != "older") == [], f"undo of {write}"
    assert errors(world) == []


def test_written_record_of_an_older_version_has_every_field(world: World) -> None:
    rewrite(world, older)
    world.post("/api/v1/players/Ann/level", {"level": 2})
    document = next(row["document"] for row in read_rows(world) if row["id"] == people.ANN.id)
    assert list(json.loads(document)) == list(FIELDS)


def add_to_change(world: World, side: str, **more: object) -> None:
    """Rewrite the last change as another version would have written it: without new fields, or with more."""
    ((text,),) = world.sql(f"SELECT {side} FROM ledger WHERE seq = $1", last(world))  # noqa: S608 - the test's own words
    fields = {name: value for name, value in json.loads(text).items() if more or name not in MISSING}
    world.sql(f"UPDATE ledger SET {side} = $1 WHERE seq = $2", json.dumps(fields | more), last(world))  # noqa: S608 - the same


def test_creation_and_deletion_that_lack_new_fields_can_be_undone(world: World) -> None:
    blank = {name: WHOLE[name] for name in ("Name", "UserId", "CreationDate")}
    world.call("PUT", CREATE.path, body=blank)
    add_to_change(world, "after")
    assert undone(world, last(world)).status == 200
    world.call("DELETE", "/api/v1/players/Zoe")
    add_to_change(world, "before")
    assert undone(world, last(world)).status == 200
    assert world.get("/api/v1/players/Zoe").json.keys() == RECORD


def test_undo_of_unknown_fields_and_kinds_of_items_is_refused(world: World) -> None:
    """This version has no table for unknown kinds of items, so an undo could not restore them for the newer version."""
    world.post("/api/v1/players/Ann/level", {"level": 2})
    for side, value in (("before", 1), ("after", 2)):
        add_to_change(world, side, FromLater=value)
    refused(undone(world, last(world)), 409, "undo_conflict", "does not know FromLater")
    quests = [{"QuestId": people.ZOE.id, "Done": True}]
    for side, write in (("before", ("DELETE", "/api/v1/players/Zoe")), ("after", CREATE[:3])):
        world.call(write[0], write[1], body=write[2] if len(write) > 2 else None)
        add_to_change(world, side, Title="Duke", Marks=[1, 2], Quests=quests)
        refused(undone(world, last(world)), 409, "undo_conflict", "does not know Quests; use a newer one")


def test_erasure_keeps_no_unknown_field(world: World) -> None:
    """An unknown field may contain personal data, which only the newer version could recognise."""
    rewrite(world, newer)
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    deleted = [json.loads(row.before or "{}") for row in world.ledger() if row.kind == "player_deleted"]
    assert [row["Name"] for row in deleted] == ["", ""]
    assert not [name for row in deleted for name in row if name in {"FromLater", "Rank2"}]
