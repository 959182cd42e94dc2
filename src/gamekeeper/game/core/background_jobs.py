"""Background jobs: a room registers its own in the tuple `JOBS` of a module, and each serving process runs all of them.

A job of the floor `game` starts with the keeper; one of the floors `http` and `console` starts with the app's services.
The job of the erasures does what the rooms register in `ERASURES`, and that of the retention what is in `OLD_ROWS`.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar

from msgspec import Struct

from gamekeeper.ground.settings import Settings
from gamekeeper.store.engine.interface import Writing

K = TypeVar("K")
Run = Callable[[], Awaitable[object]]
Step = Callable[[], Awaitable[bool]]  # takes a step of some milliseconds; False: there was nothing to do
NO_LIMIT = 2**62


async def repeat(step: Step, rest_factor: float, most: int = NO_LIMIT) -> None:
    """Repeat a step while there is something to do, at most `most` times.

    `rest_factor` is the pause after a step, as a multiple of its duration.
    """
    for _ in range(most):
        started = time.monotonic()
        if not await step():
            return
        await asyncio.sleep(rest_factor * (time.monotonic() - started))


class Job(Struct, Generic[K], frozen=True):
    name: str
    seconds: float  # interval between two runs; the first run is one interval after the start of the process
    start: Callable[[K], Run | None]  # makes the function to run; None: the settings need no such job
    at_stop: bool = False  # the job also runs once when the process stops


class Erasure(Struct, frozen=True):
    """What the erasure of an account or player removes from a room, in batches."""

    place: int  # order of the steps
    # erases up to `limit` rows of an account or player: erase(tx, id, limit); returns the number, 0 if none are left
    erase: Callable[[Writing, str, int], Awaitable[int]]


class OldRows(Struct, frozen=True):
    """Rows that the retention deletes in batches, each in a transaction of its own."""

    place: int  # order of the tables
    days: Callable[[Settings], int]  # retention period in days; 0: no limit
    # deletes up to `limit` rows older than a time in ms: delete(tx, before, limit); returns the number of deleted rows
    delete: Callable[[Writing, int, int], Coroutine[Any, Any, int]]
    batch: int = 5_000  # rows of a batch, so that writers do not wait long
    batches: int = 20  # of one pass: deletes faster than rows are added
