"""Items, spells, variables, classes and maps: as a game server reports them, and as the engine lists them."""

from collections.abc import Mapping
from typing import Annotated, Generic, Literal

from msgspec import Meta, Struct

from gamekeeper.http.wire.lists import R
from gamekeeper.http.wire.scalars import GameText, Guid, PlainInt32, Positive, encode


class ItemEntry(Struct):
    Id: Guid
    Name: GameText
    Stackable: bool
    MaxStack: Positive | None = None
    BagSlots: Annotated[int, Meta(ge=0, le=1000)] = 0
    Icon: GameText | None = None


class NamedEntry(Struct):
    Id: Guid
    Name: GameText


class VariableEntry(Struct):
    Id: Guid
    Name: GameText
    Type: Literal["Integer", "Boolean"]


class ItemObject(Struct):
    Id: Guid
    Name: str
    Icon: str | None
    Stackable: bool
    MaxInventoryStack: PlainInt32
    MaxBankStack: PlainInt32
    SlotCount: PlainInt32  # number of slots of a bag item; 0: the item is no bag


class VariableObject(Struct):
    Id: Guid
    Name: str
    Type: Literal[1, 2]  # type of the variable: 1 boolean, 2 integer


class Keyed(Struct, Generic[R]):
    """A pair of id and record, as in the engine's lists. `encode_keyed` encodes it."""

    Key: Guid
    Value: R


Entry = ItemEntry | NamedEntry | VariableEntry
GameObject = ItemObject | VariableObject | NamedEntry
ENTRIES: Mapping[str, type[Entry]] = {
    "items": ItemEntry,
    "spells": NamedEntry,
    "variables": VariableEntry,
    "classes": NamedEntry,
    "maps": NamedEntry,
}
OBJECTS: Mapping[str, str | None] = {  # object type of the engine → kind in the catalogue; None: not stored
    "item": "items",
    "spell": "spells",
    "class": "classes",
    "map": "maps",
    "playervariable": "variables",
    **dict.fromkeys(("animation", "npc", "projectile", "quest", "resource", "shop", "crafttables", "crafts", "event")),
    **dict.fromkeys(("servervariable", "tileset", "guildvariable", "uservariable")),
}


def encode_keyed(key: str, record: bytes) -> bytes:
    return b'{"Key":%b,"Value":%b}' % (encode(key), record)
