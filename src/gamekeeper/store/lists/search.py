"""Search for players and accounts by part of their name or email.

Trigrams are indexed on SQLite by FTS5, and on PostgreSQL by GIN over our own function `search_parts`: pg_trgm is not
available on every server.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.statements import Statements, as_table

SQL = Statements(__file__)
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
    since: int = 0  # in a filtered list: start of the ban or mute, or the last sign-in


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


async def find_with_role(tx: Reading, role: str, limit: int) -> list[UserMatch]:
    return [UserMatch(*row) for row in await tx.all(SQL.with_role, role, limit)]


async def filter_with_role(tx: Reading, role: str, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.with_role_among, _to_table("id", ids), role)}


async def find_sign_ins(tx: Reading, since: int, until: int, limit: int) -> tuple[list[str], bool]:
    """Find the accounts of the newest sign-ins in a range of times, and whether there were more than `limit`."""
    found = await tx.all(SQL.sign_ins, since, until, limit)
    return [row[0] for row in found], sum(row[1] for row in found) >= limit


async def read_last_sign_ins(tx: Reading, ids: Iterable[str]) -> dict[str, int]:
    """Read the last sign-in of each of these accounts that the security log has one of."""
    found = await tx.all(SQL.last_sign_ins, _to_table("id", ids))
    return {row[0]: row[1] for row in found if row[1] is not None}


async def read_users(tx: Reading, ids: Iterable[str]) -> list[UserMatch]:
    return [UserMatch(*row) for row in await tx.all(SQL.users_among, _to_table("id", ids))]


def _to_table(column: str, values: Iterable[str]) -> str:
    return as_table({column: each} for each in values)
