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

FULL = 128  # rows in a new bucket
CROWDED = 2 * FULL  # from here on it is divided
BLOCK = 256  # buckets in a new block


class Bucket(NamedTuple):
    low: Key  # the least key that belongs into it
    before: int  # rows before the bucket
    size: int


class Block(NamedTuple):
    lows: Sequence[Key]
    counts: Sequence[int]
    total: int  # kept, so that an Order is made without adding up every bucket

    @classmethod
    def of(cls, lows: Sequence[Key], counts: Sequence[int]) -> "Block":
        return cls(lows, counts, sum(counts))


class Order:
    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = blocks
        self._lows = [block.lows[0] for block in blocks]
        self._ends = list(accumulate(block.total for block in blocks))

    @property
    def total(self) -> int:
        return self._ends[-1]

    def at(self, place: int) -> Bucket:
        """The bucket of the row at a place, from 0 to total - 1."""
        number = bisect_right(self._ends, place)
        lows, counts, _ = self.blocks[number]
        before = self._before(number)
        ends = list(accumulate(counts))
        within = bisect_right(ends, place - before)
        size = counts[within]
        return Bucket(lows[within], before + ends[within] - size, size)

    def of(self, key: Key) -> Bucket:
        """The bucket that a key belongs into."""
        number = self._block_of(key)
        lows, counts, _ = self.blocks[number]
        within = _place(lows, key)
        return Bucket(lows[within], self._before(number) + sum(counts[:within]), counts[within])

    def after(self, steps: Iterable[tuple[Key, int]]) -> "Order":
        """With rows added (+1) and taken away (-1)."""
        blocks = list(self.blocks)
        changed: dict[int, list[int]] = {}
        for key, step in steps:
            number = self._block_of(key)
            if number not in changed:
                changed[number] = list(blocks[number].counts)
            changed[number][_place(blocks[number].lows, key)] += step
        for number, counts in changed.items():
            blocks[number] = Block.of(blocks[number].lows, counts)
        return Order(blocks)

    def without(self, gone: Iterable[Key]) -> "Order":
        """With each bucket that begins at one of these keys put together with the one before it."""
        lows = {key for key in gone if self.of(key).low == key} - {self._lows[0]}  # the first one is open below
        return self._joined(lambda low, _before, _count: low in lows) if lows else self

    def crowded(self) -> list[Bucket]:
        """The buckets that are to be divided; what comes before them is not said."""
        return [
            Bucket(low, 0, count)
            for block in self.blocks
            if max(block.counts) >= CROWDED
            for low, count in zip(block.lows, block.counts, strict=True)
            if count >= CROWDED
        ]

    def divided(self, low: Key, keys: Sequence[Key]) -> "Order":
        """With the bucket that begins at `low`, and has exactly these keys, dealt into new ones."""
        number = self._block_of(low)
        lows, counts, _ = self.blocks[number]
        within = _place(lows, low)
        lows = [*lows[:within], low, *keys[FULL::FULL], *lows[within + 1 :]]
        counts = [*counts[:within], *_shares(len(keys)), *counts[within + 1 :]]
        return Order([*self.blocks[:number], *_blocks(lows, counts), *self.blocks[number + 1 :]])

    def packed(self) -> "Order":
        """With neighbours that became small put together."""
        return self._joined(lambda _low, before, count: before + count <= FULL)

    def _joined(self, joins: Callable[[Key, int, int], bool]) -> "Order":
        """With a bucket put to the one before it, if it joins: told its low, the rows before, and its own."""
        lows: list[Key] = []
        counts: list[int] = []
        for block in self.blocks:
            for low, count in zip(block.lows, block.counts, strict=True):
                if counts and joins(low, counts[-1], count):
                    counts[-1] += count
                else:
                    lows.append(low)
                    counts.append(count)
        return Order(_blocks(lows, counts))

    def _block_of(self, key: Key) -> int:
        return _place(self._lows, key)

    def _before(self, number: int) -> int:
        return self._ends[number - 1] if number else 0


def build(lows: Sequence[Key], total: int) -> Order:
    """Of every 128th key of a list, the first of them less than any key can be."""
    return Order(_blocks(lows, _shares(total)))


def _shares(total: int) -> list[int]:
    """Full buckets, and the rest in the last one; one bucket at least."""
    full, rest = divmod(total, FULL)
    return [FULL] * full + ([rest] if rest or not full else [])


def _blocks(lows: Sequence[Key], counts: Sequence[int]) -> list[Block]:
    """Of about the same size, so that a division leaves no block of one bucket behind."""
    size = ceil(len(lows) / max(1, round(len(lows) / BLOCK)))
    return [Block.of(lows[at : at + size], counts[at : at + size]) for at in range(0, len(lows), size)]


def _place(lows: Sequence[Key], key: Key) -> int:
    return max(bisect_right(lows, key) - 1, 0)
