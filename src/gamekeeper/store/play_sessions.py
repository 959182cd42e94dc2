"""Play sessions: when each player was online, and on which game server. Triggers on `presence` write the rows."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.statements import Statements
from gamekeeper.store.table import as_table

SQL = Statements("play_sessions")


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


async def read_of_player(tx: Reading, player_id: str, before: int, limit: int) -> list[PlaySession]:
    """Read a player's sessions that started before a time, newest first."""
    return [PlaySession(*row) for row in await tx.all(SQL.of_player, player_id, before, limit)]


async def read_of_person(tx: Reading, player_id: str, after: int, limit: int) -> list[SessionOfPlayer]:
    """Read a player's sessions that started after a time, oldest first."""
    return [SessionOfPlayer(*row) for row in await tx.all(SQL.of_person, player_id, after, limit)]


async def delete_open(tx: Writing, after: int) -> None:
    """Delete open sessions that started after a time."""
    await tx.returning(SQL.delete_open, after)


async def end_open(tx: Writing, at: int) -> None:
    """End all open sessions at a time, but none before its start."""
    await tx.returning(SQL.end_open, at)


async def forget(tx: Writing, player_id: str, random_id: str) -> int:
    """Give the sessions and the activity of an erased player to a random id; return the number of rows."""
    sessions = await tx.returning(SQL.forget, player_id, random_id)
    return len(sessions) + len(await tx.returning(SQL.forget_activity, player_id, random_id))


def load(tx: Writing, sessions: Iterable[SessionOfPlayer]) -> None:
    tx.load(SQL.load, ((each.player_id, each.started_at, each.server, each.ended_at) for each in sessions))


async def read_after(tx: Reading, player_id: str, started_at: int, limit: int) -> list[StoredSession]:
    """Read the next sessions of all players, by player and start."""
    rows = await tx.all(SQL.after, player_id, started_at, limit)
    return [StoredSession(*row)._replace(is_counted=bool(row[5])) for row in rows]


async def find_disagreeing(tx: Reading, limit: int) -> list[str]:
    """Find players who are online without an open session, or the reverse."""
    return [row[0] for row in await tx.all(SQL.disagreeing, limit)]


async def delete_old(tx: Writing, before: int, limit: int) -> int:
    """Delete sessions that ended before a time and are in the rollups; return how many."""
    old = await tx.all(SQL.old, before, limit)
    if old:
        tx.defer(SQL.delete, as_table({"player_id": row[0], "started_at": row[1]} for row in old))
        tx.defer(SQL.note_deleted, before)
    return len(old)
