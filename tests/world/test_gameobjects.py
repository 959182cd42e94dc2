"""The catalogue of the game: lists of the engine's clients, and further fields (details) of its entries."""

import re
from typing import Any

from expectations import refused, unchanged
from game_server import LINK, put_catalogue
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.http.world import catalogue_shapes
from gamekeeper.http.world.catalogue import MAX_DETAILS_BYTES
from loops import over
from people import ARROW, COIN, FIREBALL, HEAL, KILLS, MEADOW, POUCH, SWORD, TUTORIAL, UNSET, UNSET_FLAG, WARRIOR
from reports import NEW
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
KNOWN: dict[str, list[dict[str, Any]]] = {
    "item": ITEMS,
    "spell": [{"Id": each.id, "Name": each.name} for each in (FIREBALL, HEAL)],
    "class": [{"Id": WARRIOR.id, "Name": WARRIOR.name}],
    "map": [{"Id": MEADOW.id, "Name": MEADOW.name}],
    "playervariable": VARIABLES,
}


def test_every_list_operation_has_the_whole_catalogue(shared_world: World) -> None:
    for kind, wanted in KNOWN.items():
        listed, legacy = shared_world.get(f"{OBJECTS}/{kind}").json, shared_world.post(f"{OBJECTS}/{kind}").json
        assert listed == {"Total": len(wanted), "Page": 0, "PageSize": 5, "Count": len(wanted), "Values": wanted}
        entries = [{"Key": each["Id"], "Value": each} for each in wanted]
        assert legacy == {"total": len(wanted), "Page": 0, "count": len(wanted), "entries": entries}
        assert shared_world.get(f"{OBJECTS}/{kind}/names").json["Values"] == [each["Name"] for each in wanted]
        assert shared_world.post(f"{OBJECTS}/{kind}/names").json == {each["Id"]: each["Name"] for each in wanted}
        for each in wanted:
            assert shared_world.get(f"{OBJECTS}/{kind}/{each['Id']}").json == each


def test_unknown_type_is_404_that_names_all_types(shared_world: World) -> None:
    for method, rest in (("GET", ""), ("POST", ""), ("GET", "/names"), ("POST", "/names"), ("GET", f"/{COIN.id}")):
        answer = shared_world.call(method, f"{OBJECTS}/items{rest}")
        refused(answer, 404, "no_such_object_type", "of type 'items'; use item, ")
        named = re.findall(r"\w+", answer.message.partition("; use ")[2])
        for kind in catalogue_shapes.OBJECTS:
            assert named.count(kind) == 1, kind
        assert {*named} - {*catalogue_shapes.OBJECTS} == {"or"}


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
    refused(put_catalogue(world, "time", [{"Rate": 1}, {"Rate": 2}]), 400, "bad_field", "one entry")
    refused(put_catalogue(world, "time", [{"SyncTime": 1}]), 400, "bad_field", "'[0].SyncTime'")
    assert world.get("/api/link/v1/catalogue/time").json["Values"] == [{"Id": ZERO_GUID, "Name": "", "rate": 3}]


DETAILS: dict[str, Any] = {
    "Description": "Cuts <b>bread</b> & more.",
    "StatsGiven": [1, 0, 0, 0, 2],
    "CanDrop": True,
    "AttackSpeedModifier": 1.0,
    "TimeCreated": -8586599203473051578,
    "Folder": None,
    "ownField": [{"Deep": {"er": 1}}],
}
OWN: dict[str, dict[str, Any]] = {
    "items": {"Stackable": False, "MaxStack": None, "BagSlots": 0, "Icon": "axe.png"},
    "spells": {},
    "variables": {"Type": "Boolean"},
    "classes": {},
    "maps": {},
}
TYPES = {"items": "item", "spells": "spell", "variables": "playervariable", "classes": "class", "maps": "map"}


def find(world: World, kind: str, own_id: str = NEW) -> dict[str, Any]:
    listed = world.get(f"{LINK}/catalogue/{kind}?pageSize=100").json["Values"]
    return next(each for each in listed if each["Id"] == own_id)


@over("kind", *OWN)
def test_further_fields_are_given_back_as_published(world: World, kind: str) -> None:
    entry = {"Id": NEW, "Name": "Axe", **OWN[kind], **DETAILS}
    assert put_catalogue(world, kind, [entry]).json == {"Count": 1}
    assert list(find(world, kind).items()) == list(entry.items())
    shown = world.get(f"{OBJECTS}/{TYPES[kind]}/{NEW}")
    assert {name: shown.json[name] for name in DETAILS} == DETAILS
    assert b'"AttackSpeedModifier":1.0,' in shown.raw
    assert list(shown.json)[:2] == ["Id", "Name"]
    legacy = world.post(f"{OBJECTS}/{TYPES[kind]}", {"count": 100}).json["entries"]
    assert {"Key": NEW, "Value": shown.json} in legacy
    assert shown.json in world.get(f"{OBJECTS}/{TYPES[kind]}?pageSize=100").json["Values"]


def test_details_are_limited_and_must_be_storable(world: World) -> None:
    with unchanged(world):
        entry = {"Id": NEW, "Name": "Axe", "Stackable": True}
        fits = MAX_DETAILS_BYTES - len('{"Description":""}')
        large = [{**entry, "Description": "x" * (fits + 1)}]
        refused(put_catalogue(world, "items", large), 400, "bad_field", "65537 bytes of further fields")
    assert put_catalogue(world, "items", [{**entry, "Description": "x" * fits}]).status == 200
    assert len(find(world, "items")["Description"]) == fits
