"""Imports from other servers, their progress, and leftovers.

Leftovers are rows of an imported game that Gamekeeper does not use, kept as JSON for a program that may need them.
"""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.statements import Statements, as_column

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


async def find_known_activity(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known_activity, as_column("id", ids))}


async def find_known_trades(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known_trades, as_column("id", ids))}


PLAYERS, USERS, GUILDS = "players", "users", "guilds"  # owners of leftovers


class Leftover(NamedTuple):
    owner_id: str
    kind: str  # what the rows are, such as friends
    data: str  # JSON list of the rows


async def find_known_leftovers(tx: Reading, owners: str, ids: Iterable[str]) -> set[tuple[str, str]]:
    """Return owner and kind of the leftovers that these accounts, players or guilds have."""
    rows = await tx.all(SQL.named[f"known_of_{owners}"], as_column("id", ids))
    return {(owner_id, kind) for owner_id, kind in rows}


PERSON = (PersonRows(210, "leftovers", SQL.of_person, json=("data",)),)
