"""Search for players and accounts by part of their name or email."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gamekeeper.store.engine import Reading
from gamekeeper.store.statements import Statements
from gamekeeper.store.table import as_table

SQL = Statements("search")
PART_LETTERS = 3  # characters per part of a name in the search index: it is a trigram index


class PlayerMatch(NamedTuple):
    """Id and sort keys of a found player."""

    id: str
    fold: str
    level: int
    exp: int


class UserMatch(NamedTuple):
    id: str
    fold: str
    email_fold: str
    since: int = 0  # start of the ban or mute, in a search for banned or muted accounts


async def find_players(tx: Reading, parts: Sequence[str], text: str, candidates: int, limit: int) -> list[PlayerMatch]:
    """Find players whose name contains the text. `parts`: its trigrams; the index gives up to `candidates` rows."""
    return [PlayerMatch(*row) for row in await tx.all(SQL.players, _to_table("part", parts), text, candidates, limit)]


async def find_users(tx: Reading, parts: Sequence[str], text: str, candidates: int, limit: int) -> list[UserMatch]:
    """Find accounts whose name or email contains the text."""
    return [UserMatch(*row) for row in await tx.all(SQL.users, _to_table("part", parts), text, candidates, limit)]


async def find_banned(tx: Reading, candidates: int, limit: int) -> list[UserMatch]:
    """Find the newest bans, out of up to `candidates` permanent and `candidates` temporary ones."""
    return [UserMatch(*row) for row in await tx.all(SQL.banned, candidates, limit)]


async def find_muted(tx: Reading, candidates: int, limit: int) -> list[UserMatch]:
    return [UserMatch(*row) for row in await tx.all(SQL.muted, candidates, limit)]


async def find_with_powers(tx: Reading, limit: int) -> list[UserMatch]:
    """Find accounts that have any permission, in order of name."""
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
