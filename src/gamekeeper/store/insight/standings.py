"""What each player has in a season of a board, and buckets that find any page of it."""

from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table, as_tree
from gamekeeper.store.lists import ranked_buckets
from gamekeeper.store.lists.ranked_buckets import HIGHEST, LOWEST, BucketStatements, BucketTable, Key

SQL = Statements(__file__)
KIND = "season"  # kind of the lists, for the shared code of buckets
BUCKETS = BucketTable(BucketStatements(*(SQL.named[each] for each in BucketStatements._fields)), has_kinds=False)


class StandingKey(NamedTuple):
    player_id: str
    season_id: str


class Standing(NamedTuple):
    value: int
    listed: bool
    withheld: bool = False  # it would be listed, but its account is hidden


class Visibility(NamedTuple):
    """Why a player that exists may not be listed."""

    hidden: bool
    banned: bool = False
    staff: bool = False


async def read_held(tx: Reading, keys: Iterable[StandingKey]) -> dict[StandingKey, Standing]:
    rows = as_tree(((each.season_id, each.player_id) for each in keys), repeat(0))
    return _to_standings(await tx.all(SQL.held, rows))


async def read_held_between(tx: Reading, after: str, upto: str, season_id: str) -> dict[StandingKey, Standing]:
    """Read the standings of the players after one id, up to another, in one season."""
    return _to_standings(await tx.all(SQL.held_between, after, upto, season_id))


async def read_of_players(tx: Reading, player_ids: Iterable[str]) -> dict[StandingKey, Standing]:
    """Read the standings of players in all seasons."""
    return _to_standings(await tx.all(SQL.of_players, as_column("id", player_ids)))


async def save(tx: Writing, held: Mapping[StandingKey, Standing], gone: Iterable[StandingKey]) -> None:
    if held:
        states = ("listed" if each.listed else "withheld" if each.withheld else "" for each in held.values())
        rows = ((key.season_id, state, key.player_id) for key, state in zip(held, states, strict=True))
        await tx.returning(SQL.save, as_tree(rows, (each.value for each in held.values())))
    lost = [each._asdict() for each in gone]
    if lost:
        await tx.returning(SQL.delete, as_table(lost))


async def delete_some(tx: Writing, season_id: str, limit: int) -> int:
    """Delete some rows of a season; return how many."""
    found = [StandingKey(row[0], season_id) for row in await tx.all(SQL.of_season, season_id, limit)]
    if found:
        await tx.returning(SQL.delete, as_table(each._asdict() for each in found))
    return len(found)


def begin(tx: Writing, season_id: str) -> None:
    """Insert the first bucket of a new season, with the lowest key, and its block."""
    tx.defer(SQL.begin, season_id, *LOWEST)
    tx.defer(SQL.begin_block, KIND, season_id, *LOWEST)


async def read_visibility(tx: Reading, player_ids: Iterable[str]) -> dict[str, Visibility]:
    """Return the visibility of players. Players that do not exist are left out."""
    rows = await tx.all(SQL.visibility, as_column("id", player_ids))
    return {row[0]: Visibility(bool(row[1]), bool(row[2]), bool(row[3])) for row in rows}


async def find_staff(tx: Reading, after: str, limit: int) -> list[str]:
    """Return the next accounts with any permission, after an id."""
    return [row[0] for row in await tx.all(SQL.staff, after, limit)]


async def find_players_of(tx: Reading, user_ids: Iterable[str]) -> list[str]:
    return [row[0] for row in await tx.all(SQL.players_of, as_column("id", user_ids))]


async def count_above(tx: Reading, season_id: str, key: Key) -> int:
    """Count the listed players above a key: in the blocks above, in the buckets above, and in its own bucket."""
    blocks, block_end = await ranked_buckets.sum_above_block(tx, KIND, season_id, key)
    buckets = await tx.value(SQL.entries_above, season_id, *key, *block_end) or 0
    end = await tx.one(SQL.bucket_above, season_id, *key)
    own = await tx.value(SQL.count_between, season_id, *key, *((end[0], end[1]) if end else HIGHEST))
    return blocks + buckets + (own or 0)


async def sum_buckets(tx: Reading) -> dict[str, int]:
    """Return the number of listed players of each season, by its buckets."""
    return {row[0]: row[1] for row in await tx.all(SQL.bucket_sums)}


def _to_standings(rows: Iterable[Row]) -> dict[StandingKey, Standing]:
    return {StandingKey(row[0], row[1]): Standing(row[2], bool(row[3]), bool(row[4])) for row in rows}
