"""Buckets of ranked lists: numbers of neighbours in an index by quantity and player, so that any page is found.

Holdings and standings have such lists, each with statements of the same names in its own .sql file.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple, Protocol

import msgspec

from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.statements import Statement
from gamekeeper.store.table import as_table

# A list with at most so many buckets for each step is read whole: a row of it costs less than a seek.
BUCKETS_PER_STEP = 4
_KEY = attrgetter("quantity", "player_id")


class Bucket(NamedTuple):
    kind: str
    thing_id: str
    quantity: int  # first key: quantity and player
    player_id: str
    entries: int


class BucketStep(NamedTuple):
    kind: str
    thing_id: str
    quantity: int
    player_id: str
    step: int


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
    buckets: Statement
    save_buckets: Statement
    delete_bucket: Statement
    bucket_before: Statement
    entries: Statement
    bucket_from_top: Statement
    bucket_from_bottom: Statement
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

    async def find_buckets(self, tx: Reading, steps: Sequence[BucketStep]) -> list[Bucket]:
        """Return the bucket that each step belongs to."""
        whole = {
            owner: await self._read_whole(tx, *owner, BUCKETS_PER_STEP * count)
            for owner, count in Counter((each.kind, each.thing_id) for each in steps).items()
        }
        few = [each for each in steps if not whole[each.kind, each.thing_id]]
        sought = await self._seek_buckets(tx, few) if few else {}
        found: list[Bucket] = []
        for each in steps:
            buckets = whole[each.kind, each.thing_id]
            found.append(_find_in(buckets, each) if buckets else sought[each])
        return found

    async def _read_whole(self, tx: Reading, kind: str, thing_id: str, most: int) -> list[Bucket]:
        """Read all buckets of a list, in order. Empty: there are more than `most`."""
        rows = await tx.all(self._sql.buckets, *self._name(kind, thing_id), most + 1)
        return [Bucket(kind, thing_id, *row) for row in rows] if len(rows) <= most else []

    async def _seek_buckets(self, tx: Reading, steps: Sequence[BucketStep]) -> dict[BucketStep, Bucket]:
        given = as_table({**each._asdict(), "place": n} for n, each in enumerate(steps))
        found = {row[0]: row[1:] for row in await tx.all(self._sql.find_buckets, given)}
        return {each: Bucket(each.kind, each.thing_id, *found[place]) for place, each in enumerate(steps)}

    async def save_buckets(self, tx: Writing, buckets: Iterable[Bucket]) -> None:
        await tx.returning(self._sql.save_buckets, as_table(each._asdict() for each in buckets))

    async def delete_bucket(self, tx: Writing, bucket: Bucket) -> None:
        """Delete a bucket: its keys then belong to the one before."""
        owner = self._name(bucket.kind, bucket.thing_id)
        await tx.returning(self._sql.delete_bucket, *owner, bucket.quantity, bucket.player_id)

    async def find_bucket_before(self, tx: Reading, bucket: Bucket) -> Bucket | None:
        owner = self._name(bucket.kind, bucket.thing_id)
        row = await tx.one(self._sql.bucket_before, *owner, bucket.quantity, bucket.player_id)
        return Bucket(bucket.kind, bucket.thing_id, *row) if row else None

    async def read_entries(self, tx: Reading, kind: str, thing_id: str) -> list[int]:
        """Read the numbers of all buckets of a list, from the top."""
        row = await tx.one(self._sql.entries, *self._name(kind, thing_id))
        return msgspec.json.decode(row[0], type=list[int]) if row else []

    async def find_bucket_key(
        self, tx: Reading, kind: str, thing_id: str, place: int, count: int
    ) -> tuple[int, str] | None:
        """Return the first key of one of `count` buckets, by its place from the top; reads from the nearer end."""
        owner = self._name(kind, thing_id)
        if 2 * place < count:
            row = await tx.one(self._sql.bucket_from_top, *owner, place)
        else:
            row = await tx.one(self._sql.bucket_from_bottom, *owner, count - 1 - place)
        return (row[0], row[1]) if row else None

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


def _find_in(buckets: Sequence[Bucket], step: BucketStep) -> Bucket:
    """Return the last bucket that starts at or before a key."""
    place = bisect_right(buckets, (step.quantity, step.player_id), key=_KEY)
    return buckets[place - 1]
