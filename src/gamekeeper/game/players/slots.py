"""Changing single slots: take from a slot, set its quantity, and move items between slots.

More of an item is a gift and less of it a take, with the kinds of these changes: so limits of gifts, rules of approval
and undo treat them alike. A move creates and destroys nothing.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Codec
from gamekeeper.game.core.refusals import BadField, BagNotEmpty, SlotOutOfRange, StackTooLarge
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.players import items
from gamekeeper.game.players.changes import ItemsChanged
from gamekeeper.game.players.inventory import (
    BANK,
    INVENTORY,
    Capacity,
    InventoryChange,
    SlotAddress,
    SlotChanges,
    Slots,
    Stack,
    apply_slot_changes,
    find_stack_limit,
)
from gamekeeper.game.players.players import Player
from gamekeeper.game.players.refusals import BagInItself, NoSuchContainer, SlotChanged, SlotHoldsLess, SlotOccupied
from gamekeeper.game.world.link import find_reachable_bags
from gamekeeper.store.engine.interface import Locking
from gamekeeper.store.players import items as item_rows
from gamekeeper.store.world.catalogue import CatalogueItem

GIVEN, TAKEN, MOVED = "items_given", "items_taken", "items_set"  # kinds of changes


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


async def take(
    tx: Locking, key: str, source: SlotAddress, item_id: str, quantity: int, room: Capacity, codec: Codec
) -> Decision[SlotChanges]:
    """Take items out of one slot: all of them or none."""
    before = await _lock_slots(tx, key, room, codec)
    spot = before.find_address(*source)
    held = before.require_held(spot, item_id).quantity
    if held < quantity:
        raise SlotHoldsLess(slot=spot[1], held=held, wanted=quantity)
    return _decide(before, TAKEN, plan_less(before.slots, before.bags, spot, held - quantity))


async def set_quantity(
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
    item = await items.require_item(tx, item_id)
    return _decide(before, GIVEN, plan_more(before.slots, item, spot, quantity, room, lookup.new_guid))


async def move(
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
        limit = find_stack_limit(await items.require_item(tx, item_id), room)
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
    return Decision([change, *items.follow_equipment(player, before.slots, touched)], touched)


def _require_reachable(before: SlotsBefore, touched: SlotChanges) -> None:
    """Refuse a move after which a bag could not be reached any more, because it is in itself."""
    if any(stack and stack.bag_id for stack in touched.values()):
        held = find_reachable_bags(before.slots, before.bags)
        if find_reachable_bags(apply_slot_changes(before.slots, touched), before.bags) != held:
            raise BagInItself


async def _lock_slots(tx: Locking, key: str, room: Capacity, codec: Codec) -> SlotsBefore:
    locked = await lookup.lock_player(tx, key)
    slots = items.read_stacks(await item_rows.read_slots_of_player(tx, locked.id))
    player = codec.decode_player(locked.document, locked.last_online)
    return SlotsBefore(player, slots, await item_rows.read_bags_of_player(tx, locked.id), room)


def _can_merge(stack: Stack, other: Stack | None) -> bool:
    """Tell whether two stacks are alike, so that they can be one. Bags are never alike."""
    return other is not None and not stack.bag_id and other._replace(quantity=1) == stack._replace(quantity=1)
