"""Walks over players in some order, and numbers of players with one property: what filtered lists are read with."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Row, Value
from gamekeeper.store.engine.statements import Statement, Statements, as_column

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


class BothWays(NamedTuple):
    """A walk's statement for either direction."""

    up: Statement
    down: Statement

    def choose(self, *, descending: bool) -> Statement:
        return self.down if descending else self.up


BY_NAME = BothWays(SQL.by_name, SQL.by_name_down)
BY_CLASS = BothWays(SQL.by_class, SQL.by_class_down)
BY_MAP = BothWays(SQL.by_map, SQL.by_map_down)
BY_RANK = BothWays(SQL.by_rank, SQL.by_rank_down)
BY_SEEN = BothWays(SQL.by_seen, SQL.by_seen_down)
UNSEEN = BothWays(SQL.unseen, SQL.unseen_down)
ONLINE_BY_NAME = BothWays(SQL.online_by_name, SQL.online_by_name_down)
ONLINE_BY_RANK = BothWays(SQL.online_by_rank, SQL.online_by_rank_down)
ONLINE_BY_ID = BothWays(SQL.online_by_id, SQL.online_by_id_down)
BY_QUANTITY = BothWays(SQL.by_quantity, SQL.by_quantity_down)


async def read_candidates(tx: Reading, walk: Statement, *values: Value) -> list[Candidate]:
    return await tx.rows(Candidate, walk, *values)


async def read_keys(tx: Reading, walk: Statement, *values: Value) -> Sequence[Row]:
    """Read the keys of a walk over another table. The last column is the player's id."""
    return await tx.all(walk, *values)


async def read_bans(tx: Reading, user_id: str, limit: int) -> list[AccountBan]:
    """Read bans from an account on, also ended ones."""
    return await tx.rows(AccountBan, SQL.bans, user_id, limit)


async def read_banned(tx: Reading, limit: int) -> list[str]:
    """Read ids of banned accounts. A list that is longer than `limit` may be incomplete."""
    return [row[0] for row in await tx.all(SQL.banned, limit + 1)]


async def read_of_ids(tx: Reading, ids: Iterable[str]) -> list[Candidate]:
    return await tx.rows(Candidate, SQL.of_ids, as_column("id", ids))


async def read_of_users(tx: Reading, ids: Iterable[str]) -> list[Candidate]:
    return await tx.rows(Candidate, SQL.of_users, as_column("id", ids))


async def read_held(tx: Reading, item_id: str, ids: Iterable[str]) -> dict[str, int]:
    """Read how many of an item these players have, as of the last counted change; without those who have none."""
    return {row[0]: row[1] for row in await tx.all(SQL.held, item_id, as_column("id", ids))}


async def count_class(tx: Reading, class_id: str, most: int) -> int:
    return await _count(tx, SQL.count_class, class_id, most)


async def count_map(tx: Reading, map_id: str, most: int) -> int:
    return await _count(tx, SQL.count_map, map_id, most)


async def count_levels(tx: Reading, lowest: int, highest: int, most: int) -> int:
    return await _count(tx, SQL.count_levels, lowest, highest, most)


async def count_seen(tx: Reading, earliest: int, latest: int, most: int) -> int:
    """Count the players who left the game for the last time in a range of time."""
    return await _count(tx, SQL.count_seen, earliest, latest, most)


async def count_online(tx: Reading, most: int) -> int:
    return await _count(tx, SQL.count_online, most)


async def count_holders(tx: Reading, item_id: str, most: int) -> int:
    return await _count(tx, SQL.count_holders, item_id, most)


async def has_indexes(tx: Reading) -> bool:
    return bool(await tx.value(SQL.indexed))


async def _count(tx: Reading, statement: Statement, *values: Value) -> int:
    return await tx.value(statement, *values) or 0
