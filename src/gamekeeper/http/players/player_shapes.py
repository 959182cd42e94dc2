"""JSON shapes of players: record, rank, items, slots, bags and spells, with their bodies and queries."""

import functools
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta, Struct

from gamekeeper.http.contract.records import to_snake
from gamekeeper.http.contract.shapes import (
    NEVER_NULL,
    ZERO,
    Guid,
    Instant,
    Name,
    Natural,
    PageQuery,
    PlainInt32,
    PlainInt64,
    Positive,
    SearchQuery,
    Stats,
    VitalPair,
    describe,
    encode,
    encode_array,
)

# level of a player; the highest level is a setting
Level = Annotated[Positive, Meta(extra_json_schema={"format": "level"})]
EQUIPMENT_DESCRIPTION = "Inventory slots of helmet, armor, weapon, shield, boots; -1 for none."
EquipmentSlots = Annotated[
    list[Annotated[int, Meta(ge=-1, le=2**31 - 1)]], Meta(min_length=5, max_length=5, description=EQUIPMENT_DESCRIPTION)
]


class Rename(Struct):
    name: Annotated[Name, describe("The new name.")]


class SetLevel(Struct):
    level: Annotated[Level, describe("The new level; the experience within it starts at 0.")]


class SetClass(Struct):
    # id of the class; newer engines call the field `id`
    classid: Annotated[Guid, Meta(extra={"or": "id"}, description="Also accepted as `id`.")]


Around = Annotated[int, Meta(ge=0, le=50, description="Number of players above, and below.")]
Order = Annotated[Literal["Ascending", "Descending"], describe("Sort direction; Descending: highest rank first.")]
PlayerSort = Annotated[
    Literal["name", "level"], Meta(description="Sort by; level: as in the ranking.", extra={"blank": True})
]


class PlayersQuery(SearchQuery, frozen=True):
    sortBy: PlayerSort = "name"  # noqa: N815 - the wire's spelling


class RankQuery(PageQuery, frozen=True):
    sortDirection: Order = "Descending"  # noqa: N815 - the wire's spelling


class AroundQuery(Struct, frozen=True):
    around: Around = 5


class PlayerDocument(Struct):
    """The stored part of a player record. ClassName, MapName, Online and LastOnline are appended when it is read."""

    Name: str
    InBank: bool
    UserId: Guid
    MaxVitals: VitalPair
    Id: Guid
    Level: PlainInt32
    Exp: PlainInt64
    ExperienceToNextLevel: PlainInt64
    ClassId: Guid
    Gender: PlainInt32
    Vitals: VitalPair
    BaseStats: Stats
    StatPointAllocations: Stats
    StatPoints: PlainInt32
    Equipment: EquipmentSlots
    MapId: Guid
    X: PlainInt32
    Y: PlainInt32
    Z: PlainInt32
    Dir: PlainInt32
    Sprite: str
    Face: str
    Dead: bool
    CreationDate: Instant
    PlayTimeSeconds: PlainInt64


class PlayerRecord(PlayerDocument):
    """A player's record."""

    # appended to the stored document by `encode_player_tail`
    ClassName: str
    MapName: str
    Online: bool
    LastOnline: Instant | None


class RankedPlayer(PlayerRecord):
    """A player with its rank. `encode_ranked_player` encodes it."""

    Rank: PlainInt32


class Rank(Struct):
    """The rank of one player, with the players above and below. `encode_rank` encodes it."""

    Rank: PlainInt32
    Of: PlainInt32
    Player: PlayerRecord
    Around: list[RankedPlayer]


class OnlineCount(Struct):
    onlineCount: PlainInt32  # noqa: N815 - the wire's spelling


# field of a record or of a stored document → attribute of `Player`
PLAYER_ATTRIBUTES = {name: to_snake(name) for name in (*PlayerDocument.__struct_fields__, "LastOnline")}
PLAYER_ATTRIBUTES["CreationDate"] = "created_at"
PLAYER_FIELDS = {attribute: name for name, attribute in PLAYER_ATTRIBUTES.items()}
# names of a player's stats, in the order of all lists of stats
STATS = ["Attack", "AbilityPower", "Defense", "MagicResist", "Speed"]


@functools.lru_cache(maxsize=4096)
def encode_player_tail(class_name: str, map_name: str, online: bool) -> bytes:  # noqa: FBT001 - called for each player
    """Encode the appended fields of a player record, up to the value of LastOnline.

    Cached, because there are few combinations of class, map and online state.
    """
    names = b',"ClassName":%b,"MapName":%b' % (encode(class_name), encode(map_name))
    return b'%b,"Online":%b,"LastOnline":' % (names, b"true" if online else b"false")


def encode_ranked_player(rank: int, record: bytes) -> bytes:
    return b'{"Rank":%d,' % rank + record[1:]


def encode_rank(rank: int, of: int, player: bytes, around: Sequence[bytes]) -> bytes:
    return b'{"Rank":%d,"Of":%d,"Player":%b,"Around":%b}' % (rank, of, player, encode_array(around))


class GiveItem(Struct):
    itemid: Annotated[Guid, describe("Id of the item in the catalogue.")]
    quantity: Annotated[Positive, describe("How many to give.")]
    bankoverflow: Annotated[bool, describe("Put into the bank what does not fit into the inventory.")] = False


class TakeItem(Struct):
    itemid: Annotated[Guid, describe("Id of the item in the catalogue.")]
    quantity: Annotated[Positive, describe("How many to take.")]


class ItemSlot(Struct):
    TOGETHER: ClassVar = ("ItemId", "Quantity")  # a slot with only one of them would be emptied by mistake
    READ_ONLY: ClassVar = ("ItemName",)
    SENT_TOO: ClassVar = True
    Slot: Natural
    BagId: Guid | None = None
    ItemId: Annotated[Guid, NEVER_NULL] = ZERO
    Quantity: Annotated[Natural, NEVER_NULL] = 0
    StatBuffs: Stats = msgspec.field(default_factory=lambda: [0, 0, 0, 0, 0])


class Bag(Struct):
    SENT_TOO: ClassVar = True
    Id: Guid
    SlotCount: Annotated[int, Meta(ge=1, le=1000)]
    Slots: list[ItemSlot]


DELETED = "ERR_DELETED"  # item name of an empty slot, as in the engine; a real client hides slots with this name


class NamedSlot(ItemSlot):
    """A slot with the item's name in the catalogue; `ERR_DELETED` for an empty slot and for an unknown item."""

    ItemName: str = DELETED


class ChangedSlot(ItemSlot):
    """A slot after a change, with the container that it is in."""

    Container: str = ""


class ChangedSlots(Struct):
    Slots: list[ChangedSlot]


class NamedBag(Struct):
    Id: Guid
    SlotCount: PlainInt32
    Slots: list[NamedSlot]


class Items(Struct):
    inventory: list[NamedSlot]
    bank: list[NamedSlot]


class Quantity(Struct):
    total: PlainInt64
    bank: PlainInt64
    inventory: PlainInt64


class Given(Struct):
    id: Guid
    quantity: Quantity


class Taken(Struct):
    ItemId: Guid
    Quantity: PlainInt32


class ItemsThen(Struct):
    inventory: list[ItemSlot]
    bank: list[ItemSlot]
    bags: list[Bag]


class ChangedBag(Struct):
    Id: str
    SlotCount: PlainInt32 | None
    Slots: list[ItemSlot]


class Sum(Struct):
    ItemId: str
    Quantity: PlainInt64


class Spell(Struct):
    spellid: Annotated[Guid, describe("Id of the spell in the catalogue.")]


class KnownSpell(Struct):
    SENT_TOO: ClassVar = True
    Slot: Natural
    SpellId: Guid


class SpellId(Struct):
    SpellId: Guid
