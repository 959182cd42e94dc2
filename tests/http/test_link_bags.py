"""Bags in the reports of a game server."""

import json

from expectations import refused
from game_server import put_player, stack
from gamekeeper.game.lookup import ZERO_GUID
from people import ANN, ANNS_POUCH, ARROW, BOB, COIN, POUCH, SWORD
from reports import NEW, STRANGE, bag, inventory
from world import World


def inside(world: World, bag_id: str) -> dict[int, str]:
    slots = world.get(f"/api/v1/players/bag/{bag_id}").json["Slots"]
    return {each["Slot"]: each["ItemId"] for each in slots if each["Quantity"]}


def test_moved_bag_keeps_its_items(world: World) -> None:
    pouch = stack(9, POUCH.id, BagId=ANNS_POUCH)
    into_inventory = {"Items": [stack(3, ZERO_GUID, 0), pouch]}
    into_bank = {"Items": [stack(9, ZERO_GUID, 0)], "Bank": [pouch]}
    for place, body in (("inventory", into_inventory), ("bank", into_bank)):
        assert put_player(world, ANN.id, body).status == 200
        assert inventory(world, place=place)[9]["BagId"] == ANNS_POUCH
        assert inside(world, ANNS_POUCH) == {1: ARROW.id}


def test_moved_bags_keep_their_items(world: World) -> None:
    put_player(world, ANN.id, {"Items": [stack(3, POUCH.id)]})
    assert inventory(world)[3]["BagId"] == ANNS_POUCH
    assert inside(world, ANNS_POUCH) == {1: ARROW.id}
    put_player(world, ANN.id, {"Items": [stack(4, POUCH.id)]})
    other = inventory(world)[4]["BagId"]
    body = {"Items": [stack(3, POUCH.id, BagId=other), stack(4, POUCH.id, BagId=ANNS_POUCH)]}
    assert put_player(world, ANN.id, body).status == 200
    assert [inventory(world)[slot]["BagId"] for slot in (3, 4)] == [other, ANNS_POUCH]
    assert (inside(world, other), inside(world, ANNS_POUCH)) == ({}, {1: ARROW.id})


def test_bag_can_grow_and_removes_nested_bags_with_it(world: World) -> None:
    assert put_player(world, ANN.id, {"Bags": [bag(ANNS_POUCH, stack(11, COIN.id), size=12)]}).status == 200
    found = world.get(f"/api/v1/players/bag/{ANNS_POUCH}").json
    assert (found["SlotCount"], len(found["Slots"])) == (12, 12)
    put_player(world, ANN.id, {"Bags": [bag(ANNS_POUCH, stack(11, ZERO_GUID, 0), size=12)]})
    nested = [bag(ANNS_POUCH, stack(0, POUCH.id, BagId=STRANGE)), bag(STRANGE, stack(7, COIN.id, 3))]
    assert put_player(world, ANN.id, {"Bags": nested}).status == 200
    assert inside(world, ANNS_POUCH) == {0: POUCH.id, 1: ARROW.id}
    assert inside(world, STRANGE) == {7: COIN.id}
    assert put_player(world, ANN.id, {"Items": [stack(3, SWORD.id)]}).status == 200
    for gone in (ANNS_POUCH, STRANGE):
        refused(world.get(f"/api/v1/players/bag/{gone}"), 404, "no_such_bag")
    assert world.sql("SELECT place FROM slots WHERE place NOT IN ('inventory', 'bank')") == []
    before = json.loads(world.ledger()[-1].before or "")
    assert {each["Id"]: each["SlotCount"] for each in before["Bags"]} == {ANNS_POUCH: 8, STRANGE: 8}


def test_without_a_catalogue_a_slot_with_a_bag_holds_one_item(world: World) -> None:
    world.sql("DELETE FROM items")
    body = {"Items": [stack(0, STRANGE, 2, BagId=NEW)], "Bags": [bag(NEW)]}
    refused(put_player(world, BOB.id, body), 409, "stack_too_large")
    assert put_player(world, BOB.id, body | {"Items": [stack(0, STRANGE, 1, BagId=NEW)]}).status == 200
    world.post("/api/v1/players/Bob/items/give", {"itemid": STRANGE, "quantity": 2})
    assert [each["Quantity"] for each in inventory(world, "Bob").values()] == [1, 2]
    assert world.post("/api/v1/players/Bob/items/take", {"itemid": STRANGE, "quantity": 2}).status == 200
    refused(world.get(f"/api/v1/players/bag/{NEW}"), 404, "no_such_bag")
    assert [each["Quantity"] for each in inventory(world, "Bob").values()] == [1]
