"""Rules for slots, stacks and bags: what fits, what can be taken, and the result. They use no database."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from msgspec import Struct

from gamekeeper.game.core.player import BANK, INVENTORY, Capacity, SlotAddress, Stack
from gamekeeper.game.core.refusals import BadField, BagNotEmpty, InventoryFull, NotEnoughItems
from gamekeeper.ground.settings import Settings
from gamekeeper.store.world.catalogue import CatalogueItem

Slots = Mapping[SlotAddress, Stack]  # occupied slot → its content; empty slots are left out
SlotChanges = dict[SlotAddress, Stack | None]  # slot → its new content; None: the slot is empty


class InventoryChange(Struct, frozen=True):
    changed_slots: SlotChanges
    new_bags: dict[str, int] = {}
    removed_bags: dict[str, int] = {}
    # bags that the change resizes: id → former number of slots; `new_bags` has the new number
    resized_bags: dict[str, int] = {}


class ItemCounts(NamedTuple):
    inventory: int
    bank: int


def read_capacity(settings: Settings) -> Capacity:
    return Capacity(settings.inventory_slots, settings.bank_slots, settings.stack_cap)


def give(
    slots: Slots, item: CatalogueItem, quantity: int, room: Capacity, *, overflow: bool, new_id: Callable[[], str]
) -> InventoryChange:
    """Give items to a player: fill stacks in slot order, then free slots; then the bank if `overflow` is true."""
    touched: SlotChanges = {}
    left = quantity
    for place in (INVENTORY, BANK) if overflow else (INVENTORY,):
        if left:
            left = _fill(touched, slots, item, left, place, room)
    if left:
        place = "inventory and bank" if overflow else INVENTORY
        raise InventoryFull(place=place, room=quantity - left, wanted=quantity)
    if not item.bag_slots:
        return InventoryChange(touched)
    bags = {spot: new_id() for spot in touched}
    filled: SlotChanges = {spot: Stack(item.id, 1, bag_id) for spot, bag_id in bags.items()}
    return InventoryChange(filled, new_bags=dict.fromkeys(bags.values(), item.bag_slots))


def take(slots: Slots, bags: Mapping[str, int], item_id: str, quantity: int) -> InventoryChange:
    """Take items from a player's inventory, lowest slots first, but no bag with content. `bags`: bag id → its size."""
    mine = sorted((spot, stack) for spot, stack in slots.items() if spot[0] == INVENTORY and stack.item_id == item_id)
    count_held = sum(stack.quantity for _, stack in mine)
    if count_held < quantity:
        raise NotEnoughItems(held=count_held, wanted=quantity)
    full_bags = {place for place, _ in slots}
    touched: SlotChanges = {}
    left = quantity
    for spot, stack in mine:
        if left and stack.bag_id not in full_bags:
            taken = min(left, stack.quantity)
            left -= taken
            touched[spot] = stack._replace(quantity=stack.quantity - taken) if taken < stack.quantity else None
    if left:
        raise BagNotEmpty
    lost = [stack.bag_id for spot, stack in mine if spot in touched and stack.bag_id]
    return InventoryChange(touched, removed_bags={bag_id: bags[bag_id] for bag_id in lost})


def apply_slot_changes(slots: Slots, touched: SlotChanges) -> dict[SlotAddress, Stack]:
    merged = {**slots, **touched}
    return {spot: stack for spot, stack in merged.items() if stack is not None}


def count_item(slots: Mapping[SlotAddress, Stack | None], item_id: str) -> ItemCounts:
    held = {INVENTORY: 0, BANK: 0}
    for spot, stack in slots.items():
        if stack is not None and stack.item_id == item_id and spot[0] in held:
            held[spot[0]] += stack.quantity
    return ItemCounts(held[INVENTORY], held[BANK])


def find_stack_limit(item: CatalogueItem, room: Capacity) -> int:
    """Return the largest quantity of an item that one slot can hold."""
    return (item.max_stack or room.stack) if item.stackable else 1


def _fill(touched: SlotChanges, slots: Slots, item: CatalogueItem, left: int, place: str, room: Capacity) -> int:
    most = find_stack_limit(item, room)
    if item.stackable:
        item_id = item.id
        mine = [
            spot for spot, stack in slots.items() if stack.item_id == item_id and spot[0] == place and not stack.bag_id
        ]  # not stacks that have a bag: the item was formerly declared a bag
        for spot in sorted(mine):
            stack = slots[spot]
            if left and stack.quantity < most:
                added = min(left, most - stack.quantity)
                touched[spot] = stack._replace(quantity=stack.quantity + added)
                left -= added
    for slot in range(room.count_slots(place)):
        if not left:
            break
        if (place, slot) not in slots:
            added = min(left, most)
            touched[place, slot] = Stack(item.id, added)
            left -= added
    return left


def find_reachable_bags(slots: Slots, bags: Mapping[str, int]) -> set[str]:
    """Return the bags that can be reached from a player's inventory and bank. Refuse a bag that is in two slots."""
    inside: dict[str, list[str]] = {}
    for (place, _), stack in slots.items():
        if stack.bag_id and stack.bag_id in bags:
            inside.setdefault(place, []).append(stack.bag_id)
    held: set[str] = set()
    waiting = inside.get(INVENTORY, []) + inside.get(BANK, [])
    while waiting:
        bag_id = waiting.pop()
        if bag_id in held:
            raise BadField(field="BagId", problem=f"names bag '{bag_id}' in more than one slot")
        held.add(bag_id)
        waiting += inside.get(bag_id, [])
    return held
