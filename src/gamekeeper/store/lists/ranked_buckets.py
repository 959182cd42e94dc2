"""Buckets of ranked lists: numbers of neighbours in an index by quantity and player, so that any page is found.

Holdings and standings have such lists, each with statements of the same names in its own .sql file. The blocks, which
are sums of neighbouring buckets, are in one table for both.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import msgspec

from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statement, Statements, as_table

SQL = Statements(__file__)
# buckets for each step, up to which a list is read whole: a row of it costs less than a seek
BUCKETS_PER_STEP = 4
LOWEST = (-(2**63), "00000000-0000-0000-0000-000000000000")  # a key before every key
HIGHEST = (2**63 - 1, "ffffffff-ffff-ffff-ffff-ffffffffffff")
Key = tuple[int, str]  # quantity and player
# keys of deleted and of inserted rows, by kind and id of their list
BucketSteps = dict[tuple[str, str], tuple[list[Key], list[Key]]]


class RankedBucket(NamedTuple):
    kind: str
    thing_id: str
    quantity: int  # first key: quantity and player
    player_id: str
    entries: int

    @property
    def key(self) -> Key:
        return self.quantity, self.player_id


class RankedBlock(NamedTuple):
    """Neighbouring buckets, from the first key of a bucket to the next block."""

    kind: str
    thing_id: str
    quantity: int
    player_id: str
    buckets: int
    entries: int

    @property
    def key(self) -> Key:
        return self.quantity, self.player_id


class Start(Protocol):
    """The first key of a bucket, or of a list that is being counted."""

    @property
    def kind(self) -> str: ...
    @property
    def thing_id(self) -> str: ...
    @property
    def quantity(self) -> int: ...
    @property
    def player_id(self) -> str: ...


class Holder(NamedTuple):
    player_id: str
    name: str | None  # None: deleted, and not counted yet
    quantity: int


class BucketStatements(NamedTuple):
    key_at: Statement
    find_buckets: Statement
    buckets_from: Statement
    save_buckets: Statement
    delete_bucket: Statement
    bucket_below: Statement
    entries_between: Statement
    page: Statement
    page_up: Statement


class BucketTable:
    """The ranked lists in one table. With `has_kinds` a list is found by its kind and id, otherwise by its id alone."""

    def __init__(self, sql: BucketStatements, *, has_kinds: bool) -> None:
        self._sql = sql
        self._has_kinds = has_kinds

    async def find_key(self, tx: Reading, start: Start, offset: int) -> tuple[int, str] | None:
        """Return the key that is `offset` rows after the start of a bucket."""
        owner = self._name(start.kind, start.thing_id)
        row = await tx.one(self._sql.key_at, *owner, start.quantity, start.player_id, offset)
        return (row[0], row[1]) if row else None

    async def find_buckets(self, tx: Reading, kind: str, thing_id: str, keys: Sequence[Key]) -> list[RankedBucket]:
        """Return the bucket of a list that each key belongs to: the last one that starts at or before it."""
        whole = await self._read_whole(tx, kind, thing_id, BUCKETS_PER_STEP * len(keys))
        if not whole:
            return await self._seek_buckets(tx, kind, thing_id, keys)
        starts = [each.key for each in whole]
        return [whole[bisect_right(starts, key) - 1] for key in keys]

    async def _read_whole(self, tx: Reading, kind: str, thing_id: str, most: int) -> list[RankedBucket]:
        """Read all buckets of a list, in order. Empty: there are more than `most`."""
        found = await self.read_buckets(tx, kind, thing_id, LOWEST, most + 1)
        return found if len(found) <= most else []

    async def read_buckets(self, tx: Reading, kind: str, thing_id: str, start: Key, limit: int) -> list[RankedBucket]:
        """Read buckets from a first key on, in order."""
        rows = await tx.all(self._sql.buckets_from, *self._name(kind, thing_id), *start, limit)
        return [RankedBucket(kind, thing_id, *row) for row in rows]

    async def _seek_buckets(self, tx: Reading, kind: str, thing_id: str, keys: Sequence[Key]) -> list[RankedBucket]:
        given = as_table(
            {"place": place, "kind": kind, "thing_id": thing_id, "quantity": quantity, "player_id": player_id}
            for place, (quantity, player_id) in enumerate(keys)
        )
        found = {row[0]: row[1:] for row in await tx.all(self._sql.find_buckets, given)}
        return [RankedBucket(kind, thing_id, *found[place]) for place in range(len(keys))]

    async def save_buckets(self, tx: Writing, buckets: Iterable[RankedBucket]) -> None:
        await tx.returning(self._sql.save_buckets, as_table(each._asdict() for each in buckets))

    async def delete_bucket(self, tx: Writing, bucket: RankedBucket) -> None:
        """Delete a bucket: its keys then belong to the one before."""
        owner = self._name(bucket.kind, bucket.thing_id)
        await tx.returning(self._sql.delete_bucket, *owner, bucket.quantity, bucket.player_id)

    async def find_bucket_below(
        self, tx: Reading, kind: str, thing_id: str, end: Key, place: int = 0
    ) -> RankedBucket | None:
        """Return the nearest bucket that starts before a key, or the one that is `place` further below."""
        row = await tx.one(self._sql.bucket_below, *self._name(kind, thing_id), *end, place)
        return RankedBucket(kind, thing_id, *row) if row else None

    async def read_entries(self, tx: Reading, kind: str, thing_id: str, start: Key, end: Key) -> list[int]:
        """Read the numbers of the buckets that start between two keys, from the top."""
        row = await tx.one(self._sql.entries_between, *self._name(kind, thing_id), *start, *end)
        return msgspec.json.decode(row[0], type=list[int]) if row else []

    async def read_page(
        self, tx: Reading, kind: str, thing_id: str, below: tuple[int, str], limit: int, offset: int
    ) -> list[Holder]:
        """Read holders below a key, most first, after the highest `offset` of them."""
        return await self._read_holders(tx, self._sql.page, kind, thing_id, below, limit, offset)

    async def read_page_up(
        self, tx: Reading, kind: str, thing_id: str, start: tuple[int, str], limit: int, offset: int
    ) -> list[Holder]:
        """Read holders from a key on, most first, before the lowest `offset` of them."""
        return await self._read_holders(tx, self._sql.page_up, kind, thing_id, start, limit, offset)

    async def _read_holders(
        self, tx: Reading, sql: Statement, kind: str, thing_id: str, key: tuple[int, str], limit: int, offset: int
    ) -> list[Holder]:
        rows = await tx.all(sql, *self._name(kind, thing_id), *key, limit, offset)
        return sorted((Holder(*row) for row in rows), key=lambda each: (each.quantity, each.player_id), reverse=True)

    def _name(self, kind: str, thing_id: str) -> tuple[str, ...]:
        return (kind, thing_id) if self._has_kinds else (thing_id,)


async def read_blocks(tx: Reading, kind: str, thing_id: str) -> list[RankedBlock]:
    """Read the blocks of a list, in order."""
    return [RankedBlock(kind, thing_id, *row) for row in await tx.all(SQL.blocks, kind, thing_id)]


async def read_block_entries(tx: Reading, kind: str, thing_id: str) -> list[int]:
    """Read how many rows each block of a list has, from the top."""
    row = await tx.one(SQL.block_entries, kind, thing_id)
    return msgspec.json.decode(row[0], type=list[int]) if row else []


async def find_block_range(tx: Reading, kind: str, thing_id: str, place: int) -> tuple[Key, Key]:
    """Return the first key of a block, by its place from the top, and the first key above the block."""
    rows = await tx.all(SQL.block_starts, kind, thing_id, 2 if place else 1, max(place - 1, 0))
    keys = [HIGHEST, *((row[0], row[1]) for row in rows)]
    return keys[-1], keys[-2]


async def sum_above_block(tx: Reading, kind: str, thing_id: str, key: Key) -> tuple[int, Key]:
    """Return the sum of the blocks above that of a key, and the first key above its block."""
    total = await tx.one(SQL.entries_above_block, kind, thing_id, *key)
    end = await tx.one(SQL.block_above, kind, thing_id, *key)
    return total[0] if total else 0, (end[0], end[1]) if end else HIGHEST


async def save_blocks(tx: Writing, blocks: Iterable[RankedBlock]) -> None:
    await tx.returning(SQL.save_blocks, as_table(each._asdict() for each in blocks))


async def delete_block(tx: Writing, block: RankedBlock) -> None:
    await tx.returning(SQL.delete_block, block.kind, block.thing_id, *block.key)


async def delete_blocks(tx: Writing, kind: str, thing_id: str) -> None:
    """Delete all blocks of a list."""
    await tx.returning(SQL.delete_blocks, kind, thing_id)


async def count_wrong_blocks(tx: Reading) -> dict[tuple[str, str], int]:
    """Return, by kind and id of a list, how many of its blocks are not the sums of their buckets."""
    return {(row[0], row[1]): int(row[2]) for row in await tx.all(SQL.wrong_blocks)}


async def rebuild_blocks(tx: Writing) -> None:
    """Add up all buckets again, under the locks of the economy and of the boards."""
    await tx.returning(SQL.clear_blocks)
    await tx.returning(SQL.build_blocks)
