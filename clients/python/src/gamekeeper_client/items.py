"""Items of a player: read the inventory, the bank and bags; give and take items."""

from typing import Unpack

import msgspec
from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation
from gamekeeper_client.players import Player

ZERO = "00000000-0000-0000-0000-000000000000"  # item id of an empty slot


class ItemSlot(Struct, rename="pascal"):
    slot: int
    bag_id: str | None = None
    item_id: str = ZERO
    quantity: int = 0
    stat_buffs: list[int] = msgspec.field(default_factory=lambda: [0, 0, 0, 0, 0])


class NamedSlot(ItemSlot, rename="pascal"):
    item_name: str = "ERR_DELETED"  # the name of an empty slot, and of an item that is not in the catalogue


class Items(Struct):
    inventory: list[NamedSlot]
    bank: list[NamedSlot]


class Bag(Struct, rename="pascal"):
    id: str
    slot_count: int
    slots: list[ItemSlot]


class NamedBag(Struct, rename="pascal"):
    id: str
    slot_count: int
    slots: list[NamedSlot]


class Quantity(Struct):
    total: int
    bank: int
    inventory: int


class Given(Struct):
    """Result of giving an item: how many of it the player has after the change."""

    id: str
    quantity: Quantity


class Taken(Struct, rename="pascal"):
    item_id: str
    quantity: int


class ChangedSlot(ItemSlot, rename="pascal"):
    container: str = ""  # "inventory", "bank" or the id of a bag


class ChangedSlots(Struct, rename="pascal"):
    """Result of a change of slots: their content after it."""

    slots: list[ChangedSlot]


class ItemOperations:
    @operation("GET", "/api/v1/players/{player}/items")
    def get_items(self, player: str) -> Payload[Items]:
        """Get a player's inventory and bank.

        Returns every slot of the inventory and the bank, including empty slots.
        Raises NoSuchPlayer, TooManyLongReads, PermissionMissing.
        """
        return Payload(Items)

    @operation("GET", "/api/v1/players/{player}/items/inventory")
    def get_inventory(self, player: str) -> Payload[list[NamedSlot]]:
        """Get a player's inventory.

        Returns every slot, including empty slots.
        Raises NoSuchPlayer, TooManyLongReads, PermissionMissing.
        """
        return Payload(list[NamedSlot])

    @operation("GET", "/api/v1/players/{player}/items/bank")
    def get_bank(self, player: str) -> Payload[list[NamedSlot]]:
        """Get a player's bank.

        Returns every slot, including empty slots.
        Raises NoSuchPlayer, TooManyLongReads, PermissionMissing.
        """
        return Payload(list[NamedSlot])

    @operation("GET", "/api/v1/players/bag/{bag_id}")
    def get_bag(self, bag_id: str) -> Payload[NamedBag]:
        """Get a bag.

        bag_id: id of the bag, from `bag_id` of an item slot.
        Returns the bag with every slot, including empty slots.
        Raises NoSuchBag, BadField, PermissionMissing.
        """
        return Payload(NamedBag)

    @operation("POST", "/api/v1/players/{player}/items/give")
    def give_item(
        self,
        player: str,
        item_id: str,
        quantity: int = 1,
        *,
        bank_overflow: bool = False,
        **options: Unpack[WriteOptions],
    ) -> Payload[Given]:
        """Give items to a player. If not all of them fit, none is given and an error is raised.

        item_id: id of the item in the catalogue.
        quantity: how many to give.
        bank_overflow: put into the bank what does not fit into the inventory.
        Returns how many of the item the player has after the change.
        Raises NoSuchPlayer, NoSuchItem, InventoryFull, ItemNotAllowed, GiftTooLarge, QuotaReached, BadField,
        PermissionMissing.
        """
        return Payload(Given, body={"itemid": item_id, "quantity": quantity, "bankoverflow": bank_overflow})

    @operation("POST", "/api/v1/players/{player}/items/take")
    def take_item(
        self, player: str, item_id: str, quantity: int = 1, **options: Unpack[WriteOptions]
    ) -> Payload[Taken]:
        """Take items out of a player's inventory: all of them, or none and an error.

        item_id: id of the item in the catalogue.
        quantity: how many to take.
        Returns how many were taken.
        Raises NoSuchPlayer, NoSuchItem, NotEnoughItems, BagNotEmpty, BadField, PermissionMissing.
        """
        return Payload(Taken, body={"itemid": item_id, "quantity": quantity})

    @operation("POST", "/api/keeper/v1/players/{player}/items/slots/take")
    def take_from_slot(
        self, player: str, container: str, slot: int, item_id: str, quantity: int = 1, **options: Unpack[WriteOptions]
    ) -> Payload[ChangedSlots]:
        """Take items from one slot: all of them, or none and an error.

        container: "inventory", "bank" or the id of one of the player's bags.
        slot: number of the slot, counted from 0.
        item_id: id of the item that the slot holds; SlotChanged is raised if it holds another.
        quantity: how many to take.
        Returns the slot after the change.
        Raises NoSuchPlayer, NoSuchContainer, SlotChanged, SlotHoldsLess, BagNotEmpty, BadField, PermissionMissing.
        """
        body = {"Container": container, "Slot": slot, "ItemId": item_id, "Quantity": quantity}
        return Payload(ChangedSlots, body=body)

    @operation("POST", "/api/keeper/v1/players/{player}/items/slots/set")
    def set_slot(
        self,
        player: str,
        container: str,
        slot: int,
        item_id: str,
        quantity: int,
        *,
        held: int | None = None,
        **options: Unpack[WriteOptions],
    ) -> Payload[ChangedSlots]:
        """Set how many of an item one slot holds; 0 empties it. More than before counts as a gift.

        container: "inventory", "bank" or the id of one of the player's bags.
        slot: number of the slot, counted from 0.
        item_id: id of the item that the slot holds, or gets if it is empty.
        quantity: how many the slot holds after the change.
        held: how many the slot holds now; SlotChanged is raised if it holds more or less.
        Returns the slot after the change.
        Raises NoSuchPlayer, NoSuchContainer, NoSuchItem, SlotChanged, SlotOutOfRange, StackTooLarge, BagNotEmpty,
        ItemNotAllowed, GiftTooLarge, QuotaReached, BadField, PermissionMissing.
        """
        body = {"Container": container, "Slot": slot, "ItemId": item_id, "Quantity": quantity}
        return Payload(ChangedSlots, body=body if held is None else {**body, "Held": held})

    @operation("POST", "/api/keeper/v1/players/{player}/items/slots/move")
    def move_slot(
        self,
        player: str,
        container: str,
        slot: int,
        item_id: str,
        to_container: str,
        to_slot: int,
        quantity: int | None = None,
        **options: Unpack[WriteOptions],
    ) -> Payload[ChangedSlots]:
        """Move items to another slot: an empty one, a stack of the same item, or swap two stacks.

        container: "inventory", "bank" or the id of one of the player's bags.
        slot: number of the slot, counted from 0.
        item_id: id of the item that the slot holds; SlotChanged is raised if it holds another.
        to_container: where the items go, like `container`.
        to_slot: number of the slot that they go to.
        quantity: how many to move, all or none; default the whole stack, or as many of it as fit.
        Returns both slots after the change.
        Raises NoSuchPlayer, NoSuchContainer, NoSuchItem, SlotChanged, SlotHoldsLess, SlotOccupied, BagInItself,
        SlotOutOfRange, StackTooLarge, BadField, PermissionMissing.
        """
        body = {"Container": container, "Slot": slot, "ItemId": item_id}
        target = {"ToContainer": to_container, "ToSlot": to_slot}
        return Payload(ChangedSlots, body={**body, **target, **({} if quantity is None else {"Quantity": quantity})})

    @operation("POST", "/api/keeper/v1/players/{player}/items/slots/equip")
    def equip_slot(
        self, player: str, slot: int, item_id: str, place: str | None = None, **options: Unpack[WriteOptions]
    ) -> Payload[Player]:
        """Equip the item of an inventory slot, instead of what is equipped there.

        slot: number of the slot of the inventory, counted from 0.
        item_id: id of the item that the slot holds; SlotChanged is raised if it holds another.
        place: "helmet", "armor", "weapon", "shield" or "boots"; default the item's place in the catalogue.
        Returns the player's record after the change.
        Raises NoSuchPlayer, SlotChanged, BadField, PermissionMissing.
        """
        body = {"Slot": slot, "ItemId": item_id}
        return Payload(Player, body=body if place is None else {**body, "Place": place})

    @operation("POST", "/api/keeper/v1/players/{player}/items/slots/unequip")
    def unequip_slot(self, player: str, slot: int, item_id: str, **options: Unpack[WriteOptions]) -> Payload[Player]:
        """Unequip the item of an inventory slot. It stays in the slot.

        slot: number of the slot of the inventory, counted from 0.
        item_id: id of the item that the slot holds; SlotChanged is raised if it holds another.
        Returns the player's record after the change.
        Raises NoSuchPlayer, SlotChanged, BadField, PermissionMissing.
        """
        return Payload(Player, body={"Slot": slot, "ItemId": item_id})
