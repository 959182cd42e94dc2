"""Operation 15: take items."""

import game_server
import people
from expectations import everything, refused
from game_server import stack
from item_slots import ANN, BAG, BOB, EMPTY, INVENTORY, give, read_slots, take
from people import ANNS_POUCH, ARROW, COIN, POUCH, SWORD
from world import World


def test_take_uses_ascending_slots_of_the_inventory_only(world: World) -> None:
    items = [stack(9, ARROW.id, 10), stack(4, ARROW.id, 20)]
    game_server.put_player(world, people.ANN.id, {"Items": items, "Bank": [stack(1, ARROW.id, 30)]})
    assert take(world, ANN, ARROW.id, 85).json == {"ItemId": ARROW.id, "Quantity": 85}
    assert {slot: left for slot, left in read_slots(world, ANN).items() if left[0] == ARROW.id} == {9: (ARROW.id, 5)}
    refused(take(world, ANN, ARROW.id, 6), 409, "not_enough_items")
    assert read_slots(world, ANN, "bank")[1] == (ARROW.id, 30)
    assert world.get(f"{BAG}/{ANNS_POUCH}").json["Slots"][1]["Quantity"] == 7


def test_take_of_too_many_or_a_filled_bag_is_refused_and_changes_nothing(shared_world: World) -> None:
    before = everything(shared_world)
    for item_id, quantity in ((COIN.id, 251), (SWORD.id, 2), (POUCH.id, 2), (ARROW.id, 2_147_483_647)):
        refused(take(shared_world, ANN, item_id, quantity), 409, "not_enough_items")
    refused(take(shared_world, BOB, COIN.id, 1), 409, "not_enough_items", "has only 0 of this item")
    refused(take(shared_world, ANN, POUCH.id, 1), 409, "bag_not_empty")
    assert everything(shared_world) == before


def test_emptied_slot_is_unequipped_and_others_stay(world: World) -> None:
    game_server.put_player(world, people.ANN.id, {"Equipment": [1, -1, 2, -1, -1]})
    take(world, ANN, ARROW.id, 59)
    assert world.get("/api/v1/players/Ann").json["Equipment"] == [1, -1, 2, -1, -1]
    take(world, ANN, SWORD.id, 1)
    assert world.get(f"{ANN}/inventory").json[2] == {"Slot": 2, **EMPTY}
    assert world.get("/api/v1/players/Ann").json["Equipment"] == [1, -1, -1, -1, -1]
    assert [row.kind for row in world.ledger()[-2:]] == ["items_taken", "player_changed"]


def test_take_removes_empty_bag_skips_filled_one_and_records_its_size(world: World) -> None:
    give(world, ANN, POUCH.id, 1)
    empty = world.get(f"{ANN}/inventory").json[4]["BagId"]
    assert take(world, ANN, POUCH.id, 1).json == {"ItemId": POUCH.id, "Quantity": 1}
    refused(world.get(f"{BAG}/{empty}"), 404, "no_such_bag")
    assert world.get(f"{BAG}/{ANNS_POUCH}").status == 200
    assert world.get(f"{ANN}/inventory").json == INVENTORY
    give(world, BOB, POUCH.id, 1)
    bag = world.get(f"{BOB}/inventory").json[0]["BagId"]
    take(world, BOB, POUCH.id, 1)
    before = world.ledger()[-1].before
    assert f'"Id":"{bag}","SlotCount":8' in str(before).replace(" ", "")
