"""Equipped items that an action takes off because they leave their slot, for the dialog of that action."""

from collections.abc import Sequence
from typing import cast

from gamekeeper.console import differences
from gamekeeper.console.api_keys import Fact
from gamekeeper.console.change_fields import PARTS
from gamekeeper.console.texts import gettext
from gamekeeper.game.inventory import INVENTORY, Stack
from gamekeeper.http.request import Request
from gamekeeper.store.ledger import LedgerEntry


async def list_facts(request: Request, entries: Sequence[LedgerEntry]) -> list[Fact]:
    """Name each item that is taken off, and say that its place stays empty. A plain "unequip" has no such fact."""
    keeper = request.services.keeper
    sides = [differences.decode_sides(keeper.changes.codec.decode_side, each) for each in entries]
    held: dict[int, Stack] = {}  # what the action removes from the inventory, by slot
    for before, _ in sides:
        held |= {slot: stack for (place, slot), stack in before.slots.items() if place == INVENTORY and stack}
    taken_off: list[tuple[str, Stack]] = []
    for before, after in sides:
        worn, kept = (cast("tuple[int, ...]", side.player.get("equipment", ())) for side in (before, after))
        if worn and kept:
            places = zip(PARTS()["equipment"], worn, kept, strict=False)
            taken_off += [(place, held[was]) for place, was, now in places if was in held and now < 0]
    if not taken_off:
        return []
    names = await differences.load_names(keeper.store, (), [stack.item_id for _, stack in taken_off])
    return [
        Fact(
            place,
            gettext(
                "%(item)s is equipped here. It will be taken off, and this place stays empty.",
                item=names.find_name("items", stack.item_id),
            ),
        )
        for place, stack in taken_off
    ]
