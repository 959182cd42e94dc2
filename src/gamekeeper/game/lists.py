"""The ordered lists: any page, and the rank of a player, at one price however long the list is.

A process keeps a view of every list in memory: how many rows each bucket of keys has. Before it answers it reads, in
the snapshot that it answers from, what changed since, and makes a newer view of it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from gamekeeper import log
from gamekeeper.game import lookup
from gamekeeper.game.bucket_index import BUCKET_ROWS, Bucket, BucketBlock, BucketIndex, Key, build_index
from gamekeeper.store import lists, players, presence, users
from gamekeeper.store.engine import Reading, Store, Writing
from gamekeeper.store.lists import ListDelta
from gamekeeper.store.players import RankKey, RankNeighbours, StoredPlayer

R = TypeVar("R")
MAINTAIN_SECONDS = 1.0
MOST_SPLITS = 80  # buckets of a list in one go: everybody else waits meanwhile
CHECKPOINT_ENTRIES = (
    20_000  # changes after which the counts are written down, so that nobody has to read more than that
)
MOST_ATTEMPTS = 3
NOT_BUILT = (
    "A bulk load is under way or broke off: until the lists are counted anew every page is, which takes longer. "
    "If nobody is loading, run: gamekeeper doctor --fix"
)


@dataclass(frozen=True, slots=True)
class ListDefinition(Generic[R]):
    name: str
    lowest_key: Key  # before every key
    make_key: Callable[[int, int, str], Key]  # of level, exp, word
    seek: Callable[[Reading, str, Any, int, int], Awaitable[tuple[ListDelta, list[R]]]]  # from a key on: limit, offset
    load_keys: Callable[[Reading, Any, int], Awaitable[Sequence[Key]]]  # from a key on
    load_bucket_starts: Callable[[Reading, int], Awaitable[Sequence[Key]]]  # every so many keys, from the first on
    count: Callable[[Reading], Awaitable[int]]


def _make_name_key(_level: int, _exp: int, word: str) -> str:
    return word


RANK = ListDefinition(
    "rank",
    RankKey(0, 0, lookup.ZERO_GUID),
    RankKey,
    players.read_records_from_rank,
    players.read_keys_by_rank,
    players.read_lows_by_rank,
    players.count,
)
NAMES = ListDefinition(
    "names",
    "",
    _make_name_key,
    players.read_records_from_name,
    players.read_keys_by_name,
    players.read_lows_by_name,
    players.count,
)
USERS = ListDefinition(
    "users", "", _make_name_key, users.read_from_name, users.read_keys_by_name, users.read_lows_by_name, users.count
)
EMAILS = ListDefinition(
    "emails", "", _make_name_key, users.read_from_email, users.read_keys_by_email, users.read_lows_by_email, users.count
)
ONLINE = ListDefinition(
    "online",
    "",
    _make_name_key,
    presence.read_records_from_name,
    presence.read_keys_by_name,
    presence.read_lows_by_name,
    presence.count,
)
ONLINE_RANK = ListDefinition(
    "online_rank",
    RANK.lowest_key,
    RankKey,
    presence.read_records_from_rank,
    presence.read_keys_by_rank,
    presence.read_lows_by_rank,
    presence.count,
)
LISTS: tuple[ListDefinition[Any], ...] = (RANK, NAMES, USERS, EMAILS, ONLINE, ONLINE_RANK)
_KEYS = {listing.name: listing.make_key for listing in LISTS}


class PageRequest(NamedTuple):
    """A page."""

    offset: int
    limit: int
    descending: bool = False


class SeekPosition(NamedTuple):
    """Where in its list a page is to be sought."""

    low: Key
    limit: int
    offset: int


@dataclass(frozen=True, slots=True)
class ListsView:
    checkpoint: int  # the newest checkpoint when it was read
    life: str
    mark: str
    indexes: Mapping[str, BucketIndex]
    log_entries: int  # since that checkpoint
    has_deletions: bool = (
        False  # an account went away since it was read: its names are in the log, and maybe in the blocks
    )


@dataclass(frozen=True, slots=True)
class Ranking:
    rank: int  # 1 is the best
    total: int
    player: StoredPlayer
    around: list[tuple[int, StoredPlayer]]  # those above and below with their ranks, the best first


class Lists:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._view: ListsView | None = None
        self._refreshing = asyncio.Lock()
        self._reported_missing = False  # that there is none

    async def load_page(
        self, listing: ListDefinition[R], offset: int, limit: int, *, descending: bool = False
    ) -> tuple[int, list[R]]:
        """How many there are in all, and those of a page."""
        wanted = PageRequest(offset, limit, descending)
        total, rows = await self._run_with_view(
            lambda view: self._try_load_page(view, listing, wanted),
            lambda tx: self._load_page_in_snapshot(tx, listing, wanted),
        )
        return total, rows[::-1] if descending else rows

    async def count(self, listing: ListDefinition[Any]) -> int:
        return (await self.load_page(listing, 0, 0))[0]

    async def find_rank(self, key: str, around: int) -> Ranking:
        async def look(tx: Reading) -> Ranking:
            mark, order = await self._load_index(tx, RANK)
            mine = await lookup.find_rank_key(tx, key)
            bucket = order.find_by_key(mine)
            _, found = await players.read_records_around_rank(tx, mark, mine, around, bucket.start, bucket.size)
            return _make_ranking(order, bucket, mine, found)

        return await self._run_with_view(lambda view: self._try_find_rank(view, key, around), look)

    async def prepare(self) -> None:
        """Before the first request: what a bulk load, a restore or an older version left behind is put in order."""
        for _ in range(MOST_ATTEMPTS):  # others that start now may do the same, and be first
            if await self._store.read(self._load_current_view) is not None or await self._try_rebuild():
                return
        log.problem("lists", NOT_BUILT)

    async def maintain_and_report(self) -> None:
        """Tends them as long as it is served, and says so when they wait to be counted."""
        await self.maintain()
        if self._view is None and not self._reported_missing:
            log.problem("lists", NOT_BUILT)
        self._reported_missing = self._view is None

    async def maintain(self) -> None:
        """Keeps the view new, its buckets small and the log short."""
        # readers never replace a view that they did not begin with, so these are not lost to one in flight
        self._view, loads = await self._store.read(_make_maintenance_read(self._view))
        if self._view is not None and (self._view.has_deletions or self._view.log_entries >= CHECKPOINT_ENTRIES):
            self._view = packed = await asyncio.to_thread(_merge_small_buckets, self._view)
            # two further, and the log is trimmed of all that these blocks know: nothing names those who left
            further = 2 if packed.has_deletions else 1
            if await self._save(packed, loads, further, number=packed.checkpoint):
                # nobody knows these blocks better; what others read into the view meanwhile is still in the log
                self._view = replace(packed, checkpoint=packed.checkpoint + further, log_entries=0, has_deletions=False)

    async def rebuild(self) -> bool:
        """Counts every list anew, while others read and write; False when they got in between each time."""
        for _ in range(MOST_ATTEMPTS):
            if await self._try_rebuild():
                return True
        return False

    async def _try_rebuild(self) -> bool:
        view, loads = await self._store.read(_count_lists)
        # two further, so that everybody reads the new blocks; one checkpoint in between did no harm: it trimmed
        # nothing that these blocks do not know of
        return await self._save(view, loads, further=2, number=view.checkpoint + 1)

    async def _run_with_view(
        self, at_once: Callable[[ListsView], Awaitable[R | None]], settled: Callable[[Reading], Coroutine[Any, Any, R]]
    ) -> R:
        view = self._view
        if view is not None:
            found = await at_once(view)
            if found is not None:
                return found
            await self._refresh_view(view)
        return await self._store.read(settled)

    async def _refresh_view(self, view: ListsView) -> None:
        """Of all whose view turned out too old, one reads the blocks; the others go on from there."""
        if self._view is view:
            async with self._refreshing:
                if self._view is view:
                    await self._store.read(self._load_current_view)

    async def _load_current_view(self, tx: Reading) -> ListsView | None:
        """The view in this snapshot. Asked for before all else: what others publish later may be newer than it."""
        before = self._view
        return self._publish_view(before, await _advance_or_load(tx, before))

    def _publish_view(self, before: ListsView | None, view: ListsView | None) -> ListsView | None:
        if self._view is before:
            self._view = view
        return view

    async def _try_load_page(
        self, view: ListsView, listing: ListDefinition[R], wanted: PageRequest
    ) -> tuple[int, list[R]] | None:
        """In one round trip, sought where the view says; None when it turns out that the rows have moved on."""
        spot = _find_position(view.indexes[listing.name], listing, wanted)
        news, rows = await listing.seek(self._store, view.mark, *spot)
        order = self._advance_view(view, news, listing)
        return (order.total, rows) if order and _find_position(order, listing, wanted) == spot else None

    async def _try_find_rank(self, view: ListsView, key: str, around: int) -> Ranking | None:
        """In two round trips; None when the player or the bucket is found changed in the second."""
        mine = await lookup.find_rank_key(self._store, key)
        sought = view.indexes[RANK.name].find_by_key(mine)
        news, found = await players.read_records_around_rank(
            self._store, view.mark, mine, around, sought.start, sought.size
        )
        order = self._advance_view(view, news, RANK)
        if order is None or mine not in [each for each, _ in found.rows]:
            return None
        bucket = order.find_by_key(mine)
        same = (bucket.start, bucket.size) == (sought.start, sought.size)
        return _make_ranking(order, bucket, mine, found) if same else None

    def _advance_view(self, view: ListsView, news: ListDelta, listing: ListDefinition[Any]) -> BucketIndex | None:
        """The list as it was at the moment of the news; None when the view was too old for them."""
        if not _can_apply(news, view):
            return None
        newer = _apply_log(view, news)
        self._publish_view(view, newer)
        return newer.indexes[listing.name]

    async def _load_page_in_snapshot(
        self, tx: Reading, listing: ListDefinition[R], wanted: PageRequest
    ) -> tuple[int, list[R]]:
        """First the view, then the rows, in one snapshot."""
        mark, order = await self._load_index(tx, listing)
        _, rows = await listing.seek(tx, mark, *_find_position(order, listing, wanted))
        return order.total, rows

    async def _load_index(self, tx: Reading, listing: ListDefinition[Any]) -> tuple[str, BucketIndex]:
        """The list in this snapshot, and its mark."""
        view = await self._load_current_view(tx)
        if view is None:
            return await lists.read_mark(tx), BucketIndex(
                [BucketBlock.from_counts([listing.lowest_key], [await listing.count(tx)])]
            )
        return view.mark, view.indexes[listing.name]

    async def _save(self, view: ListsView, loads: int, further: int, number: int) -> bool:
        encoded = await asyncio.to_thread(_encode_blocks, view)

        async def save(tx: Writing) -> bool:
            before = await lists.read_checkpoint(tx)
            if not await lists.save_checkpoint(tx, further, view.mark, loads, number):
                return False
            await lists.clear_blocks(tx)
            lists.save_blocks(tx, encoded)
            # who goes on from the checkpoint before needs what came after it; after a rebuild nobody does
            lists.trim(tx, before.mark if further == 1 else view.mark)
            return True

        return await self._store.write(save)


async def load_view(tx: Reading) -> ListsView | None:
    """Out of the database alone, as it is in this snapshot; None when a bulk load has not been counted yet."""
    found = await _load_checkpoint(tx)
    return found and _apply_log(found, (await lists.read_delta(tx, found.mark))[0])


async def _advance_or_load(tx: Reading, before: ListsView | None) -> ListsView | None:
    """From a view that is no newer than the snapshot, if that can be; else out of the database."""
    if before is not None:
        news, _ = await lists.read_delta(tx, before.mark)
        if _can_apply(news, before):
            return _apply_log(before, news)
    return await load_view(tx)


def _make_maintenance_read(
    before: ListsView | None,
) -> Callable[[Reading], Coroutine[Any, Any, tuple[ListsView | None, int]]]:
    """The view with its buckets divided, and the bulk loads of the same moment: it knows of no later one."""

    async def look(tx: Reading) -> tuple[ListsView | None, int]:
        found = await _advance_or_load(tx, before)
        if found is not None:
            orders = {each.name: await _split_crowded(tx, each, found.indexes[each.name]) for each in LISTS}
            found = replace(found, indexes=orders)
        return found, (await lists.read_checkpoint(tx)).loads

    return look


def _find_position(order: BucketIndex, listing: ListDefinition[Any], wanted: PageRequest) -> SeekPosition:
    """Where the rows at the wanted places are to be sought, upwards."""
    end = order.total - wanted.offset if wanted.descending else min(wanted.offset + wanted.limit, order.total)
    first = max(end - wanted.limit, 0) if wanted.descending else wanted.offset
    if first >= end:
        return SeekPosition(listing.lowest_key, 0, 0)
    bucket = order.find_at_position(first)
    return SeekPosition(bucket.start, end - first, first - bucket.before)


def _make_ranking(order: BucketIndex, bucket: Bucket, mine: RankKey, found: RankNeighbours) -> Ranking:
    at = [key for key, _ in found.rows].index(mine)
    rank = order.total - bucket.before - found.before
    ranks = [(rank + at - number, record) for number, (_, record) in enumerate(found.rows)]
    return Ranking(rank, order.total, found.rows[at][1], [*ranks[:at], *ranks[at + 1 :]][::-1])


async def _split_crowded(tx: Reading, listing: ListDefinition[Any], order: BucketIndex) -> BucketIndex:
    for bucket in order.find_crowded()[:MOST_SPLITS]:
        order = order.split(bucket.start, await listing.load_keys(tx, bucket.start, bucket.size))
    return order


async def _load_checkpoint(tx: Reading) -> ListsView | None:
    saved = await lists.read_checkpoint(tx)
    if not saved.whole:
        return None
    blocks = await lists.read_blocks(tx)
    orders = {listing.name: _decode_index(blocks[listing.name]) for listing in LISTS}
    return ListsView(saved.number, saved.life, saved.mark, orders, 0)


async def _count_lists(tx: Reading) -> tuple[ListsView, int]:
    saved = await lists.read_checkpoint(tx)
    mark = await lists.read_mark(tx)
    orders = {
        listing.name: build_index(await _load_bucket_starts(tx, listing), await listing.count(tx)) for listing in LISTS
    }
    return ListsView(saved.number, saved.life, mark, orders, 0), saved.loads


async def _load_bucket_starts(tx: Reading, listing: ListDefinition[Any]) -> list[Key]:
    """Of the buckets of a list that is dealt anew; the first is open below."""
    return [listing.lowest_key, *(await listing.load_bucket_starts(tx, BUCKET_ROWS))[1:]]


def _decode_index(blocks: Sequence[lists.Buckets]) -> BucketIndex:
    return BucketIndex(
        [
            BucketBlock.from_counts([_decode_key(low) for low, _ in buckets], [count for _, count in buckets])
            for buckets in blocks
        ]
    )


def _decode_key(stored: Any) -> Key:  # noqa: ANN401 - a name, or a list of level, exp and id
    return stored if isinstance(stored, str) else RankKey(*stored)


def _can_apply(news: ListDelta, view: ListsView) -> bool:
    """Whether the view and the news make a newer view: nothing in between was trimmed, nothing numbered anew."""
    return news.whole and news.life == view.life and view.checkpoint <= news.number <= view.checkpoint + 1


def _apply_log(view: ListsView, news: ListDelta) -> ListsView:
    if not news.changes and news.number == view.checkpoint:
        return view
    changes = view.log_entries + len(news.changes) if news.number == view.checkpoint else len(news.changes)
    steps: dict[str, list[tuple[Key, int]]] = {}
    for name, level, exp, word, step in news.changes:
        steps.setdefault(name, []).append((_KEYS[name](level, exp, word), step))
    orders = {**view.indexes, **{name: _apply_steps(view.indexes[name], name, of) for name, of in steps.items()}}
    left = view.has_deletions or any(step < 0 for _, step in steps.get(USERS.name, ()))
    return ListsView(news.number, news.life, news.mark or view.mark, orders, changes, left)


def _apply_steps(order: BucketIndex, name: str, steps: Sequence[tuple[Key, int]]) -> BucketIndex:
    """No bucket is known by the name of somebody who is not in the list; a rank's keys name nobody."""
    after = order.apply_steps(steps)
    return (
        after
        if name in (RANK.name, ONLINE_RANK.name)
        else after.merge_starting_at(key for key, step in steps if step < 0)
    )


def _merge_small_buckets(view: ListsView) -> ListsView:
    return replace(view, indexes={name: order.merge_small() for name, order in view.indexes.items()})


def _encode_blocks(view: ListsView) -> list[tuple[str, int, str]]:
    return [
        (name, place, msgspec.json.encode(list(zip(block.starts, block.counts, strict=True))).decode())
        for name, order in view.indexes.items()
        for place, block in enumerate(order.blocks)
    ]
