"""Bulk loads: what all of them do, and how far one that reads another server's data has come."""

import contextlib
import gc
from collections.abc import Generator

from gamekeeper.game.effects import Unlogged
from gamekeeper.store import imports
from gamekeeper.store.engine import Writing


@contextlib.contextmanager
def pause_gc() -> Generator[None]:
    """Rows refer to no row: looking for cycles among them, again and again, takes a third of the time they take."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def save_progress(state: imports.ImportState) -> Unlogged:
    """Goes with the changes that it counts; itself it is none."""

    async def effect(tx: Writing) -> None:
        imports.save(tx, state)

    return Unlogged(effect)
