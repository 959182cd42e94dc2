"""Checks of bags, and of slots beyond the configured sizes."""

from collections.abc import Iterable

from gamekeeper.doctor.findings import ERROR, NOTE, REPAIR_ADVICE, Findings
from gamekeeper.game.inventory import BANK
from gamekeeper.settings import Settings
from gamekeeper.store import items, spells
from gamekeeper.store.engine import Reading


async def check(tx: Reading, found: Findings) -> None:
    for bag_id, player_id, count in await items.find_stray_bags(tx):
        found.add(
            ERROR, "bags", f"Bag {bag_id} of player {player_id} is in {count} slots instead of one. {REPAIR_ADVICE}"
        )
    for player_id, place, slot in await items.find_orphan_slots(tx):
        message = (
            f"Slot {slot} of player {player_id} lies in bag {place}, which that player does not have. {REPAIR_ADVICE}"
        )
        found.add(ERROR, "bags", message)


def check_cycles(player_id: str, slots: Iterable[items.PlayerSlot], found: Findings) -> None:
    """Find bags that contain themselves: they cannot be reached from the inventory or the bank."""
    inside = {each.bag_id: each.place for each in slots if each.bag_id}
    for bag_id, place in inside.items():
        outer, seen = place, set[str]()
        while outer in inside and outer not in seen and outer != bag_id:
            seen.add(outer)
            outer = inside[outer]
        if outer == bag_id:
            found.add(ERROR, "bags", f"Bag {bag_id} of player {player_id} lies inside itself. {REPAIR_ADVICE}")


async def check_sizes(tx: Reading, found: Findings, settings: Settings) -> None:
    """Report items in slots beyond the configured sizes. They are not lost, but an operator should know."""
    for place, count in await items.count_slots_beyond(tx, settings.inventory_slots, settings.bank_slots):
        size = settings.bank_slots if place == BANK else settings.inventory_slots
        found.add(NOTE, "sizes", _describe_beyond(count, f"{place} slots", f"{place}_slots", size))
    count = await spells.count_beyond(tx, settings.spell_slots)
    if count:
        found.add(NOTE, "sizes", _describe_beyond(count, "known spells", "spell_slots", settings.spell_slots))


def _describe_beyond(count: int, what: str, setting: str, size: int) -> str:
    return f"{count} {what} are beyond the setting {setting} = {size}. Raise it, or have the game move them."
