"""The six ordered lists (such as ranking and players by name), and the counted index of one.

A list's definition makes its keys and reads its rows. The index gives the position of a key, and the bucket that holds
a position.
"""

from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import accumulate
from math import ceil
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct

from gamekeeper.game.core import lookup
from gamekeeper.store.accounts import users
from gamekeeper.store.core.ordered_lists import ListDelta
from gamekeeper.store.engine.interface import Reading, Row, Value
from gamekeeper.store.engine.statements import Statements
from gamekeeper.store.players import players, presence
from gamekeeper.store.players.players import RankKey

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


R = TypeVar("R")


class ListDefinition(Struct, Generic[R], frozen=True):
    name: str
    lowest_key: Key  # a key that sorts before every key of the ordered list
    # makes a row's key from the level, exp and word (id, folded name or email) of an entry in the list change log
    make_key: Callable[[int, int, str], Key]
    seek: Callable[
        [Reading, str, Any, int, int], Awaitable[tuple[ListDelta, list[R]]]
    ]  # reads rows of the ordered list from a key on, with limit and offset
    sql: Statements  # has the statements that read its keys, and one that counts its rows
    order: str  # ends the names of these statements

    async def load_keys(self, tx: Reading, first: Key, limit: int) -> list[Key]:
        """Read a number of keys of the ordered list, from a key on."""
        parts: tuple[Value, ...] = (first,) if isinstance(first, str) else first
        return self._read_keys(await tx.all(self.sql.named[f"keys_by_{self.order}"], *parts, limit))

    async def load_bucket_starts(self, tx: Reading, every: int) -> list[Key]:
        """Read every n-th key of the ordered list."""
        return self._read_keys(await tx.all(self.sql.named[f"lows_by_{self.order}"], every))

    async def count(self, tx: Reading) -> int:
        return await tx.value(self.sql.count)

    def _read_keys(self, rows: Iterable[Row]) -> list[Key]:
        return [RankKey(*row) if len(row) > 1 else row[0] for row in rows]


def _make_name_key(_level: int, _exp: int, word: str) -> str:
    return word


FIRST = RankKey(0, 0, lookup.ZERO_GUID)
RANK = ListDefinition("rank", FIRST, RankKey, players.read_records_from_rank, players.SQL, "rank")
NAMES = ListDefinition("names", "", _make_name_key, players.read_records_from_name, players.SQL, "name")
USERS = ListDefinition("users", "", _make_name_key, users.read_from_name, users.SQL, "name")
EMAILS = ListDefinition("emails", "", _make_name_key, users.read_from_email, users.SQL, "email")
ONLINE = ListDefinition("online", "", _make_name_key, presence.read_records_from_name, presence.SQL, "name")
ONLINE_RANK = ListDefinition("online_rank", FIRST, RankKey, presence.read_records_from_rank, presence.SQL, "rank")
LISTS: tuple[ListDefinition[Any], ...] = (RANK, NAMES, USERS, EMAILS, ONLINE, ONLINE_RANK)
