"""What players have of each item and ranked variable, and the ranked lists of those who have it.

Only one transaction at a time changes them, under the lock of the economy's row.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from gamekeeper.game import ranked_buckets
from gamekeeper.store import economy, holdings
from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.holdings import BUCKETS, ITEM, VARIABLE, Holding, RankedList
from gamekeeper.store.ranked_buckets import HIGHEST, LOWEST, BucketSteps, Holder, RankedBucket

DELETED_BUCKETS = 500  # buckets of an earlier count that one transaction deletes
BUILT_BUCKETS = 16  # buckets that one transaction counts of a new list
KEEP_MS = 60 * 60 * 1000  # a list stays for so long after an instance wanted it: longer than a rolling restart
NOTE_MS = KEEP_MS // 12  # an instance notes so often that it wants a list
MAX_UNRANKED = 100  # holders that are found of an item that is not ranked

Quantity = int | None  # None: the player does not have it


class HoldersPage(NamedTuple):
    total: int  # holders that can be listed
    is_ranked: bool  # False: only the first 100 are found
    in_all: int | None  # all players who have it; None: not known
    holders: Sequence[Holder]


class Shortage(NamedTuple):
    """An item of which a player would have less than none."""

    key: Holding
    quantity: int


async def add(tx: Writing, gains: Mapping[Holding, int], lists: Iterable[RankedList]) -> Shortage | None:
    """Add to the quantities of items, none of them 0, and update totals and buckets.

    If a player would have less than none of an item, return it and leave everything as it is.
    """
    if not gains:
        return None
    added = {key: gains[key] for key in sorted(gains)}  # sorted, so that SQLite finds neighbours on the same pages
    after = await holdings.add(tx, added)
    wrong = next((Shortage(key, after[key]) for key in added if after[key] < 0), None)
    kept = await holdings.add(tx, {key: -gain for key, gain in added.items()}) if wrong else after
    if empty := [key for key, quantity in kept.items() if not quantity]:
        await holdings.delete(tx, empty)
    if not wrong:
        await _count(tx, {key: (after[key] - gain or None, after[key] or None) for key, gain in added.items()}, lists)
    return wrong


async def apply(
    tx: Writing,
    changes: Mapping[Holding, tuple[Quantity, Quantity]],
    lists: Iterable[RankedList],
    *,
    recount: bool = False,
) -> None:
    """Store quantities (before, after) of holdings, and update totals and buckets.

    In a recount the totals do not have the quantities before.
    """
    changed = {key: pair for key, pair in changes.items() if pair[0] != pair[1]}
    held = {key: after for key, (_, after) in changed.items() if after is not None}
    await holdings.save(tx, held, [key for key in changed if key not in held])
    if recount:
        await _add_totals(tx, {key: (None, after) for key, (_, after) in changes.items()})
        await _count_in_buckets(tx, changed, lists)
    else:
        await _count(tx, changed, lists)


async def build(tx: Writing, lists: Iterable[RankedList]) -> bool:
    """Count the next buckets of one list that is not counted yet. False: all are."""
    waiting = next((each for each in lists if not each.built), None)
    if waiting is None:
        return False
    is_new = (waiting.quantity, waiting.player_id) == LOWEST
    if is_new and await holdings.delete_some_buckets(tx, waiting.kind, waiting.thing_id, DELETED_BUCKETS):
        return True  # buckets of an earlier count; the next step goes on
    if not is_new:
        # the row at the cursor may be gone: no bucket may start at the id of an erased player
        first = await BUCKETS.find_key(tx, waiting, 0)
        if first is None:
            await holdings.move_list(tx, waiting._replace(built=True))
            return True
        waiting = waiting._replace(quantity=first[0], player_id=first[1])
    rows, counted = ranked_buckets.BUCKET_ROWS, list[RankedBucket]()
    for _ in range(BUILT_BUCKETS):
        following = await BUCKETS.find_key(tx, waiting, rows)
        entries = rows if following else await holdings.count_from(tx, waiting, rows)
        counted.append(RankedBucket(waiting.kind, waiting.thing_id, waiting.quantity, waiting.player_id, entries))
        quantity, player_id = following or (waiting.quantity, waiting.player_id)
        waiting = waiting._replace(quantity=quantity, player_id=player_id, built=following is None)
        if waiting.built:
            break
    await ranked_buckets.append(tx, BUCKETS, counted)
    await holdings.move_list(tx, waiting)
    return True


def is_chosen(lists: Iterable[RankedList], wanted: Collection[tuple[str, str]], now: int) -> bool:
    """Tell whether `choose_lists` has nothing to do."""
    present = {(each.kind, each.thing_id): each for each in lists}
    fresh = {key for key, each in present.items() if abs(now - each.wanted_at) < NOTE_MS}
    return fresh.issuperset(wanted) and not _list_unwanted(present.values(), wanted, now)


async def choose_lists(tx: Writing, lists: Iterable[RankedList], wanted: Collection[tuple[str, str]], now: int) -> None:
    """Start the lists that are wanted and missing, and delete those that no instance wanted for an hour.

    Instances with different settings run at the same time while a setting is changed. Each notes the lists that it
    wants, so none deletes those of another.
    """
    for kind, thing_id in sorted(wanted):
        await holdings.want_list(tx, kind, thing_id, *LOWEST, now)
    for each in _list_unwanted(lists, wanted, now):
        await holdings.delete_list(tx, each.kind, each.thing_id)


async def load_page(tx: Reading, kind: str, thing_id: str, offset: int, limit: int) -> HoldersPage | None:
    """Load a page of the holders of an item or a variable, most first. None: the variable is not ranked."""
    found = await holdings.find_list(tx, kind, thing_id)
    if found is None or not found.built:
        return None if kind == VARIABLE and found is None else await _load_first(tx, kind, thing_id, offset, limit)
    total, holders = await ranked_buckets.find_page(tx, BUCKETS, kind, thing_id, offset, limit)
    return HoldersPage(total, True, total, holders)


async def find_first(tx: Reading, kind: str, thing_id: str) -> Holder | None:
    """Find who has the most of an item, or the highest value of a ranked variable."""
    found = await BUCKETS.read_page(tx, kind, thing_id, HIGHEST, 1, 0)
    return found[0] if found else None


def _list_unwanted(lists: Iterable[RankedList], wanted: Collection[tuple[str, str]], now: int) -> list[RankedList]:
    return [each for each in lists if (each.kind, each.thing_id) not in wanted and each.wanted_at < now - KEEP_MS]


async def _load_first(tx: Reading, kind: str, thing_id: str, offset: int, limit: int) -> HoldersPage:
    """Load a page of the first 100 holders."""
    most = max(min(limit, MAX_UNRANKED - offset), 0)
    rows = await BUCKETS.read_page(tx, kind, thing_id, HIGHEST, most, offset) if most else []
    item = await economy.find_item(tx, thing_id) if kind == ITEM else None
    total = await holdings.count_from(tx, RankedBucket(kind, thing_id, *LOWEST, 0), MAX_UNRANKED)
    return HoldersPage(total, False, item.holders if item else None, rows)


async def _count(
    tx: Writing, changed: Mapping[Holding, tuple[Quantity, Quantity]], lists: Iterable[RankedList]
) -> None:
    await _add_totals(tx, changed)
    await _count_in_buckets(tx, changed, lists)


async def _add_totals(tx: Writing, changed: Mapping[Holding, tuple[Quantity, Quantity]]) -> None:
    quantities: Counter[str] = Counter()
    holders: Counter[str] = Counter()
    for (_, kind, item_id), (before, after) in changed.items():
        if kind == ITEM:
            quantities[item_id] += (after or 0) - (before or 0)
            holders[item_id] += (after is not None) - (before is not None)
    await economy.add_totals(tx, [(item, quantities[item], holders[item]) for item in sorted(quantities)])


async def _count_in_buckets(
    tx: Writing, changed: Mapping[Holding, tuple[Quantity, Quantity]], lists: Iterable[RankedList]
) -> None:
    ranked = {(each.kind, each.thing_id): each for each in lists}
    steps: BucketSteps = {owner: ([], []) for owner in ranked}
    for (player_id, kind, thing_id), pair in changed.items() if ranked else ():
        each = ranked.get((kind, thing_id))
        if each is None:
            continue
        for quantity, keys in zip(pair, steps[kind, thing_id], strict=True):
            if quantity is not None and each.has_bucket_for(quantity, player_id):
                keys.append((quantity, player_id))
    await ranked_buckets.count_steps(tx, BUCKETS, steps)
