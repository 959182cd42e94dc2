"""Limits of gifts: what an API key may give, and how much of an item a giver may give on one UTC day.

`changes.py` counts the gifts of every decision of a limited caller, in the transaction of the change. So a dry run and
a refused change count nothing, and parallel gifts wait for each other at the row of their total.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gamekeeper.game.access.refusals import GiftTooLarge, ItemNotAllowed, QuotaReached, name_item
from gamekeeper.game.core.change import Change, Unlogged
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.players.changes import ItemsChanged
from gamekeeper.store.access.roles import Grants
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.players import gifts
from gamekeeper.store.world import catalogue

GIVEN, SET = "items_given", "items_set"
GIVE = "items.give"  # the permission
EVERY_OTHER_ITEM = ZERO_GUID  # id in a quota that stands for all items without a quota of their own


class DailyLimit(NamedTuple):
    """The most of each item that a giver may give on one UTC day; the largest of its quotas counts."""

    giver_id: str  # an account or an API key
    quotas: tuple[Mapping[str, int], ...]  # for each role: id of an item → the most of it

    def find_most(self, item_id: str) -> int | None:
        """Return the most of an item; None: no limit, because one of the roles has none for it."""
        found = [each.get(item_id, each.get(EVERY_OTHER_ITEM)) for each in self.quotas]
        limits = [each for each in found if each is not None]
        return max(limits) if limits and len(limits) == len(found) else None


class GiftLimits(NamedTuple):
    items: frozenset[str] | None = None  # ids of the items that may be given; None: all
    most_per_request: int | None = None
    daily: tuple[DailyLimit, ...] = ()


NO_LIMITS = GiftLimits()


async def find_daily_limit(tx: Reading, user_id: str, grants: Grants) -> DailyLimit | None:
    """Return the daily limit of an account by its roles; None if it may give items by a role without a quota."""
    if GIVE in grants.direct:
        return None
    quotas = await gifts.read_quotas_of_user(tx, user_id)
    return DailyLimit(user_id, tuple(quotas)) if quotas and all(quotas) else None


def list_gifts(changes: Iterable[Change | Unlogged], undoes: int | None) -> Counter[str]:
    """Return the quantity of each item that changes give: id of the item → quantity, negative if it is taken back.

    An undo counts like the change that it makes.
    """
    found: Counter[str] = Counter()
    for change in changes:
        if isinstance(change, ItemsChanged) and (change.kind == GIVEN or (change.kind == SET and undoes is not None)):
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
                gifts.give_back(tx, undoes, item_id, -quantity)
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
    totals = await gifts.add(tx, (gifts.Gift(giver_id, item_id, added[item_id]) for giver_id, item_id in most))
    for total in totals:
        limit, before = most[total.giver_id, total.item_id], total.quantity - added[total.item_id]
        if before + given[total.item_id] > limit:
            name = await _find_name(tx, total.item_id)
            raise QuotaReached(most=limit, item=total.item_id, given=before, ends_at=total.ends_at, name=name)


async def _find_name(tx: Reading, item_id: str) -> str:
    item = await catalogue.find_item(tx, item_id)
    return item.name if item else ""
