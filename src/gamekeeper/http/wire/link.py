"""JSON shapes of the bodies and answers of the game link."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.wire.items import Bag, ItemSlot
from gamekeeper.http.wire.players import EquipmentSlots
from gamekeeper.http.wire.scalars import (
    NEVER_NULL,
    GameText,
    Guid,
    Instant,
    Int32,
    Long,
    LongNatural,
    PlainInt32,
    Positive,
    Stats,
    VitalPair,
)
from gamekeeper.http.wire.spells import KnownSpell
from gamekeeper.http.wire.variables import Variable

Receipt = Annotated[LongNatural | UnsetType, NEVER_NULL]  # number of the last change that was applied


class Lease(Struct):
    Lease: Annotated[int, Meta(ge=1, le=3600)]
    AppliedSeq: Receipt = UNSET


class Players(Struct):
    Players: Annotated[list[Guid], Meta(max_length=10_000)]


class PutPlayer(Struct):
    Name: GameText | UnsetType = UNSET
    InBank: bool | UnsetType = UNSET
    UserId: Guid | UnsetType = UNSET
    MaxVitals: VitalPair | UnsetType = UNSET
    Level: Positive | UnsetType = UNSET
    Exp: LongNatural | UnsetType = UNSET
    ExperienceToNextLevel: Long | UnsetType = UNSET
    ClassId: Guid | UnsetType = UNSET
    Gender: Annotated[int, Meta(ge=0, le=1)] | UnsetType = UNSET
    Vitals: VitalPair | UnsetType = UNSET
    BaseStats: Stats | UnsetType = UNSET
    StatPointAllocations: Stats | UnsetType = UNSET
    StatPoints: Int32 | UnsetType = UNSET
    Equipment: EquipmentSlots | UnsetType = UNSET
    MapId: Guid | UnsetType = UNSET
    X: Int32 | UnsetType = UNSET
    Y: Int32 | UnsetType = UNSET
    Z: Int32 | UnsetType = UNSET
    Dir: Int32 | UnsetType = UNSET
    Sprite: GameText | UnsetType = UNSET
    Face: GameText | UnsetType = UNSET
    Dead: bool | UnsetType = UNSET
    LastOnline: Instant | UnsetType | None = UNSET
    CreationDate: Instant | UnsetType = UNSET
    PlayTimeSeconds: LongNatural | UnsetType = UNSET
    Items: list[ItemSlot] | UnsetType = UNSET
    Bank: list[ItemSlot] | UnsetType = UNSET
    Bags: list[Bag] | UnsetType = UNSET
    Spells: list[KnownSpell] | UnsetType = UNSET
    Variables: Annotated[list[Variable], Meta(max_length=10_000)] | UnsetType = UNSET
    AppliedSeq: Receipt = UNSET


class PutPicture(Struct):
    Picture: Annotated[str, Meta(min_length=1, max_length=87_384)]  # base64 of at most 64 KiB


class ItemPicture(Struct):
    ItemId: Guid
    Hash: str | None


class Count(Struct):
    Count: PlainInt32


class ServerState(Struct):
    Server: str
    ExpiresAt: Instant
    Online: PlainInt32


class Online(Struct):
    Online: PlainInt32
