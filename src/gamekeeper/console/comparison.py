"""Two moments of a player side by side: what came and what went between them, slot by slot and in total."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gamekeeper.console import differences, grids
from gamekeeper.console.differences import Difference, Names
from gamekeeper.console.formats import format_number
from gamekeeper.console.grids import SlotCell, SlotGrid
from gamekeeper.console.past_equipment import PastEquipment
from gamekeeper.console.texts import gettext
from gamekeeper.game.codec import ChangeSide
from gamekeeper.game.inventory import Stack
from gamekeeper.settings import Settings

MINUS = "\u2212"  # the minus sign, as wide as the plus sign


class ItemDifference(NamedTuple):
    """How many of an item the player had at both moments, in all places together."""

    name: str
    before: int
    after: int

    @property
    def change(self) -> str:
        return format_change(self.after - self.before)


class Comparison(NamedTuple):
    pairs: list[tuple[SlotGrid | None, SlotGrid | None]]  # the same place at both moments; None: there was no such bag
    totals: list[ItemDifference]  # items of which there are more or less; a move changes none
    others: list[Difference]  # equipment, spells and variables
    knows_equipment: bool  # whether the equipment of both moments is known


def format_change(number: int) -> str:
    """Write a difference with its sign."""
    return f"+{format_number(number)}" if number > 0 else f"{MINUS}{format_number(-number)}"


def compare(
    states: tuple[ChangeSide, ChangeSide], equipped: Sequence[PastEquipment], names: Names, room: Settings
) -> Comparison:
    before, after = states
    one, other = (grids.make_grids(side, names, room, worn.slots) for side, worn in zip(states, equipped, strict=True))
    sides = [{grid.place: grid for grid in made} for made in (one, other)]
    is_known = all(each.is_known for each in equipped)
    worn = differences.compare_equipment(states, [each.slots for each in equipped], names) if is_known else ()
    places = list(dict.fromkeys([*sides[0], *sides[1]]))
    return Comparison(
        [_mark(sides[0].get(place), sides[1].get(place)) for place in places],
        _count(before, after, names),
        [*worn, *_list_spells(before, after, names), *_list_variables(before, after, names)],
        is_known,
    )


def _mark(before: SlotGrid | None, after: SlotGrid | None) -> tuple[SlotGrid | None, SlotGrid | None]:
    """Mark the slots of both grids in which items came or went."""
    was = {cell.slot: cell for cell in before.cells} if before else {}
    now = {cell.slot: cell for cell in after.cells} if after else {}
    return (
        before and before._replace(cells=_mark_cells(before.cells, now, went=True)),
        after and after._replace(cells=_mark_cells(after.cells, was, went=False)),
    )


def _mark_cells(cells: Iterable[SlotCell], others: Mapping[int, SlotCell], *, went: bool) -> list[SlotCell]:
    found: list[SlotCell] = []
    for cell in cells:
        more = _count_more(cell.stack, others[cell.slot].stack if cell.slot in others else None)
        found.append(cell._replace(change=format_change(-more if went else more), went=went) if more > 0 else cell)
    return found


def _count_more(stack: Stack | None, other: Stack | None) -> int:
    """Return how many items a slot holds that the other moment does not have there."""
    if stack is None:
        return 0
    same = other is not None and other._replace(quantity=1) == stack._replace(quantity=1)
    return stack.quantity - (other.quantity if same and other else 0)


def _count(before: ChangeSide, after: ChangeSide, names: Names) -> list[ItemDifference]:
    sums = [Counter[str](), Counter[str]()]
    for total, side in zip(sums, (before, after), strict=True):
        for stack in side.slots.values():
            if stack:
                total[stack.item_id] += stack.quantity
    changed = [each for each in {*sums[0], *sums[1]} if sums[0][each] != sums[1][each]]
    return sorted(ItemDifference(names.find_name("items", each), sums[0][each], sums[1][each]) for each in changed)


def _list_spells(before: ChangeSide, after: ChangeSide, names: Names) -> Iterable[Difference]:
    known = [{spell for spell in side.spells.values() if spell} for side in (before, after)]
    for spell in sorted(known[0] ^ known[1], key=lambda each: names.find_name("spells", each)):
        said = [gettext("known") if spell in side else differences.NOTHING for side in known]
        yield Difference(names.find_name("spells", spell), *said)


def _list_variables(before: ChangeSide, after: ChangeSide, names: Names) -> Iterable[Difference]:
    for each in sorted({*before.variables, *after.variables}, key=lambda each: names.find_name("variables", each)):
        values = [side.variables.get(each) for side in (before, after)]
        if values[0] != values[1] or type(values[0]) is not type(values[1]):
            yield Difference(names.find_name("variables", each), *map(_say, values))


def _say(value: object) -> str:
    if value is None:
        return differences.NOTHING
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    return format_number(value) if isinstance(value, int | float) else str(value)
