"""Characters and accounts by a part of what they are called, at most so many of them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gamekeeper.store.engine import Reading
from gamekeeper.store.statements import Statements
from gamekeeper.store.table import as_table

SQL = Statements("search")
PART = 3  # letters of a part, as the indexes have them


class PlayerFound(NamedTuple):
    """What a character that was found is ordered by."""

    id: str
    fold: str
    level: int
    exp: int


class UserFound(NamedTuple):
    id: str
    fold: str
    email_fold: str


async def players(tx: Reading, parts: Sequence[str], text: str, limit: int) -> list[PlayerFound]:
    """Those in whose names the text is; the parts are some of the text's, by which the index knows them."""
    return [PlayerFound(*row) for row in await tx.all(SQL.players, _table("part", parts), text, limit)]


async def users(tx: Reading, parts: Sequence[str], text: str, limit: int) -> list[UserFound]:
    """Those in whose names or emails the text is."""
    return [UserFound(*row) for row in await tx.all(SQL.users, _table("part", parts), text, limit)]


async def online(tx: Reading, limit: int) -> list[PlayerFound]:
    """So many of those who are online, the first by name."""
    return [PlayerFound(*row) for row in await tx.all(SQL.online, limit)]


async def online_among(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.online_among, _table("id", ids))}


def _table(column: str, values: Iterable[str]) -> str:
    return as_table({column: each} for each in values)
