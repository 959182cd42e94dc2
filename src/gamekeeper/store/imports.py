"""Imports from other servers, and their progress."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.statements import Statements
from gamekeeper.store.table import as_table

SQL = Statements("imports")
DONE_STAGE = "done"  # stage of a finished import


class ImportState(NamedTuple):
    source: str
    stage: str
    last: str
    report: str
    listed: int
    counts: str  # row counts of the import, as JSON
    finished_at: int | None = None


class UnfinishedImport(NamedTuple):
    stage: str
    report: str
    superseded: bool  # another import, which started later, has finished


async def find(tx: Reading, source: str) -> ImportState | None:
    row = await tx.one(SQL.find, source)
    return ImportState(row[0], row[1], row[2], row[3], row[4], _decode_text(row[5]), row[6]) if row else None


async def has_any_from(tx: Reading, at: int) -> bool:
    """Return whether an import was still running at a time or started later."""
    return await tx.one(SQL.any_from, at) is not None


async def find_unfinished(tx: Reading) -> list[UnfinishedImport]:
    return [UnfinishedImport(row[0], row[1], bool(row[2])) for row in await tx.all(SQL.unfinished)]


def save(tx: Writing, state: ImportState) -> None:
    tx.defer(SQL.save, state.source, state.stage, state.last, state.report, state.listed, state.counts)


def _decode_text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


async def find_known_activity(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known_activity, as_table({"id": each} for each in ids))}


async def find_known_trades(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known_trades, as_table({"id": each} for each in ids))}
