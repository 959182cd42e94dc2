"""Table of all writes that can change the stored record of a player."""

from collections.abc import Sequence
from typing import NamedTuple

import people
from gamekeeper.http.contract import examples
from guild_rows import GUILD_ID
from reports import FIELDS
from world import World

NEW_ID = people.guid(0x70)
REALM = "/api/link/v1/servers/realm1"
WHOLE: dict[str, object] = {
    **FIELDS,
    "Name": "Xena",
    "Y": 2**31 - 1,
    "Z": -(2**31),
    "Sprite": "größe \"quoted\" \\ / 'sprite'.png",
    "Face": "😀.png",
    "LastOnline": "2026-01-31T12:00:00.123Z",
    "CreationDate": "2020-02-29T23:59:59.999+02:00",
    "PlayTimeSeconds": 2**40,
    "Items": [{"Slot": 0, "ItemId": people.SWORD.id, "Quantity": 1}],
    "Bank": [{"Slot": 99, "ItemId": people.COIN.id, "Quantity": 5}],
    "Spells": [{"Slot": 3, "SpellId": people.HEAL.id}],
    "Variables": [{"VariableId": people.KILLS.id, "Value": 3}],
}


class Write(NamedTuple):
    method: str
    path: str
    body: object = None
    first: Sequence["Write"] = ()  # writes that must be sent before this one


ANN = "/api/v1/players/Ann"
CREATE = Write("PUT", f"/api/link/v1/players/{NEW_ID}", WHOLE)
LEASE = Write("PUT", REALM, {"Lease": 60})
JOIN = Write("POST", f"{REALM}/joined", {"Players": [people.ANN.id]}, [LEASE])
PUT_PICTURE = Write("PUT", f"/api/link/v1/items/{people.COIN.id}/picture", {"Picture": examples.PICTURE})
MEMBER = {"PlayerId": people.ANN.id, "Rank": 0}
GUILD = {"Name": "Red Hand", "FoundingDate": "2021-06-01T10:00:00Z", "Members": [MEMBER]}
PUT_GUILD = Write("PUT", f"/api/link/v1/guilds/{GUILD_ID}", GUILD)
BAN = Write("POST", f"{ANN}/admin/ban", {})
MUTE = Write("POST", f"{ANN}/admin/mute", {})


def change_slot(act: str, **body: object) -> Write:
    return Write("POST", f"/api/keeper/v1/players/Ann/items/slots/{act}", body)


ONE_FIELD = [
    Write("PUT", f"/api/link/v1/players/{people.ZOE.id}", {name: value})
    for name, value in WHOLE.items()
    if name not in {"Items", "Bank", "Spells", "Variables", "LastOnline"}  # LastOnline is left out: presence sets it
]
WRITES = [
    Write("POST", f"{ANN}/variables/{people.KILLS.id}", {"value": -1}),
    Write("POST", f"{ANN}/items/give", {"itemid": people.POUCH.id, "quantity": 2}),
    # takes an equipped sword, which also changes the player's record
    Write("POST", f"{ANN}/items/take", {"itemid": people.SWORD.id, "quantity": 1}),
    change_slot("take", Container="inventory", Slot=2, ItemId=people.SWORD.id, Quantity=1),
    change_slot("set", Container="bank", Slot=7, ItemId=people.POUCH.id, Quantity=1),
    change_slot("move", Container="inventory", Slot=0, ItemId=people.COIN.id, ToContainer="inventory", ToSlot=9),
    change_slot("equip", Slot=1, ItemId=people.ARROW.id, Place="shield"),
    change_slot("unequip", Slot=2, ItemId=people.SWORD.id),
    Write("POST", "/api/v1/players/Bob/spells/teach", {"spellid": people.HEAL.id}),
    Write("POST", f"{ANN}/spells/forget", {"spellid": people.FIREBALL.id}),
    CREATE,
    Write(  # this write empties the slot of an equipped item
        "PUT",
        f"/api/link/v1/players/{people.ANN.id}",
        {"Items": [{"Slot": 2}], "Spells": [{"Slot": 0, "SpellId": people.HEAL.id}], "Level": 13},
    ),
    Write("PUT", CREATE.path, {"Name": "Xenia", "Exp": 0}, [CREATE]),
    Write("DELETE", f"/api/link/v1/players/{people.ANN.id}"),
    LEASE,
    Write("POST", f"{ANN}/name", {"name": "Anne"}, [LEASE, JOIN]),
    Write("POST", f"{ANN}/level", {"level": 99}),
    Write("POST", "/api/v1/players/Bob/class", {"classid": people.WARRIOR.id}),
    Write("DELETE", ANN),
    BAN,
    MUTE,
    Write("POST", f"{ANN}/admin/unban", {}, [BAN]),
    Write("POST", f"{ANN}/admin/unmute", {}, [MUTE]),
    Write("POST", f"{ANN}/admin/kick", {}, [LEASE, JOIN]),
    Write("POST", f"{ANN}/admin/kill", {}, [LEASE, JOIN]),
    Write("POST", f"{ANN}/admin/warpto", {"mapid": people.ANN.id}, [LEASE, JOIN]),
    Write("POST", f"{ANN}/admin/warptoloc", {"mapid": people.ANN.id}, [LEASE, JOIN]),
    JOIN,
    Write("POST", f"{REALM}/left", {"Players": [people.ANN.id]}, [LEASE, JOIN]),
    Write("POST", f"{REALM}/acks", {"Acks": []}),
    Write("DELETE", REALM, None, [LEASE, JOIN]),
    Write("POST", "/api/link/v1/logs/activity", {"Entries": []}),
    Write("POST", "/api/link/v1/logs/trades", {"Entries": []}),
    PUT_GUILD,
    Write("DELETE", PUT_GUILD.path, None, [PUT_GUILD]),
    Write("PUT", f"/api/link/v1/players/{people.ANN.id}", {"Name": "Anne"}, [LEASE, JOIN]),
    PUT_PICTURE,
    Write("DELETE", PUT_PICTURE.path, None, [PUT_PICTURE]),
    Write("PUT", "/api/link/v1/catalogue/classes", [{"Id": people.WARRIOR.id, "Name": "Knight"}]),
    Write("PUT", "/api/link/v1/catalogue/maps", [{"Id": people.MEADOW.id, "Name": 'A "quoted" map'}]),
]


def carry_out(world: World, write: Write) -> None:
    for each in (*write.first, write):
        world.call(each.method, each.path, body=each.body).accepted()
