"""Operations 10 to 15 of docs/operations.md: read, give and take the items of a player."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import game_server
import people
from expectations import everything, refused
from game_server import stack
from gamekeeper.game.lookup import ZERO_GUID
from item_slots import ANN, BAG, BOB, INVENTORY, give, read_slots, slots, take
from people import ANNS_POUCH, ARROW, COIN, POUCH, SWORD
from world import World

STRANGE = people.guid(0xABC)  # an item id that the catalogue does not have
BANK = slots(100, {0: {"ItemId": COIN.id, "Quantity": 1000}})


def give_answer(item_id: str, inventory: int, bank: int = 0) -> dict[str, object]:
    return {"id": item_id, "quantity": {"total": inventory + bank, "bank": bank, "inventory": inventory}}


# --- operations 10 to 13: read items -------------------------------------------------------------------------------


def test_inventory_and_bank_list_empty_slots_too(shared_world: World) -> None:
    answer = shared_world.get(ANN)
    assert answer.status == 200
    assert list(answer.json) == ["inventory", "bank"]
    assert answer.json == {"inventory": INVENTORY, "bank": BANK}
    assert list(answer.json["inventory"][0]) == ["Slot", "BagId", "ItemId", "Quantity", "StatBuffs", "ItemName"]
    assert shared_world.get(f"{ANN}/inventory").json == INVENTORY
    assert shared_world.get(f"{ANN}/bank").json == BANK


def test_player_without_items_has_empty_slots(shared_world: World) -> None:
    assert shared_world.get(BOB).json == {"inventory": slots(35, {}), "bank": slots(100, {})}


def test_bag_lists_its_slots_without_its_own_id(shared_world: World, subtests: pytest.Subtests) -> None:
    bag = {"Id": ANNS_POUCH, "SlotCount": 8, "Slots": slots(8, {1: {"ItemId": ARROW.id, "Quantity": 7}})}
    for spelling in (ANNS_POUCH, ANNS_POUCH.replace("-", ""), ANNS_POUCH.upper(), f"{{{ANNS_POUCH}}}"):
        with subtests.test(spelling):
            answer = shared_world.get(f"{BAG}/{spelling}")
            assert list(answer.json.items()) == list(bag.items())


def test_nested_bag_has_its_id_in_the_slot(world: World) -> None:
    bags = [{"Id": ANNS_POUCH, "SlotCount": 8, "Slots": [stack(4, POUCH.id)]}]
    game_server.put_player(world, people.ANN.id, {"Bags": bags})
    slot = world.get(f"{BAG}/{ANNS_POUCH}").json["Slots"][4]
    assert slot["BagId"] not in (None, ANNS_POUCH)
    assert world.get(f"{BAG}/{slot['BagId']}").json["SlotCount"] == 8


def test_inventory_and_bank_sizes_are_settings(make_world: Callable[..., World]) -> None:
    world = make_world(inventory_slots=5, bank_slots=3)
    assert world.get(f"{ANN}/inventory").json == INVENTORY[:5]
    assert world.get(f"{ANN}/bank").json == BANK[:3]


def test_slot_beyond_the_size_is_listed_while_occupied(make_world: Callable[..., World]) -> None:
    assert make_world(inventory_slots=2).get(f"{ANN}/inventory").json == INVENTORY[:4]


def test_item_name_follows_the_catalogue_and_unknown_items_have_none(world: World) -> None:
    world.sql("UPDATE items SET name = 'Gold' WHERE id = $1", COIN.id)
    world.sql("DELETE FROM items WHERE id = $1", ARROW.id)
    assert [each["ItemName"] for each in world.get(f"{ANN}/inventory").json[:2]] == ["Gold", "ERR_DELETED"]
    assert world.get(f"{BAG}/{ANNS_POUCH}").json["Slots"][1]["ItemName"] == "ERR_DELETED"
    assert world.get(f"{ANN}/bank").json[0]["ItemName"] == "Gold"


def test_item_name_is_neither_in_the_audit_log_nor_in_the_feed(world: World) -> None:
    give(world, ANN, COIN.id, 5)
    game_server.put_player(world, people.ANN.id, {"Items": [stack(0, COIN.id, 7, ItemName="Fake")]})
    rows = world.ledger()[-2:]
    assert all("ItemName" not in f"{each.before}{each.after}" for each in rows)
    told = world.get("/api/link/v1/changes?own=true", by="Server")
    assert len(told.json["Changes"]) >= 2
    assert b"ItemName" not in told.raw
    assert world.get(f"{ANN}/inventory").json[0]["ItemName"] == COIN.name


# --- checks of all item operations: token, role, unknown player, malformed body ------------------------------------


READS = (ANN, f"{ANN}/inventory", f"{ANN}/bank", f"{BAG}/{ANNS_POUCH}")
WRITES = (f"{ANN}/give", f"{ANN}/take")
COINS = {"itemid": COIN.id, "quantity": 1}


def test_items_need_a_token(shared_world: World, subtests: pytest.Subtests) -> None:
    before = everything(shared_world)
    for path in READS:
        with subtests.test(path):
            refused(shared_world.get(path, by=None), 401, "denied")
    for path in WRITES:
        with subtests.test(path):
            refused(shared_world.post(path, COINS, by=None), 401, "denied")
    assert everything(shared_world) == before


def test_items_need_no_role(world: World, subtests: pytest.Subtests) -> None:
    for path in READS:
        with subtests.test(path):
            assert world.get(path, by="Shop").status == 200
    for path in WRITES:
        with subtests.test(path):
            assert world.post(path, COINS, by="Shop").status == 200


def test_unknown_player_or_bag_is_404(shared_world: World, subtests: pytest.Subtests) -> None:
    for key, by in (("Nobody", "name"), (people.NOBODY_ID, "id")):
        answers = [shared_world.get(f"/api/v1/players/{key}/items{rest}") for rest in ("", "/inventory", "/bank")]
        answers += [shared_world.post(f"/api/v1/players/{key}/items/{verb}", COINS) for verb in ("give", "take")]
        for answer in answers:
            with subtests.test(key):
                refused(answer, 404, "no_such_player", f"No player with {by} '{key}'.")
    for bag in (STRANGE, ZERO_GUID):
        with subtests.test(bag):
            refused(shared_world.get(f"{BAG}/{bag}"), 404, "no_such_bag", bag)


def test_malformed_bag_id_is_400(shared_world: World, subtests: pytest.Subtests) -> None:
    for key in ("Ann", "1", ANNS_POUCH[:-1], f"{ANNS_POUCH}0", f"({ANNS_POUCH})", f"{{{ANNS_POUCH}"):
        with subtests.test(key):
            refused(shared_world.get(f"{BAG}/{key}"), 400, "bad_field", "'bagId'")


HOSTILE_QUANTITIES = (
    "0",
    "-1",
    "2147483648",
    "9223372036854775808",
    "1e3",
    "1.5",
    "1.0",
    '"five"',
    '"1.0"',
    '" 1"',
    "true",
    "false",
    "null",
    "[]",
    "{}",
    '""',
    '"+1"',
    "9" * 5000,
    '"' + "9" * 5000 + '"',
)
HOSTILE_GUIDS = ("null", "1", "true", '""', '"Gold Coin"', f'"{COIN.id[:-1]}"', f'"{COIN.id} "', "[]", "{}")


@pytest.mark.parametrize("path", WRITES)
def test_malformed_body_is_400_and_names_the_field(shared_world: World, path: str, subtests: pytest.Subtests) -> None:
    before = everything(shared_world)
    bodies = [
        (f'{{"itemid": "{COIN.id}", "quantity": {value}}}', "bad_field", "quantity") for value in HOSTILE_QUANTITIES
    ]
    bodies += [(f'{{"itemid": {value}, "quantity": 1}}', "bad_field", "itemid") for value in HOSTILE_GUIDS]
    bodies += [
        ('{"quantity": 1}', "missing_field", "itemid"),
        (f'{{"itemid": "{COIN.id}"}}', "missing_field", "quantity"),
    ]
    bodies += [("", "missing_field", "itemid"), ("[]", "missing_field", "itemid")]
    for body, code, field in bodies:
        with subtests.test(body[:90]):
            answer = shared_world.call("POST", path, raw=body.encode(), headers={"Content-Type": "application/json"})
            refused(answer, 400, code, f"'{field}'")
    broken = shared_world.call("POST", path, raw=b'{"itemid": ', headers={"Content-Type": "application/json"})
    refused(broken, 400, "malformed_body")
    assert everything(shared_world) == before


def test_bank_overflow_must_be_a_boolean(world: World, subtests: pytest.Subtests) -> None:
    wrong: list[object] = [1, 0, "yes", "1", "", [], 1.0]
    for value in wrong:
        with subtests.test(repr(value)):
            refused(give(world, ANN, COIN.id, 1, bankoverflow=value), 400, "bad_field", "'bankoverflow'")
    for value in (True, False, "true", "False", "TRUE"):
        with subtests.test(repr(value)):
            assert give(world, ANN, COIN.id, 1, bankoverflow=value).status == 200


@pytest.mark.parametrize("path", WRITES)
def test_unknown_item_is_404_with_the_specs_message(shared_world: World, path: str, subtests: pytest.Subtests) -> None:
    before = everything(shared_world)
    for item_id in (STRANGE, ZERO_GUID, ZERO_GUID.replace("-", ""), ANNS_POUCH):
        with subtests.test(item_id):
            answer = shared_world.post(path, {"itemid": item_id, "quantity": 1})
            refused(answer, 404, "no_such_item")
            assert answer.message == "Invalid item id."
    assert everything(shared_world) == before


@pytest.mark.parametrize(
    "sent",
    [
        {"body": {"ItemId": COIN.id, "QUANTITY": "2", "BankOverflow": "true"}},
        {"body": {"itemId": COIN.id.upper(), "quantity": 2, "UserId": "x", "power": {"Api": True}}},
        {"body": {"itemid": f"{{{COIN.id}}}", "quantity": 2}},
        {"form": {"itemid": COIN.id, "quantity": "2", "bankoverflow": "true"}},
        {"form": {"itemid": COIN.id.replace("-", ""), "Quantity": "2"}},
        {"raw": f'{{"itemid": "{COIN.id}", "quantity": 2}}'.encode(), "headers": {}},
        {"raw": f'{{"itemid": "{COIN.id}", "quantity": 2}}'.encode(), "headers": {"Content-Type": "text/json"}},
    ],
    ids=["any case, strings", "unknown fields", "braces", "form", "form without hyphens", "no label", "text/json"],
)
def test_json_and_form_bodies_of_every_spelling_are_accepted(world: World, sent: Mapping[str, Any]) -> None:
    assert world.call("POST", f"{ANN}/give", **sent).json == give_answer(COIN.id, 252, 1000)
    assert read_slots(world, ANN)[0] == (COIN.id, 252)


# --- operation 14: give items --------------------------------------------------------------------------------------


def test_give_answers_the_new_counts_of_the_item(world: World) -> None:
    answer = give(world, ANN, COIN.id, 2)
    assert answer.status == 200
    assert list(answer.json) == ["id", "quantity"]
    assert list(answer.json["quantity"]) == ["total", "bank", "inventory"]
    assert answer.json == give_answer(COIN.id, 252, 1000)
    assert world.get(ANN).json["inventory"][0] == INVENTORY[0] | {"Quantity": 252}


def test_give_fills_stacks_in_slot_order_then_free_slots(world: World) -> None:
    items = [stack(9, ARROW.id, 98), stack(5, ARROW.id, 99), stack(2, ARROW.id, 100), stack(0, SWORD.id)]
    game_server.put_player(world, people.BOB.id, {"Items": items})
    assert give(world, BOB, ARROW.id, 105).json == give_answer(ARROW.id, 402)
    full = (ARROW.id, 100)
    assert read_slots(world, BOB) == {0: (SWORD.id, 1), 1: full, 2: full, 3: (ARROW.id, 2), 5: full, 9: full}


def test_stack_limit_is_a_setting_unless_the_item_has_one(make_world: Callable[..., World]) -> None:
    world = make_world(stack_cap=1000)
    give(world, BOB, COIN.id, 2500)
    give(world, BOB, ARROW.id, 150)
    expected = {0: (COIN.id, 1000), 1: (COIN.id, 1000), 2: (COIN.id, 500), 3: (ARROW.id, 100), 4: (ARROW.id, 50)}
    assert read_slots(world, BOB) == expected


def test_stack_limit_is_a_million_by_default(world: World) -> None:
    give(world, BOB, COIN.id, 1_000_001)
    assert read_slots(world, BOB) == {0: (COIN.id, 1_000_000), 1: (COIN.id, 1)}


def test_unstackable_items_take_a_slot_each(world: World) -> None:
    assert give(world, ANN, SWORD.id, 3).json == give_answer(SWORD.id, 4)
    assert {slot for slot, (item, _) in read_slots(world, ANN).items() if item == SWORD.id} == {2, 4, 5, 6}
    assert world.get(ANN).json["inventory"][2] == INVENTORY[2]


@pytest.mark.parametrize("overflow", [None, False, "false"])
def test_give_without_room_is_refused_and_changes_nothing(world: World, overflow: object) -> None:
    give(world, BOB, SWORD.id, 30)
    before = everything(world)
    more = {} if overflow is None else {"bankoverflow": overflow}
    refused(
        give(world, BOB, SWORD.id, 6, **more), 409, "inventory_full", "into the inventory: there is room for 5 of 6"
    )
    refused(give(world, BOB, COIN.id, 5_000_001, **more), 409, "inventory_full")
    refused(give(world, BOB, COIN.id, 2_147_483_647, **more), 409, "inventory_full")
    assert everything(world) == before
    assert give(world, BOB, COIN.id, 5_000_000, **more).json == give_answer(COIN.id, 5_000_000)


def test_overflow_goes_into_the_bank(world: World) -> None:
    give(world, BOB, SWORD.id, 33)
    assert give(world, BOB, ARROW.id, 250, bankoverflow=True).json == give_answer(ARROW.id, 200, 50)
    assert give(world, BOB, ARROW.id, 70, bankoverflow=True).json == give_answer(ARROW.id, 200, 120)
    assert read_slots(world, BOB, "bank") == {0: (ARROW.id, 100), 1: (ARROW.id, 20)}
    assert give(world, BOB, SWORD.id, 2, bankoverflow=True).json == give_answer(SWORD.id, 33, 2)
    assert read_slots(world, BOB, "bank")[2] == read_slots(world, BOB, "bank")[3] == (SWORD.id, 1)


def test_overflow_is_not_used_while_there_is_room(world: World) -> None:
    assert give(world, BOB, COIN.id, 35_000_000, bankoverflow=True).json == give_answer(COIN.id, 35_000_000)
    assert read_slots(world, BOB, "bank") == {}


def test_full_inventory_and_bank_change_nothing(world: World) -> None:
    before = everything(world)
    refused(
        give(world, BOB, SWORD.id, 136, bankoverflow=True),
        409,
        "inventory_full",
        "inventory and bank: there is room for 135 of 136",
    )
    refused(give(world, BOB, COIN.id, 135_000_001, bankoverflow=True), 409, "inventory_full")
    assert everything(world) == before
    assert give(world, BOB, COIN.id, 135_000_000, bankoverflow=True).json == give_answer(
        COIN.id, 35_000_000, 100_000_000
    )


def test_given_bag_has_its_container_at_once(world: World) -> None:
    assert give(world, BOB, POUCH.id, 2).json == give_answer(POUCH.id, 2)
    first, second = [each["BagId"] for each in world.get(f"{BOB}/inventory").json[:2]]
    assert first != second
    for bag in (first, second):
        assert world.get(f"{BAG}/{bag}").json == {"Id": bag, "SlotCount": 8, "Slots": slots(8, {})}


def test_bag_that_overflows_has_its_container_in_the_bank(world: World) -> None:
    give(world, BOB, SWORD.id, 35)
    assert give(world, BOB, POUCH.id, 1, bankoverflow=True).json == give_answer(POUCH.id, 0, 1)
    assert world.get(f"{BAG}/{world.get(f'{BOB}/bank').json[0]['BagId']}").status == 200


def test_without_a_catalogue_any_guid_is_a_stackable_item(world: World) -> None:
    world.sql("DELETE FROM items")
    assert give(world, BOB, STRANGE, 7).json == give_answer(STRANGE, 7)
    assert give(world, BOB, SWORD.id, 2).json == give_answer(SWORD.id, 2)
    assert read_slots(world, BOB) == {0: (STRANGE, 7), 1: (SWORD.id, 2)}
    assert take(world, BOB, STRANGE, 7).status == 200
    refused(give(world, BOB, ZERO_GUID, 1), 404, "no_such_item")
