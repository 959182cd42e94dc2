"""JSON shapes of items, slots and bags."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.wire.scalars import NEVER_NULL, ZERO, Guid, Natural, PlainInt32, PlainInt64, Positive, Stats, Text


class GiveItem(Struct):
    itemid: Guid
    quantity: Positive
    bankoverflow: bool = False


class TakeItem(Struct):
    itemid: Guid
    quantity: Positive


CONTAINER = "`inventory`, `bank`, or the id of one of the player's bags."
ContainerName = Annotated[Text, Meta(description=CONTAINER)]


class TakeFromSlot(Struct):
    Container: ContainerName
    Slot: Natural
    ItemId: Guid  # the item that the slot is expected to hold
    Quantity: Positive


class SetSlot(Struct):
    Container: ContainerName
    Slot: Natural
    ItemId: Guid  # the item that the slot is expected to hold, or gets if it is empty
    Quantity: Natural
    Held: Natural | UnsetType = UNSET  # the quantity that the slot is expected to hold


class MoveSlot(Struct):
    Container: ContainerName
    Slot: Natural
    ItemId: Guid  # the item that the slot is expected to hold
    ToContainer: ContainerName
    ToSlot: Natural
    Quantity: Positive | UnsetType = UNSET


EquipmentPlace = Annotated[
    Literal["helmet", "armor", "weapon", "shield", "boots"],
    Meta(description="Default: the further field `EquipmentSlot` of the item in the catalogue, 0 to 4 in this order."),
]


class EquipSlot(Struct):
    Slot: Natural  # slot of the inventory
    ItemId: Guid  # the item that the slot is expected to hold
    Place: EquipmentPlace | UnsetType = UNSET


class UnequipSlot(Struct):
    Slot: Natural  # slot of the inventory
    ItemId: Guid  # the item that the slot is expected to hold


class ItemSlot(Struct):
    Slot: Natural
    BagId: Guid | None = None
    ItemId: Annotated[Guid, NEVER_NULL] = ZERO
    Quantity: Annotated[Natural, NEVER_NULL] = 0
    StatBuffs: Stats = msgspec.field(default_factory=lambda: [0, 0, 0, 0, 0])


class Bag(Struct):
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
