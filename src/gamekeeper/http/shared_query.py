"""A database query that concurrent callers share: it runs once at a time, with a timeout."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from gamekeeper.store.engine import DatabaseUnavailable

T = TypeVar("T")
TIMEOUT_SECONDS = 2.0


class SharedQuery(Generic[T]):
    def __init__(self, put: Callable[[], Coroutine[Any, Any, T]], fresh_seconds: float) -> None:
        self._put = put
        self._fresh_seconds = fresh_seconds  # seconds for which the query's result is reused
        self._good_until = 0.0
        self._task: asyncio.Task[T] | None = None

    async def get(self) -> T:
        """Return the query's result, or raise after TIMEOUT_SECONDS. While the database hangs, only one query waits."""
        task = self._task
        if task is None or (task.done() and time.monotonic() > self._good_until):
            task = self._task = asyncio.create_task(self._run())
            task.add_done_callback(_consume_error)
        await asyncio.wait({task}, timeout=TIMEOUT_SECONDS)
        if not task.done():
            raise DatabaseUnavailable(f"no answer within {TIMEOUT_SECONDS:g} seconds")
        return task.result()

    async def _run(self) -> T:
        found = await self._put()
        self._good_until = time.monotonic() + self._fresh_seconds
        return found


def _consume_error(task: asyncio.Task[Any]) -> None:
    """Fetch a failed query's exception: if all callers have timed out, asyncio would log it as never retrieved."""
    if not task.cancelled():
        task.exception()
