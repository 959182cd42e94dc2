"""Further fields of catalogue entries (details), and objects of the types that no rule depends on."""

import json
from typing import Any

from expectations import everything, refused
from game_server import LINK, put_catalogue
from gamekeeper.http.catalogue_bodies import MAX_DETAILS_BYTES
from gamekeeper.http.unknown_fields import MAX_FURTHER_FIELDS
from loops import over
from people import guid
from reports import NEW
from world import World

OBJECTS = "/api/v1/gameobjects"
OTHERS = {"npc": "npcs", "crafts": "crafts", "uservariable": "uservariables"}  # object type → kind in the catalogue
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


@over("kind", OWN)
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


def test_own_fields_win_over_details(world: World) -> None:
    engine = {"MaxInventoryStack": 77, "MaxBankStack": 88, "slotcount": 9, "Rarity": 1}
    entry = {"id": NEW, "NAME": "Axe", "stackable": True, "maxstack": 5, "icon": "axe.png", **engine}
    put_catalogue(world, "items", [entry])
    own = {"Id": NEW, "Name": "Axe", "Stackable": True, "Icon": "axe.png"}
    assert find(world, "items") == {**own, "MaxStack": 5, "BagSlots": 0, **engine}
    limits = {"MaxInventoryStack": 5, "MaxBankStack": 5, "SlotCount": 0, "Rarity": 1}
    assert world.get(f"{OBJECTS}/item/{NEW}").json == own | limits


def test_only_changed_details_are_recorded(world: World) -> None:
    entry = {"Id": NEW, "Name": "Axe", "Stackable": False}
    put_catalogue(world, "items", [{**entry, "Price": 1}])
    before = everything(world)
    put_catalogue(world, "items", [{**entry, "Price": 1}])
    assert everything(world) == before
    put_catalogue(world, "items", [{**entry, "Price": 2}])
    row = world.ledger()[-1]
    assert [json.loads(side or "")["Items"][0]["Price"] for side in (row.before, row.after)] == [1, 2]
    put_catalogue(world, "items", [entry])  # loses the former fields
    assert "Price" not in find(world, "items")


def test_details_are_limited_and_must_be_storable(world: World) -> None:
    before = everything(world)
    entry = {"Id": NEW, "Name": "Axe", "Stackable": True}
    for name in ("MaxStak", "maxStacks", "BagSlot", "Icn"):  # misspelt fields of ours
        refused(put_catalogue(world, "items", [{**entry, name: 1}]), 400, "unknown_field", f"'[0].{name}'")
    fits = MAX_DETAILS_BYTES - len('{"Description":""}')
    large = [{**entry, "Description": "x" * (fits + 1)}]
    refused(put_catalogue(world, "items", large), 400, "bad_field", "65537 bytes of further fields")
    many = {f"field{number}": 0 for number in range(MAX_FURTHER_FIELDS + 1)}
    refused(put_catalogue(world, "items", [{**entry, **many}]), 400, "bad_field", "more than 500 further fields")
    unstorable = (b'"Price": 1e999', b'"Note": "a\\u0000b"', b'"Note": {"a\\u0000": 1}', b'"No\\u0000te": 1')
    codes = [(each, "bad_field", "cannot be stored") for each in unstorable]
    for details, code, part in (*codes, (b'"Note": "\\ud800"', "malformed_body", "surrogate")):
        raw = b'[{"Id": "%b", "Name": "Axe", %b}]' % (NEW.encode(), details)
        headers = {"Content-Type": "application/json"}
        refused(world.call("PUT", f"{LINK}/catalogue/maps", raw=raw, headers=headers, by="Server"), 400, code, part)
    assert everything(world) == before
    assert put_catalogue(world, "items", [{**entry, "Description": "x" * fits}]).status == 200
    assert len(find(world, "items")["Description"]) == fits


@over("kind", OTHERS)
def test_objects_of_other_types_are_published_and_listed(world: World, kind: str) -> None:
    assert world.get(f"{OBJECTS}/{kind}").json["Total"] == 0
    first = 0x6000 + 10 * [*OTHERS].index(kind)
    published = [{"Id": guid(first + each), "Name": f"Thing {each}", "Level": each} for each in (2, 1, 3)]
    assert put_catalogue(world, OTHERS[kind], published).json == {"Count": 3}
    wanted = sorted(published, key=lambda each: str(each["Name"]))
    assert world.get(f"{OBJECTS}/{kind}?pageSize=2").json["Values"] == wanted[:2]
    legacy = world.post(f"{OBJECTS}/{kind}", {"page": 1, "count": 2}).json
    assert legacy["entries"] == [{"Key": wanted[2]["Id"], "Value": wanted[2]}]
    assert world.get(f"{OBJECTS}/{kind}/names").json["Values"] == [each["Name"] for each in wanted]
    assert world.post(f"{OBJECTS}/{kind}/names").json == {each["Id"]: each["Name"] for each in wanted}
    assert world.get(f"{OBJECTS}/{kind}/{published[0]['Id']}").json == published[0]
    assert world.get(f"{LINK}/catalogue/{OTHERS[kind]}").json["Values"] == wanted
