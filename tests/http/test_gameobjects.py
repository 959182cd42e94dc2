"""The catalogue of the game through the operations of the engine's own clients."""

import json
from typing import Any

import people
from expectations import refused
from game_server import put_catalogue
from gamekeeper.game.lookup import ZERO_GUID
from people import ARROW, COIN, FIREBALL, HEAL, KILLS, MEADOW, POUCH, SWORD, TUTORIAL, UNSET, UNSET_FLAG, WARRIOR
from world import World

OBJECTS = "/api/v1/gameobjects"
ITEMS = [  # items of the catalogue in the expected answer, sorted by name
    {
        "Id": item.id,
        "Name": item.name,
        "Icon": item.icon,
        "Stackable": item.stackable,
        "MaxInventoryStack": most,
        "MaxBankStack": most,
        "SlotCount": item.bag_slots,
    }
    for item, most in ((ARROW, 100), (COIN, 1_000_000), (POUCH, 1), (SWORD, 1))
]
VARIABLES = [
    {"Id": each.id, "Name": each.name, "Type": 1 if each.type == "Boolean" else 2}
    for each in (KILLS, UNSET_FLAG, UNSET, TUTORIAL)
]
SERVER_VARIABLES = [
    {
        "Name": each.name,
        "TextId": each.text_id,
        "Type": {"Integer": 2, "Boolean": 1, "String": 3, "Number": 4}[each.type],
        "Value": None if each.value is None else json.loads(each.value),
        "Folder": each.folder,
        "Id": each.id,
        "TimeCreated": each.created_at,
    }
    for each in sorted(people.SERVER_VARIABLES, key=lambda each: each.name)
]
KNOWN: dict[str, list[dict[str, Any]]] = {
    "item": ITEMS,
    "spell": [{"Id": each.id, "Name": each.name} for each in (FIREBALL, HEAL)],
    "class": [{"Id": WARRIOR.id, "Name": WARRIOR.name}],
    "map": [{"Id": MEADOW.id, "Name": MEADOW.name}],
    "playervariable": VARIABLES,
    "servervariable": SERVER_VARIABLES,
}


def test_every_list_operation_has_the_whole_catalogue(shared_world: World) -> None:
    for kind, wanted in KNOWN.items():
        listed, legacy = shared_world.get(f"{OBJECTS}/{kind}").json, shared_world.post(f"{OBJECTS}/{kind}").json
        assert listed == {"Total": len(wanted), "Page": 0, "PageSize": 5, "Count": len(wanted), "Values": wanted}
        entries = [{"Key": each["Id"], "Value": each} for each in wanted]
        assert legacy == {"total": len(wanted), "Page": 0, "count": len(wanted), "entries": entries}
        assert shared_world.get(f"{OBJECTS}/{kind}/names").json == {
            **listed,
            "Values": [each["Name"] for each in wanted],
        }
        assert shared_world.post(f"{OBJECTS}/{kind}/names").json == {each["Id"]: each["Name"] for each in wanted}
        for each in wanted:
            assert shared_world.get(f"{OBJECTS}/{kind}/{each['Id']}").json == each


def test_unknown_type_or_id_is_404_and_any_spelling_is_accepted(shared_world: World) -> None:
    for method, rest in (("GET", ""), ("POST", ""), ("GET", "/names"), ("POST", "/names"), ("GET", f"/{COIN.id}")):
        answer = shared_world.call(method, f"{OBJECTS}/items{rest}")
        refused(answer, 404, "no_such_object_type", "; use item, spell, class, map, ")
    refused(shared_world.get(f"{OBJECTS}/item/{FIREBALL.id}"), 404, "no_such_object")
    plain = shared_world.get(f"{OBJECTS}/item/{COIN.id}").raw
    assert shared_world.get(f"{OBJECTS}/ITEM/%7B{COIN.id.replace('-', '').upper()}%7D").raw == plain


def test_paging_follows_the_rules_of_other_lists(make_world: Any) -> None:
    world = make_world(max_page_size=3)
    names = [each["Name"] for each in ITEMS]
    for path, wanted in ((f"{OBJECTS}/item", ITEMS), (f"{OBJECTS}/item/names", names)):
        second = world.get(f"{path}?page=1&pageSize=5000").json
        assert (second["Total"], second["Page"], second["PageSize"]) == (4, 1, 3)
        assert second["Values"] == wanted[3:]
        assert world.get(f"{path}?pageSize=3&limit=1").json["Values"] == wanted[:1]
    legacy = world.post(f"{OBJECTS}/item", {"page": "1", "COUNT": 99999}).json
    assert (legacy["total"], legacy["Page"], [each["Value"]["Name"] for each in legacy["entries"]]) == (4, 1, names[3:])
    # count 0 means the default page size, limited to the largest page
    assert world.post(f"{OBJECTS}/item", {"count": 0}).json["count"] == 3


def test_new_entry_and_new_stack_limit_show_at_once(make_world: Any) -> None:
    world = make_world(stack_cap=500)
    kept = world.get(f"{OBJECTS}/item")
    assert kept.json["Values"][1]["MaxInventoryStack"] == 500
    put_catalogue(world, "items", [{"Id": COIN.id, "Name": "Gold Coin", "Stackable": True, "MaxStack": 7}])
    answer = world.get(f"{OBJECTS}/item", headers={"If-None-Match": kept.headers["etag"]})
    assert (answer.status, answer.json["Values"][1]["MaxInventoryStack"]) == (200, 7)


WHITE = {"A": 255, "R": 255, "G": 255, "B": 255}
DEFAULT_TIME = {"DaylightHues": [WHITE, WHITE], "Id": ZERO_GUID, "RangeInterval": 720, "Rate": 1.0, "SyncTime": True}
DUSK = {"A": 204, "R": 0, "G": 0, "B": 64}


def test_time_has_the_engines_defaults_until_it_is_published(world: World) -> None:
    answer = world.get(f"{OBJECTS}/time")
    assert (answer.json, list(answer.json)) == (DEFAULT_TIME, list(DEFAULT_TIME))
    assert b'"Rate":1.0,' in answer.raw
    published = {"Id": COIN.id, "DaylightHues": [DUSK] * 24, "RangeInterval": 60, "Rate": 2.5, "SyncTime": False}
    assert put_catalogue(world, "time", [published]).json == {"Count": 1}
    assert world.get(f"{OBJECTS}/Time/").json == {**published, "Id": ZERO_GUID}
    assert put_catalogue(world, "time", [{"rate": 3}]).json == {"Count": 1}
    assert world.get(f"{OBJECTS}/time").json == {**DEFAULT_TIME, "Rate": 3}
    assert world.get("/api/link/v1/catalogue/time").json["Values"] == [{"Id": ZERO_GUID, "Name": "", "rate": 3}]


def test_time_has_checked_values_and_no_list(shared_world: World) -> None:
    refused(put_catalogue(shared_world, "time", [{"Rate": 1}, {"Rate": 2}]), 400, "bad_field", "one entry")
    wrong = {"DaylightHues": [7], "RangeInterval": "60", "Rate": True, "SyncTime": 1}
    for name, value in wrong.items():
        refused(put_catalogue(shared_world, "time", [{name: value}]), 400, "bad_field", f"'[0].{name}'")
    assert shared_world.get(f"{OBJECTS}/time").json == DEFAULT_TIME
    refused(shared_world.post(f"{OBJECTS}/time", {}), 400, "invalid_object_type", "Invalid object type.")
