"""The game link: the catalogue, characters as the game reports them, and who is online."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import game_server
import people
from expectations import everything, refused
from game_server import LINK, heartbeat, join, lapse, leave, newcomer, online, put_catalogue, put_player, stack
from gamekeeper.game.lookup import ZERO
from people import ANN, ANNS_POUCH, ARROW, BOB, COIN, FIREBALL, HEAL, KILLS, POUCH, SWORD, TUTORIAL, ZOE
from world import World

NEW = people.guid(0x900)
STRANGE = people.guid(0xABC)  # in no catalogue
CALLS: Sequence[tuple[str, str, object]] = (
    ("PUT", f"{LINK}/catalogue/spells", [{"Id": NEW, "Name": "Frost"}]),
    ("GET", f"{LINK}/catalogue/spells", None),
    ("PUT", f"{LINK}/players/{BOB.id}", {"Level": 9}),
    ("DELETE", f"{LINK}/players/{BOB.id}", None),
    ("PUT", f"{LINK}/servers/one", {"Lease": 60}),
    ("POST", f"{LINK}/servers/one/joined", {"Players": [BOB.id]}),
    ("POST", f"{LINK}/servers/one/left", {"Players": [BOB.id]}),
    ("DELETE", f"{LINK}/servers/one", None),
)


def record(world: World, key: str) -> dict[str, Any]:
    return world.get(f"/api/v1/players/{key}").json


def inventory(world: World, key: str = "Ann", place: str = "inventory") -> dict[int, dict[str, Any]]:
    listed = world.get(f"/api/v1/players/{key}/items/{place}").json
    return {each["Slot"]: each for each in listed if each["ItemId"] != ZERO}


def bag(bag_id: str, *slots: Mapping[str, object], size: int = 8) -> dict[str, object]:
    return {"Id": bag_id, "SlotCount": size, "Slots": list(slots)}


# --- who may -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
def test_only_an_account_with_the_role_may(world: World, method: str, path: str, body: object) -> None:
    heartbeat(world)
    before = everything(world)
    refused(world.call(method, path, body=body, by=None), 401, "denied")
    for account in ("Shop", "Clerk"):
        refused(world.call(method, path, body=body, by=account), 403, "role_missing", "game.link")
    assert everything(world) == before
    assert world.call(method, path, body=body, by="Server").status == 200


def test_the_link_speaks_json_only(world: World, subtests: pytest.Subtests) -> None:
    before = everything(world)
    for method, path, body in CALLS:
        if body is not None:
            with subtests.test(f"{method} {path}"):
                refused(world.call(method, path, form={"Lease": "60"}), 415, "unsupported_media_type")
                text = {"Content-Type": "text/plain"}
                answer = world.call(method, path, raw=json.dumps(body).encode(), headers=text)
                refused(answer, 415, "unsupported_media_type")
    assert everything(world) == before


def test_a_body_on_the_link_may_be_large(world: World) -> None:
    entries = [{"Id": people.guid(0x10_000 + each), "Name": f"Item {each}", "Stackable": True} for each in range(1000)]
    assert len(json.dumps(entries)) > 65_536
    assert put_catalogue(world, "items", entries).json == {"Count": 1000}
    too_large = world.call("PUT", f"{LINK}/catalogue/items", raw=b" " * (8 * 1024 * 1024 + 1))
    refused(too_large, 413, "body_too_large", "8388608")


# --- the catalogue -------------------------------------------------------------------------------------------------

ENTRIES: Mapping[str, dict[str, object]] = {
    "items": {"Id": NEW, "Name": "Axe", "Stackable": False, "MaxStack": None, "BagSlots": 0, "Icon": None},
    "spells": {"Id": NEW, "Name": "Axe"},
    "variables": {"Id": NEW, "Name": "Axe", "Type": "Boolean"},
    "classes": {"Id": NEW, "Name": "Axe"},
    "maps": {"Id": NEW, "Name": "Axe"},
}


@pytest.mark.parametrize("kind", ENTRIES)
def test_entries_are_put_by_id_and_listed_by_name(world: World, kind: str) -> None:
    entry = ENTRIES[kind]
    before = world.get(f"{LINK}/catalogue/{kind}").json["Total"]
    first, again = put_catalogue(world, kind, [entry]), put_catalogue(world, kind, [entry | {"Name": "Zweihander"}])
    assert first.json == again.json == {"Count": 1}
    page = world.get(f"{LINK}/catalogue/{kind}?pageSize=100").json
    assert list(page) == ["Total", "Page", "PageSize", "Count", "Values"]
    assert (page["Total"], page["Count"], page["PageSize"]) == (before + 1, before + 1, 100)
    assert list(page["Values"][-1].items()) == list((entry | {"Name": "Zweihander"}).items())
    assert [each["Name"] for each in page["Values"]] == sorted(each["Name"] for each in page["Values"])
    assert world.get(f"{LINK}/catalogue/{kind}?pageSize=1&page=1").json["Count"] == min(before, 1)


def test_putting_what_is_there_already_leaves_no_trace(world: World) -> None:
    put_catalogue(world, "maps", [ENTRIES["maps"]])
    before = everything(world)
    assert put_catalogue(world, "maps", [ENTRIES["maps"]]).json == {"Count": 1}
    assert put_catalogue(world, "maps", []).json == {"Count": 0}
    assert everything(world) == before


def test_a_change_of_the_catalogue_shows_at_once(world: World) -> None:
    put_catalogue(world, "classes", [{"Id": people.WARRIOR.id, "Name": "Knight"}])
    put_catalogue(world, "items", [{"Id": ARROW.id, "Name": "Arrow", "Stackable": True, "MaxStack": 70}])
    assert record(world, "Ann")["ClassName"] == "Knight"
    world.post("/api/v1/players/Ann/items/give", {"itemid": ARROW.id, "quantity": 15})
    assert [inventory(world)[slot]["Quantity"] for slot in (1, 4)] == [70, 5]
    row = world.ledger()[-2]
    assert (row.kind, row.player_id, row.over_link) == ("catalogue_put", None, True)
    assert json.loads(row.before or "")["Items"][0]["MaxStack"] == 100
    assert json.loads(row.after or "")["Items"][0]["MaxStack"] == 70


def test_an_unknown_kind_is_404(world: World) -> None:
    for kind in ("weapons", "Items", "players"):
        refused(put_catalogue(world, kind, []), 404, "no_such_kind", f"'{kind}'")
        refused(world.get(f"{LINK}/catalogue/{kind}"), 404, "no_such_kind", f"'{kind}'")


MALFORMED_ENTRIES: Sequence[tuple[str, str, object]] = (
    ("items", "[0].Id", [{"Name": "Axe", "Stackable": True}]),
    ("items", "[0].Id", [{"Id": "axe", "Name": "Axe", "Stackable": True}]),
    ("items", "[0].Id", [{"Id": ZERO, "Name": "Axe", "Stackable": True}]),
    ("items", "Id", [ENTRIES["items"], ENTRIES["items"]]),
    ("items", "[0].Name", [{"Id": NEW, "Stackable": True}]),
    ("items", "[0].Name", [{"Id": NEW, "Name": 7, "Stackable": True}]),
    ("items", "[0].Name", [{"Id": NEW, "Name": "x" * 256, "Stackable": True}]),
    ("items", "[0].Name", [{"Id": NEW, "Name": "a\0b", "Stackable": True}]),
    ("items", "[1].Stackable", [ENTRIES["items"], {"Id": STRANGE, "Name": "Axe"}]),
    ("items", "[0].Stackable", [{"Id": NEW, "Name": "Axe", "Stackable": 1}]),
    ("items", "[0].MaxStack", [{"Id": NEW, "Name": "Axe", "Stackable": True, "MaxStack": 0}]),
    ("items", "[0].BagSlots", [{"Id": NEW, "Name": "Axe", "Stackable": False, "BagSlots": -1}]),
    ("items", "[0].BagSlots", [{"Id": NEW, "Name": "Axe", "Stackable": True, "BagSlots": 4}]),
    ("items", "[0].Icon", [{"Id": NEW, "Name": "Axe", "Stackable": True, "Icon": 4}]),
    ("items", "[0]", [7]),
    ("spells", "[0].Name", [{"Id": NEW}]),
    ("variables", "[0].Type", [{"Id": NEW, "Name": "Axe"}]),
    ("variables", "[0].Type", [{"Id": NEW, "Name": "Axe", "Type": "String"}]),
    ("classes", "[0].Name", [{"Id": NEW, "Name": None}]),
    ("maps", "[0].Id", [{"Id": None, "Name": "Axe"}]),
)


def test_a_malformed_catalogue_is_400_with_the_field_named(world: World, subtests: pytest.Subtests) -> None:
    before = everything(world)
    for kind, field, entries in MALFORMED_ENTRIES:
        with subtests.test(repr(entries)[:80]):
            answer = put_catalogue(world, kind, entries)
            assert answer.status == 400, answer.raw
            assert f"'{field}'" in answer.message
    for body in ({"Id": NEW}, "items", 7):
        with subtests.test(repr(body)):
            refused(put_catalogue(world, "items", body), 400, "malformed_body")
    refused(world.call("PUT", f"{LINK}/catalogue/items"), 400, "malformed_body")
    assert everything(world) == before


# --- characters: creating ------------------------------------------------------------------------------------------

FIELDS = {
    "Name": "Newt",
    "InBank": True,
    "UserId": people.USER_IDS["Bob"],
    "MaxVitals": [10, 20],
    "Level": 5,
    "Exp": 2**63 - 1,
    "ExperienceToNextLevel": -1,
    "ClassId": people.WARRIOR.id,
    "Gender": 1,
    "Vitals": [9, 19],
    "BaseStats": [1, 2, 3, 4, 5],
    "StatPointAllocations": [5, 4, 3, 2, 1],
    "StatPoints": -2,
    "Equipment": [0, -1, -1, -1, -1],
    "MapId": people.MEADOW.id,
    "X": -1,
    "Y": 2,
    "Z": 3,
    "Dir": 3,
    "Sprite": "newt.png",
    "Face": "newt-face.png",
    "Dead": True,
    "CreationDate": "2020-02-29T12:00:00.500Z",
    "PlayTimeSeconds": 77,
}


def test_a_character_is_created_whole(world: World) -> None:
    body = FIELDS | {
        "LastOnline": "2021-01-01T00:00:00+01:00",
        "Items": [stack(0, COIN.id, 5), stack(4, POUCH.id, BagId=STRANGE), stack(5, POUCH.id)],
        "Bank": [stack(99, SWORD.id, StatBuffs=[1, 0, 0, 0, -1])],
        "Bags": [bag(STRANGE, stack(2, ARROW.id, 3), size=4)],
        "Spells": [{"Slot": 3, "SpellId": HEAL.id}],
        "Variables": [{"VariableId": KILLS.id, "Value": 0}, {"VariableId": TUTORIAL.id, "Value": True}],
    }
    answer = put_player(world, NEW, body)
    assert answer.status == 200
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


def test_a_name_and_an_owner_are_enough(world: World) -> None:
    player_id, body = newcomer(1)
    answer = put_player(world, player_id.upper(), body | {"Id": STRANGE, "Online": True, "ClassName": "King"})
    assert (answer.json["Id"], answer.json["Level"], answer.json["Online"]) == (player_id, 1, False)
    assert (answer.json["ClassName"], answer.json["LastOnline"]) == ("", None)
    assert answer.json["CreationDate"].endswith("Z")
    assert world.get("/api/v1/players/New1/items").json == world.get("/api/v1/players/Bob/items").json


def test_without_name_or_owner_nobody_is_created(world: World, subtests: pytest.Subtests) -> None:
    before = everything(world)
    owner = people.USER_IDS["Bob"]
    refusals: list[tuple[Mapping[str, object], int, str, str]] = [
        ({"UserId": owner}, 400, "missing_field", "'Name'"),
        ({"Name": "Newt"}, 400, "missing_field", "'UserId'"),
        ({"Name": "Newt", "UserId": STRANGE}, 404, "no_such_user", STRANGE),
        ({"Name": "aNN", "UserId": owner}, 409, "name_taken", "'aNN'"),
        ({"Name": "x", "UserId": owner}, 400, "bad_field", "'Name'"),
        ({"Name": "a b", "UserId": owner}, 400, "bad_field", "'Name'"),
        ({"Name": "x" * 21, "UserId": owner}, 400, "bad_field", "'Name'"),
    ]
    refusals += [
        ({"Name": name, "UserId": owner}, 400, "reserved_name", name) for name in ("rank", "Online", "BAG", "register")
    ]
    for body, status, code, part in refusals:
        with subtests.test(repr(body)):
            refused(put_player(world, NEW, body), status, code, part)
    refused(put_player(world, "Newt", {"Name": "Newt", "UserId": owner}), 400, "bad_field", "'id'")
    refused(put_player(world, ZERO, {"Name": "Newt", "UserId": owner}), 404, "no_such_player", ZERO)
    assert everything(world) == before


MALFORMED_FIELDS: Mapping[str, Sequence[object]] = {
    "Name": (7, None),
    "InBank": (1,),
    "UserId": ("Bob",),
    "MaxVitals": ([1], [1, 2, 3], 5),
    "Vitals[0]": ([2**31, 0],),
    "Vitals[1]": ([1, 2.0],),
    "Level": (0, 2**31, 1.5),
    "Exp": (-1, 2**63),
    "ExperienceToNextLevel": (-(2**63) - 1,),
    "ClassId": ("Warrior",),
    "Gender": (2,),
    "BaseStats": ([1, 2, 3, 4],),
    "StatPointAllocations": (None,),
    "StatPoints": ("x",),
    "Equipment": ([0, 1, 2, 3, 4, 5],),
    "MapId": (7,),
    "X": (2**31,),
    "Y": (True,),
    "Z": (None,),
    "Dir": ("up",),
    "Sprite": ("x" * 256,),
    "Face": (1,),
    "Dead": ("no",),
    "CreationDate": ("yesterday", None),
    "LastOnline": ("2020-01-01", "2020-13-01T00:00:00Z"),
    "PlayTimeSeconds": (-1,),
    "Items": ("coins", None, [stack(0, COIN.id), stack(0, COIN.id)]),
    "Items[0]": ([None],),
    "Items[0].Slot": ([{"ItemId": COIN.id, "Quantity": 1}], [stack(-1, COIN.id)]),
    "Items[0].Quantity": ([stack(0, COIN.id, -1)], [stack(0, COIN.id, 2**31)]),
    "Items[0].BagId": ([stack(0, POUCH.id, BagId="x")],),
    "Bank": ([stack(0, COIN.id), stack(0, COIN.id)],),
    "Bank[0].ItemId": ([stack(0, "coin")],),
    "Bank[0].StatBuffs": ([stack(0, COIN.id, StatBuffs=[1])],),
    "Bags": ([bag(ANNS_POUCH), bag(ANNS_POUCH)], [bag(ANNS_POUCH, stack(0, COIN.id), stack(0, COIN.id))]),
    "Bags[0].Id": ([{"SlotCount": 1, "Slots": [stack(0, COIN.id)]}],),
    "Bags[0].SlotCount": ([bag(NEW, size=0)],),
    "Bags[0].Slots[0].Slot": ([bag(NEW, {"ItemId": COIN.id})],),
    "Spells": ([{"Slot": 1, "SpellId": HEAL.id}, {"Slot": 1, "SpellId": ZERO}],),
    "Spells[0].SpellId": ([{"Slot": 1}],),
    "Spells[0].Slot": ([{"Slot": -1, "SpellId": HEAL.id}],),
    "Variables": ([{"VariableId": KILLS.id, "Value": 1}, {"VariableId": KILLS.id.upper(), "Value": 2}],),
    "Variables[0].VariableId": ([{"VariableId": "x", "Value": 1}],),
    "Variables[0].Value": ([{"VariableId": KILLS.id, "Value": "many"}], [{"VariableId": KILLS.id}]),
}


def test_a_malformed_report_is_400_with_the_field_named(world: World, subtests: pytest.Subtests) -> None:
    before = everything(world)
    for field, value in [(field, value) for field, values in MALFORMED_FIELDS.items() for value in values]:
        with subtests.test(field, value=repr(value)[:60]):
            answer = put_player(world, ANN.id, {field.partition("[")[0]: value})
            assert answer.status == 400, answer.raw
            assert f"'{field}'" in answer.message
    assert everything(world) == before


# --- characters: changing ------------------------------------------------------------------------------------------


def test_a_report_changes_just_what_it_says(world: World) -> None:
    was, items = record(world, "Ann"), world.get("/api/v1/players/Ann/items").json
    answer = put_player(world, ANN.id, {"Level": 13, "exp": "1", "X": 9})
    assert answer.json == was | {"Level": 13, "Exp": 1, "X": 9}
    assert record(world, "Ann") == answer.json
    assert world.get("/api/v1/players/Ann/items").json == items
    row = world.ledger()[-1]
    assert json.loads(row.before or "") == {"Level": 12, "Exp": 345, "X": 3}
    assert json.loads(row.after or "") == {"Level": 13, "Exp": 1, "X": 9}


def test_every_field_of_a_record_can_be_changed(world: World) -> None:
    fields = {name: value for name, value in FIELDS.items() if name != "UserId"}
    put_player(world, ANN.id, fields | {"LastOnline": None})
    assert {name: value for name, value in record(world, "Newt").items() if name in fields} == fields


def test_just_the_given_slots_spells_and_variables_are_set(world: World) -> None:
    body = {
        "Items": [stack(0, COIN.id, 9), stack(1, ZERO, 0), stack(8, SWORD.id, StatBuffs=[0, 0, 0, 0, 7])],
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


def test_spells_are_swapped_and_forgotten_by_their_slots(world: World) -> None:
    put_player(world, ANN.id, {"Spells": [{"Slot": 0, "SpellId": HEAL.id}, {"Slot": 1, "SpellId": FIREBALL.id}]})
    put_player(world, ANN.id, {"Spells": [{"Slot": 0, "SpellId": FIREBALL.id}, {"Slot": 1, "SpellId": ZERO}]})
    assert world.get("/api/v1/players/Ann/spells").json == [{"Slot": 0, "SpellId": FIREBALL.id}]


def test_saying_what_is_so_already_leaves_no_trace(world: World) -> None:
    before = everything(world)
    told: dict[str, object] = {"Level": 12, "Name": "Ann", "Variables": [{"VariableId": KILLS.id, "Value": 7}]}
    told |= {"Items": world.get("/api/v1/players/Ann/items/inventory").json}
    told |= {"Bags": [world.get(f"/api/v1/players/bag/{ANNS_POUCH}").json], "Spells": [{"Slot": 9, "SpellId": ZERO}]}
    assert put_player(world, ANN.id, told).json == record(world, "Ann")
    assert put_player(world, ANN.id, {}).status == 200
    assert everything(world) == before


def test_what_is_emptied_is_unequipped_unless_the_report_says_what_is_worn(world: World) -> None:
    put_player(world, ANN.id, {"Items": [stack(2, ZERO, 0)]})
    assert record(world, "Ann")["Equipment"] == [-1, -1, -1, -1, -1]
    put_player(world, ANN.id, {"Items": [stack(2, ZERO, 0), stack(7, SWORD.id)], "Equipment": [-1, -1, 7, -1, -1]})
    assert record(world, "Ann")["Equipment"] == [-1, -1, 7, -1, -1]


RULES: Sequence[tuple[str, dict[str, object], int, str]] = (
    ("unknown item", {"Items": [stack(5, STRANGE)]}, 404, "no_such_item"),
    ("slot beyond the inventory", {"Items": [stack(35, COIN.id)]}, 409, "slot_out_of_range"),
    ("slot beyond the bank", {"Bank": [stack(100, COIN.id)]}, 409, "slot_out_of_range"),
    ("slot beyond the bag", {"Bags": [bag(ANNS_POUCH, stack(8, COIN.id))]}, 409, "slot_out_of_range"),
    ("too many", {"Items": [stack(5, ARROW.id, 101)]}, 409, "stack_too_large"),
    ("more than one that does not stack", {"Bank": [stack(5, SWORD.id, 2)]}, 409, "stack_too_large"),
    ("more than the cap", {"Items": [stack(5, COIN.id, 1_000_001)]}, 409, "stack_too_large"),
    ("unknown spell", {"Spells": [{"Slot": 1, "SpellId": STRANGE}]}, 404, "no_such_spell"),
    ("spell known already", {"Spells": [{"Slot": 1, "SpellId": FIREBALL.id}]}, 409, "spell_already_known"),
    ("slot beyond the spells", {"Spells": [{"Slot": 35, "SpellId": HEAL.id}]}, 409, "slot_out_of_range"),
    ("unknown variable", {"Variables": [{"VariableId": STRANGE, "Value": 1}]}, 404, "no_such_variable"),
    ("wrong type", {"Variables": [{"VariableId": KILLS.id, "Value": True}]}, 400, "wrong_variable_type"),
    ("unknown owner", {"UserId": STRANGE}, 404, "no_such_user"),
    ("name taken", {"Name": "BOB"}, 409, "name_taken"),
    ("reserved name", {"Name": "Rank"}, 400, "reserved_name"),
    ("unknown bag", {"Items": [stack(5, POUCH.id, BagId=STRANGE)]}, 404, "no_such_bag"),
    ("no bag", {"Bags": [bag(ZERO)], "Items": [stack(5, POUCH.id, BagId=ZERO)]}, 404, "no_such_bag"),
    ("bag that no slot holds", {"Bags": [bag(STRANGE)]}, 400, "bad_field"),
    ("bag in two slots", {"Items": [stack(5, POUCH.id, BagId=ANNS_POUCH)]}, 400, "bad_field"),
    ("bag in itself too", {"Bags": [bag(ANNS_POUCH, stack(0, POUCH.id, BagId=ANNS_POUCH))]}, 400, "bad_field"),
    (
        "bag in itself only",
        {"Items": [stack(3, ZERO, 0)], "Bags": [bag(ANNS_POUCH, stack(0, POUCH.id, BagId=ANNS_POUCH))]},
        400,
        "bad_field",
    ),
    (
        "two bags in each other",
        {
            "Items": [stack(3, ZERO, 0)],
            "Bags": [
                bag(ANNS_POUCH, stack(0, POUCH.id, BagId=STRANGE)),
                bag(STRANGE, stack(0, POUCH.id, BagId=ANNS_POUCH)),
            ],
        },
        400,
        "bad_field",
    ),
    ("bag too small for what is in it", {"Bags": [bag(ANNS_POUCH, size=1)]}, 409, "slot_out_of_range"),
)


def test_the_rules_say_no_and_nothing_changes(world: World, subtests: pytest.Subtests) -> None:
    before = everything(world)
    for name, body, status, code in RULES:
        with subtests.test(name):
            refused(put_player(world, ANN.id, {"Level": 50, **body}), status, code)
            assert everything(world) == before


def test_another_players_bag_is_refused(world: World) -> None:
    before = everything(world)
    items = [stack(0, POUCH.id, BagId=ANNS_POUCH)]
    refused(put_player(world, BOB.id, {"Items": items}), 404, "no_such_bag", ANNS_POUCH)
    answer = put_player(world, BOB.id, {"Items": items, "Bags": [bag(ANNS_POUCH)]})
    refused(answer, 400, "bad_field", "another player's")
    player_id, body = newcomer(1, Items=items, Bags=[bag(ANNS_POUCH)])
    refused(put_player(world, player_id, body), 400, "bad_field", "another player's")
    assert everything(world) == before


# --- bags ----------------------------------------------------------------------------------------------------------


def inside(world: World, bag_id: str) -> dict[int, str]:
    slots = world.get(f"/api/v1/players/bag/{bag_id}").json["Slots"]
    return {each["Slot"]: each["ItemId"] for each in slots if each["Quantity"]}


@pytest.mark.parametrize("place", ["Items", "Bank"])
def test_a_bag_moves_with_what_is_in_it(world: World, place: str) -> None:
    body = {"Items": [stack(3, ZERO, 0)], "Bank": []}
    body[place].append(stack(9, POUCH.id, BagId=ANNS_POUCH))
    assert put_player(world, ANN.id, body).status == 200
    assert inventory(world, place="bank" if place == "Bank" else "inventory")[9]["BagId"] == ANNS_POUCH
    assert inside(world, ANNS_POUCH) == {1: ARROW.id}


def test_two_bags_swap_their_slots(world: World) -> None:
    put_player(world, ANN.id, {"Items": [stack(4, POUCH.id)]})
    other = inventory(world)[4]["BagId"]
    body = {"Items": [stack(3, POUCH.id, BagId=other), stack(4, POUCH.id, BagId=ANNS_POUCH)]}
    assert put_player(world, ANN.id, body).status == 200
    assert [inventory(world)[slot]["BagId"] for slot in (3, 4)] == [other, ANNS_POUCH]
    assert (inside(world, other), inside(world, ANNS_POUCH)) == ({}, {1: ARROW.id})


def test_a_bag_reported_without_its_id_stays_the_bag_it_was(world: World) -> None:
    put_player(world, ANN.id, {"Items": [stack(3, POUCH.id)]})
    assert inventory(world)[3]["BagId"] == ANNS_POUCH
    assert inside(world, ANNS_POUCH) == {1: ARROW.id}


def test_a_bag_grows(world: World) -> None:
    assert put_player(world, ANN.id, {"Bags": [bag(ANNS_POUCH, stack(11, COIN.id), size=12)]}).status == 200
    found = world.get(f"/api/v1/players/bag/{ANNS_POUCH}").json
    assert (found["SlotCount"], len(found["Slots"])) == (12, 12)


def test_bags_in_bags_are_lost_with_all_that_is_in_them(world: World) -> None:
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


def test_while_the_catalogue_has_no_items_a_slot_that_names_a_bag_holds_one_thing(world: World) -> None:
    world.sql("DELETE FROM items")
    body = {"Items": [stack(0, STRANGE, 2, BagId=NEW)], "Bags": [bag(NEW)]}
    refused(put_player(world, BOB.id, body), 409, "stack_too_large")
    assert put_player(world, BOB.id, body | {"Items": [stack(0, STRANGE, 1, BagId=NEW)]}).status == 200
    world.post("/api/v1/players/Bob/items/give", {"itemid": STRANGE, "quantity": 2})
    assert [each["Quantity"] for each in inventory(world, "Bob").values()] == [1, 2]
    assert world.post("/api/v1/players/Bob/items/take", {"itemid": STRANGE, "quantity": 2}).status == 200
    refused(world.get(f"/api/v1/players/bag/{NEW}"), 404, "no_such_bag")
    assert [each["Quantity"] for each in inventory(world, "Bob").values()] == [1]


# --- names and deleting --------------------------------------------------------------------------------------------


def test_one_who_is_renamed_while_online_is_listed_by_the_new_name(world: World) -> None:
    heartbeat(world)
    join(world, ANN.id, BOB.id, ZOE.id)
    assert put_player(world, ANN.id, {"Name": "Xena"}).json["Online"] is True
    assert online(world) == ["Bob", "Xena", "Zoe"]
    refused(world.get("/api/v1/players/Ann"), 404, "no_such_player")
    assert put_player(world, ANN.id, {"Name": "XENA"}).json["Name"] == "XENA"
    assert put_player(world, BOB.id, {"Name": "Ann"}).status == 200
    assert online(world) == ["Ann", "XENA", "Zoe"]


def test_one_who_is_online_is_not_deleted(world: World) -> None:
    heartbeat(world)
    join(world, ANN.id)
    before = everything(world)
    refused(world.call("DELETE", f"{LINK}/players/{ANN.id}"), 409, "player_online")
    assert everything(world) == before


def test_deleting_answers_the_record_that_was_and_leaves_nothing(world: World) -> None:
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


def test_deleting_takes_an_id_and_not_a_name(world: World) -> None:
    refused(world.call("DELETE", f"{LINK}/players/Ann"), 400, "bad_field", "'id'")
    refused(world.call("DELETE", f"{LINK}/players/{STRANGE}"), 404, "no_such_player", STRANGE)


# --- who is online -------------------------------------------------------------------------------------------------


def test_a_heartbeat_answers_when_the_lease_ends_and_how_many_are_on(world: World) -> None:
    first = heartbeat(world, "eu-1.game:7777", 60)
    assert list(first.json) == ["Server", "ExpiresAt", "Online"]
    assert (first.json["Server"], first.json["Online"]) == ("eu-1.game:7777", 0)
    join(world, ANN.id, server="eu-1.game:7777")
    later = heartbeat(world, "eu-1.game:7777", 3600)
    assert later.json["Online"] == 1
    assert first.json["ExpiresAt"] < later.json["ExpiresAt"]
    assert later.json["ExpiresAt"].endswith("Z")


def test_presence_is_not_a_change_and_not_in_the_ledger(world: World) -> None:
    rows = len(world.ledger())
    heartbeat(world)
    join(world, ANN.id)
    leave(world, ANN.id)
    lapse(world)
    assert len(world.ledger()) == rows


def test_players_join_and_leave(world: World) -> None:
    heartbeat(world)
    assert join(world, ZOE.id, ANN.id).json == {"Online": 2}
    assert join(world, ANN.id, ANN.id.upper(), BOB.id).json == {"Online": 3}
    assert online(world) == ["Ann", "Bob", "Zoe"]
    assert leave(world, ANN.id, ANN.id).json == {"Online": 2}
    assert leave(world, ANN.id).json == {"Online": 2}
    assert leave(world).json == join(world).json == {"Online": 2}
    assert online(world) == ["Bob", "Zoe"]
    last = record(world, "Ann")["LastOnline"]
    assert last is not None
    assert record(world, "Bob")["LastOnline"] is None


def test_one_is_on_one_server_at_a_time_and_a_late_left_undoes_nothing(world: World) -> None:
    heartbeat(world, "one")
    heartbeat(world, "two")
    assert join(world, ANN.id, BOB.id, server="one").json == {"Online": 2}
    assert join(world, ANN.id, server="two").json == {"Online": 1}
    assert heartbeat(world, "one").json["Online"] == 1
    assert leave(world, ANN.id, server="one").json == {"Online": 1}
    assert online(world) == ["Ann", "Bob"]
    assert leave(world, ANN.id, server="two").json == {"Online": 0}
    assert online(world) == ["Bob"]


def test_when_a_lease_runs_out_its_players_are_offline_and_no_one_else(world: World) -> None:
    heartbeat(world, "one")
    heartbeat(world, "two")
    join(world, ANN.id, ZOE.id, server="one")
    join(world, BOB.id, server="two")
    assert lapse(world, "one") == 1
    assert online(world) == ["Bob"]
    assert record(world, "Zoe")["LastOnline"] is not None
    refused(join(world, ANN.id, server="one"), 404, "no_such_server", "'one'")
    heartbeat(world, "one")
    assert online(world) == ["Bob"]
    assert join(world, ANN.id, server="one").json == {"Online": 1}


def test_until_the_reaper_comes_everybody_agrees_that_a_lapsed_servers_players_are_online(world: World) -> None:
    heartbeat(world)
    join(world, ANN.id)
    world.sql("UPDATE servers SET expires_at = 1")
    assert online(world) == ["Ann"]
    refused(join(world, BOB.id), 404, "no_such_server")
    refused(leave(world, ANN.id), 404, "no_such_server")
    assert online(world) == ["Ann"]


def test_the_reaper_leaves_live_leases_alone(world: World) -> None:
    heartbeat(world)
    join(world, ANN.id)
    before = everything(world)
    assert world.run(game_server.presence.reap(world.keeper.store)) == 0
    assert everything(world) == before


def test_a_server_that_shuts_takes_its_players_offline_at_once(world: World) -> None:
    heartbeat(world)
    join(world, ANN.id)
    answer = world.call("DELETE", f"{LINK}/servers/one", by="Server")
    assert (answer.status, answer.json) == (200, {"Online": 0})
    assert online(world) == []
    assert record(world, "Ann")["LastOnline"] is not None
    refused(world.call("DELETE", f"{LINK}/servers/one"), 404, "no_such_server", "'one'")


def test_unknown_servers_and_players_are_404_and_nobody_joins(world: World) -> None:
    for verb in ("joined", "left"):
        answer = world.post(f"{LINK}/servers/nowhere/{verb}", {"Players": [ANN.id]})
        refused(answer, 404, "no_such_server", "'nowhere'")
    heartbeat(world)
    before = everything(world)
    for unknown in (STRANGE, ZERO):
        refused(join(world, ANN.id, unknown), 404, "no_such_player", unknown)
    assert everything(world) == before


def test_malformed_presence_is_400_with_the_field_named(world: World, subtests: pytest.Subtests) -> None:
    heartbeat(world)
    before = everything(world)
    leases: list[object] = [0, -1, 3601, 1.5, True, None, "soon", [], {}]
    for lease in leases:
        with subtests.test(repr(lease)):
            answer = world.call("PUT", f"{LINK}/servers/one", body={"Lease": lease})
            refused(answer, 400, "bad_field", "'Lease'")
    refused(world.call("PUT", f"{LINK}/servers/one"), 400, "missing_field", "'Lease'")
    refused(world.call("PUT", f"{LINK}/servers/a%20b", body={"Lease": 5}), 400, "bad_field", "'server'")
    refused(world.call("PUT", f"{LINK}/servers/{'x' * 65}", body={"Lease": 5}), 400, "bad_field", "'server'")
    players: list[object] = [None, {}, ANN.id, ["Ann"], [None], [ANN.id, 7]]
    for sent in players:
        with subtests.test(repr(sent)):
            refused(world.post(f"{LINK}/servers/one/joined", {"Players": sent}), 400, "bad_field", "'Players")
    refused(world.post(f"{LINK}/servers/one/left", {}), 400, "missing_field", "'Players'")
    assert everything(world) == before
