"""Ctrl-C for work that never waits: asyncio cancels a task where it suspends, and on SQLite a copy never does."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from gamekeeper.backup.lines import CopyProgress

T = TypeVar("T")


def stop_on_cancel(progress: CopyProgress) -> CopyProgress:
    """The same, and a place to stop for the task that asks, also where a thread of the store's does its work."""
    task = asyncio.current_task()

    def heeded(what: str, done: int, total: int | None) -> None:
        if task and task.cancelling():
            raise asyncio.CancelledError
        progress(what, done, total)

    return heeded


async def wait_for_outcome(writing: Coroutine[Any, Any, T]) -> T:
    """What came of a write that heeds a Ctrl-C: it ends with nothing changed, or it was too late."""
    task = asyncio.ensure_future(writing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if task.exception():
            raise
        return task.result()


def is_cancelled() -> bool:
    """Whether a Ctrl-C has come, also one that was too late for what was done meanwhile."""
    task = asyncio.current_task()
    return bool(task and task.cancelling())
