"""Imports from other servers, their progress, and leftovers.

Leftovers are rows of an imported game that Gamekeeper does not use, kept as JSON for a program that may need them.
"""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table

SQL = Statements(__file__)
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


async def find_import(tx: Reading, source: str) -> ImportState | None:
    row = await tx.one(SQL.find, source)
    return ImportState(row[0], row[1], row[2], row[3], row[4], _decode_text(row[5]), row[6]) if row else None


async def has_any_from(tx: Reading, at: int) -> bool:
    """Return whether an import was still running at a time or started later."""
    return await tx.one(SQL.any_from, at) is not None


async def find_unfinished_imports(tx: Reading) -> list[UnfinishedImport]:
    return await tx.rows(UnfinishedImport, SQL.unfinished)


def save_import(tx: Writing, state: ImportState) -> None:
    tx.defer(SQL.save, state.source, state.stage, state.last, state.report, state.listed, state.counts)


def _decode_text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


async def find_known_activity(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known_activity, as_column("id", ids))}


async def find_known_trades(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known_trades, as_column("id", ids))}


PLAYERS, USERS, GUILDS = "players", "users", "guilds"  # owners of leftovers
_KNOWN = {PLAYERS: SQL.known_of_players, USERS: SQL.known_of_users, GUILDS: SQL.known_of_guilds}
_LOAD = {PLAYERS: SQL.load_of_players, USERS: SQL.load_of_users, GUILDS: SQL.load_of_guilds}


class Leftover(NamedTuple):
    owner_id: str
    kind: str  # what the rows are, such as friends
    data: str  # JSON list of the rows


async def find_known_leftovers(tx: Reading, owners: str, ids: Iterable[str]) -> set[tuple[str, str]]:
    """Return owner and kind of the leftovers that these accounts, players or guilds have."""
    rows = await tx.all(_KNOWN[owners], as_column("id", ids))
    return {(owner_id, kind) for owner_id, kind in rows}


def load_leftovers(tx: Writing, owners: str, leftovers: Iterable[Leftover]) -> None:
    tx.load(_LOAD[owners], leftovers)


async def read_leftovers_of_player(tx: Reading, player_id: str) -> list[Leftover]:
    return await tx.rows(Leftover, SQL.of_player, player_id)


def insert_leftovers_of_player(tx: Writing, leftovers: Iterable[Leftover]) -> None:
    tx.defer(SQL.insert_of_player, as_table(each._asdict() for each in leftovers))


PERSON = (PersonRows(210, "leftovers", SQL.of_person, json=("data",)),)
