"""Reports of a game server about an existing player: they change only the reported fields, within the rules."""

import json
from collections.abc import Sequence

from expectations import everything, refused
from game_server import newcomer, put_catalogue, put_player, stack
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.http.bodies import list_optional_names
from gamekeeper.http.wire.link import PutPlayer
from people import ANN, ANNS_POUCH, BOB, COIN, FIREBALL, HEAL, KILLS, POUCH, SWORD, TUTORIAL
from reports import FIELDS, STRANGE, bag, inventory, record
from world import World


def test_report_changes_only_its_fields_also_unusual_text(world: World) -> None:
    was, items = record(world, "Ann"), world.get("/api/v1/players/Ann/items").json
    answer = put_player(world, ANN.id, {"Level": 13, "exp": "1", "X": 9})
    assert answer.json == was | {"Level": 13, "Exp": 1, "X": 9}
    assert record(world, "Ann") == answer.json
    assert world.get("/api/v1/players/Ann/items").json == items
    row = world.ledger()[-1]
    assert json.loads(row.before or "") == {"Level": 12, "Exp": 345, "X": 3}
    assert json.loads(row.after or "") == {"Level": 13, "Exp": 1, "X": 9}
    answer = put_player(world, ANN.id, {"Sprite": "mage\x92s.png", "Face": "\x85.png"})
    assert (answer.json["Sprite"], answer.json["Face"]) == ("mage\x92s.png", "\x85.png")
    entry = {"Id": STRANGE, "Name": "Dragon\x92s Tooth", "Stackable": True, "Icon": "tooth\x92.png"}
    assert put_catalogue(world, "items", [entry]).json == {"Count": 1}
    assert world.get(f"/api/v1/gameobjects/item/{STRANGE}").json["Name"] == entry["Name"]
    fields = {name: value for name, value in FIELDS.items() if name != "UserId"}
    put_player(world, ANN.id, fields | {"LastOnline": None})
    assert {name: value for name, value in record(world, "Newt").items() if name in fields} == fields


def test_report_without_news_or_with_incomplete_slots_changes_nothing(shared_world: World) -> None:
    before = everything(shared_world)
    assert put_player(shared_world, ANN.id, dict.fromkeys(list_optional_names(PutPlayer))).status == 200
    assert put_player(shared_world, ANN.id, {}).status == 200
    spells, kills = [{"Slot": 9, "SpellId": ZERO_GUID}], [{"VariableId": KILLS.id, "Value": 7}]
    told = {"Level": 12, "Name": "Ann", "Variables": kills, "Spells": spells}
    assert put_player(shared_world, ANN.id, told).json == record(shared_world, "Ann")
    for slot in ({"Slot": 0, "ItemId": COIN.id, "Quantity": None}, {"Slot": 0, "ItemId": None, "Quantity": 5}):
        refused(put_player(shared_world, ANN.id, {"Items": [slot]}), 400, "bad_field")
    for slot, missing in [
        ({"Slot": 0, "ItemId": COIN.id}, "Quantity"),
        ({"Slot": 1, "Quantity": 1}, "ItemId"),
        ({"Slot": 1, "StatBuffs": [1, 0, 0, 0, 0]}, "ItemId"),
        ({"Slot": 3, "BagId": ANNS_POUCH}, "ItemId"),
        ({"Slot": 1, "ItemId": SWORD.id, "StatBuffs": [1, 0, 0, 0, 0]}, "Quantity"),
    ]:
        for body, path in (
            ({"Items": [slot]}, "Items[0]"),
            ({"Bank": [slot]}, "Bank[0]"),
            ({"Bags": [bag(ANNS_POUCH, slot)]}, "Bags[0].Slots[0]"),
        ):
            refused(put_player(shared_world, ANN.id, body), 400, "missing_field", f"'{path}.{missing}'")
    assert everything(shared_world) == before


def test_report_sets_only_its_slots_spells_and_variables(world: World) -> None:
    body = {
        "Items": [stack(0, COIN.id, 9), stack(1, ZERO_GUID, 0), stack(8, SWORD.id, StatBuffs=[0, 0, 0, 0, 7])],
        "Bank": [stack(0, COIN.id, 0), {"Slot": 5}],
        "Bags": [bag(ANNS_POUCH, stack(0, COIN.id, 2))],
        "Spells": [{"Slot": 4, "SpellId": HEAL.id}],
        "Variables": [{"VariableId": KILLS.id, "Value": 0}],
    }
    assert put_player(world, ANN.id, body).status == 200
    held = inventory(world)
    assert {slot: (each["ItemId"], each["Quantity"]) for slot, each in held.items()} == {
        0: (COIN.id, 9),
        2: (SWORD.id, 1),
        3: (POUCH.id, 1),
        8: (SWORD.id, 1),
    }
    assert (held[3]["BagId"], held[8]["StatBuffs"]) == (ANNS_POUCH, [0, 0, 0, 0, 7])
    assert inventory(world, place="bank") == {}
    inside = world.get(f"/api/v1/players/bag/{ANNS_POUCH}").json["Slots"]
    assert [each["Quantity"] for each in inside] == [2, 7, 0, 0, 0, 0, 0, 0]
    known = [{"Slot": 0, "SpellId": FIREBALL.id}, {"Slot": 4, "SpellId": HEAL.id}]
    assert world.get("/api/v1/players/Ann/spells").json == known
    values = [{"VariableId": KILLS.id, "Value": 0}, {"VariableId": TUTORIAL.id, "Value": True}]
    assert world.get("/api/v1/players/Ann/variables").json == values
    assert [row.kind for row in world.ledger()[-3:]] == ["items_set", "spells_set", "variables_set"]


def test_explicitly_empty_slot_is_emptied_and_unequipped(world: World) -> None:
    put_player(world, ANN.id, {"Items": [stack(2, ZERO_GUID, 0)]})
    assert record(world, "Ann")["Equipment"] == [-1, -1, -1, -1, -1]
    put_player(world, ANN.id, {"Items": [stack(2, ZERO_GUID, 0), stack(7, SWORD.id)], "Equipment": [-1, -1, 7, -1, -1]})
    assert record(world, "Ann")["Equipment"] == [-1, -1, 7, -1, -1]
    for empty in [{}, {"Quantity": 0}, {"ItemId": ZERO_GUID}, {"ItemId": COIN.id, "Quantity": 0}]:
        assert put_player(world, ANN.id, {"Items": [{"Slot": 0, **empty}]}).status == 200
        assert 0 not in inventory(world)
    put_player(world, ANN.id, {"Spells": [{"Slot": 0, "SpellId": HEAL.id}, {"Slot": 1, "SpellId": FIREBALL.id}]})
    put_player(world, ANN.id, {"Spells": [{"Slot": 0, "SpellId": FIREBALL.id}, {"Slot": 1, "SpellId": ZERO_GUID}]})
    assert world.get("/api/v1/players/Ann/spells").json == [{"Slot": 0, "SpellId": FIREBALL.id}]


IN_ITSELF = bag(ANNS_POUCH, stack(0, POUCH.id, BagId=ANNS_POUCH))
IN_EACH_OTHER = [
    bag(ANNS_POUCH, stack(0, POUCH.id, BagId=STRANGE)),
    bag(STRANGE, stack(0, POUCH.id, BagId=ANNS_POUCH)),
]
# Rules that tests/contract does not break: reports against them, and how they are refused
RULES: Sequence[tuple[dict[str, object], int, str]] = (
    ({"Bags": [bag(ANNS_POUCH, stack(8, COIN.id))]}, 409, "slot_out_of_range"),
    ({"Bags": [bag(ANNS_POUCH, size=1)]}, 409, "slot_out_of_range"),
    ({"Bank": [stack(5, SWORD.id, 2)]}, 409, "stack_too_large"),
    ({"Items": [stack(5, COIN.id, 1_000_001)]}, 409, "stack_too_large"),
    ({"Spells": [{"Slot": 1, "SpellId": FIREBALL.id}]}, 409, "spell_already_known"),
    ({"Name": "Rank"}, 400, "reserved_name"),
    ({"Items": [stack(5, POUCH.id, BagId=STRANGE)]}, 404, "no_such_bag"),
    ({"Bags": [bag(ZERO_GUID)], "Items": [stack(5, POUCH.id, BagId=ZERO_GUID)]}, 404, "no_such_bag"),
    ({"Bags": [bag(STRANGE)]}, 400, "bad_field"),
    ({"Items": [stack(5, POUCH.id, BagId=ANNS_POUCH)]}, 400, "bad_field"),
    ({"Bags": [IN_ITSELF]}, 400, "bad_field"),
    ({"Items": [stack(3, ZERO_GUID, 0)], "Bags": [IN_ITSELF]}, 400, "bad_field"),
    ({"Items": [stack(3, ZERO_GUID, 0)], "Bags": IN_EACH_OTHER}, 400, "bad_field"),
)


def test_report_against_the_rules_changes_nothing(shared_world: World) -> None:
    before = everything(shared_world)
    for body, status, code in RULES:
        refused(put_player(shared_world, ANN.id, {"Level": 50, **body}), status, code)
        assert everything(shared_world) == before, body
    items = [stack(0, POUCH.id, BagId=ANNS_POUCH)]
    refused(put_player(shared_world, BOB.id, {"Items": items}), 404, "no_such_bag", ANNS_POUCH)
    answer = put_player(shared_world, BOB.id, {"Items": items, "Bags": [bag(ANNS_POUCH)]})
    refused(answer, 400, "bad_field", "belongs to another player")
    player_id, body = newcomer(1, Items=items, Bags=[bag(ANNS_POUCH)])
    refused(put_player(shared_world, player_id, body), 400, "bad_field", "belongs to another player")
    assert everything(shared_world) == before
