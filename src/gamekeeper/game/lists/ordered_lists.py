"""The ordered lists: any page, and the rank of a player, in constant time however long the list is.

    database                                                  memory of each process
    ┌──────────────────────────────┐
    │ list_blocks: bucket counts   │ ── load, at the start ──►  ListsView
    │   as of the last checkpoint  │                              one BucketIndex per list
    ├──────────────────────────────┤                              mark: its position in the log
    │ list_changes: the log        │ ── log since the mark ──►    ▲ before every page: apply the log,
    │   +1 or -1 per row, written  │                              │ which makes a new view
    │   by triggers                │
    └──────────────────────────────┘ ◄─ checkpoint after 20,000 log entries: store the counts, trim the log

The log is read in the same snapshot as the rows of the page, so counts and rows always agree. `checkpoint` counts the
checkpoints. A view that is more than one checkpoint behind may miss trimmed entries, and is loaded again. A bulk load
bypasses the log; until the lists are counted again there is no view, and pages are counted slowly but exactly.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gamekeeper.game.audit.retention import AuditKeeper
from gamekeeper.game.core import lookup
from gamekeeper.game.core.background_jobs import Job
from gamekeeper.game.lists.list_index import (
    BUCKET_ROWS,
    LISTS,
    ONLINE_RANK,
    RANK,
    USERS,
    Bucket,
    BucketBlock,
    BucketIndex,
    Key,
    ListDefinition,
    build_index,
)
from gamekeeper.ground import log
from gamekeeper.store.core import ordered_lists
from gamekeeper.store.core.ordered_lists import ListDelta
from gamekeeper.store.engine.interface import Reading, Store, Writing
from gamekeeper.store.players import players
from gamekeeper.store.players.players import RankKey, RankNeighbours, StoredPlayer

R = TypeVar("R")
_KEYS = {each.name: each.make_key for each in LISTS}
MAINTAIN_SECONDS = 1.0  # seconds between two maintenance runs of the ordered lists, such as the ranking
# buckets of an ordered list that one maintenance run splits at most: the event loop is blocked meanwhile
MAX_SPLITS = 80
# entries of the list change log after which a checkpoint is saved: limits the log that a new process reads
CHECKPOINT_ENTRIES = 20_000
MAX_ATTEMPTS = 3  # attempts to save a checkpoint of the ordered lists while other processes save theirs
NOT_BUILT = (
    "A bulk load is running or was interrupted, so the ordered lists have no counts. Until they are counted again, "
    "every page is counted separately, which is slower. If no bulk load is running, run: gamekeeper doctor --fix"
)


class PageRequest(NamedTuple):
    """Which rows of an ordered list a caller wants."""

    offset: int
    limit: int
    descending: bool = False


# the same as a plain tuple, which costs less: offset, limit, descending
_PageTuple = tuple[int, int, bool]
# The index seek that reads a page of an ordered list: start key, number of rows to read, number of rows to skip before.
SeekPosition = tuple[Key, int, int]


class ListsView(Struct, frozen=True):
    """The bucket counts of all ordered lists at one position of the list change log."""

    checkpoint: int  # number of the newest checkpoint of the ordered lists when the view was made
    # id of the database server's run: after its restart, log positions (`mark`) of an earlier run are invalid
    life: str
    mark: str  # position in the list change log up to which the view is complete
    indexes: Mapping[str, BucketIndex]  # name of an ordered list → its index
    log_entries: int  # entries of the list change log applied since the last checkpoint
    has_deletions: bool = False  # the list change log has names of deleted accounts, which a checkpoint must remove


class Ranking(Struct, frozen=True):
    rank: int  # the player's rank; 1 is the best
    total: int
    player: StoredPlayer
    around: list[tuple[int, StoredPlayer]]  # ranks and players directly above and below, best first


class Lists:
    def __init__(self, store: Store) -> None:
        self.store = store
        self._view: ListsView | None = None
        self._refreshing = asyncio.Lock()
        # whether the server's log already has the message that the ordered lists have no counts
        self._reported_missing = False

    async def load_page(
        self, definition: ListDefinition[R], offset: int, limit: int, *, descending: bool = False
    ) -> tuple[int, list[R]]:
        """Return the length of an ordered list (ranking, players by name), and the rows of one page."""
        request, view = (offset, limit, descending), self._view
        found = None if view is None else await self._try_load_page(view, definition, request)
        if found is None:
            await self._refresh_view(view)
            found = await self.store.read(lambda tx: self._load_page_in_snapshot(tx, definition, request))
        total, rows = found
        return total, rows[::-1] if descending else rows

    async def count(self, definition: ListDefinition[Any]) -> int:
        return (await self.load_page(definition, 0, 0))[0]

    async def find_rank(self, key: str, around: int) -> Ranking:
        async def load(tx: Reading) -> Ranking:
            mark, index = await self._load_index(tx, RANK)
            mine = await lookup.find_rank_key(tx, key)
            bucket = index.find_by_key(mine)
            _, found = await players.read_records_around_rank(tx, mark, mine, around, bucket.start, bucket.size)
            return _make_ranking(index, bucket, mine, found)

        view = self._view
        found = None if view is None else await self._try_find_rank(view, key, around)
        if found is None:
            await self._refresh_view(view)
            found = await self.store.read(load)
        return found

    async def prepare(self) -> None:
        """Load the ordered lists' counts before the first request; recount after a bulk load, restore or upgrade."""
        # retry: another process that starts now may save its counts of the ordered lists first
        for _ in range(MAX_ATTEMPTS):
            if await self.store.read(self._load_current_view) is not None or await self._try_rebuild():
                return
        log.problem("lists", NOT_BUILT)

    async def maintain_and_report(self) -> None:
        """Run the maintenance of the ordered lists (such as the ranking) once. Log if their row counts are missing."""
        await self.maintain()
        if self._view is None and not self._reported_missing:
            log.problem("lists", NOT_BUILT)
        self._reported_missing = self._view is None

    async def maintain(self) -> None:
        """Bring the ordered lists' counts up to date, split crowded buckets, and save a checkpoint when one is due."""
        # a request replaces only the view that it started from, so it cannot overwrite the view that is published here
        self._view, loads = await self.store.read(_make_maintenance_read(self._view))
        if self._view is not None and (self._view.has_deletions or self._view.log_entries >= CHECKPOINT_ENTRIES):
            self._view = merged = await asyncio.to_thread(_merge_small_buckets, self._view)
            # processes reload views that are two checkpoints behind. So after a number two higher none needs the list
            # change log: it is trimmed, and no stored name of a deleted account remains
            further = 2 if merged.has_deletions else 1
            if await self._save(merged, loads, further, number=merged.checkpoint):
                # if a request published a view meanwhile, it is lost: the next request reads its log entries again
                self._view = replace(merged, checkpoint=merged.checkpoint + further, log_entries=0, has_deletions=False)

    async def rebuild(self) -> bool:
        """Recount all ordered lists while reads and writes go on. False: other processes saved theirs meanwhile."""
        for _ in range(MAX_ATTEMPTS):
            if await self._try_rebuild():
                return True
        return False

    async def _try_rebuild(self) -> bool:
        view, loads = await self.store.read(_count_lists)
        # a checkpoint number two higher makes all processes load the recounted blocks. One checkpoint by another
        # process since the count is harmless: it trimmed only log entries that the count includes
        return await self._save(view, loads, further=2, number=view.checkpoint + 1)

    async def _refresh_view(self, view: ListsView | None) -> None:
        """Load newer counts of the ordered lists, once for all requests that found the view in memory too old."""
        if view is not None and self._view is view:
            async with self._refreshing:
                if self._view is view:
                    await self.store.read(self._load_current_view)

    async def _load_current_view(self, tx: Reading) -> ListsView | None:
        """Return the ordered lists' counts as of this snapshot. Call it first: a view published later may be newer."""
        before = self._view
        return self._publish_view(before, await _advance_or_load(tx, before))

    def _publish_view(self, before: ListsView | None, view: ListsView | None) -> ListsView | None:
        if self._view is before:
            self._view = view
        return view

    async def _try_load_page(
        self, view: ListsView, definition: ListDefinition[R], request: _PageTuple
    ) -> tuple[int, list[R]] | None:
        """Read a page of an ordered list in one round trip, by counts in memory. None: outdated for this page."""
        position = _find_position(view.indexes[definition.name], definition, request)
        delta, rows = await definition.seek(self.store, view.mark, *position)
        newer = self._advance_view(view, delta)
        if newer is None:
            return None
        index = newer.indexes[definition.name]
        same = newer is view or _find_position(index, definition, request) == position
        return (index.total, rows) if same else None

    async def _try_find_rank(self, view: ListsView, key: str, around: int) -> Ranking | None:
        """Find a player's rank in two round trips. None: the view is too old, or the player or its bucket changed."""
        mine = await lookup.find_rank_key(self.store, key)
        sought = view.indexes[RANK.name].find_by_key(mine)
        delta, found = await players.read_records_around_rank(
            self.store, view.mark, mine, around, sought.start, sought.size
        )
        newer = self._advance_view(view, delta)
        if newer is None or mine not in [each for each, _ in found.rows]:
            return None
        index = newer.indexes[RANK.name]
        bucket = index.find_by_key(mine)
        same = (bucket.start, bucket.size) == (sought.start, sought.size)
        return _make_ranking(index, bucket, mine, found) if same else None

    def _advance_view(self, view: ListsView, delta: ListDelta) -> ListsView | None:
        """Apply new list change log entries, publish and return the view. None: the view is too old."""
        return self._publish_view(view, _apply_log(view, delta)) if _can_apply(delta, view) else None

    async def _load_page_in_snapshot(
        self, tx: Reading, definition: ListDefinition[R], request: _PageTuple
    ) -> tuple[int, list[R]]:
        """Read the counts of an ordered list and then the rows of a page, in one snapshot."""
        mark, index = await self._load_index(tx, definition)
        _, rows = await definition.seek(tx, mark, *_find_position(index, definition, request))
        return index.total, rows

    async def _load_index(self, tx: Reading, definition: ListDefinition[Any]) -> tuple[str, BucketIndex]:
        """Return how far the log of the ordered lists is applied, and the index of one of them.

        If the counts are not loaded yet, the index has a single bucket with all rows.
        """
        view = await self._load_current_view(tx)
        if view is None:
            return await ordered_lists.read_mark(tx), BucketIndex(
                [BucketBlock.from_counts([definition.lowest_key], [await definition.count(tx)])]
            )
        return view.mark, view.indexes[definition.name]

    async def _save(self, view: ListsView, loads: int, further: int, number: int) -> bool:
        encoded = await asyncio.to_thread(_encode_blocks, view)

        async def save(tx: Writing) -> bool:
            before = await ordered_lists.read_checkpoint(tx)
            if not await ordered_lists.save_checkpoint(tx, further, view.mark, loads, number):
                return False
            await ordered_lists.clear_blocks(tx)
            ordered_lists.save_blocks(tx, encoded)
            # keep the log for views at the previous checkpoint, unless a number two higher makes processes reload them
            ordered_lists.trim(tx, before.mark if further == 1 else view.mark)
            return True

        return await self.store.write(save)


async def load_view(tx: Reading) -> ListsView | None:
    """Load the counts of the ordered lists as of this snapshot. None: they were not counted after a bulk load."""
    found = await _load_checkpoint(tx)
    return found and _apply_log(found, (await ordered_lists.read_delta(tx, found.mark))[0])


async def _advance_or_load(tx: Reading, before: ListsView | None) -> ListsView | None:
    """Bring counts of the ordered lists that are not newer than the snapshot up to date, or load them if that fails."""
    if before is not None:
        delta, _ = await ordered_lists.read_delta(tx, before.mark)
        if _can_apply(delta, before):
            return _apply_log(before, delta)
    return await load_view(tx)


def _make_maintenance_read(
    before: ListsView | None,
) -> Callable[[Reading], Coroutine[Any, Any, tuple[ListsView | None, int]]]:
    """Make a read that returns the lists' counts with crowded buckets split, and the number of bulk loads so far."""

    async def load(tx: Reading) -> tuple[ListsView | None, int]:
        found = await _advance_or_load(tx, before)
        if found is not None:
            indexes = {each.name: await _split_crowded(tx, each, found.indexes[each.name]) for each in LISTS}
            found = replace(found, indexes=indexes)
        return found, (await ordered_lists.read_checkpoint(tx)).loads

    return load


def _find_position(index: BucketIndex, definition: ListDefinition[Any], request: _PageTuple) -> SeekPosition:
    """Find the ascending index seek that reads the rows of a page of an ordered list."""
    offset, limit, descending = request
    end = index.total - offset if descending else min(offset + limit, index.total)
    first = max(end - limit, 0) if descending else offset
    if first >= end:
        return definition.lowest_key, 0, 0
    start, before, _ = index.find_at_position(first)
    return start, end - first, first - before


def _make_ranking(index: BucketIndex, bucket: Bucket, mine: RankKey, found: RankNeighbours) -> Ranking:
    at = [key for key, _ in found.rows].index(mine)
    rank = index.total - bucket.before - found.before
    ranks = [(rank + at - number, record) for number, (_, record) in enumerate(found.rows)]
    return Ranking(rank, index.total, found.rows[at][1], [*ranks[:at], *ranks[at + 1 :]][::-1])


async def _split_crowded(tx: Reading, definition: ListDefinition[Any], index: BucketIndex) -> BucketIndex:
    for bucket in index.find_crowded()[:MAX_SPLITS]:
        index = index.split(bucket.start, await definition.load_keys(tx, bucket.start, bucket.size))
    return index


async def _load_checkpoint(tx: Reading) -> ListsView | None:
    saved = await ordered_lists.read_checkpoint(tx)
    if not saved.whole:
        return None
    blocks = await ordered_lists.read_blocks(tx)
    indexes = {definition.name: _decode_index(blocks[definition.name]) for definition in LISTS}
    return ListsView(saved.number, saved.life, saved.mark, indexes, 0)


async def _count_lists(tx: Reading) -> tuple[ListsView, int]:
    saved = await ordered_lists.read_checkpoint(tx)
    mark = await ordered_lists.read_mark(tx)
    indexes = {
        definition.name: build_index(await _load_bucket_starts(tx, definition), await definition.count(tx))
        for definition in LISTS
    }
    return ListsView(saved.number, saved.life, mark, indexes, 0), saved.loads


async def _load_bucket_starts(tx: Reading, definition: ListDefinition[Any]) -> list[Key]:
    """Read the start keys of new, full buckets of an ordered list; the first bucket starts below every key."""
    return [definition.lowest_key, *(await definition.load_bucket_starts(tx, BUCKET_ROWS))[1:]]


def _decode_index(blocks: Sequence[ordered_lists.Buckets]) -> BucketIndex:
    return BucketIndex(
        [
            BucketBlock.from_counts([_decode_key(start) for start, _ in buckets], [count for _, count in buckets])
            for buckets in blocks
        ]
    )


def _decode_key(stored: Any) -> Key:  # noqa: ANN401 - a name, or a list of level, exp and id
    return stored if isinstance(stored, str) else RankKey(*stored)


def _can_apply(delta: ListDelta, view: ListsView) -> bool:
    """Tell whether entries of the list change log continue the view: none was trimmed, no database restart."""
    return delta.whole and delta.life == view.life and view.checkpoint <= delta.number <= view.checkpoint + 1


def _apply_log(view: ListsView, delta: ListDelta) -> ListsView:
    if not delta.changes and delta.number == view.checkpoint:
        return view
    changes = view.log_entries + len(delta.changes) if delta.number == view.checkpoint else len(delta.changes)
    steps: dict[str, list[tuple[Key, int]]] = {}
    for name, level, exp, word, step in delta.changes:
        steps.setdefault(name, []).append((_KEYS[name](level, exp, word), step))
    indexes = {**view.indexes, **{name: _apply_steps(view.indexes[name], name, of) for name, of in steps.items()}}
    has_deletions = view.has_deletions or any(step < 0 for _, step in steps.get(USERS.name, ()))
    return ListsView(delta.number, delta.life, delta.mark or view.mark, indexes, changes, has_deletions)


def _apply_steps(index: BucketIndex, name: str, steps: Sequence[tuple[Key, int]]) -> BucketIndex:
    """Add and remove rows of the ordered lists. No bucket may start at a removed name: it may be personal data."""
    after = index.apply_steps(steps)
    if name in (RANK.name, ONLINE_RANK.name):  # rank keys have level, exp and id, but no name
        return after
    return after.merge_starting_at(key for key, step in steps if step < 0)


def _merge_small_buckets(view: ListsView) -> ListsView:
    return replace(view, indexes={name: index.merge_small() for name, index in view.indexes.items()})


def _encode_blocks(view: ListsView) -> list[tuple[str, int, str]]:
    return [
        (name, place, msgspec.json.encode(list(zip(block.starts, block.counts, strict=True))).decode())
        for name, index in view.indexes.items()
        for place, block in enumerate(index.blocks)
    ]


class ListsKeeper(AuditKeeper, frozen=True):
    lists: Lists


JOBS = (Job[ListsKeeper]("ordered lists", MAINTAIN_SECONDS, lambda keeper: keeper.lists.maintain_and_report),)
