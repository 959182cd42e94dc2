"""Players that a game server creates, changes, renames and deletes over the link."""

import json
from collections.abc import Sequence

from good_requests import EXAMPLES

from expectations import everything, refused, unchanged
from game_server import LINK, heartbeat, join, leave, newcomer, put_catalogue, put_player, stack
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.http.server.bodies import list_optional_names
from gamekeeper.http.world.link_shapes import PutPlayer
from people import ANN, ANNS_POUCH, ARROW, BOB, COIN, FIREBALL, HEAL, KILLS, POUCH, SWORD, TUTORIAL, USER_IDS
from reports import FIELDS, NEW, STRANGE, bag, inventory, record
from world import PLAYERS, World


def test_player_is_created_with_all_or_the_least_fields(world: World) -> None:
    player_id, body = newcomer(1)
    answer = put_player(world, player_id.upper(), body | {"Id": STRANGE, "Online": True, "ClassName": "King"})
    assert (answer.json["Id"], answer.json["Level"], answer.json["Online"]) == (player_id, 1, False)
    assert (answer.json["ClassName"], answer.json["LastOnline"]) == ("", None)
    assert answer.json["CreationDate"].endswith("Z")
    assert world.get("/api/v1/players/New1/items").json == world.get("/api/v1/players/Bob/items").json
    body = FIELDS | {
        "LastOnline": "2021-01-01T00:00:00+01:00",
        "Items": [stack(0, COIN.id, 5), stack(4, POUCH.id, BagId=STRANGE), stack(5, POUCH.id)],
        "Bank": [stack(99, SWORD.id, StatBuffs=[1, 0, 0, 0, -1])],
        "Bags": [bag(STRANGE, stack(2, ARROW.id, 3), size=4)],
        "Spells": [{"Slot": 3, "SpellId": HEAL.id}],
        "Variables": [{"VariableId": KILLS.id, "Value": 0}, {"VariableId": TUTORIAL.id, "Value": True}],
    }
    answer = put_player(world, NEW, body).accepted()
    tail = {"ClassName": "Warrior", "MapName": "Meadow", "Online": False, "LastOnline": "2020-12-31T23:00:00.000Z"}
    head = {name: FIELDS[name] for name in ("Name", "InBank", "UserId", "MaxVitals")}
    assert list(answer.json.items()) == list(({**head, "Id": NEW} | FIELDS | tail).items())
    assert record(world, "newt") == answer.json
    held = inventory(world, "Newt")
    assert [held[slot]["Quantity"] for slot in (0, 4, 5)] == [5, 1, 1]
    assert held[4]["BagId"] == STRANGE
    assert held[5]["BagId"] not in (None, STRANGE)
    assert inventory(world, "Newt", "bank")[99]["StatBuffs"] == [1, 0, 0, 0, -1]
    inside = world.get(f"/api/v1/players/bag/{STRANGE}").json
    assert (inside["SlotCount"], inside["Slots"][2]["Quantity"]) == (4, 3)
    assert world.get("/api/v1/players/Newt/spells").json == [{"Slot": 3, "SpellId": HEAL.id}]
    assert world.get("/api/v1/players/Newt/variables").json == body["Variables"]
    assert world.ledger()[-1].kind == "player_created"


def test_malformed_report_creates_and_changes_no_player(shared_world: World) -> None:
    with unchanged(shared_world):
        owner = USER_IDS["Bob"]
        refusals: list[tuple[dict[str, object], int, str, str]] = [
            ({"UserId": owner}, 400, "missing_field", "'Name'"),
            ({"Name": "Newt"}, 400, "missing_field", "'UserId'"),
            ({"Name": "Newt", "UserId": STRANGE}, 404, "no_such_user", STRANGE),
            ({"Name": "aNN", "UserId": owner}, 409, "name_taken", "'aNN'"),
            ({"Name": "Online", "UserId": owner}, 400, "reserved_name", "Online"),
        ]
        for body, status, code, part in refusals:
            refused(put_player(shared_world, NEW, body), status, code, part)
        coins, kills = stack(0, COIN.id), {"VariableId": KILLS.id, "Value": 1}
        malformed: dict[str, object] = {
            "Equipment": [0, 1, 2, 3, 4, 5],
            "Items": [coins, coins],
            "Items[0].BagId": [stack(0, POUCH.id, BagId="x")],
            "Bank": [coins, coins],
            "Bank[0].StatBuffs": [stack(0, COIN.id, StatBuffs=[1])],
            "Bags": [bag(ANNS_POUCH), bag(ANNS_POUCH)],
            "Spells": [{"Slot": 1, "SpellId": HEAL.id}, {"Slot": 1, "SpellId": ZERO_GUID}],
            "Variables": [kills, kills | {"VariableId": KILLS.id.upper()}],
            "Variables[0].Value": [kills | {"Value": "many"}],
        }
        for field, value in malformed.items():
            answer = put_player(shared_world, ANN.id, {field.partition("[")[0]: value})
            assert answer.status == 400, answer.raw
            assert f"'{field}'" in answer.message
        twice = put_player(shared_world, ANN.id, {"Bags": [bag(ANNS_POUCH, coins, coins)]})
        refused(twice, 400, "bad_field", "'Bags")


def test_delete_answers_the_old_record_and_removes_everything_of_an_offline_player(world: World) -> None:
    heartbeat(world)
    join(world, ANN.id)
    with unchanged(world):
        refused(world.call("DELETE", f"{LINK}/players/{ANN.id}"), 409, "player_online")
    leave(world, ANN.id)
    was = record(world, "Ann")
    answer = world.call("DELETE", f"{LINK}/players/{ANN.id}", by="Server")
    assert (answer.status, answer.json) == (200, was)
    refused(world.get("/api/v1/players/Ann"), 404, "no_such_player")
    refused(world.get(f"/api/v1/players/bag/{ANNS_POUCH}"), 404, "no_such_bag")
    for table in ("slots", "known_spells", "player_variables", "bags"):
        assert world.sql(f"SELECT * FROM {table}") == []  # noqa: S608 - the test's own table names
    row = world.ledger()[-1]
    assert (row.kind, row.player_id, row.after) == ("player_deleted", ANN.id, None)
    assert json.loads(row.before or "")["Items"][0]["Quantity"] == 250
    refused(world.call("DELETE", f"{LINK}/players/{ANN.id}"), 404, "no_such_player")
    assert put_player(world, ANN.id, {"Name": "Ann", "UserId": ANN.user_id}).status == 200
    assert inventory(world) == {}


# --- reports change only the reported fields, within the rules -------------------------------------------------------


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
    fields = {name: value for name, value in FIELDS.items() if name != "UserId"}
    put_player(world, ANN.id, fields | {"LastOnline": "2022-01-01T00:00:00.000Z"})
    assert record(world, "Newt").items() >= fields.items()
    assert record(world, "Newt")["LastOnline"] is None  # stored for new players only


def test_report_without_news_or_with_incomplete_slots_changes_nothing(shared_world: World) -> None:
    with unchanged(shared_world):
        assert put_player(shared_world, ANN.id, dict.fromkeys(list_optional_names(PutPlayer))).status == 200
        assert put_player(shared_world, ANN.id, {}).status == 200
        spells, kills = [{"Slot": 9, "SpellId": ZERO_GUID}], [{"VariableId": KILLS.id, "Value": 7}]
        told = {"Level": 12, "Name": "Ann", "Variables": kills, "Spells": spells}
        assert put_player(shared_world, ANN.id, told).json == record(shared_world, "Ann")
        for slot, missing in [
            ({"Slot": 0, "ItemId": COIN.id}, "Quantity"),
            ({"Slot": 1, "Quantity": 1}, "ItemId"),
            ({"Slot": 3, "BagId": ANNS_POUCH}, "ItemId"),
        ]:
            refused(put_player(shared_world, ANN.id, {"Bank": [slot]}), 400, "missing_field", f"'Bank[0].{missing}'")


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
IN_EACH_OTHER = [bag(ANNS_POUCH, stack(0, POUCH.id, BagId=STRANGE)), bag(STRANGE, stack(0, POUCH.id, BagId=ANNS_POUCH))]
# Rules that tests/contract does not break: reports against them, and how they are refused
RULES: Sequence[tuple[dict[str, object], int, str]] = (
    ({"Bags": [bag(ANNS_POUCH, stack(8, COIN.id))]}, 409, "slot_out_of_range"),
    ({"Bags": [bag(ANNS_POUCH, size=1)]}, 409, "slot_out_of_range"),
    ({"Bank": [stack(5, SWORD.id, 2)]}, 409, "stack_too_large"),
    ({"Items": [stack(5, COIN.id, 1_000_001)]}, 409, "stack_too_large"),
    ({"Spells": [{"Slot": 1, "SpellId": FIREBALL.id}]}, 409, "spell_already_known"),
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


# --- bags ------------------------------------------------------------------------------------------------------------


def inside(world: World, bag_id: str) -> dict[int, str]:
    slots = world.get(f"/api/v1/players/bag/{bag_id}").json["Slots"]
    return {each["Slot"]: each["ItemId"] for each in slots if each["Quantity"]}


def test_moved_bags_keep_their_items(world: World) -> None:
    pouch = stack(9, POUCH.id, BagId=ANNS_POUCH)
    into_inventory = {"Items": [stack(3, ZERO_GUID, 0), pouch]}
    into_bank = {"Items": [stack(9, ZERO_GUID, 0)], "Bank": [pouch]}
    for place, body in (("inventory", into_inventory), ("bank", into_bank)):
        assert put_player(world, ANN.id, body).status == 200
        assert inventory(world, place=place)[9]["BagId"] == ANNS_POUCH
        assert inside(world, ANNS_POUCH) == {1: ARROW.id}


def test_exchanged_bags_keep_their_items(world: World) -> None:
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


# --- misspelt fields, and those of our own answers -------------------------------------------------------------------

BODIED = [each for each in EXAMPLES if each.route.is_own_api and isinstance(each.body, dict)]


def test_misspelt_field_is_400_and_changes_nothing(shared_world: World) -> None:
    with unchanged(shared_world):
        slots = [bag(ANNS_POUCH, stack(1, COIN.id, 1, ItemID2="x"))]
        message = "Unknown field 'Bags[0].Slots[0].ItemID2'. Did you mean 'ItemId'?"
        refused(put_player(shared_world, ANN.id, {"Bags": slots}), 400, "unknown_field", message)
        assert len(BODIED) >= 5
        for each in BODIED:
            body = {**each.fields, "Zzz": 1}
            refused(shared_world.call(each.route.method, each.path, body=body), 400, "unknown_field", "'Zzz'")


def test_records_and_slots_as_read_are_put_back_without_a_change(world: World) -> None:
    heartbeat(world)
    join(world, ANN.id)
    held = world.get(f"{PLAYERS}/Ann/items").json
    read = record(world, "Ann") | {
        "Items": held["inventory"],
        "Bank": held["bank"],
        "Bags": [world.get(f"{PLAYERS}/bag/{ANNS_POUCH}").json],
        "Spells": world.get(f"{PLAYERS}/Ann/spells").json,
        "Variables": world.get(f"{PLAYERS}/Ann/variables").json,
    }
    leave(world, ANN.id)  # leaving the game sets LastOnline, which the older record in `read` must not reset
    with unchanged(world):
        put_player(world, ANN.id, read).accepted()
        assert put_catalogue(world, "items", world.get(f"{LINK}/catalogue/items").json["Values"]).status == 200
        ranked = world.get(f"{PLAYERS}/Ann/rank").json["Around"][0]
        assert put_player(world, ranked["Id"], ranked).status == 200
    world.sql("UPDATE slots SET slot = 77 WHERE player_id = $1 AND slot = 0 AND place = 'inventory'", ANN.id)
    with unchanged(world):
        read = world.get(f"{PLAYERS}/Ann/items/inventory").json
        assert put_player(world, ANN.id, {"Items": read}).status == 200
    refused(put_player(world, ANN.id, {"Items": [stack(77, COIN.id, 1)]}), 409, "slot_out_of_range")
