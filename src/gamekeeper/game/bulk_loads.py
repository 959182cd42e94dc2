"""Parts that all bulk loads share, and the progress of an import."""

import contextlib
import gc
from collections.abc import Generator

from gamekeeper.game.effects import Unlogged
from gamekeeper.store import imports
from gamekeeper.store.engine import Writing


@contextlib.contextmanager
def pause_gc() -> Generator[None]:
    """Disable the cyclic garbage collector in a bulk load: rows have no cycles, and it costs a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def save_progress(state: imports.ImportState) -> Unlogged:
    """Return the effect that stores the progress of an import, in the same transaction as the imported rows."""

    async def effect(tx: Writing) -> None:
        imports.save(tx, state)

    return Unlogged(effect)
