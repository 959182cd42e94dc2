"""The rules of slots and stacks: from any valid slots, a gift and a take move exactly the quantity, or nothing."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import count

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gamekeeper.game.core.player import BANK, INVENTORY, NO_BUFFS, Capacity, SlotAddress, Stack
from gamekeeper.game.core.refusals import BagNotEmpty, InventoryFull, NotEnoughItems
from gamekeeper.game.players import inventory
from gamekeeper.game.players.inventory import InventoryChange
from gamekeeper.store.world.catalogue import CatalogueItem

ROOM = Capacity(inventory=4, bank=3, stack=10)
COIN = CatalogueItem("coin", "Coin", stackable=True, max_stack=None, bag_slots=0, icon=None)
ARROW = CatalogueItem("arrow", "Arrow", stackable=True, max_stack=3, bag_slots=0, icon=None)
SWORD = CatalogueItem("sword", "Sword", stackable=False, max_stack=None, bag_slots=0, icon=None)
POUCH = CatalogueItem("pouch", "Pouch", stackable=False, max_stack=None, bag_slots=2, icon=None)
KINDS = {item.id: item for item in (COIN, ARROW, SWORD, POUCH)}
BAG = "bag"
SIZES = {INVENTORY: ROOM.inventory, BANK: ROOM.bank, BAG: 2}


def ids() -> Callable[[], str]:
    numbers = count()
    return lambda: f"new {next(numbers)}"


@st.composite
def worlds(draw: st.DrawFn) -> dict[SlotAddress, Stack]:
    """Generate valid slots: no stack above its limit, a bag for every pouch, and items in about half of the bags."""
    slots: dict[SlotAddress, Stack] = {}
    for place in (INVENTORY, BANK):
        for slot in range(SIZES[place]):
            item = draw(st.sampled_from([None, *KINDS.values()]))
            if item:
                quantity = draw(st.integers(1, inventory.find_stack_limit(item, ROOM)))
                bag_id = f"{place} {slot}" if item is POUCH else None
                buffs = draw(st.sampled_from([NO_BUFFS, (1, 0, 0, 0, 0)]))
                slots[place, slot] = Stack(item.id, quantity, bag_id, buffs)
    if draw(st.booleans()):
        slots[INVENTORY, draw(st.integers(0, ROOM.inventory - 1))] = Stack(POUCH.id, 1, BAG)
        slots[BAG, 1] = Stack(COIN.id, draw(st.integers(1, ROOM.stack)))
    return slots


kinds = st.sampled_from(list(KINDS.values()))
quantities = st.integers(1, 80)


def bags_of(slots: inventory.Slots) -> dict[str, int]:
    return {stack.bag_id: 2 for stack in slots.values() if stack.bag_id}


def sums(slots: inventory.Slots) -> Counter[str]:
    total: Counter[str] = Counter()
    for stack in slots.values():
        total[stack.item_id] += stack.quantity
    return total


def sound(slots: inventory.Slots) -> None:
    for (place, slot), stack in slots.items():
        assert 0 <= slot < SIZES.get(place, 2)
        assert 1 <= stack.quantity <= inventory.find_stack_limit(KINDS[stack.item_id], ROOM)
        assert (stack.bag_id is not None) == (stack.item_id == POUCH.id)
    held = [stack.bag_id for stack in slots.values() if stack.bag_id]
    assert len(set(held)) == len(held)


def given_to(slots: inventory.Slots, item: CatalogueItem, quantity: int, *, overflow: bool) -> InventoryChange:
    return inventory.give(slots, item, quantity, ROOM, overflow=overflow, new_id=ids())


# --- give items ----------------------------------------------------------------------------------------------------


@given(slots=worlds(), item=kinds, quantity=quantities, overflow=st.booleans())
@example(slots={(INVENTORY, 0): Stack("arrow", 3)}, item=ARROW, quantity=1, overflow=False)
def test_give_adds_exactly_the_quantity(
    slots: inventory.Slots, item: CatalogueItem, quantity: int, *, overflow: bool
) -> None:
    before = dict(slots)
    with suppress(InventoryFull):
        outcome = given_to(slots, item, quantity, overflow=overflow)
        after = inventory.apply_slot_changes(slots, outcome.changed_slots)
        assert sums(after) == sums(slots) + Counter({item.id: quantity})
        sound(after)
        assert {place for place, _ in outcome.changed_slots} <= ({INVENTORY, BANK} if overflow else {INVENTORY})
        # the outcome names no slot that stays the same, such as a full stack
        assert all(stack != slots.get(spot) for spot, stack in outcome.changed_slots.items())
        assert set(bags_of(after)) - set(bags_of(slots)) == set(outcome.new_bags)
        assert outcome.removed_bags == {}
        others = {spot: stack for spot, stack in slots.items() if stack.item_id != item.id}
        assert others.items() <= after.items()
    assert slots == before


def space(slots: inventory.Slots, item: CatalogueItem, place: str) -> int:
    """Return how many more of an item fit into the inventory or bank."""
    most = inventory.find_stack_limit(item, ROOM)
    held = [stack.quantity for (where, _), stack in slots.items() if where == place and stack.item_id == item.id]
    free = SIZES[place] - sum(1 for where, _ in slots if where == place)
    return free * most + (sum(most - quantity for quantity in held) if item.stackable else 0)


@given(slots=worlds(), item=kinds, quantity=quantities, overflow=st.booleans())
def test_give_is_refused_exactly_when_the_items_do_not_fit(
    slots: inventory.Slots, item: CatalogueItem, quantity: int, *, overflow: bool
) -> None:
    room = space(slots, item, INVENTORY) + (space(slots, item, BANK) if overflow else 0)
    if quantity <= room:
        after = inventory.apply_slot_changes(slots, given_to(slots, item, quantity, overflow=overflow).changed_slots)
        moved = inventory.count_item(after, item.id).bank - inventory.count_item(slots, item.id).bank
        assert moved == max(0, quantity - space(slots, item, INVENTORY))
    else:
        with pytest.raises(InventoryFull):
            given_to(slots, item, quantity, overflow=overflow)


@given(worlds(), st.sampled_from([COIN, ARROW]), quantities)
def test_give_fills_stacks_in_slot_order_before_free_slots(
    slots: inventory.Slots, item: CatalogueItem, quantity: int
) -> None:
    with suppress(InventoryFull):
        after = inventory.apply_slot_changes(slots, given_to(slots, item, quantity, overflow=False).changed_slots)
        mine = [spot for spot in sorted(after) if spot[0] == INVENTORY and after[spot].item_id == item.id]
        old, new = [spot for spot in mine if spot in slots], [spot for spot in mine if spot not in slots]
        for spots in (old, new):  # before and after the operation, only the last stack of an item may be partly filled
            partly = [spot for spot in spots if after[spot].quantity < inventory.find_stack_limit(item, ROOM)]
            assert all(after[spot] == slots.get(spot) for spot in partly[1:])
        assert not new or all(after[spot].quantity == inventory.find_stack_limit(item, ROOM) for spot in old)
        free = [slot for slot in range(ROOM.inventory) if (INVENTORY, slot) not in slots]
        assert [slot for _, slot in new] == free[: len(new)]


def test_give_does_not_stack_on_a_former_bag() -> None:
    slots = {(INVENTORY, 0): Stack("pouch", 1, BAG)}
    outcome = given_to(slots, POUCH._replace(stackable=True, bag_slots=0), 2, overflow=False)
    assert outcome.changed_slots == {(INVENTORY, 1): Stack("pouch", 2)}


# --- take items ----------------------------------------------------------------------------------------------------


@given(worlds(), kinds, st.one_of(st.integers(1, 3), st.integers(1, 40)))
def test_take_removes_exactly_the_quantity_or_nothing(
    slots: inventory.Slots, item: CatalogueItem, quantity: int
) -> None:
    before = dict(slots)
    mine = [stack for (place, _), stack in slots.items() if place == INVENTORY and stack.item_id == item.id]
    held = sum(stack.quantity for stack in mine)
    filled = {place for place, _ in slots}  # the inventory, the bank, or the id of a bag
    free_to_go = sum(stack.quantity for stack in mine if stack.bag_id not in filled)
    if quantity > held:
        with pytest.raises(NotEnoughItems, match=rf"has only {held} of this item .* not {quantity}\."):
            inventory.take(slots, bags_of(slots), item.id, quantity)
    elif quantity > free_to_go:
        with pytest.raises(BagNotEmpty):
            inventory.take(slots, bags_of(slots), item.id, quantity)
    else:
        outcome = inventory.take(slots, bags_of(slots), item.id, quantity)
        after = inventory.apply_slot_changes(slots, outcome.changed_slots)
        assert sums(after) + Counter({item.id: quantity}) == sums(slots)
        assert {place for place, _ in outcome.changed_slots} == {INVENTORY}
        assert set(bags_of(slots)) - set(bags_of(after)) == set(outcome.removed_bags)
        assert set(outcome.removed_bags.values()) <= {2}
        sound(after)
    assert slots == before


@given(worlds(), st.sampled_from([COIN, ARROW, SWORD]), st.integers(1, 40))
def test_take_empties_the_lowest_slots_first(slots: inventory.Slots, item: CatalogueItem, quantity: int) -> None:
    with suppress(NotEnoughItems):
        outcome = inventory.take(slots, bags_of(slots), item.id, quantity)
        mine = sorted(spot for spot, stack in slots.items() if spot[0] == INVENTORY and stack.item_id == item.id)
        assert list(outcome.changed_slots) == mine[: len(outcome.changed_slots)]
        assert all(outcome.changed_slots[spot] is None for spot in list(outcome.changed_slots)[:-1])


def test_counts_exclude_items_in_bags() -> None:
    slots = {(INVENTORY, 0): Stack("coin", 2), (BANK, 1): Stack("coin", 3), (BAG, 0): Stack("coin", 4)}
    assert inventory.count_item(slots, "coin") == (2, 3)
    assert inventory.count_item(slots, "arrow") == (0, 0)
