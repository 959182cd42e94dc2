"""A counted index of one ordered list: the position of a key, and the bucket that holds a position.

    BucketIndex   ┌──────── block 0 ────────┐ ┌──────── block 1 ────────┐
    BucketBlock   total 301                   total 250
    Bucket        start ""   "carol"  "ed"    "gina"   "liam"
                  rows  128    101     72      122      128
                  └ positions 0-127 ┘          └ positions 301-422

A bucket is a range of about 128 neighbouring keys: its first possible key and its number of rows. A block is about 256
buckets with their total. The rows themselves stay in the database. An index is immutable: a change makes a new index
that shares all unchanged blocks, so a reader can keep using the old one.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from math import ceil
from typing import Any, NamedTuple

Key = Any  # key of a row in an ordered list: a name, or (level, exp, id); all keys of one list have the same type

BUCKET_ROWS = 128  # rows in a new bucket of an ordered list: few enough to skip within it by OFFSET
SPLIT_ROWS = 2 * BUCKET_ROWS  # a bucket of an ordered list is split when it has this many rows
BLOCK_BUCKETS = 256  # buckets in a new block; a block is a part of an ordered list's index that is stored as one row


class Bucket(NamedTuple):
    start: Key  # the smallest key that belongs into this bucket of an ordered list
    before: int  # number of rows in all buckets of the ordered list before this one
    size: int


class BucketBlock(NamedTuple):
    starts: Sequence[Key]
    counts: Sequence[int]
    total: int  # number of rows in the block: sum of `counts`, stored so that a new index need not add up every bucket

    @classmethod
    def from_counts(cls, starts: Sequence[Key], counts: Sequence[int]) -> "BucketBlock":
        return cls(starts, counts, sum(counts))


class BucketIndex:
    def __init__(self, blocks: Sequence[BucketBlock]) -> None:
        self.blocks = blocks
        self._block_starts = [block.starts[0] for block in blocks]
        self._ends = list(accumulate(block.total for block in blocks))
        self.total = self._ends[-1]
        # number of a block → positions within it at which its buckets end; added up when a page needs them first
        self._bucket_ends: dict[int, list[int]] = {}

    def find_at_position(self, position: int) -> Bucket:
        """Return the bucket that has the row at a position of an ordered list, from 0 to `total` - 1."""
        number = bisect_right(self._ends, position)
        starts, counts, _ = self.blocks[number]
        before = self._count_before(number)
        ends = self._bucket_ends.get(number)
        if ends is None:
            ends = self._bucket_ends[number] = list(accumulate(counts))
        within = bisect_right(ends, position - before)
        size = counts[within]
        return Bucket(starts[within], before + ends[within] - size, size)

    def find_by_key(self, key: Key) -> Bucket:
        """Return the bucket of an ordered list that a key belongs into, whether or not the key exists."""
        number = self._find_block(key)
        starts, counts, _ = self.blocks[number]
        within = _find_range(starts, key)
        return Bucket(starts[within], self._count_before(number) + sum(counts[:within]), counts[within])

    def apply_steps(self, steps: Iterable[tuple[Key, int]]) -> "BucketIndex":
        """Return the index of an ordered list after rows were added (+1) and removed (-1)."""
        blocks = list(self.blocks)
        changed: dict[int, list[int]] = {}
        for key, step in steps:
            number = self._find_block(key)
            if number not in changed:
                changed[number] = list(blocks[number].counts)
            changed[number][_find_range(blocks[number].starts, key)] += step
        for number, counts in changed.items():
            blocks[number] = BucketBlock.from_counts(blocks[number].starts, counts)
        return BucketIndex(blocks)

    def merge_starting_at(self, gone: Iterable[Key]) -> "BucketIndex":
        """Return an index in which each bucket that starts at one of these keys is merged into the bucket before it."""
        # the first bucket cannot be merged, because no bucket is before it
        starts = {key for key in gone if self.find_by_key(key).start == key} - {self._block_starts[0]}
        return self._merge_where(lambda start, _before, _count: start in starts) if starts else self

    def find_crowded(self) -> list[Bucket]:
        """Return the buckets of an ordered list that must be split. Their `before` is not computed: it is always 0."""
        return [
            Bucket(start, 0, count)
            for block in self.blocks
            if max(block.counts) >= SPLIT_ROWS
            for start, count in zip(block.starts, block.counts, strict=True)
            if count >= SPLIT_ROWS
        ]

    def split(self, start: Key, keys: Sequence[Key]) -> "BucketIndex":
        """Return an index in which the bucket at `start` is split; `keys` are exactly its keys, in order."""
        number = self._find_block(start)
        starts, counts, _ = self.blocks[number]
        within = _find_range(starts, start)
        starts = [*starts[:within], start, *keys[BUCKET_ROWS::BUCKET_ROWS], *starts[within + 1 :]]
        counts = [*counts[:within], *_deal_rows(len(keys)), *counts[within + 1 :]]
        return BucketIndex([*self.blocks[:number], *_group_into_blocks(starts, counts), *self.blocks[number + 1 :]])

    def merge_small(self) -> "BucketIndex":
        """Return an index of an ordered list in which neighbouring small buckets are merged."""
        return self._merge_where(lambda _start, before, count: before + count <= BUCKET_ROWS)

    def _merge_where(self, joins: Callable[[Key, int, int], bool]) -> "BucketIndex":
        """Merge a bucket into the one before it if `joins(its start, rows of the one before, its rows)` is true."""
        starts: list[Key] = []
        counts: list[int] = []
        for block in self.blocks:
            for start, count in zip(block.starts, block.counts, strict=True):
                if counts and joins(start, counts[-1], count):
                    counts[-1] += count
                else:
                    starts.append(start)
                    counts.append(count)
        return BucketIndex(_group_into_blocks(starts, counts))

    def _find_block(self, key: Key) -> int:
        return _find_range(self._block_starts, key)

    def _count_before(self, number: int) -> int:
        return self._ends[number - 1] if number else 0


def build_index(starts: Sequence[Key], total: int) -> BucketIndex:
    """Make the index of a whole ordered list from the starts of its buckets, which are full except for the last."""
    return BucketIndex(_group_into_blocks(starts, _deal_rows(total)))


def _deal_rows(total: int) -> list[int]:
    """Return the number of rows for each bucket: full ones, then the remainder. At least one bucket, perhaps empty."""
    full, rest = divmod(total, BUCKET_ROWS)
    return [BUCKET_ROWS] * full + ([rest] if rest or not full else [])


def _group_into_blocks(starts: Sequence[Key], counts: Sequence[int]) -> list[BucketBlock]:
    """Group buckets of an ordered list into blocks of about equal size, so that no block has a single bucket."""
    size = ceil(len(starts) / max(1, round(len(starts) / BLOCK_BUCKETS)))
    return [
        BucketBlock.from_counts(starts[at : at + size], counts[at : at + size]) for at in range(0, len(starts), size)
    ]


def _find_range(starts: Sequence[Key], key: Key) -> int:
    return max(bisect_right(starts, key) - 1, 0)
