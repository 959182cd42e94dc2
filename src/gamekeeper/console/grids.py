"""Grids of slots on a player's page: the inventory, the bank and each bag."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gamekeeper.console import differences
from gamekeeper.console.change_fields import EQUIPMENT_WORDS, PARTS
from gamekeeper.console.differences import PLACES, Names
from gamekeeper.console.texts import gettext
from gamekeeper.console.tiles import DATA_URL, Tile, make_tile
from gamekeeper.game.codec import ChangeSide
from gamekeeper.game.inventory import BANK, INVENTORY, SlotAddress, Stack
from gamekeeper.settings import Settings
from gamekeeper.store.catalogue import CatalogueItem

SLOTS_SHOWN = 35  # empty slots at the end of a grid are hidden after this many slots: a bank may have hundreds
DIGITS = 9  # of a slot's number in an address: more than any setting allows


class SlotCell(NamedTuple):
    """One slot of a grid. An empty slot has no stack, and its other fields have their defaults."""

    slot: int
    stack: Stack | None = None
    name: str = ""
    tile: Tile = Tile()
    icon: str = ""
    buffs: tuple[tuple[str, int], ...] = ()
    equipped_as: str = ""
    change: str = ""  # in a comparison of two moments: how many items came or went, with the sign
    went: bool = False


class SlotGrid(NamedTuple):
    title: str
    place: str
    size: int
    used: int
    cells: list[SlotCell]

    @property
    def hidden_slots(self) -> int:
        """Number of empty slots at the end of the grid that are not shown."""
        return self.size - len(self.cells)


class ChosenSlot(NamedTuple):
    """The slot that the page has a form for."""

    grid: SlotGrid
    cell: SlotCell


def find_slot(grids: Iterable[SlotGrid], address: str) -> ChosenSlot | None:
    """Find a slot by its address in a query, such as `bank-3`; None: there is no such slot."""
    place, _, number = address.rpartition("-")
    for grid in grids:
        if grid.place == place and len(number) <= DIGITS and number.isascii() and number.isdigit():
            slot = int(number)
            if slot < grid.size:
                return ChosenSlot(grid, grid.cells[slot] if slot < len(grid.cells) else SlotCell(slot))
    return None


def make_grids(held: ChangeSide, names: Names, room: Settings, equipment: Iterable[int]) -> list[SlotGrid]:
    slots: dict[SlotAddress, Stack] = {spot: stack for spot, stack in held.slots.items() if stack}
    worn = {slot: what for slot, what in zip(equipment, EQUIPMENT_WORDS().values(), strict=False) if slot >= 0}
    bags = {stack.bag_id: (spot, stack) for spot, stack in slots.items() if stack.bag_id}
    names = names._replace(bags={bag: names.find_name("items", stack.item_id) for bag, (_, stack) in bags.items()})
    found = [
        _make_grid(PLACES()[INVENTORY], INVENTORY, room.inventory_slots, slots, names, worn),
        _make_grid(PLACES()[BANK], BANK, room.bank_slots, slots, names),
    ]
    # bags in the inventory come first, then those in the bank, then those in bags, and last those that lie nowhere
    order = {INVENTORY: 0, BANK: 1}
    places = {bag: (order.get(where, 2), where, slot) for bag, ((where, slot), _) in bags.items()}
    for bag, size in sorted(held.bags.items(), key=lambda each: (places.get(each[0], (3, "", 0)), each[0])):
        title = _make_bag_title(*bags[bag], names) if bag in bags else gettext("Bag %(id)s", id=bag[:8])
        found.append(_make_grid(title, bag, size, slots, names))
    return found


def _make_grid(
    title: str,
    place: str,
    size: int,
    slots: Mapping[SlotAddress, Stack],
    names: Names,
    worn: Mapping[int, str] | None = None,
) -> SlotGrid:
    """Make the grid of the inventory, the bank or a bag. Occupied slots beyond its size are shown too."""
    mine = {slot: stack for (where, slot), stack in slots.items() if where == place}
    shown = max(min(size, SLOTS_SHOWN), max(mine, default=-1) + 1)
    cells = [_make_cell(slot, mine.get(slot), names, (worn or {}).get(slot, "")) for slot in range(shown)]
    return SlotGrid(title, place, max(size, shown), len(mine), cells)


def _make_cell(slot: int, stack: Stack | None, names: Names, worn: str) -> SlotCell:
    if stack is None:
        return SlotCell(slot)
    entry = names.known["items"].get(stack.item_id)
    name = names.find_name("items", stack.item_id)
    icon = entry.icon or "" if isinstance(entry, CatalogueItem) else ""
    return SlotCell(
        slot,
        stack,
        name,
        make_tile(stack.item_id, name, entry, names.pictures.get(stack.item_id)),
        "" if icon.startswith(DATA_URL) else icon,
        tuple((what, buff) for what, buff in zip(PARTS()["base_stats"], stack.buffs, strict=False) if buff),
        worn,
    )


def _make_bag_title(spot: SlotAddress, stack: Stack, names: Names) -> str:
    return f"{names.find_name('items', stack.item_id)} ({differences.name_spot(spot, names)})"
