"""Giving and taking items: applies the rules of `inventory.py` to stored players."""

from collections.abc import Iterable
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Change, Codec
from gamekeeper.game.core.refusals import NoSuchBag, NoSuchItem
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.players import inventory
from gamekeeper.game.players.changes import ItemsChanged, PlayerChanged
from gamekeeper.game.players.inventory import INVENTORY, Capacity, ItemCounts, SlotAddress, SlotChanges, Slots, Stack
from gamekeeper.game.players.players import Player, unequip_slots
from gamekeeper.store.engine.interface import Locking, Reading, Row
from gamekeeper.store.players import items, players
from gamekeeper.store.world import catalogue
from gamekeeper.store.world.catalogue import CatalogueItem

_buffs = msgspec.json.Decoder(tuple[int, int, int, int, int])


async def give(
    tx: Locking, key: str, item_id: str, quantity: int, room: Capacity, *, overflow: bool
) -> Decision[ItemCounts]:
    player_id, item, slots = await _lock_holdings(tx, key, item_id)
    outcome = inventory.give(slots, item, quantity, room, overflow=overflow, new_id=lookup.new_guid)
    held = inventory.count_item({**slots, **outcome.changed_slots}, item_id)
    return Decision([ItemsChanged("items_given", player_id, slots, outcome)], held)


async def take(tx: Locking, key: str, item_id: str, quantity: int, codec: Codec) -> Decision[int]:
    player_id, _, slots = await _lock_holdings(tx, key, item_id)
    has_bags = any(stack.bag_id for stack in slots.values() if stack.item_id == item_id)
    bags = await items.read_bags_of_player(tx, player_id) if has_bags else {}
    outcome = inventory.take(slots, bags, item_id, quantity)
    changes: list[Change] = [ItemsChanged("items_taken", player_id, slots, outcome)]
    locked = await players.read_locked(tx, player_id) if None in outcome.changed_slots.values() else None
    if locked:  # a slot was emptied: the item in it may be equipped
        player = codec.decode_player(locked.document, locked.last_online)
        changes += unequip_removed(player, outcome.changed_slots)
    return Decision(changes, quantity)


async def _lock_holdings(tx: Locking, key: str, item_id: str) -> tuple[str, CatalogueItem, dict[SlotAddress, Stack]]:
    """Lock a player, and read its slots and an item of the catalogue, by a statement that begins after the lock."""
    found = await items.read_holdings(tx, await lookup.hold_player(tx, key), item_id)
    if found is None:
        raise lookup.make_no_such_player(key)
    if found.is_unknown or item_id == lookup.ZERO_GUID:
        raise NoSuchItem
    if found.stackable is None:
        item = make_uncatalogued_item(item_id)
    else:
        item = CatalogueItem(item_id, "", bool(found.stackable), found.max_stack, found.bag_slots or 0, None)
    return found.player_id, item, read_stacks(found.slots)


def unequip_removed(player: Player, touched: SlotChanges) -> list[Change]:
    """Return the change that unequips the inventory slots that were emptied, if one of them was equipped."""
    emptied = {slot for (place, slot), stack in touched.items() if place == INVENTORY and stack is None}
    after = replace(player, equipment=unequip_slots(player, emptied))
    return [PlayerChanged(player, after)] if after != player else []


def follow_equipment(player: Player, slots: Slots, touched: SlotChanges) -> list[Change]:
    """Return the change of the equipment after a change of slots, if there is one.

    An equipped item that the change moves to another slot of the inventory stays equipped; one that leaves does not.
    """
    kept = tuple(_follow_slot(slot, slots, touched) for slot in player.equipment)
    return [PlayerChanged(player, replace(player, equipment=kept))] if kept != player.equipment else []


def _follow_slot(slot: int, slots: Slots, touched: SlotChanges) -> int:
    was = slots.get((INVENTORY, slot))
    if was is None or (INVENTORY, slot) not in touched or _is_like(was, touched[INVENTORY, slot]):
        return slot
    targets = [
        to
        for (place, to), stack in touched.items()
        if place == INVENTORY and _is_like(was, stack) and not _is_like(was, slots.get((place, to)))
    ]
    return targets[0] if len(targets) == 1 else -1


def _is_like(stack: Stack, other: Stack | None) -> bool:
    """Tell whether two stacks have the same item, in any quantity."""
    return other is not None and stack._replace(quantity=1) == other._replace(quantity=1)


def read_stacks(rows: Iterable[Row]) -> dict[SlotAddress, Stack]:
    return {
        (place, slot): Stack(item_id, quantity, bag_id, _decode_buffs(buffs))
        for place, slot, item_id, quantity, bag_id, buffs in rows
    }


@lru_cache(maxsize=1024)
def _decode_buffs(text: str) -> tuple[int, ...]:
    """Decode an item's buffs. The cache helps because most items have none, or those of their kind."""
    return _buffs.decode(text)


def make_uncatalogued_item(item_id: str) -> CatalogueItem:
    """Make the entry that counts for any item while the catalogue has no items."""
    return CatalogueItem(item_id, "", stackable=True, max_stack=None, bag_slots=0, icon=None)


async def require_item(tx: Reading, item_id: str) -> CatalogueItem:
    """Return an item of the catalogue. While the catalogue has no items, every id counts as a stackable item."""
    found = await catalogue.find_item(tx, item_id) if item_id != lookup.ZERO_GUID else None
    if found is None and (item_id == lookup.ZERO_GUID or await catalogue.has_items(tx)):
        raise NoSuchItem
    return found or make_uncatalogued_item(item_id)


async def load_bag(tx: Reading, bag_id: str) -> tuple[int, dict[SlotAddress, Stack], dict[str, str]]:
    """Return a bag's size, its content, and the names of the items in it."""
    found = await items.find_bag(tx, bag_id)
    if found is None:
        raise NoSuchBag(id=bag_id)
    rows, names = await items.read_named_slots_of_place(tx, found.player_id, bag_id)
    return found.slot_count, read_stacks(rows), names
