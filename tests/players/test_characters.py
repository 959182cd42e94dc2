"""Operations that rename, level, equip or delete a player, and the one that renames an account."""

import json
from typing import Any

import people
from expectations import refused, unchanged
from game_server import LINK, heartbeat, join, leave, online
from gamekeeper.game.core.lookup import ZERO_GUID
from loops import over
from people import ANN, USER_IDS, WARRIOR, ZOE
from world import MakeWorld, World

P, U = "/api/v1/players", "/api/v1/users"


def read_sides(world: World) -> list[dict[str, Any]]:
    entry = world.ledger()[-1]
    return [json.loads(side or "") for side in (entry.before, entry.after)]


@over("place", P, U)
def test_rename_changes_the_name_of_a_player_or_an_account_only(world: World, place: str) -> None:
    taken = "username_taken" if place == U else "name_taken"

    refused(world.post(f"{place}/Ann/name", {"name": "RANK"}), 400, "reserved_name")
    for name in ("a", "x" * 21, "a b", ANN.id):
        refused(world.post(f"{place}/Ann/name", {"name": name}), 400, "bad_field", "'name'")
    refused(world.post(f"{place}/Ann/name", {"name": "bOB"}), 409, taken, "'bOB'")
    answer = world.post(f"{place}/ann/name", {"name": "Anthea"})
    assert (answer.json["Name"], answer.json["Id"]) == ("Anthea", ANN.id if place == P else USER_IDS["Ann"])
    assert world.get(f"{place}/ANTHEA").json["Id"] == answer.json["Id"]
    refused(world.get(f"{place}/Ann"), 404, "no_such_player" if place == P else "no_such_user")
    assert read_sides(world) == [{"Name": "Ann"}, {"Name": "Anthea"}]

    assert world.post(f"{place}/Anthea/name", {"name": "aNTHEA"}).json["Name"] == "aNTHEA"
    changes = len(world.ledger())
    assert world.post(f"{place}/Anthea/name", {"name": "aNTHEA"}).status == 200
    assert len(world.ledger()) == changes  # no change is recorded, because the name is the same already
    other = world.get(f"{U if place == P else P}/{'Ann' if place == P else 'aNTHEA'}")
    assert (other.status, other.json["Name"]) == (200, "Ann" if place == P else "aNTHEA")
    if place == P:
        assert [each["Name"] for each in world.get(P).json["Values"]] == ["aNTHEA", "Bob", "Zoe"]
        assert world.post(f"{P}/Zoe/name", {"name": "Mona"}).status == 200  # a player may be named like an account


def test_set_level_resets_experience_and_rank(make_world: MakeWorld) -> None:
    world = make_world()
    for level in (0, 101):
        refused(world.post(f"{P}/Ann/level", {"level": level}), 400, "bad_field", "'level'")
    answer = world.post(f"{P}/Ann/level", {"level": "100"}, by="Shop")
    assert (answer.status, answer.json["Level"], answer.json["Exp"]) == (200, 100, 0)
    assert world.get(f"{P}/rank").json["Values"][0]["Name"] == "Ann"
    assert read_sides(world)[1] == {"Level": 100, "Exp": 0}


def test_set_class_accepts_published_classes_under_each_field_name(world: World) -> None:
    for unknown in (people.NOBODY_ID, ZERO_GUID):
        refused(world.post(f"{P}/Bob/class", {"classid": unknown}), 404, "no_such_class", "Invalid class id.")
    for name in ("classid", "ClassId", "id"):
        answer = world.post(f"{P}/Bob/class", {name: WARRIOR.id.upper()}, by="Shop")
        assert (answer.status, answer.json["ClassId"], answer.json["ClassName"]) == (200, WARRIOR.id, "Warrior")
    world.sql("DELETE FROM classes")  # while none is published, any is accepted
    assert world.post(f"{P}/Bob/class", {"classid": people.NOBODY_ID}).json["ClassId"] == people.NOBODY_ID
    refused(world.post(f"{P}/Bob/class", {"classid": ZERO_GUID}), 404, "no_such_class")


def test_online_player_may_be_changed_but_not_deleted(world: World) -> None:
    """An online player may be changed, and its game server receives the changes; it may not be deleted."""
    heartbeat(world)
    join(world, ZOE.id)
    cursor = world.get(f"{LINK}/changes?after=now", by="Server").json["Next"]
    assert world.post(f"{P}/Zoe/name", {"name": "Aaron"}).json["Online"] is True
    assert world.post(f"{P}/Aaron/level", {"level": 5}).status == 200
    assert world.post(f"{P}/Aaron/class", {"classid": WARRIOR.id}).status == 200
    assert online(world) == ["Aaron"]
    heard: list[Any] = world.get(f"{LINK}/changes?after={cursor}", by="Server").json["Changes"]
    assert [list(each["After"]) for each in heard] == [["Name"], ["Level", "Exp"], ["ClassId"]]
    with unchanged(world):
        refused(world.call("DELETE", f"{P}/Aaron"), 409, "player_online")
    leave(world, ZOE.id)
    assert world.call("DELETE", f"{P}/Aaron").status == 200


SLOTS = "/api/keeper/v1/players/Ann/items/slots"
SWORD = {"Slot": 2, "ItemId": people.SWORD.id}
ARROWS = {"Slot": 1, "ItemId": people.ARROW.id}
ITEMS = "/api/link/v1/catalogue/items"


def equipment(world: World) -> list[int]:
    return world.get(f"{P}/Ann").json["Equipment"]


def test_item_is_equipped_moved_and_unequipped(world: World) -> None:
    def undo() -> None:
        assert world.post(f"/api/keeper/v1/changes/{world.ledger()[-1].seq}/undo", {}).status == 200
        assert equipment(world) == [-1, -1, 2, -1, -1]

    answer = world.post(f"{SLOTS}/equip", {**ARROWS, "Place": "weapon"})
    assert (answer.status, answer.json["Equipment"]) == (200, [-1, -1, 1, -1, -1])
    assert (equipment(world), world.ledger()[-1].kind) == ([-1, -1, 1, -1, -1], "player_changed")
    undo()
    assert world.post(f"{SLOTS}/equip", {**SWORD, "Place": "shield"}).json["Equipment"] == [-1, -1, -1, 2, -1]
    undo()
    refused = world.post(f"{SLOTS}/equip", {**SWORD, "Place": "hat"})
    assert (refused.status, refused.json["Code"]) == (400, "bad_field")
    assert world.post(f"{SLOTS}/unequip", SWORD).json["Equipment"] == [-1, -1, -1, -1, -1]
    seq = world.ledger()[-1].seq
    again = world.post(f"{SLOTS}/unequip", SWORD)
    assert (again.status, world.ledger()[-1].seq) == (200, seq)
    undo()
    missing = world.post(f"{SLOTS}/equip", ARROWS)  # without a place, the catalogue says where
    assert (missing.status, missing.json["Code"]) == (400, "bad_field")
    entry = {"Id": people.ARROW.id, "Name": "Arrow", "Stackable": True, "MaxStack": 100, "EquipmentSlot": 3}
    assert world.call("PUT", ITEMS, body=[entry]).status == 200
    assert world.post(f"{SLOTS}/equip", ARROWS).json["Equipment"] == [-1, -1, 2, 1, -1]
