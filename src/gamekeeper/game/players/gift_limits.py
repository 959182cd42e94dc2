"""Limits of gifts: what an API key may give, and how much of an item a giver may give on one UTC day.

`game/core/writes.py` counts the gifts of every decision of a limited caller, in the transaction of the change. So a dry
run and a refused change count nothing, and parallel gifts wait for each other at the row of their total.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from gamekeeper.game.access.refusals import GiftTooLarge, ItemNotAllowed, QuotaReached, name_item
from gamekeeper.game.core.change import Change, Unlogged
from gamekeeper.game.core.request import GiftLimits
from gamekeeper.game.players.changes import ITEMS_GIVEN, ITEMS_SET, ItemsChanged
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.players import items
from gamekeeper.store.world import catalogue


def list_gifts(changes: Iterable[Change | Unlogged], undoes: int | None) -> Counter[str]:
    """Return the quantity of each item that changes give: id of the item → quantity, negative if it is taken back.

    An undo counts like the change that it makes.
    """
    found: Counter[str] = Counter()
    kinds = {ITEMS_GIVEN} if undoes is None else {ITEMS_GIVEN, ITEMS_SET}
    for change in changes:
        if isinstance(change, ItemsChanged) and change.kind in kinds:
            for spot, after in change.outcome.changed_slots.items():
                before = change.slots.get(spot)
                if before is not None:
                    found[before.item_id] -= before.quantity
                if after is not None:
                    found[after.item_id] += after.quantity
    return found


async def count_gifts(
    tx: Writing, limits: GiftLimits | None, changes: Iterable[Change | Unlogged], undoes: int | None
) -> None:
    """Count the gifts of a decision, and refuse those beyond a limit. An undone gift is given back on its own day."""
    found = list_gifts(changes, undoes)
    if undoes is not None:
        for item_id, quantity in found.items():
            if quantity < 0:
                tx.defer(items.SQL.give_back_gifts, undoes, item_id, -quantity)
    if limits is not None:
        await _require_within(tx, limits, {item_id: quantity for item_id, quantity in found.items() if quantity > 0})


async def require_within(
    tx: Writing, limits: GiftLimits, changes: Iterable[Change | Unlogged], undoes: int | None
) -> None:
    """Refuse gifts beyond a limit without counting them: they wait for an approval."""
    given = {item_id: quantity for item_id, quantity in list_gifts(changes, undoes).items() if quantity > 0}
    await _require_within(tx, limits, given, counts=False)


async def _require_within(tx: Writing, limits: GiftLimits, given: Mapping[str, int], *, counts: bool = True) -> None:
    for item_id, quantity in given.items():
        if limits.items is not None and item_id not in limits.items:
            raise ItemNotAllowed(item=name_item(item_id, await _find_name(tx, item_id)))
        if limits.most_per_request is not None and quantity > limits.most_per_request:
            raise GiftTooLarge(most=limits.most_per_request)
    most: dict[tuple[str, str], int] = {}
    for limit in limits.daily:
        for item_id in given:
            found = limit.find_most(item_id)
            if found is not None:
                most[limit.giver_id, item_id] = min(found, most.get((limit.giver_id, item_id), found))
    if not most:
        return
    added = given if counts else dict.fromkeys(given, 0)
    totals = await items.add_gifts(tx, (items.Gift(giver_id, item_id, added[item_id]) for giver_id, item_id in most))
    for total in totals:
        limit, before = most[total.giver_id, total.item_id], total.quantity - added[total.item_id]
        if before + given[total.item_id] > limit:
            name = await _find_name(tx, total.item_id)
            raise QuotaReached(most=limit, item=total.item_id, given=before, ends_at=total.ends_at, name=name)


async def _find_name(tx: Reading, item_id: str) -> str:
    item = await catalogue.find_item(tx, item_id)
    return item.name if item else ""
