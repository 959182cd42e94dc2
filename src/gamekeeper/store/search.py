"""Characters and accounts by a part of what they are called, at most so many of them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gamekeeper.store.engine import Reading
from gamekeeper.store.statements import Statements
from gamekeeper.store.table import as_table

SQL = Statements("search")
PART_LETTERS = 3  # letters of a part, as the indexes have them


class PlayerMatch(NamedTuple):
    """What a character that was found is ordered by."""

    id: str
    fold: str
    level: int
    exp: int


class UserMatch(NamedTuple):
    id: str
    fold: str
    email_fold: str
    since: int = 0  # when its ban or mute began, where one is what it was found by


async def find_players(tx: Reading, parts: Sequence[str], text: str, candidates: int, limit: int) -> list[PlayerMatch]:
    """Those in whose names the text is, out of so many that have the parts, which are some of the text's."""
    return [PlayerMatch(*row) for row in await tx.all(SQL.players, _to_table("part", parts), text, candidates, limit)]


async def find_users(tx: Reading, parts: Sequence[str], text: str, candidates: int, limit: int) -> list[UserMatch]:
    """Those in whose names or emails the text is."""
    return [UserMatch(*row) for row in await tx.all(SQL.users, _to_table("part", parts), text, candidates, limit)]


async def find_banned(tx: Reading, candidates: int, limit: int) -> list[UserMatch]:
    """The newest, out of so many bans for good and so many with an end."""
    return [UserMatch(*row) for row in await tx.all(SQL.banned, candidates, limit)]


async def find_muted(tx: Reading, candidates: int, limit: int) -> list[UserMatch]:
    return [UserMatch(*row) for row in await tx.all(SQL.muted, candidates, limit)]


async def find_with_powers(tx: Reading, limit: int) -> list[UserMatch]:
    """The first by name of those that have any power."""
    return [UserMatch(*row) for row in await tx.all(SQL.powerful, limit)]


async def has_index(tx: Reading) -> bool:
    row = await tx.one(SQL.indexed)
    return bool(row and row[0])


async def filter_online(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.online_among, _to_table("id", ids))}


async def filter_with_powers(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.powerful_among, _to_table("id", ids))}


def _to_table(column: str, values: Iterable[str]) -> str:
    return as_table({column: each} for each in values)
