"""Table of all writes that can change the stored record of a player."""

from collections.abc import Sequence
from typing import NamedTuple

import people
from gamekeeper.http import samples
from guild_rows import GUILD_ID
from world import World

NEW_ID = people.guid(0x70)
REALM = "/api/link/v1/servers/realm1"
WHOLE = {
    "Name": "Xena",
    "UserId": people.USER_IDS["Bob"],
    "InBank": True,
    "MaxVitals": [9, 8],
    "Level": 40,
    "Exp": 2**62,
    "ExperienceToNextLevel": -1,
    "ClassId": people.WARRIOR.id,
    "Gender": 1,
    "Vitals": [1, 2],
    "BaseStats": [1, 2, 3, 4, 5],
    "StatPointAllocations": [5, 4, 3, 2, 1],
    "StatPoints": 6,
    "Equipment": [0, -1, -1, -1, -1],
    "MapId": people.MEADOW.id,
    "X": -3,
    "Y": 2**31 - 1,
    "Z": -(2**31),
    "Dir": 3,
    "Sprite": "größe \"quoted\" \\ / 'sprite'.png",
    "Face": "😀.png",
    "Dead": True,
    "LastOnline": "2026-01-31T12:00:00.123Z",
    "CreationDate": "2020-02-29T23:59:59.999+02:00",
    "PlayTimeSeconds": 2**40,
    "Items": [{"Slot": 0, "ItemId": people.SWORD.id, "Quantity": 1}],
    "Bank": [{"Slot": 99, "ItemId": people.COIN.id, "Quantity": 5}],
    "Spells": [{"Slot": 3, "SpellId": people.HEAL.id}],
    "Variables": [{"VariableId": people.KILLS.id, "Value": 3}],
}


class Write(NamedTuple):
    row: str  # method and path of the write operation
    path: str
    body: object = None
    first: Sequence["Write"] = ()  # writes that must be sent before this one


CREATE = Write("PUT /api/link/v1/players/[id]", f"/api/link/v1/players/{NEW_ID}", WHOLE)
LEASE = Write("PUT /api/link/v1/servers/[server]", REALM, {"Lease": 60})
JOIN = Write("POST /api/link/v1/servers/[server]/joined", f"{REALM}/joined", {"Players": [people.ANN.id]}, [LEASE])
PUT_PICTURE = Write(
    "PUT /api/link/v1/items/[itemId]/picture",
    f"/api/link/v1/items/{people.COIN.id}/picture",
    {"Picture": samples.PICTURE},
)
PUT_GUILD = Write(
    "PUT /api/link/v1/guilds/[guildId]",
    f"/api/link/v1/guilds/{GUILD_ID}",
    {
        "Name": "Red Hand",
        "FoundingDate": "2021-06-01T10:00:00Z",
        "Members": [{"PlayerId": people.ANN.id, "Rank": 0}],
    },
)
BAN = Write("POST /api/v1/players/[lookupKey]/admin/ban", "/api/v1/players/Ann/admin/ban", {})
MUTE = Write("POST /api/v1/players/[lookupKey]/admin/mute", "/api/v1/players/Ann/admin/mute", {})
ONE_FIELD = [
    Write("PUT /api/link/v1/players/[id]", f"/api/link/v1/players/{people.ZOE.id}", {name: value})
    for name, value in WHOLE.items()
    if name not in {"Items", "Bank", "Spells", "Variables", "LastOnline"}  # LastOnline is left out: presence sets it
]
WRITES = [
    Write(
        "POST /api/v1/players/[lookupKey]/variables/[variableId]",
        f"/api/v1/players/Ann/variables/{people.KILLS.id}",
        {"value": -1},
    ),
    Write(
        "POST /api/v1/players/[lookupKey]/items/give",
        "/api/v1/players/Ann/items/give",
        {"itemid": people.POUCH.id, "quantity": 2},
    ),
    Write(  # this write takes an equipped sword, which also changes the player's record
        "POST /api/v1/players/[lookupKey]/items/take",
        "/api/v1/players/Ann/items/take",
        {"itemid": people.SWORD.id, "quantity": 1},
    ),
    Write(
        "POST /api/keeper/v1/players/[lookupKey]/items/slots/take",
        "/api/keeper/v1/players/Ann/items/slots/take",
        {"Container": "inventory", "Slot": 2, "ItemId": people.SWORD.id, "Quantity": 1},
    ),
    Write(
        "POST /api/keeper/v1/players/[lookupKey]/items/slots/set",
        "/api/keeper/v1/players/Ann/items/slots/set",
        {"Container": "bank", "Slot": 7, "ItemId": people.POUCH.id, "Quantity": 1},
    ),
    Write(
        "POST /api/keeper/v1/players/[lookupKey]/items/slots/move",
        "/api/keeper/v1/players/Ann/items/slots/move",
        {"Container": "inventory", "Slot": 0, "ItemId": people.COIN.id, "ToContainer": "inventory", "ToSlot": 9},
    ),
    Write(
        "POST /api/keeper/v1/players/[lookupKey]/items/slots/equip",
        "/api/keeper/v1/players/Ann/items/slots/equip",
        {"Slot": 1, "ItemId": people.ARROW.id, "Place": "shield"},
    ),
    Write(
        "POST /api/keeper/v1/players/[lookupKey]/items/slots/unequip",
        "/api/keeper/v1/players/Ann/items/slots/unequip",
        {"Slot": 2, "ItemId": people.SWORD.id},
    ),
    Write(
        "POST /api/v1/players/[lookupKey]/spells/teach", "/api/v1/players/Bob/spells/teach", {"spellid": people.HEAL.id}
    ),
    Write(
        "POST /api/v1/players/[lookupKey]/spells/forget",
        "/api/v1/players/Ann/spells/forget",
        {"spellid": people.FIREBALL.id},
    ),
    CREATE,
    Write(  # this write empties the slot of an equipped item
        "PUT /api/link/v1/players/[id]",
        f"/api/link/v1/players/{people.ANN.id}",
        {"Items": [{"Slot": 2}], "Spells": [{"Slot": 0, "SpellId": people.HEAL.id}], "Level": 13},
    ),
    Write("PUT /api/link/v1/players/[id]", CREATE.path, {"Name": "Xenia", "Exp": 0}, [CREATE]),
    Write("DELETE /api/link/v1/players/[id]", f"/api/link/v1/players/{people.ANN.id}"),
    LEASE,
    Write("POST /api/v1/players/[lookupKey]/name", "/api/v1/players/Ann/name", {"name": "Anne"}, [LEASE, JOIN]),
    Write("POST /api/v1/players/[lookupKey]/level", "/api/v1/players/Ann/level", {"level": 99}),
    Write("POST /api/v1/players/[lookupKey]/class", "/api/v1/players/Bob/class", {"classid": people.WARRIOR.id}),
    Write("DELETE /api/v1/players/[lookupKey]", "/api/v1/players/Ann", None),
    BAN,
    MUTE,
    Write("POST /api/v1/players/[lookupKey]/admin/unban", "/api/v1/players/Ann/admin/unban", {}, [BAN]),
    Write("POST /api/v1/players/[lookupKey]/admin/unmute", "/api/v1/players/Ann/admin/unmute", {}, [MUTE]),
    Write("POST /api/v1/players/[lookupKey]/admin/kick", "/api/v1/players/Ann/admin/kick", {}, [LEASE, JOIN]),
    *(
        Write(
            f"POST /api/v1/players/[lookupKey]/admin/{act}",
            f"/api/v1/players/Ann/admin/{act}",
            {"mapid": people.ANN.id} if act != "kill" else {},
            [LEASE, JOIN],
        )
        for act in ("kill", "warpto", "warptoloc")
    ),
    JOIN,
    Write("POST /api/link/v1/servers/[server]/left", f"{REALM}/left", {"Players": [people.ANN.id]}, [LEASE, JOIN]),
    Write("POST /api/link/v1/servers/[server]/acks", f"{REALM}/acks", {"Acks": []}),
    Write("DELETE /api/link/v1/servers/[server]", REALM, None, [LEASE, JOIN]),
    Write("POST /api/link/v1/logs/activity", "/api/link/v1/logs/activity", {"Entries": []}),
    Write("POST /api/link/v1/logs/trades", "/api/link/v1/logs/trades", {"Entries": []}),
    PUT_GUILD,
    Write("DELETE /api/link/v1/guilds/[guildId]", PUT_GUILD.path, None, [PUT_GUILD]),
    Write("PUT /api/link/v1/players/[id]", f"/api/link/v1/players/{people.ANN.id}", {"Name": "Anne"}, [LEASE, JOIN]),
    PUT_PICTURE,
    Write("DELETE /api/link/v1/items/[itemId]/picture", PUT_PICTURE.path, None, [PUT_PICTURE]),
    Write(
        "PUT /api/link/v1/catalogue/[kind]",
        "/api/link/v1/catalogue/classes",
        [{"Id": people.WARRIOR.id, "Name": "Knight"}],
    ),
    Write(
        "PUT /api/link/v1/catalogue/[kind]",
        "/api/link/v1/catalogue/maps",
        [{"Id": people.MEADOW.id, "Name": 'A "quoted" map'}],
    ),
]


def carry_out(world: World, write: Write) -> None:
    for each in (*write.first, write):
        answer = world.call(each.row.partition(" ")[0], each.path, body=each.body)
        assert answer.status == 200, answer.raw
