"""Stored state of the ordered lists: blocks of bucket counts, and a log of changes since the last checkpoint."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from gamekeeper.store.engine import schema
from gamekeeper.store.engine.interface import Reading, Row, Value, Writing
from gamekeeper.store.engine.statements import Statement, Statements, as_table

SQL = Statements(__file__)

# change of an ordered list: list, level, exp, word (id, or folded name or email), step (+1 row added, -1 row removed)
ListChange = tuple[str, int, int, str, int]
Buckets = list[tuple[Any, int]]  # buckets of an ordered list: first key and number of rows of each


class ListDelta(NamedTuple):
    number: int  # number of the ordered lists' checkpoint
    whole: bool  # whether every bulk load is included in the ordered lists' checkpoint
    life: str  # identifies the run of the database server; it changes at a restart
    mark: str | None  # position in the list change log after these changes; None if there are none
    changes: list[ListChange]


class ListCheckpoint(NamedTuple):
    number: int
    whole: bool
    life: str
    mark: str
    loads: int


async def read_delta(
    tx: Reading, mark: str, statement: Statement | None = None, *values: Value
) -> tuple[ListDelta, list[Any]]:
    """Read the ordered lists' changes after a position in their log and, in the same snapshot, a statement's rows."""
    if statement is None:
        return _to_delta(await tx.one(SQL.news, mark)), []
    row, rows = await tx.fetch_both(SQL.news, mark, statement, *values)
    return _to_delta(row), rows


async def read_checkpoint(tx: Reading) -> ListCheckpoint:
    number, whole, life, mark, loads = await tx.one(SQL.checkpoint) or (0, False, "", "", 0)
    return ListCheckpoint(number, bool(whole), life, mark, loads)


async def read_blocks(tx: Reading) -> Mapping[str, list[Buckets]]:
    """Read the blocks of bucket counts of each ordered list, in order."""
    found: dict[str, list[Buckets]] = {}
    for name, buckets in await tx.all(SQL.blocks):
        found.setdefault(name, []).append(msgspec.json.decode(buckets, type=Buckets))
    return found


async def read_mark(tx: Reading) -> str:
    row = await tx.one(SQL.mark_now)
    return str(row[0]) if row else ""


async def save_checkpoint(tx: Writing, further: int, mark: str, loads: int, number: int) -> bool:
    """Save a checkpoint of the ordered lists. False: outdated by a bulk load or another process's checkpoint."""
    return bool(await tx.returning(SQL.save_checkpoint, further, mark, loads, number))


def save_blocks(tx: Writing, encoded: Iterable[tuple[str, int, str]]) -> None:
    columns = ("list", "place", "buckets")
    tx.defer(SQL.save_blocks, as_table(dict(zip(columns, row, strict=True)) for row in encoded))


async def clear_blocks(tx: Writing) -> None:
    await tx.returning(SQL.clear_blocks)


def trim(tx: Writing, mark: str) -> None:
    tx.defer(SQL.trim, mark)


async def begin_bulk_load(tx: Writing) -> None:
    """Stop logging changes of the ordered lists until `end_bulk_load`; the lists must be recounted afterwards."""
    for statement in (SQL.load_unlisted, SQL.drop_players_listed, SQL.drop_users_listed):
        await tx.returning(statement)


async def end_bulk_load(tx: Writing) -> None:
    for each in schema.assemble("sqlite"):
        if each.name in {"players_listed", "users_listed"}:
            trigger = each.text.replace("CREATE TRIGGER", "CREATE TRIGGER IF NOT EXISTS")
            await tx.returning(Statement(each.name, {"sqlite": trigger, "postgres": "SELECT 0"}))
    await tx.returning(SQL.resume)


def _to_delta(row: Row | None) -> ListDelta:
    number, whole, life, newest, changes = row or (0, False, "", None, None)
    if changes is None or newest is None:
        return ListDelta(number, bool(whole), life, None, [])
    return ListDelta(number, bool(whole), life, str(newest), msgspec.json.decode(changes, type=list[ListChange]))
