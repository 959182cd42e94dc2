"""The ordered lists as the database keeps them: blocks of counts, and what changed since they were written."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from gamekeeper.store.engine import Reading, Row, Value, Writing
from gamekeeper.store.statements import Statement, Statements
from gamekeeper.store.table import as_table

SQL = Statements("lists")
NONE = (None, "[]")

Change = tuple[str, int, int, str, int]  # list, level, exp, word, step: +1 or -1
Buckets = list[tuple[Any, int]]  # the first key, how many rows


class News(NamedTuple):
    number: int  # of the checkpoint
    whole: bool  # nobody wrote past the log
    life: str  # of the database server
    mark: str | None  # None: nothing is new
    changes: list[Change]


class Checkpoint(NamedTuple):
    number: int
    whole: bool
    life: str
    mark: str
    loads: int


async def news(
    tx: Reading, mark: str, statement: Statement | None = None, *values: Value
) -> tuple[News, Sequence[Row]]:
    """What is new since the mark, and what a statement finds at the same moment."""
    if statement is None:
        return _news(await tx.one(SQL.news, mark)), []
    row, rows = await tx.beside(SQL.news, mark, statement, *values)
    return _news(row), rows


async def checkpoint(tx: Reading) -> Checkpoint:
    number, whole, life, mark, loads = await tx.one(SQL.checkpoint) or (0, False, "", "", 0)
    return Checkpoint(number, bool(whole), life, mark, loads)


async def blocks(tx: Reading) -> Mapping[str, list[Buckets]]:
    """Of each list, in order."""
    found: dict[str, list[Buckets]] = {}
    for name, buckets in await tx.all(SQL.blocks):
        found.setdefault(name, []).append(msgspec.json.decode(buckets, type=Buckets))
    return found


async def mark_now(tx: Reading) -> str:
    row = await tx.one(SQL.mark_now)
    return str(row[0]) if row else ""


async def save_checkpoint(tx: Writing, further: int, mark: str, loads: int, number: int) -> bool:
    """False when it knows less than what is there: a bulk load or another's checkpoint came in between."""
    return bool(await tx.returning(SQL.save_checkpoint, further, mark, loads, number))


def save_blocks(tx: Writing, encoded: Iterable[tuple[str, int, str]]) -> None:
    columns = ("list", "place", "buckets")
    tx.later(SQL.save_blocks, as_table(dict(zip(columns, row, strict=True)) for row in encoded))


async def clear_blocks(tx: Writing) -> None:
    await tx.returning(SQL.clear_blocks)


def trim(tx: Writing, mark: str) -> None:
    tx.later(SQL.trim, mark)


async def load_unlisted(tx: Writing) -> None:
    """From here to `resume` rows are added past the log; the lists must be built anew afterwards."""
    await tx.returning(SQL.load_unlisted)


async def resume(tx: Writing) -> None:
    await tx.returning(SQL.resume)


def _news(row: Row | None) -> News:
    number, whole, life, newest, changes = row or (0, False, "", None, None)
    if changes in NONE:
        return News(number, bool(whole), life, None, [])
    return News(number, bool(whole), life, str(newest), msgspec.json.decode(changes, type=list[Change]))
