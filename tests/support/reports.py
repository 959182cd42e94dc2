"""Reports of a game server about a player, and reading the result through the API."""

from collections.abc import Mapping
from typing import Any

import people
from gamekeeper.game.core.lookup import ZERO_GUID
from world import World

NEW = people.guid(0x900)
STRANGE = people.guid(0xABC)  # an item, spell or variable id that the catalogue does not have
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


def record(world: World, key: str) -> dict[str, Any]:
    return world.get(f"/api/v1/players/{key}").json


def inventory(world: World, key: str = "Ann", place: str = "inventory") -> dict[int, dict[str, Any]]:
    listed = world.get(f"/api/v1/players/{key}/items/{place}").json
    return {each["Slot"]: each for each in listed if each["ItemId"] != ZERO_GUID}


def bag(bag_id: str, *slots: Mapping[str, object], size: int = 8) -> dict[str, object]:
    return {"Id": bag_id, "SlotCount": size, "Slots": list(slots)}
