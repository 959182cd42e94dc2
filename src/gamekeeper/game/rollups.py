"""Rollups: numbers over time that a background job counts from rows, in steps.

Each step is one transaction of bounded size. It locks the rollup's checkpoint, adds to the numbers, and marks what it
has counted. So a step that is killed has counted nothing, a repeated one counts nothing twice, and only one instance
at a time runs the steps of a rollup.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from gamekeeper.store import rollups
from gamekeeper.store.engine import Reading, Store, Writing
from gamekeeper.store.rollups import Checkpoint

RUN_SECONDS = 10.0
# pause after a step, as a multiple of its duration: the rollups use at most a quarter of the time
REST_FACTOR = 3


class Rollup(NamedTuple):
    name: str  # of its checkpoint
    # whether there is something to count; a cheap read. The number is the proven time, or None
    is_due: Callable[[Reading, int | None], Awaitable[bool]]
    # counts a batch, and returns whether it was full: then there may be more
    step: Callable[[Writing, Checkpoint, int | None], Awaitable[bool]]


async def run_all(
    store: Store, every: Sequence[Rollup], proven: int | None, *, rest_factor: float = REST_FACTOR
) -> None:
    """Run the steps of all rollups until a batch is not full.

    `proven` is the time of the process's `ProvenClock`: a rollup that closes hours for good counts only up to it.
    """
    for each in every:
        while await each.is_due(store, proven):
            started = time.monotonic()
            if not await run_step(store, each, proven):
                break
            await asyncio.sleep(rest_factor * (time.monotonic() - started))


async def run_step(store: Store, rollup: Rollup, proven: int | None) -> bool:
    """Run one step of a rollup. Return False if its batch was not full, or another instance is at work."""

    async def work(tx: Writing) -> bool:
        checkpoint = await rollups.lock(tx, rollup.name)
        return checkpoint is not None and await rollup.step(tx, checkpoint, proven)

    return await store.write(work)
