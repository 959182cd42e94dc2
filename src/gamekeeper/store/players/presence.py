"""Game servers, their leases, the players online on them, and play sessions: when each player was online, and where.

Triggers on `presence` write the rows of play sessions, so that no statement of any version can forget it. A row of
`presence` repeats `fold`, `level` and `exp` of its player, so that the lists of online players are counted like others.
"""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.core.ordered_lists import ListDelta, read_delta
from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table
from gamekeeper.store.players.players import RankKey, RecordRow

SQL = Statements(__file__)


class PlaySession(NamedTuple):
    started_at: int
    server: str
    ended_at: int | None  # None: the player is online


class StoredSession(NamedTuple):
    player_id: str
    started_at: int
    server: str
    ended_at: int | None
    counted_to: int | None
    is_counted: bool


class SessionOfPlayer(NamedTuple):
    player_id: str
    started_at: int
    server: str
    ended_at: int | None


async def read_sessions_of_player(tx: Reading, player_id: str, before: int, limit: int) -> list[PlaySession]:
    """Read a player's sessions that started before a time, newest first."""
    return await tx.rows(PlaySession, SQL.of_player, player_id, before, limit)


async def delete_open_sessions(tx: Writing, after: int) -> None:
    """Delete open sessions that started after a time."""
    await tx.returning(SQL.delete_open, after)


async def end_open_sessions(tx: Writing, at: int) -> None:
    """End all open sessions at a time, but none before its start."""
    await tx.returning(SQL.end_open, at)


async def forget_sessions(tx: Writing, player_id: str, random_id: str) -> int:
    """Give the sessions and the activity of an erased player to a random id; return the number of rows."""
    sessions = await tx.returning(SQL.forget, player_id, random_id)
    return len(sessions) + len(await tx.returning(SQL.forget_activity, player_id, random_id))


def load_sessions(tx: Writing, sessions: Iterable[SessionOfPlayer]) -> None:
    tx.load(SQL.load, ((each.player_id, each.started_at, each.server, each.ended_at) for each in sessions))


async def read_sessions_after(tx: Reading, player_id: str, started_at: int, limit: int) -> list[StoredSession]:
    """Read the next sessions of all players, by player and start."""
    return await tx.rows(StoredSession, SQL.after, player_id, started_at, limit)


async def find_disagreeing_sessions(tx: Reading, limit: int) -> list[str]:
    """Find players who are online without an open session, or the reverse."""
    return [row[0] for row in await tx.all(SQL.disagreeing, limit)]


async def delete_old_sessions(tx: Writing, before: int, limit: int) -> int:
    """Delete sessions that ended before a time and are in the rollups; return how many."""
    old = await tx.all(SQL.old, before, limit)
    if old:
        tx.defer(SQL.delete, as_table({"player_id": row[0], "started_at": row[1]} for row in old))
        tx.defer(SQL.note_deleted, before)
    return len(old)


class GameServerRow(NamedTuple):
    """A game server, the end of its lease, and how many players are online on it (counted up to a limit)."""

    name: str
    expires_at: int
    players: int


class OnlinePlayer(NamedTuple):
    fold: str
    player_id: str


async def count(tx: Reading) -> int:
    return await tx.value(SQL.count) or 0


async def count_servers(tx: Reading) -> int:
    """Count the game servers. Servers with an ended lease are not excluded: a background job removes them soon."""
    return await tx.value(SQL.count_servers) or 0


async def count_of_server(tx: Reading, server: str) -> int:
    return await tx.value(SQL.count_of_server, server) or 0


async def read_servers(tx: Reading, counted: int, limit: int) -> list[GameServerRow]:
    """Read up to `limit` game servers by name; count the players on each, up to `counted`."""
    return await tx.rows(GameServerRow, SQL.servers, counted, limit)


async def read_after_name(tx: Reading, server: str, fold: str, limit: int) -> list[OnlinePlayer]:
    """Read the next players on one game server after a folded name, in order of name."""
    return await tx.rows(OnlinePlayer, SQL.after_name, server, fold, limit)


async def read_before_name(tx: Reading, server: str, fold: str, limit: int) -> list[OnlinePlayer]:
    """Read the players on one game server before a folded name, in descending order of name."""
    return await tx.rows(OnlinePlayer, SQL.before_name, server, fold, limit)


async def find_servers_of(tx: Reading, ids: Iterable[str]) -> dict[str, str]:
    """Map each of these players that is online to its game server."""
    return {row[0]: row[1] for row in await tx.all(SQL.servers_of, as_column("id", ids))}


async def read_records_from_name(
    tx: Reading, mark: str, fold: str, limit: int, offset: int
) -> tuple[ListDelta, list[RecordRow]]:
    return await read_delta(tx, mark, SQL.records_from_name, fold, limit, offset)


async def read_keys_by_name(tx: Reading, fold: str, limit: int) -> list[str]:
    return [row[0] for row in await tx.all(SQL.keys_by_name, fold, limit)]


async def read_lows_by_name(tx: Reading, every: int) -> list[str]:
    return [row[0] for row in await tx.all(SQL.lows_by_name, every)]


async def read_records_from_rank(
    tx: Reading, mark: str, key: RankKey, limit: int, offset: int
) -> tuple[ListDelta, list[RecordRow]]:
    return await read_delta(tx, mark, SQL.records_from_rank, *key, limit, offset)


async def read_keys_by_rank(tx: Reading, key: RankKey, limit: int) -> list[RankKey]:
    return await tx.rows(RankKey, SQL.keys_by_rank, *key, limit)


async def read_lows_by_rank(tx: Reading, every: int) -> list[RankKey]:
    return await tx.rows(RankKey, SQL.lows_by_rank, every)


async def is_online(tx: Reading, player_id: str) -> bool:
    return await tx.one(SQL.is_online, player_id) is not None


async def find_server_of(tx: Reading, player_id: str) -> str | None:
    """Return the game server on which the player is online, or None."""
    return await tx.value(SQL.server_of, player_id)


async def lock_server(tx: Reading, server: str) -> bool:
    """Return whether a game server's lease is active, and lock it: other transactions cannot move its players."""
    return await tx.one(SQL.lock_server, server) is not None


async def find_live_servers(tx: Reading) -> list[str]:
    """Return the names of all game servers with a lease."""
    return [row[0] for row in await tx.all(SQL.live_servers)]


async def find_lease_end(tx: Reading, name: str) -> int | None:
    """Return when a game server's lease ends; None if there is no such server."""
    row = await tx.one(SQL.server, name)
    return row[1] if row else None


def save_server(tx: Writing, name: str, lease_ms: int, applied: int | None = None) -> None:
    """Store a game server's lease and its receipt, which never moves back; None: no receipt."""
    tx.defer(SQL.save_server, name, lease_ms, applied)


async def save_applied(tx: Writing, player_id: str, applied: int) -> None:
    """Store that a player's game server has applied its changes up to a number, unless the player is offline."""
    # not deferred: PostgreSQL runs all deferred statements as one, in which a row is updated only once
    await tx.returning(SQL.save_applied, player_id, applied)


async def find_known_players(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known_players, as_column("id", ids))}


async def lock_players(tx: Reading, ids: Iterable[str]) -> set[str]:
    """Return which of these ids are players, and lock them: until the commit no one can delete, ban or mute them."""
    return {row[0] for row in await tx.all(SQL.lock_players, as_column("id", ids))}


async def find_on_server(tx: Reading, name: str, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.on_server, name, as_column("id", ids))}


async def join(tx: Writing, name: str, ids: Iterable[str]) -> None:
    await tx.returning(SQL.join, name, as_column("id", ids))


async def leave(tx: Writing, name: str, ids: Iterable[str]) -> None:
    table = as_column("id", ids)
    await tx.returning(SQL.seen_players, name, table)
    await tx.returning(SQL.leave, name, table)


async def has_lapsed(tx: Reading, since_ms: int = 0) -> bool:
    return await tx.one(SQL.any_lapsed, since_ms) is not None


async def find_lapsed(tx: Reading) -> list[str]:
    return [row[0] for row in await tx.all(SQL.lapsed)]


async def drop_server(tx: Writing, name: str) -> None:
    """Set a game server's players offline, then delete the server."""
    await tx.returning(SQL.seen_server, name)
    await tx.returning(SQL.drop_presence, name)
    await tx.returning(SQL.drop_server, name)


async def drop_servers(tx: Writing, seen_at: int) -> None:
    """Delete all game servers and set their players offline, last seen at `seen_at`."""
    await delete_open_sessions(tx, seen_at)
    await tx.returning(SQL.end_leases, seen_at)
    await tx.returning(SQL.seen_everybody, seen_at)
    await tx.returning(SQL.drop_everybody)
    await tx.returning(SQL.drop_servers)
    await end_open_sessions(tx, seen_at)


def update_sort_keys(tx: Writing, player_id: str, fold: str | None, level: int, exp: int) -> None:
    """Copy a player's sort keys into the ordered lists of online players; None leaves the folded name unchanged."""
    tx.defer(SQL.follow, player_id, fold, level, exp)


PERSON = (PersonRows(340, "play_sessions", SQL.of_person, cursor=("started_at",), of_players=True),)
