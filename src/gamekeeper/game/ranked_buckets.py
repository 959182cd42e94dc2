"""Ranked lists of holders and of standings: count rows in buckets and blocks, and find any page by them.

    block     sum of about 64 neighbouring buckets
    bucket    number of about 1,024 neighbouring rows, by quantity and player
    row       a holding or a listed standing

A transaction that changes rows changes their buckets and blocks too. Only one at a time does so for a list, under the
lock of the economy or of the boards, so a process keeps nothing in memory. A page adds up the blocks, then the buckets
of one block, and skips rows within one bucket.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

from gamekeeper.store import ranked_buckets
from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.ranked_buckets import (
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
BLOCK_BUCKETS = 64  # buckets in a new block, as in `build_blocks` of store/ranked_buckets.sql
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
