"""Ranked lists of holders and of standings, and what players have of each item and ranked variable.

    block     sum of about 64 neighbouring buckets
    bucket    number of about 1,024 neighbouring rows, by quantity and player
    row       a holding or a listed standing

A transaction that changes rows changes their buckets and blocks too. Only one at a time does so for a list, under the
lock of the economy or of the boards, so a process keeps nothing in memory. A page adds up the blocks, then the buckets
of one block, and skips rows within one bucket.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.insight import economy, holdings
from gamekeeper.store.insight.holdings import BUCKETS, ITEM, VARIABLE, Holding, RankedList
from gamekeeper.store.lists import ranked_buckets
from gamekeeper.store.lists.ranked_buckets import (
    HIGHEST,
    LOWEST,
    BucketSteps,
    BucketTable,
    Holder,
    Key,
    RankedBlock,
    RankedBucket,
)

# A list of 5 million rows has 76 blocks. To add up a block or a bucket costs about twice as much as to skip a row, and
# a page skips at most half a bucket. So each of the three levels costs a page about as much.
BUCKET_ROWS = 1024  # rows in a new bucket
BLOCK_BUCKETS = 64  # buckets in a new block, as in `build_blocks` of store/lists/ranked_buckets.sql
MAX_SPLITS = 20  # buckets split per transaction; the others are split when they change again


async def find_page(
    tx: Reading, table: BucketTable, kind: str, thing_id: str, offset: int, limit: int
) -> tuple[int, Sequence[Holder]]:
    """Find a page of a list, most first. Return the number of all rows, and those of the page."""
    blocks = [0, *accumulate(await ranked_buckets.read_block_entries(tx, kind, thing_id))]
    total, place = blocks[-1], bisect_right(blocks, offset) - 1
    if offset >= total:
        return total, ()
    start, end = LOWEST, HIGHEST
    if len(blocks) > 2:  # noqa: PLR2004 - more than one block
        start, end = await ranked_buckets.find_block_range(tx, kind, thing_id, place)
    buckets = [*accumulate(await table.read_entries(tx, kind, thing_id, start, end), initial=blocks[place])]
    place = bisect_right(buckets, offset) - 1
    count = min(limit, total - offset)
    skipped, left = offset - buckets[place], buckets[place + 1] - offset - count
    if 0 <= left < skipped:  # the page is within one bucket, and nearer to its lower end
        own = await table.find_bucket_below(tx, kind, thing_id, end, place)
        return total, await table.read_page_up(tx, kind, thing_id, own.key if own else LOWEST, count, left)
    # a bucket ends where the one above it starts, and the highest of a block where the next block starts
    above = await table.find_bucket_below(tx, kind, thing_id, end, place - 1) if place else None
    return total, await table.read_page(tx, kind, thing_id, above.key if above else end, limit, skipped)


async def append(tx: Writing, table: BucketTable, buckets: Sequence[RankedBucket]) -> None:
    """Insert buckets after all others of a list that is being counted."""
    edit = _Edit(tx, table)
    await edit.replace([], buckets)
    await edit.move_blocks()


async def count_steps(tx: Writing, table: BucketTable, steps: BucketSteps) -> None:
    """Update the numbers of the buckets after rows were deleted and inserted; split and merge buckets."""
    sums: Counter[RankedBucket] = Counter()
    starts: Counter[RankedBucket] = Counter()  # -1: the first row of the bucket was deleted
    for owner, (deleted, inserted) in steps.items():
        keys = [*deleted, *inserted]
        for place, bucket in enumerate(await table.find_buckets(tx, *owner, keys) if keys else ()):
            step = -1 if place < len(deleted) else 1
            sums[bucket] += step
            if bucket[2:4] == keys[place]:
                starts[bucket] += step
    before = [each for each, step in sums.items() if step]
    after = [each._replace(entries=each.entries + sums[each]) for each in before]
    kept = [each for each in after if each.entries or each.key == LOWEST]
    large = [each for each in kept if each.entries >= 2 * BUCKET_ROWS][:MAX_SPLITS]
    parts = [part for each in large for part in await _split(tx, table, each)]
    edit = _Edit(tx, table)
    await edit.replace(before, [*(each for each in kept if each not in large), *parts])
    # from the highest key down, so that a bucket that took in the one above it has its new number
    for bucket in sorted(kept, reverse=True):
        if 4 * bucket.entries < BUCKET_ROWS and bucket.key != LOWEST:
            await _merge(tx, table, edit, bucket)
    for bucket in sorted((each for each, step in starts.items() if step < 0), reverse=True):
        await _merge(tx, table, edit, bucket, is_start_gone=True)
    await edit.move_blocks()


async def _merge(
    tx: Writing, table: BucketTable, edit: "_Edit", bucket: RankedBucket, *, is_start_gone: bool = False
) -> None:
    """Merge a bucket that has few rows left into the one before it, so that old lists keep few buckets.

    A bucket whose first row was deleted is merged too: no bucket keeps the id of an erased player.
    """
    present = (await table.find_buckets(tx, *bucket[:2], [bucket.key]))[0]
    before = await table.find_bucket_below(tx, *present[:2], present.key)
    is_due = present.key == bucket.key if is_start_gone else 4 * present.entries < BUCKET_ROWS
    if before is None or not is_due:
        return
    merged = before._replace(entries=before.entries + present.entries)
    await edit.replace([before, present], await _split(tx, table, merged))


async def _split(tx: Reading, table: BucketTable, bucket: RankedBucket) -> list[RankedBucket]:
    """Return the parts of a bucket: more than one if it has twice the rows of a new one."""
    parts: list[RankedBucket] = []
    while bucket.entries >= 2 * BUCKET_ROWS:
        middle = await table.find_key(tx, bucket, BUCKET_ROWS)
        if middle is None:
            break
        parts.append(bucket._replace(entries=BUCKET_ROWS))
        bucket = RankedBucket(bucket.kind, bucket.thing_id, *middle, bucket.entries - BUCKET_ROWS)
    return [*parts, bucket]


class _Edit:
    """Buckets that one transaction writes, and what that changes in their blocks."""

    def __init__(self, tx: Writing, table: BucketTable) -> None:
        self._tx = tx
        self._table = table
        self._changes: dict[tuple[str, str], dict[Key, tuple[int, int]]] = {}  # buckets and entries, by first key

    async def replace(self, before: Sequence[RankedBucket], after: Sequence[RankedBucket]) -> None:
        """Write buckets in place of others, which must be as they are stored."""
        kept = {each[:4] for each in after}
        if after:
            await self._table.save_buckets(self._tx, after)
        for each in before:
            if each[:4] not in kept:
                await self._table.delete_bucket(self._tx, each)
        for sign, buckets in ((-1, before), (1, after)):
            for each in buckets:
                changes = self._changes.setdefault((each.kind, each.thing_id), {})
                count, entries = changes.get(each.key, (0, 0))
                changes[each.key] = count + sign, entries + sign * each.entries

    async def move_blocks(self) -> None:
        """Apply the differences to the blocks, after all buckets are written; split and merge blocks."""
        for (kind, thing_id), changes in self._changes.items():
            before = await ranked_buckets.read_blocks(self._tx, kind, thing_id)
            after = _apply(before or [RankedBlock(kind, thing_id, *LOWEST, 0, 0)], changes)
            after = [part for each in after for part in await self._fit(each, changes)]
            changed = set(after) - set(before)
            if changed:
                await ranked_buckets.save_blocks(self._tx, changed)
            starts = {each.key for each in after}
            for each in before:
                if each.key not in starts:
                    await ranked_buckets.delete_block(self._tx, each)

    async def _fit(self, block: RankedBlock, changes: Mapping[Key, tuple[int, int]]) -> list[RankedBlock]:
        """Return the parts of a block: more than one if it has twice the buckets of a new one."""
        owner = block.kind, block.thing_id
        if block.buckets >= 2 * BLOCK_BUCKETS:
            buckets = await self._table.read_buckets(self._tx, *owner, block.key, block.buckets)
            cuts = [*range(0, len(buckets) - BLOCK_BUCKETS + 1, BLOCK_BUCKETS), len(buckets)]
            return [_add_up(buckets[start:end]) for start, end in pairwise(cuts)]
        if changes.get(block.key, (0, 0))[0] < 0:  # its first bucket was deleted: it starts at the next
            [first] = await self._table.read_buckets(self._tx, *owner, block.key, 1)
            return [block._replace(quantity=first.quantity, player_id=first.player_id)]
        return [block]


def _apply(blocks: Sequence[RankedBlock], changes: Mapping[Key, tuple[int, int]]) -> list[RankedBlock]:
    """Add differences of buckets to their blocks, and merge blocks with few buckets into those before them."""
    starts, added = [each.key for each in blocks], [*blocks]
    for key, (buckets, entries) in changes.items():
        place = bisect_right(starts, key) - 1
        block = added[place]
        added[place] = block._replace(buckets=block.buckets + buckets, entries=block.entries + entries)
    merged: list[RankedBlock] = []
    for block in added:
        if merged and 4 * block.buckets < BLOCK_BUCKETS:
            last = merged[-1]
            merged[-1] = last._replace(buckets=last.buckets + block.buckets, entries=last.entries + block.entries)
        else:
            merged.append(block)
    return merged


def _add_up(buckets: Sequence[RankedBucket]) -> RankedBlock:
    """Return the block of these buckets."""
    return RankedBlock(*buckets[0][:4], len(buckets), sum(each.entries for each in buckets))


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


async def add_holdings(tx: Writing, gains: Mapping[Holding, int], lists: Iterable[RankedList]) -> Shortage | None:
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


async def apply_holdings(
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


async def build_list(tx: Writing, lists: Iterable[RankedList]) -> bool:
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
    rows, counted = BUCKET_ROWS, list[RankedBucket]()
    for _ in range(BUILT_BUCKETS):
        following = await BUCKETS.find_key(tx, waiting, rows)
        entries = rows if following else await holdings.count_from(tx, waiting, rows)
        counted.append(RankedBucket(waiting.kind, waiting.thing_id, waiting.quantity, waiting.player_id, entries))
        quantity, player_id = following or (waiting.quantity, waiting.player_id)
        waiting = waiting._replace(quantity=quantity, player_id=player_id, built=following is None)
        if waiting.built:
            break
    await append(tx, BUCKETS, counted)
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


async def load_holders_page(tx: Reading, kind: str, thing_id: str, offset: int, limit: int) -> HoldersPage | None:
    """Load a page of the holders of an item or a variable, most first. None: the variable is not ranked."""
    found = await holdings.find_list(tx, kind, thing_id)
    if found is None or not found.built:
        return None if kind == VARIABLE and found is None else await _load_first(tx, kind, thing_id, offset, limit)
    total, holders = await find_page(tx, BUCKETS, kind, thing_id, offset, limit)
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
    await count_steps(tx, BUCKETS, steps)
