"""Ctrl-C for work that never waits: asyncio cancels a task where it suspends, and on SQLite a copy never does."""

import asyncio

from gamekeeper.backup.lines import Moved


def heeding(moved: Moved) -> Moved:
    """The same, and a place to stop for the task that asks, also where a thread of the store's does its work."""
    task = asyncio.current_task()

    def heeded(what: str, done: int, total: int | None) -> None:
        if task and task.cancelling():
            raise asyncio.CancelledError
        moved(what, done, total)

    return heeded
