"""The doctor's checks of indexes, and of stored counts.

That is the row counts of ordered lists, the blocks of ranked lists and boards, and the numbers of guilds' members.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import msgspec

from gamekeeper.doctor.findings import NOTE, Check, DoctorFinding, Examination, Findings, Fix, Progress
from gamekeeper.game.insight import standings
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lists import ordered_lists
from gamekeeper.game.lists.list_index import LISTS, BucketIndex, Key, ListDefinition
from gamekeeper.game.lists.ordered_lists import CHECKPOINT_ENTRIES, ListsView
from gamekeeper.game.world.changes import recount_members
from gamekeeper.store.engine import database_checks
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.lists import ranked_buckets
from gamekeeper.store.world import guilds

KEYS_PER_QUERY = 10_000  # keys of an ordered list that the doctor reads per query
# entries from which the log of list changes is reported as too long: a running server keeps it far shorter
LONG_LOG_CHANGES = 10 * CHECKPOINT_ENTRIES
REINDEX = "Create it, and check the lists, with: gamekeeper doctor --fix"
RECOUNT = "Recount them with: gamekeeper doctor --fix"


async def check(it: Examination) -> None:
    """Report missing indexes. If all exist, check the lists; without one, each page of a list sorts its table."""
    missing = await database_checks.find_missing_indexes(it.tx, it.keeper.store.engine)
    for name in missing:
        it.found.error("indexes", f"The index {name} is missing, so requests get slower as the game grows.", REINDEX)
    view = None if missing else await _read_view(it.tx, it.found)
    if view is not None:
        await _check_counts(it.tx, it.found, view, it.progress)


async def _check_counts(tx: Reading, found: Findings, view: ListsView, progress: Progress) -> None:
    """Compare the row count of each bucket of an ordered list with the table: pages and ranks depend on it."""
    counts = [(listing, await listing.count(tx)) for listing in LISTS]
    total, done = sum(count for _, count in counts), 0
    for listing, count in counts:
        order = view.indexes[listing.name]
        lows = [low for block in order.blocks for low in block.starts]
        held: Counter[int] = Counter()
        async for keys in _read_keys(tx, listing):
            _count_keys(keys, lows, held)
            done += len(keys)
            progress("lists", done, total)
        off = _count_errors(order, held)
        if off:
            what = f"is off by {off} rows: it counts {order.total}, and there are {count}."
            found.error("lists", f"The list '{listing.name}' {what}", RECOUNT)


async def _read_view(tx: Reading, found: Findings) -> ListsView | None:
    try:
        view = await ordered_lists.load_view(tx)
    except (LookupError, TypeError, msgspec.DecodeError) as error:
        found.error("lists", f"The counts of the lists cannot be read: {error!r}.", RECOUNT)
        return None
    if view is None:
        message = "The lists are not counted yet after a bulk load, a restore or an update; until then pages are slow."
        found.note("lists", f"{message} `gamekeeper serve` counts them when it starts.", RECOUNT)
    elif view.log_entries > LONG_LOG_CHANGES:
        message = f"{view.log_entries} changes of the lists have been logged since they were last counted."
        found.note("lists", f"{message} `gamekeeper serve` shortens that log.", RECOUNT)
    return view


async def _read_keys(tx: Reading, listing: ListDefinition[Any]) -> AsyncGenerator[Sequence[Key]]:
    """Yield all keys of an ordered list in order, in pages. Each query starts at the last key of the page before."""
    last, first = listing.lowest_key, 0
    while keys := (await listing.load_keys(tx, last, KEYS_PER_QUERY))[first:]:
        yield keys
        last, first = keys[-1], 1


def _count_keys(keys: Sequence[Key], lows: Sequence[Key], held: Counter[int]) -> None:
    """Add the number of keys in each bucket of an ordered list to `held`; bucket -1: keys below all buckets."""
    at = 0
    while at < len(keys):
        bucket = bisect_right(lows, keys[at]) - 1
        end = bisect_left(keys, lows[bucket + 1], at) if bucket + 1 < len(lows) else len(keys)
        held[bucket] += end - at
        at = end


def _count_errors(order: BucketIndex, held: Counter[int]) -> int:
    counts = [count for block in order.blocks for count in block.counts]
    return held[-1] + sum(abs(held[bucket] - count) for bucket, count in enumerate(counts))


BLOCKS = "blocks"
ADVICE = "Add them up again: gamekeeper doctor --fix"


async def check_blocks(it: Examination) -> None:
    for (kind, thing_id), wrong in (await ranked_buckets.count_wrong_blocks(it.tx)).items():
        message = f"The ranking by {kind} {thing_id} has {wrong} blocks that are not the sums of their buckets."
        it.found.error(BLOCKS, message, ADVICE)


async def check_guilds(it: Examination) -> None:
    for each in await guilds.find_miscounted(it.tx):
        message = f"Guild {each.id} ({each.name}) counts {each.members} members, but has {each.counted}."
        it.found.error("guilds", message, "Count them again: gamekeeper doctor --fix")


async def fix(keeper: Keeper, _: Progress) -> list[DoctorFinding]:
    """Create missing indexes, and count again what is stored as a count."""
    found = Findings()
    if made := await database_checks.create_missing_indexes(keeper.store):
        found.add(NOTE, "indexes", f"Created: {', '.join(made)}.")
    if await keeper.lists.rebuild():
        found.add(NOTE, "lists", f"Recounted: {', '.join(listing.name for listing in LISTS)}.")
    else:
        problem = "The lists could not be recounted: bulk loads or checkpoints interfered."
        found.error("lists", problem, "Try again later.")
    if await keeper.store.write(standings.fix_blocks):
        found.add(NOTE, BLOCKS, "Added up the blocks of all ranked lists and boards again.")
    if fixed := await keeper.store.write(recount_members):
        found.add(NOTE, "guilds", f"Counted the members of {fixed} guilds again.")
    return found.all()


CHECKS = (
    Check(30, ("indexes", "lists"), check),
    Check(60, (BLOCKS,), check_blocks),
    Check(80, ("guilds",), check_guilds),
)
FIXES = (Fix(10, fix),)
