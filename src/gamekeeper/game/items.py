"""Giving and taking items: applies the rules of `inventory.py` to stored players."""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from gamekeeper.game import inventory, lookup
from gamekeeper.game.changes import Decision
from gamekeeper.game.codec import Codec
from gamekeeper.game.effects import Change, ItemsChanged, PlayerChanged
from gamekeeper.game.inventory import INVENTORY, Capacity, ItemCounts, SlotAddress, SlotChanges, Stack
from gamekeeper.game.players import Player, unequip_slots
from gamekeeper.game.refusals import NoSuchBag, NoSuchItem
from gamekeeper.store import catalogue, items
from gamekeeper.store.catalogue import CatalogueItem
from gamekeeper.store.engine import Reading

_buffs = msgspec.json.Decoder(tuple[int, int, int, int, int])


async def give(
    tx: Reading, key: str, item_id: str, quantity: int, room: Capacity, *, overflow: bool
) -> Decision[ItemCounts]:
    locked = await lookup.lock_player(tx, key)
    item = await require_item(tx, item_id)
    slots = read_stacks(await items.read_slots_of_player(tx, locked.id))
    outcome = inventory.give(slots, item, quantity, room, overflow=overflow, new_id=lookup.new_guid)
    held = inventory.count_item(inventory.apply_slot_changes(slots, outcome.changed_slots), item.id)
    return Decision([ItemsChanged("items_given", locked.id, slots, outcome)], held)


async def take(tx: Reading, key: str, item_id: str, quantity: int, codec: Codec) -> Decision[int]:
    locked = await lookup.lock_player(tx, key)
    await require_item(tx, item_id)
    slots = read_stacks(await items.read_slots_of_player(tx, locked.id))
    bags = await items.read_bags_of_player(tx, locked.id) if any(stack.bag_id for stack in slots.values()) else {}
    outcome = inventory.take(slots, bags, item_id, quantity)
    player = codec.decode_player(locked.document, locked.last_online)
    changes: list[Change] = [ItemsChanged("items_taken", locked.id, slots, outcome)]
    return Decision([*changes, *unequip_removed(player, outcome.changed_slots)], quantity)


def unequip_removed(player: Player, touched: SlotChanges) -> list[Change]:
    """Return the change that unequips the inventory slots that were emptied, if one of them was equipped."""
    emptied = {slot for (place, slot), stack in touched.items() if place == INVENTORY and stack is None}
    after = replace(player, equipment=unequip_slots(player, emptied))
    return [PlayerChanged(player, after)] if after != player else []


def read_stacks(rows: Iterable[items.SlotRow]) -> dict[SlotAddress, Stack]:
    return {
        (row.place, row.slot): Stack(row.item_id, row.quantity, row.bag_id, _buffs.decode(row.buffs)) for row in rows
    }


async def require_item(tx: Reading, item_id: str) -> CatalogueItem:
    """Return an item of the catalogue. While the catalogue has no items, every id counts as a stackable item."""
    found = await catalogue.find_item(tx, item_id) if item_id != lookup.ZERO_GUID else None
    if found is None and (item_id == lookup.ZERO_GUID or await catalogue.has_items(tx)):
        raise NoSuchItem
    return found or CatalogueItem(item_id, "", stackable=True, max_stack=None, bag_slots=0, icon=None)


async def load_bag(tx: Reading, bag_id: str) -> tuple[int, dict[SlotAddress, Stack], dict[str, str]]:
    """Return a bag's size, its content, and the names of the items in it."""
    found = await items.find_bag(tx, bag_id)
    if found is None:
        raise NoSuchBag(id=bag_id)
    rows, names = await items.read_named_slots_of_place(tx, found.player_id, bag_id)
    return found.slot_count, read_stacks(rows), names
