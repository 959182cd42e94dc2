"""How many rows of a list come before a key, and where the row at a place is to be sought.

The keys of a list are dealt into buckets of about 128 neighbours, the buckets into blocks; an Order knows the first key
and the number of rows of each. It is never changed: another is made that shares every block which stayed the same, so
that whoever reads can go on with the one he has.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from math import ceil
from typing import Any, NamedTuple

Key = Any  # a name, or (level, exp, id): what the keys of one list are, the order never asks

BUCKET_ROWS = 128  # rows in a new bucket
SPLIT_ROWS = 2 * BUCKET_ROWS  # from here on it is divided
BLOCK_BUCKETS = 256  # buckets in a new block


class Bucket(NamedTuple):
    start: Key  # the least key that belongs into it
    before: int  # rows before the bucket
    size: int


class BucketBlock(NamedTuple):
    starts: Sequence[Key]
    counts: Sequence[int]
    total: int  # kept, so that an Order is made without adding up every bucket

    @classmethod
    def from_counts(cls, lows: Sequence[Key], counts: Sequence[int]) -> "BucketBlock":
        return cls(lows, counts, sum(counts))


class BucketIndex:
    def __init__(self, blocks: Sequence[BucketBlock]) -> None:
        self.blocks = blocks
        self._lows = [block.starts[0] for block in blocks]
        self._ends = list(accumulate(block.total for block in blocks))

    @property
    def total(self) -> int:
        return self._ends[-1]

    def find_at_position(self, place: int) -> Bucket:
        """The bucket of the row at a place, from 0 to total - 1."""
        number = bisect_right(self._ends, place)
        lows, counts, _ = self.blocks[number]
        before = self._count_before(number)
        ends = list(accumulate(counts))
        within = bisect_right(ends, place - before)
        size = counts[within]
        return Bucket(lows[within], before + ends[within] - size, size)

    def find_by_key(self, key: Key) -> Bucket:
        """The bucket that a key belongs into."""
        number = self._find_block(key)
        lows, counts, _ = self.blocks[number]
        within = _find_slot(lows, key)
        return Bucket(lows[within], self._count_before(number) + sum(counts[:within]), counts[within])

    def apply_steps(self, steps: Iterable[tuple[Key, int]]) -> "BucketIndex":
        """With rows added (+1) and taken away (-1)."""
        blocks = list(self.blocks)
        changed: dict[int, list[int]] = {}
        for key, step in steps:
            number = self._find_block(key)
            if number not in changed:
                changed[number] = list(blocks[number].counts)
            changed[number][_find_slot(blocks[number].starts, key)] += step
        for number, counts in changed.items():
            blocks[number] = BucketBlock.from_counts(blocks[number].starts, counts)
        return BucketIndex(blocks)

    def merge_starting_at(self, gone: Iterable[Key]) -> "BucketIndex":
        """With each bucket that begins at one of these keys put together with the one before it."""
        lows = {key for key in gone if self.find_by_key(key).start == key} - {
            self._lows[0]
        }  # the first one is open below
        return self._merge_where(lambda low, _before, _count: low in lows) if lows else self

    def find_crowded(self) -> list[Bucket]:
        """The buckets that are to be divided; what comes before them is not said."""
        return [
            Bucket(low, 0, count)
            for block in self.blocks
            if max(block.counts) >= SPLIT_ROWS
            for low, count in zip(block.starts, block.counts, strict=True)
            if count >= SPLIT_ROWS
        ]

    def split(self, low: Key, keys: Sequence[Key]) -> "BucketIndex":
        """With the bucket that begins at `low`, and has exactly these keys, dealt into new ones."""
        number = self._find_block(low)
        lows, counts, _ = self.blocks[number]
        within = _find_slot(lows, low)
        lows = [*lows[:within], low, *keys[BUCKET_ROWS::BUCKET_ROWS], *lows[within + 1 :]]
        counts = [*counts[:within], *_deal_rows(len(keys)), *counts[within + 1 :]]
        return BucketIndex([*self.blocks[:number], *_group_into_blocks(lows, counts), *self.blocks[number + 1 :]])

    def merge_small(self) -> "BucketIndex":
        """With neighbours that became small put together."""
        return self._merge_where(lambda _low, before, count: before + count <= BUCKET_ROWS)

    def _merge_where(self, joins: Callable[[Key, int, int], bool]) -> "BucketIndex":
        """With a bucket put to the one before it, if it joins: told its low, the rows before, and its own."""
        lows: list[Key] = []
        counts: list[int] = []
        for block in self.blocks:
            for low, count in zip(block.starts, block.counts, strict=True):
                if counts and joins(low, counts[-1], count):
                    counts[-1] += count
                else:
                    lows.append(low)
                    counts.append(count)
        return BucketIndex(_group_into_blocks(lows, counts))

    def _find_block(self, key: Key) -> int:
        return _find_slot(self._lows, key)

    def _count_before(self, number: int) -> int:
        return self._ends[number - 1] if number else 0


def build_index(lows: Sequence[Key], total: int) -> BucketIndex:
    """Of every 128th key of a list, the first of them less than any key can be."""
    return BucketIndex(_group_into_blocks(lows, _deal_rows(total)))


def _deal_rows(total: int) -> list[int]:
    """Full buckets, and the rest in the last one; one bucket at least."""
    full, rest = divmod(total, BUCKET_ROWS)
    return [BUCKET_ROWS] * full + ([rest] if rest or not full else [])


def _group_into_blocks(lows: Sequence[Key], counts: Sequence[int]) -> list[BucketBlock]:
    """Of about the same size, so that a division leaves no block of one bucket behind."""
    size = ceil(len(lows) / max(1, round(len(lows) / BLOCK_BUCKETS)))
    return [BucketBlock.from_counts(lows[at : at + size], counts[at : at + size]) for at in range(0, len(lows), size)]


def _find_slot(lows: Sequence[Key], key: Key) -> int:
    return max(bisect_right(lows, key) - 1, 0)
