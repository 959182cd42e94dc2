"""Checkpoints of the rollups: how far each has counted."""

from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements

SQL = Statements(__file__)


class Checkpoint(NamedTuple):
    position: int  # everything before it is counted; its unit depends on the rollup
    value: int


async def find(tx: Reading, name: str) -> Checkpoint:
    row = await tx.one(SQL.find, name)
    return Checkpoint(*row) if row else Checkpoint(0, 0)


async def lock(tx: Writing, name: str) -> Checkpoint | None:
    """Lock a rollup until the transaction ends. None: another instance has locked it."""
    found = await tx.returning(SQL.lock, name)
    return Checkpoint(*found[0]) if found else None


async def begin(tx: Writing, name: str) -> None:
    """Insert the checkpoint of a rollup that has none, with the present time."""
    await tx.returning(SQL.begin, name)


async def wait(tx: Writing, name: str) -> Checkpoint | None:
    """Lock a rollup until the transaction ends, after other instances. None: it has no checkpoint yet."""
    found = await tx.returning(SQL.wait, name)
    return Checkpoint(*found[0]) if found else None


def move(tx: Writing, name: str, checkpoint: Checkpoint) -> None:
    tx.defer(SQL.move, name, *checkpoint)


async def save(tx: Writing, name: str, checkpoint: Checkpoint) -> None:
    """Move a checkpoint, or insert it."""
    await tx.returning(SQL.save, name, *checkpoint)


async def clear(tx: Writing) -> None:
    """Delete the checkpoints that the migrations insert: a copy has its own."""
    await tx.returning(SQL.clear)
