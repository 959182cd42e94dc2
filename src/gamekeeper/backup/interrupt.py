"""Ctrl-C for work that never suspends: asyncio cancels a task only at an await, and a copy on SQLite has none."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from gamekeeper.backup.lines import CopyProgress

T = TypeVar("T")


def stop_on_cancel(progress: CopyProgress) -> CopyProgress:
    """Wrap a progress callback, so that it raises CancelledError when the current task is being cancelled.

    It also works when the store calls it from its writer thread.
    """
    task = asyncio.current_task()

    def report_unless_interrupted(what: str, done: int, total: int | None) -> None:
        if task and task.cancelling():
            raise asyncio.CancelledError
        progress(what, done, total)

    return report_unless_interrupted


async def wait_for_outcome(writing: Coroutine[Any, Any, T]) -> T:
    """Wait for the end of a write, even if this task is cancelled. If the write succeeded, ignore the cancellation."""
    task = asyncio.ensure_future(writing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if task.exception():
            raise
        return task.result()


def is_cancelled() -> bool:
    """Return whether the current task was cancelled (Ctrl-C), even if too late to stop a write."""
    task = asyncio.current_task()
    return bool(task and task.cancelling())
