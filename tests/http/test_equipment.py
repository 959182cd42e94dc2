"""Equipping and unequipping items of the inventory: places, refusals, no-ops and undo."""

import people
from loops import over
from world import World

ANN = "/api/v1/players/Ann"
SLOTS = "/api/keeper/v1/players/Ann/items/slots"
SWORD = {"Slot": 2, "ItemId": people.SWORD.id}
ARROWS = {"Slot": 1, "ItemId": people.ARROW.id}
ITEMS = "/api/link/v1/catalogue/items"


def equipment(world: World) -> list[int]:
    return world.get(ANN).json["Equipment"]


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
    assert world.post(f"{SLOTS}/unequip", SWORD).json["Equipment"] == [-1, -1, -1, -1, -1]
    assert world.get(f"{ANN}/items/inventory").json[2]["ItemId"] == people.SWORD.id
    seq = world.ledger()[-1].seq
    again = world.post(f"{SLOTS}/unequip", SWORD)
    assert (again.status, world.ledger()[-1].seq) == (200, seq)
    undo()
    missing = world.post(f"{SLOTS}/equip", ARROWS)  # without a place, the catalogue says where
    assert (missing.status, missing.json["Code"]) == (400, "bad_field")
    assert "'Place' is missing" in missing.json["Message"]
    entry = {"Id": people.ARROW.id, "Name": "Arrow", "Stackable": True, "MaxStack": 100, "EquipmentSlot": 3}
    assert world.call("PUT", ITEMS, body=[entry]).status == 200
    assert world.post(f"{SLOTS}/equip", ARROWS).json["Equipment"] == [-1, -1, 2, 1, -1]


@over("act", ["equip", "unequip"])
def test_other_item_in_the_slot_is_refused(shared_world: World, act: str) -> None:
    before = equipment(shared_world)
    for slot in (0, 9, 4_000):
        refused = shared_world.post(
            f"{SLOTS}/{act}", {**SWORD, "Slot": slot, **({"Place": "weapon"} if act == "equip" else {})}
        )
        assert (refused.status, refused.json["Code"]) == (409, "slot_changed")
    assert shared_world.post(f"{SLOTS}/equip?dryRun=true", {**ARROWS, "Place": "boots"}).status == 200
    assert equipment(shared_world) == before
