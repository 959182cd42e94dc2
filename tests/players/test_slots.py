"""Items are taken from slots; our own operations take from one slot, set its quantity, or move between slots."""

from collections.abc import Callable
from functools import partial

import api_keys
import people
from approving import make_strict
from expectations import refused, unchanged
from findings import errors
from game_server import put_player, stack
from gamekeeper.game.core.lookup import ZERO_GUID
from item_slots import BAG, BOB, INVENTORY, give, take
from people import ANNS_POUCH, ARROW, COIN, POUCH, SWORD
from undos import undone
from world import Answer, MakeWorld, World

ANN = "/api/keeper/v1/players/Ann/items/slots"
SIDES = "/api/v1/players/Ann"
ITEMS = f"{SIDES}/items"


def change(
    world: World, act: str, container: str, slot: int, item: str, quantity: int | None, **more: object
) -> Answer:
    body = {"Container": container, "Slot": slot, "ItemId": item, **more}
    return world.post(f"{ANN}/{act}", body if quantity is None else {**body, "Quantity": quantity})


def move(
    world: World, container: str, slot: int, item: str, to: tuple[str, int], quantity: int | None = None
) -> Answer:
    return change(world, "move", container, slot, item, quantity, ToContainer=to[0], ToSlot=to[1])


def held(world: World, container: str) -> dict[int, tuple[str, int]]:
    """Return item and quantity of each occupied slot of a container."""
    inner = container in {"inventory", "bank"}
    found = world.get(f"{SIDES}/items/{container}" if inner else f"/api/v1/players/bag/{container}").json
    slots = found if inner else found["Slots"]
    return {each["Slot"]: (each["ItemId"], each["Quantity"]) for each in slots if each["ItemId"] != ZERO_GUID}


def equipment(world: World) -> list[int]:
    return world.get(SIDES).json["Equipment"]


def conflict(world: World, answer: Callable[[], Answer], code: str, status: int = 409) -> None:
    """Require that a request is refused with this code, and changes nothing."""
    with unchanged(world):
        refused(answer(), status, code)


def test_take_takes_from_the_named_slot_only(world: World) -> None:
    for container, slot, item, before in (
        ("inventory", 0, COIN.id, 250),
        ("bank", 0, COIN.id, 1000),
        (ANNS_POUCH, 1, ARROW.id, 7),
        (ANNS_POUCH.upper(), 1, ARROW.id, 6),
    ):
        answer = change(world, "take", container, slot, item, 1)
        left = {"Container": container.lower(), "Slot": slot, "BagId": None, "ItemId": item, "Quantity": before - 1}
        assert answer.json == {"Slots": [{**left, "StatBuffs": [0, 0, 0, 0, 0]}]}
        assert held(world, container.lower())[slot] == (item, before - 1)
        assert world.ledger()[-1].kind == "items_taken"
    assert errors(world) == []


def test_take_of_the_last_item_empties_the_slot_and_unequips_it(world: World) -> None:
    answer = change(world, "take", "inventory", 2, SWORD.id, 1)
    assert answer.json["Slots"][0]["ItemId"] == ZERO_GUID
    assert equipment(world) == [-1, -1, -1, -1, -1]
    assert [each.kind for each in world.ledger()[-2:]] == ["items_taken", "player_changed"]
    assert undone(world, world.ledger()[-2].seq).status == 200
    assert held(world, "inventory")[2] == (SWORD.id, 1)


def test_change_that_does_not_fit_the_slot_is_a_conflict(shared_world: World) -> None:
    for act, container, slot, item, quantity, code in (
        ("take", "inventory", 0, ARROW.id, 1, "slot_changed"),
        ("take", "inventory", 9, ARROW.id, 1, "slot_changed"),
        ("set", "inventory", 0, ARROW.id, 1, "slot_changed"),
        ("take", "inventory", 0, COIN.id, 251, "slot_holds_less"),
        ("set", "inventory", 1, ARROW.id, 101, "stack_too_large"),
        ("set", "inventory", 2, SWORD.id, 2, "stack_too_large"),
        ("set", "inventory", 35, COIN.id, 1, "slot_out_of_range"),
        ("set", ANNS_POUCH, 8, COIN.id, 1, "slot_out_of_range"),
        ("set", "inventory", 9, people.guid(0xABC), 1, "no_such_item"),
        ("take", "pocket", 0, COIN.id, 1, "no_such_container"),
        ("take", people.guid(0xBA6), 0, COIN.id, 1, "no_such_container"),
    ):
        send = partial(change, shared_world, act, container, slot, item, quantity)
        conflict(shared_world, send, code, 404 if code.startswith("no_such") else 409)
    conflict(shared_world, lambda: change(shared_world, "set", "inventory", 0, COIN.id, 1, Held=249), "slot_changed")
    for item, to, quantity, code in (
        (ARROW.id, ("bank", 5), None, "slot_changed"),
        (COIN.id, ("bank", 5), 251, "slot_holds_less"),
        (COIN.id, ("inventory", 0), None, "bad_field"),
    ):
        send = partial(move, shared_world, "inventory", 0, item, to, quantity)
        conflict(shared_world, send, code, 400 if code == "bad_field" else 409)
    body = {"Container": ANNS_POUCH, "Slot": 1, "ItemId": ARROW.id, "Quantity": 1}
    refused(shared_world.post("/api/keeper/v1/players/Bob/items/slots/take", body), 404, "no_such_container")
    before = shared_world.ledger()
    assert change(shared_world, "set", "inventory", 0, COIN.id, 250).json["Slots"][0]["Quantity"] == 250
    assert shared_world.ledger() == before  # set to the present quantity


def test_bag_with_content_stays_and_an_empty_one_goes(world: World) -> None:
    conflict(world, lambda: change(world, "take", "inventory", 3, POUCH.id, 1), "bag_not_empty")
    conflict(world, lambda: change(world, "set", "inventory", 3, POUCH.id, 0), "bag_not_empty")
    assert change(world, "set", ANNS_POUCH, 1, ARROW.id, 0).status == 200
    assert change(world, "take", "inventory", 3, POUCH.id, 1).status == 200
    assert world.sql("SELECT count(*) FROM bags") == [(0,)]
    assert errors(world) == []


def test_set_gives_or_takes_the_difference(world: World) -> None:
    assert change(world, "set", "bank", 0, COIN.id, 1200, Held=1000).status == 200
    assert change(world, "set", "inventory", 1, ARROW.id, 10).status == 200
    assert change(world, "set", "inventory", 7, SWORD.id, 1, Held=0).status == 200
    assert change(world, "set", "inventory", 0, COIN.id, 0).status == 200
    assert [each.kind for each in world.ledger()[-4:]] == ["items_given", "items_taken", "items_given", "items_taken"]
    assert held(world, "bank")[0] == (COIN.id, 1200)
    assert [held(world, "inventory").get(slot) for slot in (0, 1, 7)] == [None, (ARROW.id, 10), (SWORD.id, 1)]
    assert errors(world) == []


def test_set_counts_against_the_limits_of_gifts(world: World) -> None:
    text = api_keys.create(world, Items=[COIN.id], MostPerDay=10)["Key"]

    def fill(slot: int, item: str, quantity: int) -> Answer:
        body = {"Container": "inventory", "Slot": slot, "ItemId": item, "Quantity": quantity}
        return world.post(f"{ANN}/set", body, token=text)

    assert fill(0, COIN.id, 261).code == "quota_reached"
    refused(fill(9, ARROW.id, 1), 409, "item_not_allowed")
    assert fill(0, COIN.id, 260).status == 200
    assert fill(0, COIN.id, 200).status == 200
    assert fill(0, COIN.id, 201).code == "quota_reached"
    assert world.sql("SELECT quantity FROM gift_totals") == [(10,)]


def test_set_beyond_a_rule_waits_for_approval_and_a_move_does_not(make_world: MakeWorld) -> None:
    world = make_strict(make_world)
    body = {"Container": "bank", "Slot": 0, "ItemId": COIN.id, "Quantity": 12_001}
    before = held(world, "bank")
    assert world.post(f"{ANN}/set", body, by="Shop").status == 202
    assert held(world, "bank") == before
    target = {"ToContainer": "inventory", "ToSlot": 9, "Quantity": 1000}
    assert world.post(f"{ANN}/move", body | target, by="Shop").status == 200


def test_move_to_an_empty_slot_a_like_stack_or_another_item(world: World) -> None:
    assert change(world, "set", "inventory", 1, ARROW.id, 95).status == 200
    conflict(world, lambda: move(world, ANNS_POUCH, 1, ARROW.id, ("inventory", 1), 6), "stack_too_large")
    assert move(world, ANNS_POUCH, 1, ARROW.id, ("inventory", 1)).status == 200
    assert (held(world, "inventory")[1], held(world, ANNS_POUCH)[1]) == ((ARROW.id, 100), (ARROW.id, 2))
    conflict(world, lambda: move(world, ANNS_POUCH, 1, ARROW.id, ("inventory", 1)), "stack_too_large")
    conflict(world, lambda: move(world, "inventory", 0, COIN.id, ("inventory", 1), 5), "slot_occupied")
    assert move(world, "inventory", 0, COIN.id, ("inventory", 1)).status == 200
    assert {slot: held(world, "inventory")[slot] for slot in (0, 1)} == {0: (ARROW.id, 100), 1: (COIN.id, 250)}


def test_moved_item_stays_equipped_in_the_inventory_only(world: World) -> None:
    assert move(world, "inventory", 2, SWORD.id, ("inventory", 0)).status == 200
    assert equipment(world) == [-1, -1, 0, -1, -1]
    assert undone(world, world.ledger()[-2].seq).status == 200
    assert equipment(world) == [-1, -1, 2, -1, -1]
    assert move(world, "inventory", 2, SWORD.id, ("bank", 3)).status == 200
    assert equipment(world) == [-1, -1, -1, -1, -1]
    put_player(world, people.ANN.id, {"Equipment": [-1, -1, 1, -1, -1]})
    assert move(world, "bank", 0, COIN.id, ("inventory", 1)).status == 200  # swapped with the equipped arrows
    assert equipment(world) == [-1, -1, -1, -1, -1]
    assert held(world, "bank")[0] == (ARROW.id, 60)


def test_bag_moves_with_its_content_but_not_into_itself(world: World) -> None:
    conflict(world, lambda: move(world, "inventory", 3, POUCH.id, (ANNS_POUCH, 0)), "bag_in_itself")
    bags = [{"Id": ANNS_POUCH, "SlotCount": 8, "Slots": [stack(4, POUCH.id)]}]
    put_player(world, people.ANN.id, {"Bags": bags})
    inner = next(
        each["BagId"] for each in world.get(f"/api/v1/players/bag/{ANNS_POUCH}").json["Slots"] if each["BagId"]
    )
    conflict(world, lambda: move(world, "inventory", 3, POUCH.id, (inner, 0)), "bag_in_itself")
    conflict(world, lambda: move(world, ANNS_POUCH, 4, POUCH.id, ("inventory", 3)), "bag_in_itself")
    assert move(world, "inventory", 3, POUCH.id, ("bank", 9)).status == 200
    assert held(world, ANNS_POUCH)[1] == (ARROW.id, 7)
    assert errors(world) == []


# --- the specification's take of items, from the lowest slots of the inventory -------------------------------------


def test_take_removes_empty_bag_skips_filled_one_and_records_its_size(world: World) -> None:
    give(world, ITEMS, POUCH.id, 1)
    empty = world.get(f"{ITEMS}/inventory").json[4]["BagId"]
    assert take(world, ITEMS, POUCH.id, 1).json == {"ItemId": POUCH.id, "Quantity": 1}
    refused(world.get(f"{BAG}/{empty}"), 404, "no_such_bag")
    assert world.get(f"{BAG}/{ANNS_POUCH}").status == 200
    assert world.get(f"{ITEMS}/inventory").json == INVENTORY
    give(world, BOB, POUCH.id, 1)
    bag = world.get(f"{BOB}/inventory").json[0]["BagId"]
    take(world, BOB, POUCH.id, 1)
    before = world.ledger()[-1].before
    assert f'"Id":"{bag}","SlotCount":8' in str(before).replace(" ", "")
