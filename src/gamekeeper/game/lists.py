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
from gamekeeper.game.order import FULL, Block, Bucket, Key, Order, build
from gamekeeper.store import lists, players, presence, users
from gamekeeper.store.engine import Reading, Store, Writing
from gamekeeper.store.lists import ListDelta
from gamekeeper.store.players import RankKey, RankNeighbours, StoredPlayer

R = TypeVar("R")
TEND_SECONDS = 1.0
DIVIDED = 80  # buckets of a list in one go: everybody else waits meanwhile
CHECKPOINT = 20_000  # changes after which the counts are written down, so that nobody has to read more than that
TRIES = 3
UNBUILT = (
    "A bulk load is under way or broke off: until the lists are counted anew every page is, which takes longer. "
    "If nobody is loading, run: gamekeeper doctor --fix"
)


@dataclass(frozen=True, slots=True)
class Listing(Generic[R]):
    name: str
    lowest: Key  # before every key
    key: Callable[[int, int, str], Key]  # of level, exp, word
    seek: Callable[[Reading, str, Any, int, int], Awaitable[tuple[ListDelta, list[R]]]]  # from a key on: limit, offset
    keys: Callable[[Reading, Any, int], Awaitable[Sequence[Key]]]  # from a key on
    lows: Callable[[Reading, int], Awaitable[Sequence[Key]]]  # every so many keys, from the first on
    count: Callable[[Reading], Awaitable[int]]


def _word(_level: int, _exp: int, word: str) -> str:
    return word


RANK = Listing(
    "rank",
    RankKey(0, 0, lookup.ZERO),
    RankKey,
    players.read_records_from_rank,
    players.read_keys_by_rank,
    players.read_lows_by_rank,
    players.count,
)
NAMES = Listing(
    "names",
    "",
    _word,
    players.read_records_from_name,
    players.read_keys_by_name,
    players.read_lows_by_name,
    players.count,
)
USERS = Listing("users", "", _word, users.read_from_name, users.read_keys_by_name, users.read_lows_by_name, users.count)
EMAILS = Listing(
    "emails", "", _word, users.read_from_email, users.read_keys_by_email, users.read_lows_by_email, users.count
)
ONLINE = Listing(
    "online",
    "",
    _word,
    presence.read_records_from_name,
    presence.read_keys_by_name,
    presence.read_lows_by_name,
    presence.count,
)
ONLINE_RANK = Listing(
    "online_rank",
    RANK.lowest,
    RankKey,
    presence.read_records_from_rank,
    presence.read_keys_by_rank,
    presence.read_lows_by_rank,
    presence.count,
)
LISTINGS: tuple[Listing[Any], ...] = (RANK, NAMES, USERS, EMAILS, ONLINE, ONLINE_RANK)
_KEYS = {listing.name: listing.key for listing in LISTINGS}


class Wanted(NamedTuple):
    """A page."""

    offset: int
    limit: int
    descending: bool = False


class Spot(NamedTuple):
    """Where in its list a page is to be sought."""

    low: Key
    limit: int
    offset: int


@dataclass(frozen=True, slots=True)
class View:
    number: int  # the newest checkpoint when it was read
    life: str
    mark: str
    orders: Mapping[str, Order]
    changes: int  # since that checkpoint
    left: bool = False  # an account went away since it was read: its names are in the log, and maybe in the blocks


@dataclass(frozen=True, slots=True)
class Ranked:
    rank: int  # 1 is the best
    total: int
    player: StoredPlayer
    around: list[tuple[int, StoredPlayer]]  # those above and below with their ranks, the best first


class Lists:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._view: View | None = None
        self._renewing = asyncio.Lock()
        self._told = False  # that there is none

    async def page(
        self, listing: Listing[R], offset: int, limit: int, *, descending: bool = False
    ) -> tuple[int, list[R]]:
        """How many there are in all, and those of a page."""
        wanted = Wanted(offset, limit, descending)
        total, rows = await self._found(
            lambda view: self._at_once(view, listing, wanted), lambda tx: self._settled(tx, listing, wanted)
        )
        return total, rows[::-1] if descending else rows

    async def total(self, listing: Listing[Any]) -> int:
        return (await self.page(listing, 0, 0))[0]

    async def rank(self, key: str, around: int) -> Ranked:
        async def look(tx: Reading) -> Ranked:
            mark, order = await self._standing(tx, RANK)
            mine = await lookup.rank_key(tx, key)
            bucket = order.of(mine)
            _, found = await players.read_records_around_rank(tx, mark, mine, around, bucket.low, bucket.size)
            return _ranked(order, bucket, mine, found)

        return await self._found(lambda view: self._rank_at_once(view, key, around), look)

    async def ready(self) -> None:
        """Before the first request: what a bulk load, a restore or an older version left behind is put in order."""
        for _ in range(TRIES):  # others that start now may do the same, and be first
            if await self._store.read(self._current) is not None or await self._rebuilt():
                return
        log.problem("lists", UNBUILT)

    async def watch(self) -> None:
        """Tends them as long as it is served, and says so when they wait to be counted."""
        await self.tend()
        if self._view is None and not self._told:
            log.problem("lists", UNBUILT)
        self._told = self._view is None

    async def tend(self) -> None:
        """Keeps the view new, its buckets small and the log short."""
        # readers never replace a view that they did not begin with, so these are not lost to one in flight
        self._view, loads = await self._store.read(_tended(self._view))
        if self._view is not None and (self._view.left or self._view.changes >= CHECKPOINT):
            self._view = packed = await asyncio.to_thread(_packed, self._view)
            # two further, and the log is trimmed of all that these blocks know: nothing names those who left
            further = 2 if packed.left else 1
            if await self._save(packed, loads, further, number=packed.number):
                # nobody knows these blocks better; what others read into the view meanwhile is still in the log
                self._view = replace(packed, number=packed.number + further, changes=0, left=False)

    async def rebuild(self) -> bool:
        """Counts every list anew, while others read and write; False when they got in between each time."""
        for _ in range(TRIES):
            if await self._rebuilt():
                return True
        return False

    async def _rebuilt(self) -> bool:
        view, loads = await self._store.read(_counted)
        # two further, so that everybody reads the new blocks; one checkpoint in between did no harm: it trimmed
        # nothing that these blocks do not know of
        return await self._save(view, loads, further=2, number=view.number + 1)

    async def _found(
        self, at_once: Callable[[View], Awaitable[R | None]], settled: Callable[[Reading], Coroutine[Any, Any, R]]
    ) -> R:
        view = self._view
        if view is not None:
            found = await at_once(view)
            if found is not None:
                return found
            await self._renewed(view)
        return await self._store.read(settled)

    async def _renewed(self, view: View) -> None:
        """Of all whose view turned out too old, one reads the blocks; the others go on from there."""
        if self._view is view:
            async with self._renewing:
                if self._view is view:
                    await self._store.read(self._current)

    async def _current(self, tx: Reading) -> View | None:
        """The view in this snapshot. Asked for before all else: what others publish later may be newer than it."""
        before = self._view
        return self._published(before, await _continued(tx, before))

    def _published(self, before: View | None, view: View | None) -> View | None:
        if self._view is before:
            self._view = view
        return view

    async def _at_once(self, view: View, listing: Listing[R], wanted: Wanted) -> tuple[int, list[R]] | None:
        """In one round trip, sought where the view says; None when it turns out that the rows have moved on."""
        spot = _spot(view.orders[listing.name], listing, wanted)
        news, rows = await listing.seek(self._store, view.mark, *spot)
        order = self._moved_on(view, news, listing)
        return (order.total, rows) if order and _spot(order, listing, wanted) == spot else None

    async def _rank_at_once(self, view: View, key: str, around: int) -> Ranked | None:
        """In two round trips; None when the player or the bucket is found changed in the second."""
        mine = await lookup.rank_key(self._store, key)
        sought = view.orders[RANK.name].of(mine)
        news, found = await players.read_records_around_rank(
            self._store, view.mark, mine, around, sought.low, sought.size
        )
        order = self._moved_on(view, news, RANK)
        if order is None or mine not in [each for each, _ in found.rows]:
            return None
        bucket = order.of(mine)
        same = (bucket.low, bucket.size) == (sought.low, sought.size)
        return _ranked(order, bucket, mine, found) if same else None

    def _moved_on(self, view: View, news: ListDelta, listing: Listing[Any]) -> Order | None:
        """The list as it was at the moment of the news; None when the view was too old for them."""
        if not _follows(news, view):
            return None
        newer = _after(view, news)
        self._published(view, newer)
        return newer.orders[listing.name]

    async def _settled(self, tx: Reading, listing: Listing[R], wanted: Wanted) -> tuple[int, list[R]]:
        """First the view, then the rows, in one snapshot."""
        mark, order = await self._standing(tx, listing)
        _, rows = await listing.seek(tx, mark, *_spot(order, listing, wanted))
        return order.total, rows

    async def _standing(self, tx: Reading, listing: Listing[Any]) -> tuple[str, Order]:
        """The list in this snapshot, and its mark."""
        view = await self._current(tx)
        if view is None:
            return await lists.read_mark(tx), Order([Block.of([listing.lowest], [await listing.count(tx)])])
        return view.mark, view.orders[listing.name]

    async def _save(self, view: View, loads: int, further: int, number: int) -> bool:
        encoded = await asyncio.to_thread(_encoded, view)

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


async def view(tx: Reading) -> View | None:
    """Out of the database alone, as it is in this snapshot; None when a bulk load has not been counted yet."""
    found = await _loaded(tx)
    return found and _after(found, (await lists.read_delta(tx, found.mark))[0])


async def _continued(tx: Reading, before: View | None) -> View | None:
    """From a view that is no newer than the snapshot, if that can be; else out of the database."""
    if before is not None:
        news, _ = await lists.read_delta(tx, before.mark)
        if _follows(news, before):
            return _after(before, news)
    return await view(tx)


def _tended(before: View | None) -> Callable[[Reading], Coroutine[Any, Any, tuple[View | None, int]]]:
    """The view with its buckets divided, and the bulk loads of the same moment: it knows of no later one."""

    async def look(tx: Reading) -> tuple[View | None, int]:
        found = await _continued(tx, before)
        if found is not None:
            orders = {each.name: await _divided(tx, each, found.orders[each.name]) for each in LISTINGS}
            found = replace(found, orders=orders)
        return found, (await lists.read_checkpoint(tx)).loads

    return look


def _spot(order: Order, listing: Listing[Any], wanted: Wanted) -> Spot:
    """Where the rows at the wanted places are to be sought, upwards."""
    end = order.total - wanted.offset if wanted.descending else min(wanted.offset + wanted.limit, order.total)
    first = max(end - wanted.limit, 0) if wanted.descending else wanted.offset
    if first >= end:
        return Spot(listing.lowest, 0, 0)
    bucket = order.at(first)
    return Spot(bucket.low, end - first, first - bucket.before)


def _ranked(order: Order, bucket: Bucket, mine: RankKey, found: RankNeighbours) -> Ranked:
    at = [key for key, _ in found.rows].index(mine)
    rank = order.total - bucket.before - found.before
    ranks = [(rank + at - number, record) for number, (_, record) in enumerate(found.rows)]
    return Ranked(rank, order.total, found.rows[at][1], [*ranks[:at], *ranks[at + 1 :]][::-1])


async def _divided(tx: Reading, listing: Listing[Any], order: Order) -> Order:
    for bucket in order.crowded()[:DIVIDED]:
        order = order.divided(bucket.low, await listing.keys(tx, bucket.low, bucket.size))
    return order


async def _loaded(tx: Reading) -> View | None:
    saved = await lists.read_checkpoint(tx)
    if not saved.whole:
        return None
    blocks = await lists.read_blocks(tx)
    orders = {listing.name: _order_of(blocks[listing.name]) for listing in LISTINGS}
    return View(saved.number, saved.life, saved.mark, orders, 0)


async def _counted(tx: Reading) -> tuple[View, int]:
    saved = await lists.read_checkpoint(tx)
    mark = await lists.read_mark(tx)
    orders = {listing.name: build(await _lows(tx, listing), await listing.count(tx)) for listing in LISTINGS}
    return View(saved.number, saved.life, mark, orders, 0), saved.loads


async def _lows(tx: Reading, listing: Listing[Any]) -> list[Key]:
    """Of the buckets of a list that is dealt anew; the first is open below."""
    return [listing.lowest, *(await listing.lows(tx, FULL))[1:]]


def _order_of(blocks: Sequence[lists.Buckets]) -> Order:
    return Order([Block.of([_key(low) for low, _ in buckets], [count for _, count in buckets]) for buckets in blocks])


def _key(stored: Any) -> Key:  # noqa: ANN401 - a name, or a list of level, exp and id
    return stored if isinstance(stored, str) else RankKey(*stored)


def _follows(news: ListDelta, view: View) -> bool:
    """Whether the view and the news make a newer view: nothing in between was trimmed, nothing numbered anew."""
    return news.whole and news.life == view.life and view.number <= news.number <= view.number + 1


def _after(view: View, news: ListDelta) -> View:
    if not news.changes and news.number == view.number:
        return view
    changes = view.changes + len(news.changes) if news.number == view.number else len(news.changes)
    steps: dict[str, list[tuple[Key, int]]] = {}
    for name, level, exp, word, step in news.changes:
        steps.setdefault(name, []).append((_KEYS[name](level, exp, word), step))
    orders = {**view.orders, **{name: _moved(view.orders[name], name, of) for name, of in steps.items()}}
    left = view.left or any(step < 0 for _, step in steps.get(USERS.name, ()))
    return View(news.number, news.life, news.mark or view.mark, orders, changes, left)


def _moved(order: Order, name: str, steps: Sequence[tuple[Key, int]]) -> Order:
    """No bucket is known by the name of somebody who is not in the list; a rank's keys name nobody."""
    after = order.after(steps)
    return after if name in (RANK.name, ONLINE_RANK.name) else after.without(key for key, step in steps if step < 0)


def _packed(view: View) -> View:
    return replace(view, orders={name: order.packed() for name, order in view.orders.items()})


def _encoded(view: View) -> list[tuple[str, int, str]]:
    return [
        (name, place, msgspec.json.encode(list(zip(block.lows, block.counts, strict=True))).decode())
        for name, order in view.orders.items()
        for place, block in enumerate(order.blocks)
    ]
