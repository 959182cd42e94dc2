"""Giving and taking items, and changing single slots: applies the rules of `inventory.py` to stored players.

More of an item in a slot is a gift and less of it a take, with the kinds of these changes: so limits of gifts, rules of
approval and undo treat them alike. A move between slots creates and destroys nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Change, Codec
from gamekeeper.game.core.player import BANK, INVENTORY, Capacity, Player, SlotAddress, Stack, unequip_slots
from gamekeeper.game.core.refusals import BadField, BagNotEmpty, NoSuchBag, NoSuchItem, SlotOutOfRange, StackTooLarge
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.players import inventory
from gamekeeper.game.players.changes import ItemsChanged, PlayerChanged
from gamekeeper.game.players.inventory import (
    InventoryChange,
    ItemCounts,
    SlotChanges,
    Slots,
    apply_slot_changes,
    find_reachable_bags,
    find_stack_limit,
)
from gamekeeper.game.players.refusals import BagInItself, NoSuchContainer, SlotChanged, SlotHoldsLess, SlotOccupied
from gamekeeper.store.engine.interface import Locking, Reading, Row
from gamekeeper.store.players import items, players
from gamekeeper.store.world import catalogue
from gamekeeper.store.world.catalogue import CatalogueItem

GIVEN, TAKEN, MOVED = "items_given", "items_taken", "items_set"  # kinds of changes
_buffs = msgspec.json.Decoder(tuple[int, int, int, int, int])


async def give(
    tx: Locking, key: str, item_id: str, quantity: int, room: Capacity, *, overflow: bool
) -> Decision[ItemCounts]:
    player_id, item, slots = await _lock_holdings(tx, key, item_id)
    outcome = inventory.give(slots, item, quantity, room, overflow=overflow, new_id=lookup.new_guid)
    held = inventory.count_item({**slots, **outcome.changed_slots}, item_id)
    return Decision([ItemsChanged(GIVEN, player_id, slots, outcome)], held)


async def take(tx: Locking, key: str, item_id: str, quantity: int, codec: Codec) -> Decision[int]:
    player_id, _, slots = await _lock_holdings(tx, key, item_id)
    has_bags = any(stack.bag_id for stack in slots.values() if stack.item_id == item_id)
    bags = await items.read_bags_of_player(tx, player_id) if has_bags else {}
    outcome = inventory.take(slots, bags, item_id, quantity)
    changes: list[Change] = [ItemsChanged(TAKEN, player_id, slots, outcome)]
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


class SlotsBefore(NamedTuple):
    """A locked player with its slots and bags, and the rules for what fits."""

    player: Player
    slots: Slots
    bags: Mapping[str, int]  # bag id → number of slots
    room: Capacity

    def find_address(self, container: str, slot: int) -> SlotAddress:
        """Return the address of a slot. Accepts slots beyond the size: they may hold items since a size changed."""
        place = container if container in (INVENTORY, BANK) else lookup.parse_guid(container)
        if place is None or not (place in (INVENTORY, BANK) or place in self.bags):
            raise NoSuchContainer(container=container)
        return place, slot

    def require_room(self, spot: SlotAddress) -> None:
        place, slot = spot
        size = self.room.count_slots(place) if place in (INVENTORY, BANK) else self.bags[place]
        if slot >= size:
            raise SlotOutOfRange(slot=slot, place=place, size=size)

    def require_held(self, spot: SlotAddress, item_id: str) -> Stack:
        stack = self.slots.get(spot)
        if stack is None or stack.item_id != item_id:
            raise SlotChanged(slot=spot[1])
        return stack


async def take_from_slot(
    tx: Locking, key: str, source: SlotAddress, item_id: str, quantity: int, room: Capacity, codec: Codec
) -> Decision[SlotChanges]:
    """Take items out of one slot: all of them or none."""
    before = await _lock_slots(tx, key, room, codec)
    spot = before.find_address(*source)
    held = before.require_held(spot, item_id).quantity
    if held < quantity:
        raise SlotHoldsLess(slot=spot[1], held=held, wanted=quantity)
    return _decide(before, TAKEN, plan_less(before.slots, before.bags, spot, held - quantity))


async def set_slot_quantity(
    tx: Locking,
    key: str,
    target: SlotAddress,
    item_id: str,
    quantity: int,
    expected: int | None,
    room: Capacity,
    codec: Codec,
) -> Decision[SlotChanges]:
    """Set how many of an item a slot holds; 0 empties it. `expected`: the quantity that the caller saw there."""
    before = await _lock_slots(tx, key, room, codec)
    spot = before.find_address(*target)
    stack = before.slots.get(spot)
    held = stack.quantity if stack else 0
    if (stack and stack.item_id != item_id) or (expected is not None and expected != held):
        raise SlotChanged(slot=spot[1])
    if quantity == held:
        return Decision([], {spot: stack}, subject=(before.player.id, None))
    if quantity < held:
        return _decide(before, TAKEN, plan_less(before.slots, before.bags, spot, quantity))
    before.require_room(spot)
    item = await require_item(tx, item_id)
    return _decide(before, GIVEN, plan_more(before.slots, item, spot, quantity, room, lookup.new_guid))


async def move_between_slots(
    tx: Locking,
    key: str,
    source: SlotAddress,
    target: SlotAddress,
    item_id: str,
    quantity: int | None,
    room: Capacity,
    codec: Codec,
) -> Decision[SlotChanges]:
    """Move items to another slot. Without a quantity, the whole stack moves, or as many of it as fit on a like one."""
    before = await _lock_slots(tx, key, room, codec)
    start, end = before.find_address(*source), before.find_address(*target)
    if start == end:
        raise BadField(field="ToSlot", problem="must be another slot")
    stack = before.require_held(start, item_id)
    before.require_room(end)
    limit = stack.quantity
    if _can_merge(stack, before.slots.get(end)):
        limit = find_stack_limit(await require_item(tx, item_id), room)
    touched = plan_move(before.slots, start, end, quantity, limit)
    if touched[start] is not None and touched[start] == before.slots.get(end):
        before.require_room(start)  # the stacks change places
    _require_reachable(before, touched)
    return _decide(before, MOVED, InventoryChange(touched))


def plan_less(slots: Slots, bags: Mapping[str, int], spot: SlotAddress, quantity: int) -> InventoryChange:
    """Leave `quantity` of the items in a slot. A bag with content stays."""
    stack = slots[spot]
    if quantity:
        return InventoryChange({spot: stack._replace(quantity=quantity)})
    if stack.bag_id and any(place == stack.bag_id for place, _ in slots):
        raise BagNotEmpty
    removed = {stack.bag_id: bags[stack.bag_id]} if stack.bag_id and stack.bag_id in bags else {}
    return InventoryChange({spot: None}, removed_bags=removed)


def plan_more(
    slots: Slots, item: CatalogueItem, spot: SlotAddress, quantity: int, room: Capacity, new_id: Callable[[], str]
) -> InventoryChange:
    """Fill a slot up to `quantity`. A bag item gets a new, empty bag."""
    stack = slots.get(spot)
    most = 1 if item.bag_slots or (stack and stack.bag_id) else find_stack_limit(item, room)
    if quantity > most:
        raise StackTooLarge(slot=spot[1], most=most, item=item.id)
    if stack:
        return InventoryChange({spot: stack._replace(quantity=quantity)})
    bag_id = new_id() if item.bag_slots else None
    return InventoryChange(
        {spot: Stack(item.id, quantity, bag_id)}, new_bags={bag_id: item.bag_slots} if bag_id else {}
    )


def plan_move(slots: Slots, start: SlotAddress, end: SlotAddress, quantity: int | None, limit: int) -> SlotChanges:
    """Move items of a slot to an empty one, onto a like stack of at most `limit`, or swap two stacks."""
    stack, other = slots[start], slots.get(end)
    moved = stack.quantity if quantity is None else quantity
    if moved > stack.quantity:
        raise SlotHoldsLess(slot=start[1], held=stack.quantity, wanted=moved)
    left = stack.quantity - moved
    if other is None:
        return {start: stack._replace(quantity=left) if left else None, end: stack._replace(quantity=moved)}
    if not _can_merge(stack, other):
        if left:
            raise SlotOccupied(slot=end[1])
        return {start: other, end: stack}
    free = limit - other.quantity
    if free <= 0 or (quantity is not None and moved > free):
        raise StackTooLarge(slot=end[1], most=limit, item=stack.item_id)
    added = min(moved, free)
    left = stack.quantity - added
    return {
        start: stack._replace(quantity=left) if left else None,
        end: other._replace(quantity=other.quantity + added),
    }


def _decide(before: SlotsBefore, kind: str, outcome: InventoryChange) -> Decision[SlotChanges]:
    touched, player = outcome.changed_slots, before.player
    change = ItemsChanged(kind, player.id, before.slots, outcome)
    return Decision([change, *follow_equipment(player, before.slots, touched)], touched)


def _require_reachable(before: SlotsBefore, touched: SlotChanges) -> None:
    """Refuse a move after which a bag could not be reached any more, because it is in itself."""
    if any(stack and stack.bag_id for stack in touched.values()):
        held = find_reachable_bags(before.slots, before.bags)
        if find_reachable_bags(apply_slot_changes(before.slots, touched), before.bags) != held:
            raise BagInItself


async def _lock_slots(tx: Locking, key: str, room: Capacity, codec: Codec) -> SlotsBefore:
    locked = await lookup.lock_player(tx, key)
    slots = read_stacks(await items.read_slots_of_player(tx, locked.id))
    player = codec.decode_player(locked.document, locked.last_online)
    return SlotsBefore(player, slots, await items.read_bags_of_player(tx, locked.id), room)


def _can_merge(stack: Stack, other: Stack | None) -> bool:
    """Tell whether two stacks are alike, so that they can be one. Bags are never alike."""
    return other is not None and not stack.bag_id and other._replace(quantity=1) == stack._replace(quantity=1)
