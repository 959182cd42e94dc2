"""Operations 10 to 15 of docs/operations.md: read, give and take the items of a player."""

import people
from expectations import refused, unchanged
from game_server import put_player, stack
from gamekeeper.game.core.lookup import ZERO_GUID
from item_slots import ANN, BAG, BOB, INVENTORY, give, read_slots, slots, take
from people import ANNS_POUCH, ARROW, COIN, POUCH, SWORD
from world import MakeWorld, World

STRANGE = people.guid(0xABC)  # an item id that the catalogue does not have
BANK = slots(100, {0: {"ItemId": COIN.id, "Quantity": 1000}})


def empty(world: World) -> None:
    """Delete all that Bob has, so that the next step begins as in a new world."""
    world.sql("DELETE FROM slots WHERE player_id = $1", people.BOB.id)


def give_answer(item_id: str, inventory: int, bank: int = 0) -> dict[str, object]:
    return {"id": item_id, "quantity": {"total": inventory + bank, "bank": bank, "inventory": inventory}}


def test_inventory_bank_and_bags_are_listed_with_their_empty_slots(shared_world: World) -> None:
    assert shared_world.get(ANN).json == {"inventory": INVENTORY, "bank": BANK}
    assert shared_world.get(f"{ANN}/inventory").json == INVENTORY
    assert shared_world.get(f"{ANN}/bank").json == BANK
    assert shared_world.get(BOB).json == {"inventory": slots(35, {}), "bank": slots(100, {})}
    bag = {"Id": ANNS_POUCH, "SlotCount": 8, "Slots": slots(8, {1: {"ItemId": ARROW.id, "Quantity": 7}})}
    for spelling in (ANNS_POUCH, ANNS_POUCH.replace("-", ""), ANNS_POUCH.upper(), f"{{{ANNS_POUCH}}}"):
        assert shared_world.get(f"{BAG}/{spelling}").json == bag


def test_sizes_are_settings_and_occupied_slots_beyond_are_listed(make_world: MakeWorld) -> None:
    world = make_world(inventory_slots=5, bank_slots=3)
    assert world.get(f"{ANN}/inventory").json == INVENTORY[:5]
    assert world.get(f"{ANN}/bank").json == BANK[:3]
    assert make_world(inventory_slots=2).get(f"{ANN}/inventory").json == INVENTORY[:4]


def test_item_name_follows_the_catalogue_and_is_not_recorded(world: World) -> None:
    give(world, ANN, COIN.id, 5)
    put_player(world, people.ANN.id, {"Items": [stack(0, COIN.id, 7, ItemName="Fake")]})
    rows = world.ledger()[-2:]
    assert all("ItemName" not in f"{each.before}{each.after}" for each in rows)
    assert world.get(f"{ANN}/inventory").json[0]["ItemName"] == COIN.name
    world.sql("UPDATE items SET name = 'Gold' WHERE id = $1", COIN.id)
    world.sql("DELETE FROM items WHERE id = $1", ARROW.id)
    assert [each["ItemName"] for each in world.get(f"{ANN}/inventory").json[:2]] == ["Gold", "ERR_DELETED"]
    assert world.get(f"{BAG}/{ANNS_POUCH}").json["Slots"][1]["ItemName"] == "ERR_DELETED"
    assert world.get(f"{ANN}/bank").json[0]["ItemName"] == "Gold"


def test_unknown_bag_or_item_is_refused(shared_world: World) -> None:
    for bag in (STRANGE, ZERO_GUID):
        refused(shared_world.get(f"{BAG}/{bag}"), 404, "no_such_bag", bag)
    with unchanged(shared_world):
        for act in (give, take):
            for item_id in (STRANGE, ZERO_GUID.replace("-", ""), ANNS_POUCH):
                refused(act(shared_world, ANN, item_id, 1), 404, "no_such_item", "Invalid item id.")


def test_stack_limit_is_a_setting_with_the_default_of_a_million(make_world: MakeWorld) -> None:
    world = make_world(stack_cap=1000)
    give(world, BOB, COIN.id, 2500)
    give(world, BOB, ARROW.id, 150)
    expected = {0: (COIN.id, 1000), 1: (COIN.id, 1000), 2: (COIN.id, 500), 3: (ARROW.id, 100), 4: (ARROW.id, 50)}
    assert read_slots(world, BOB) == expected
    world = make_world()
    empty(world)
    give(world, BOB, COIN.id, 1_000_001)
    assert read_slots(world, BOB) == {0: (COIN.id, 1_000_000), 1: (COIN.id, 1)}


def test_give_without_room_is_refused_and_changes_nothing(world: World) -> None:
    give(world, BOB, SWORD.id, 30)
    with unchanged(world):
        refused(give(world, BOB, SWORD.id, 6), 409, "inventory_full", "into the inventory: there is room for 5 of 6")
        refused(give(world, BOB, COIN.id, 5_000_001), 409, "inventory_full")
    assert give(world, BOB, COIN.id, 5_000_000).json == give_answer(COIN.id, 5_000_000)


def test_overflow_goes_into_the_bank_when_the_inventory_is_full(world: World) -> None:
    give(world, BOB, SWORD.id, 33)
    assert give(world, BOB, ARROW.id, 250, bankoverflow=True).json == give_answer(ARROW.id, 200, 50)
    assert give(world, BOB, ARROW.id, 70, bankoverflow=True).json == give_answer(ARROW.id, 200, 120)
    assert give(world, BOB, SWORD.id, 1, bankoverflow=True).json == give_answer(SWORD.id, 33, 1)
    assert read_slots(world, BOB, "bank") == {0: (ARROW.id, 100), 1: (ARROW.id, 20), 2: (SWORD.id, 1)}
    empty(world)
    with unchanged(world):
        answer = give(world, BOB, SWORD.id, 136, bankoverflow=True)
        refused(answer, 409, "inventory_full", "inventory and bank: there is room for 135 of 136")
        refused(give(world, BOB, COIN.id, 135_000_001, bankoverflow=True), 409, "inventory_full")
    answer = give(world, BOB, COIN.id, 135_000_000, bankoverflow=True)
    assert answer.json == give_answer(COIN.id, 35_000_000, 100_000_000)


def test_given_bag_has_its_container_and_any_guid_is_an_item_without_a_catalogue(world: World) -> None:
    assert give(world, BOB, POUCH.id, 2).json == give_answer(POUCH.id, 2)
    first, second = [each["BagId"] for each in world.get(f"{BOB}/inventory").json[:2]]
    assert first != second
    for bag in (first, second):
        assert world.get(f"{BAG}/{bag}").json == {"Id": bag, "SlotCount": 8, "Slots": slots(8, {})}
    empty(world)
    give(world, BOB, SWORD.id, 35)
    assert give(world, BOB, POUCH.id, 1, bankoverflow=True).json == give_answer(POUCH.id, 0, 1)
    assert world.get(f"{BAG}/{world.get(f'{BOB}/bank').json[0]['BagId']}").status == 200
    empty(world)
    world.sql("DELETE FROM items")
    assert give(world, BOB, STRANGE, 7).json == give_answer(STRANGE, 7)
    assert give(world, BOB, SWORD.id, 2).json == give_answer(SWORD.id, 2)
    assert read_slots(world, BOB) == {0: (STRANGE, 7), 1: (SWORD.id, 2)}
    assert take(world, BOB, STRANGE, 7).status == 200
    refused(give(world, BOB, ZERO_GUID, 1), 404, "no_such_item")
