"""Records of other versions: missing fields get defaults, and unknown fields survive every kind of write."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from record_writes import CREATE, LEASE, WRITES, carry_out

import long_forms
import people
import records
from expectations import refused
from findings import errors
from gamekeeper.game.history import PLAYER_KINDS
from gamekeeper.http import wire
from undos import CHANGES, last, undone
from world import World

# fields of a player's document: the last field of version 0.1.0 and all added since
NEWEST = wire.players.PlayerDocument.__struct_fields__[24:]
MISSING = ("InBank", "MaxVitals", "StatPoints", "Sprite", "Dead", *NEWEST)
UNKNOWN = rb',"FromLater":{"Id":7,"Weight":1.50,"Tags":["\u00e9",null],"Stats":[{"Id":"a","Name":"b"}]},"Rank2":1e3'
RECORD = set(wire.players.PlayerRecord.__struct_fields__)
LIFTED = [f"/api/v1/players/Ann/admin/{act}" for act in ("unban", "unmute")]
KNOWN_IDS = {people.ANN.id, people.BOB.id, people.ZOE.id}


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


def problems(world: World, *, unknown: bool) -> list[str]:
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
    changes = [each for each in world.ledger() if each.seq > since and each.kind in PLAYER_KINDS]
    for each in sorted(changes, key=lambda each: each.kind):
        # Not sent by `undos.undone`, which checks the answer and rejects fields of a later version
        answer = world.post(f"{CHANGES}/{each.seq}/undo")
        # the undo of a take has equipped the item again, so the unequipping has nothing left to undo
        is_done = each.kind == "player_changed" and b"its equipment was changed again" in answer.raw
        assert answer.status == 200 or is_done, (each.kind, answer.raw)


@pytest.mark.long_form
@pytest.mark.parametrize("version", VERSIONS)
def test_every_write_works_on_records_of_other_versions(
    world: World, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # act as if fields of players were added after version 0.1.0, like those in MISSING
    monkeypatch.setattr("gamekeeper.http.player_records._HAS_GROWN", True)
    rewrite(world, VERSIONS[version])
    assert problems(world, unknown=version != "older") == []
    for write in WRITES:
        since = last(world)
        carry_out(world, write)
        assert problems(world, unknown=version != "older") == [], write
        for path in LIFTED:
            world.post(path, {})
        world.call("DELETE", LEASE.path)  # end the lease: the next write may delete the player, which must be offline
        take_back(world, since)
        assert problems(world, unknown=version != "older") == [], f"undo of {write}"
    assert errors(world) == []


def test_rewritten_record_has_every_field(world: World) -> None:
    rewrite(world, older)
    world.post("/api/v1/players/Ann/level", {"level": 2})
    document = next(row["document"] for row in read_rows(world) if row["id"] == people.ANN.id)
    assert list(json.loads(document)) == list(wire.players.PlayerDocument.__struct_fields__)


def test_creation_that_lacks_new_fields_can_be_undone(world: World) -> None:
    carry_out(world, CREATE)
    made = last(world)
    blank = {"InBank": False, "MaxVitals": [0, 0], "StatPoints": 0, "Sprite": "", "Dead": False, "PlayTimeSeconds": 0}
    world.call("PUT", CREATE.path, body=blank)
    strip(world, made, "after")
    assert undone(world, made).status == 200


def test_deletion_that_lacks_new_fields_can_be_undone(world: World) -> None:
    world.call("DELETE", "/api/v1/players/Zoe")
    strip(world, last(world), "before")
    assert undone(world, last(world)).status == 200
    assert world.get("/api/v1/players/Zoe").json.keys() == RECORD


def strip(world: World, seq: int, side: str) -> None:
    ((text,),) = world.sql(f"SELECT {side} FROM ledger WHERE seq = $1", seq)  # noqa: S608 - the test's own words
    fields = {name: value for name, value in json.loads(text).items() if name not in MISSING}
    world.sql(f"UPDATE ledger SET {side} = $1 WHERE seq = $2", json.dumps(fields), seq)  # noqa: S608 - the same


def test_undo_of_unknown_field_is_refused(world: World) -> None:
    world.post("/api/v1/players/Ann/level", {"level": 2})
    sides = json.dumps({"Level": 12, "Exp": 345, "FromLater": 1}), json.dumps({"Level": 2, "Exp": 0, "FromLater": 2})
    world.sql("UPDATE ledger SET before = $1, after = $2 WHERE seq = $3", *sides, last(world))
    refused(undone(world, last(world)), 409, "undo_conflict", "does not know FromLater")


@pytest.mark.parametrize("kind", ["deletion", "creation"])
def test_undo_with_unknown_kinds_of_items_is_refused(world: World, kind: str) -> None:
    """This version has no table for unknown kinds of items, so an undo could not restore them for the newer version."""
    if kind == "deletion":
        world.call("DELETE", "/api/v1/players/Zoe")
    else:
        carry_out(world, CREATE)
    side = "before" if kind == "deletion" else "after"
    ((text,),) = world.sql(f"SELECT {side} FROM ledger WHERE seq = $1", last(world))  # noqa: S608 - the test's own words
    fields = json.loads(text) | {"Title": "Duke", "Marks": [1, 2], "Quests": [{"QuestId": people.ZOE.id, "Done": True}]}
    world.sql(f"UPDATE ledger SET {side} = $1 WHERE seq = $2", json.dumps(fields), last(world))  # noqa: S608 - the same
    refused(undone(world, last(world)), 409, "undo_conflict", "does not know Quests; use a newer one")


def test_erasure_keeps_no_unknown_field(world: World) -> None:
    """An unknown field may contain personal data, which only the newer version could recognise."""
    rewrite(world, newer)
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    deleted = [json.loads(row.before or "{}") for row in world.ledger() if row.kind == "player_deleted"]
    assert [row["Name"] for row in deleted] == ["", ""]
    assert not [name for row in deleted for name in row if name in {"FromLater", "Rank2"}]


FIRST = [
    "Name",
    "InBank",
    "UserId",
    "MaxVitals",
    "Id",
    "Level",
    "Exp",
    "ExperienceToNextLevel",
    "ClassId",
    "Gender",
    "Vitals",
    "BaseStats",
    "StatPointAllocations",
    "StatPoints",
    "Equipment",
    "MapId",
    "X",
    "Y",
    "Z",
    "Dir",
    "Sprite",
    "Face",
    "Dead",
    "CreationDate",
    "PlayTimeSeconds",
]


def test_new_fields_of_the_record_are_added_at_the_end() -> None:
    """All versions expect the fields of 0.1.0 first, and added fields after them."""
    assert list(wire.players.PlayerDocument.__struct_fields__[: len(FIRST)]) == FIRST
