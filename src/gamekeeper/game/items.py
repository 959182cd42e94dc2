"""Giving and taking items: the rules of inventory.py on what the store has."""

from collections.abc import Iterable
from dataclasses import replace

import msgspec

from gamekeeper.game import inventory, lookup
from gamekeeper.game.changes import Decision
from gamekeeper.game.effects import Change, ItemsChanged, PlayerChanged
from gamekeeper.game.inventory import INVENTORY, Counts, Sizes, Spot, Stack, Touched
from gamekeeper.game.players import Player, unequipped
from gamekeeper.game.refusals import NoSuchBag, NoSuchItem
from gamekeeper.game.spelling import Spelling
from gamekeeper.store import catalogue, items
from gamekeeper.store.catalogue import CatalogueItem
from gamekeeper.store.engine import Reading

_buffs = msgspec.json.Decoder(tuple[int, int, int, int, int])


async def give(tx: Reading, key: str, item_id: str, quantity: int, room: Sizes, *, overflow: bool) -> Decision[Counts]:
    locked = await lookup.locked_player(tx, key)
    item = await known_item(tx, item_id)
    slots = stacks(await items.read_slots_of_player(tx, locked.id))
    outcome = inventory.give(slots, item, quantity, room, overflow=overflow, new_id=lookup.new_guid)
    held = inventory.counts(inventory.after(slots, outcome.touched), item.id)
    return Decision([ItemsChanged("items_given", locked.id, slots, outcome)], held)


async def take(tx: Reading, key: str, item_id: str, quantity: int, spelling: Spelling) -> Decision[int]:
    locked = await lookup.locked_player(tx, key)
    await known_item(tx, item_id)
    slots = stacks(await items.read_slots_of_player(tx, locked.id))
    bags = await items.read_bags_of_player(tx, locked.id) if any(stack.bag_id for stack in slots.values()) else {}
    outcome = inventory.take(slots, bags, item_id, quantity)
    player = spelling.read_player(locked.document, locked.last_online)
    changes: list[Change] = [ItemsChanged("items_taken", locked.id, slots, outcome)]
    return Decision([*changes, *taken_off(player, outcome.touched)], quantity)


def taken_off(player: Player, touched: Touched) -> list[Change]:
    """Nobody wears what they no longer have."""
    emptied = {slot for (place, slot), stack in touched.items() if place == INVENTORY and stack is None}
    after = replace(player, equipment=unequipped(player, emptied))
    return [PlayerChanged(player, after)] if after != player else []


def stacks(rows: Iterable[items.SlotRow]) -> dict[Spot, Stack]:
    return {
        (row.place, row.slot): Stack(row.item_id, row.quantity, row.bag_id, _buffs.decode(row.buffs)) for row in rows
    }


async def known_item(tx: Reading, item_id: str) -> CatalogueItem:
    """The item as the catalogue has it; while the catalogue is empty, any id is a stackable item."""
    found = await catalogue.find_item(tx, item_id) if item_id != lookup.ZERO else None
    if found is None and (item_id == lookup.ZERO or await catalogue.has_items(tx)):
        raise NoSuchItem
    return found or CatalogueItem(item_id, "", stackable=True, max_stack=None, bag_slots=0, icon=None)


async def bag(tx: Reading, bag_id: str) -> tuple[int, dict[Spot, Stack], dict[str, str]]:
    """A bag's size, what is in it, and the names of these items."""
    found = await items.find_bag(tx, bag_id)
    if found is None:
        raise NoSuchBag(id=bag_id)
    rows, names = await items.read_named_slots_of_place(tx, found.player_id, bag_id)
    return found.slot_count, stacks(rows), names
