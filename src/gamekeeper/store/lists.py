"""The ordered lists as the database keeps them: blocks of counts, and what changed since they were written."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from gamekeeper.store.engine import Reading, Row, Value, Writing
from gamekeeper.store.statements import Statement, Statements
from gamekeeper.store.table import as_table

SQL = Statements("lists")
NO_CHANGES = (None, "[]")

ListChange = tuple[str, int, int, str, int]  # list, level, exp, word, step: +1 or -1
Buckets = list[tuple[Any, int]]  # the first key, how many rows


class ListDelta(NamedTuple):
    number: int  # of the checkpoint
    whole: bool  # nobody wrote past the log
    life: str  # of the database server
    mark: str | None  # None: nothing is new
    changes: list[ListChange]


class ListCheckpoint(NamedTuple):
    number: int
    whole: bool
    life: str
    mark: str
    loads: int


async def read_delta(
    tx: Reading, mark: str, statement: Statement | None = None, *values: Value
) -> tuple[ListDelta, Sequence[Row]]:
    """What is new since the mark, and what a statement finds at the same moment."""
    if statement is None:
        return _to_delta(await tx.one(SQL.news, mark)), []
    row, rows = await tx.fetch_both(SQL.news, mark, statement, *values)
    return _to_delta(row), rows


async def read_checkpoint(tx: Reading) -> ListCheckpoint:
    number, whole, life, mark, loads = await tx.one(SQL.checkpoint) or (0, False, "", "", 0)
    return ListCheckpoint(number, bool(whole), life, mark, loads)


async def read_blocks(tx: Reading) -> Mapping[str, list[Buckets]]:
    """Of each list, in order."""
    found: dict[str, list[Buckets]] = {}
    for name, buckets in await tx.all(SQL.blocks):
        found.setdefault(name, []).append(msgspec.json.decode(buckets, type=Buckets))
    return found


async def read_mark(tx: Reading) -> str:
    row = await tx.one(SQL.mark_now)
    return str(row[0]) if row else ""


async def save_checkpoint(tx: Writing, further: int, mark: str, loads: int, number: int) -> bool:
    """False when it knows less than what is there: a bulk load or another's checkpoint came in between."""
    return bool(await tx.returning(SQL.save_checkpoint, further, mark, loads, number))


def save_blocks(tx: Writing, encoded: Iterable[tuple[str, int, str]]) -> None:
    columns = ("list", "place", "buckets")
    tx.defer(SQL.save_blocks, as_table(dict(zip(columns, row, strict=True)) for row in encoded))


async def clear_blocks(tx: Writing) -> None:
    await tx.returning(SQL.clear_blocks)


def trim(tx: Writing, mark: str) -> None:
    tx.defer(SQL.trim, mark)


async def begin_bulk_load(tx: Writing) -> None:
    """From here to `resume` rows are added past the log; the lists must be built anew afterwards."""
    await tx.returning(SQL.load_unlisted)


async def end_bulk_load(tx: Writing) -> None:
    await tx.returning(SQL.resume)


def _to_delta(row: Row | None) -> ListDelta:
    number, whole, life, newest, changes = row or (0, False, "", None, None)
    if changes in NO_CHANGES:
        return ListDelta(number, bool(whole), life, None, [])
    return ListDelta(number, bool(whole), life, str(newest), msgspec.json.decode(changes, type=list[ListChange]))
