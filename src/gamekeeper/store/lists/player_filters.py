"""Players by id or account, for filtered lists. The walks and counts in the .sql file are read by their rules."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.statements import Statements, as_column

SQL = Statements(__file__)


class Candidate(NamedTuple):
    """A player that may match a filter: its columns that filters and orders need."""

    id: str
    user_id: str
    fold: str
    level: int
    exp: int
    class_id: str
    map_id: str
    last_online: int | None


class AccountBan(NamedTuple):
    user_id: str
    in_force: bool


async def read_of_ids(tx: Reading, ids: Iterable[str]) -> list[Candidate]:
    return await tx.rows(Candidate, SQL.of_ids, as_column("id", ids))


async def read_of_users(tx: Reading, ids: Iterable[str]) -> list[Candidate]:
    return await tx.rows(Candidate, SQL.of_users, as_column("id", ids))


async def read_held(tx: Reading, item_id: str, ids: Iterable[str]) -> dict[str, int]:
    """Read how many of an item these players have, as of the last counted change; without those who have none."""
    return {row[0]: row[1] for row in await tx.all(SQL.held, item_id, as_column("id", ids))}
