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
    since: int = 0  # when its ban or mute began, where one is what it was found by


async def players(tx: Reading, parts: Sequence[str], text: str, candidates: int, limit: int) -> list[PlayerFound]:
    """Those in whose names the text is, out of so many that have the parts, which are some of the text's."""
    return [PlayerFound(*row) for row in await tx.all(SQL.players, _table("part", parts), text, candidates, limit)]


async def users(tx: Reading, parts: Sequence[str], text: str, candidates: int, limit: int) -> list[UserFound]:
    """Those in whose names or emails the text is."""
    return [UserFound(*row) for row in await tx.all(SQL.users, _table("part", parts), text, candidates, limit)]


async def banned(tx: Reading, candidates: int, limit: int) -> list[UserFound]:
    """The newest, out of so many bans for good and so many with an end."""
    return [UserFound(*row) for row in await tx.all(SQL.banned, candidates, limit)]


async def muted(tx: Reading, candidates: int, limit: int) -> list[UserFound]:
    return [UserFound(*row) for row in await tx.all(SQL.muted, candidates, limit)]


async def powerful(tx: Reading, limit: int) -> list[UserFound]:
    """The first by name of those that have any power."""
    return [UserFound(*row) for row in await tx.all(SQL.powerful, limit)]


async def indexed(tx: Reading) -> bool:
    row = await tx.one(SQL.indexed)
    return bool(row and row[0])


async def online_among(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.online_among, _table("id", ids))}


async def powerful_among(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.powerful_among, _table("id", ids))}


def _table(column: str, values: Iterable[str]) -> str:
    return as_table({column: each} for each in values)
