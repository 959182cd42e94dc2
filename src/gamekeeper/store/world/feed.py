"""Change feed for game servers, and the deliveries of commands in it.

The feed has changes of players in order, without skipping those that commit late. A delivery says for one command and
one game server whether the game server has acknowledged the command.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table

SQL = Statements(__file__)
WAITING, APPLIED, FAILED, UNKNOWN = "waiting", "applied", "failed", "unknown"  # stored states

MAX_EXAMINED = 1_000  # commands without acknowledgement that a search for overdue ones reads


class CommandTarget(NamedTuple):
    """A command in the audit log and a game server that must carry it out."""

    seq: int
    server: str
    life_ms: int | None  # the command expires after this time; None: never


class Delivery(NamedTuple):
    seq: int
    server: str
    state: str
    reason: str | None
    queued_at: int
    expires_at: int | None
    acked_at: int | None
    expired: bool  # by the database's clock


class ServerReceipt(NamedTuple):
    """How far a game server has read the change feed, and how far it has applied changes; 0: not known."""

    server: str
    sent_seq: int
    applied_seq: int


class OverdueCommand(NamedTuple):
    seq: int
    server: str
    queued_at: int
    kind: str
    player_id: str | None
    player: str | None  # the player's name


class Acknowledgement(NamedTuple):
    seq: int
    state: str
    reason: str | None


def insert_deliveries(tx: Writing, targets: Iterable[CommandTarget]) -> None:
    tx.defer(SQL.insert, as_table({"seq": each.seq, "server": each.server, "life": each.life_ms} for each in targets))


async def read_deliveries_of_changes(tx: Reading, numbers: Iterable[int]) -> list[Delivery]:
    """Read the deliveries of these changes, in order of number and game server."""
    return await tx.rows(Delivery, SQL.of_changes, as_column("seq", numbers))


async def read_player_receipts(tx: Reading, player_ids: Iterable[str]) -> dict[str, ServerReceipt]:
    """Map each of these players that is online to the receipts of its game server."""
    rows = await tx.all(SQL.player_receipts, as_column("id", player_ids))
    # the receipt of a report of the player can be ahead of the game server's own
    return {row[0]: ServerReceipt(row[1], row[2], max(row[3], row[4])) for row in rows}


async def read_leased(tx: Reading, limit: int) -> list[ServerReceipt]:
    """Read the receipts of the game servers that have a lease, in order of their names."""
    return await tx.rows(ServerReceipt, SQL.leased, limit)


async def read_cursors(tx: Reading, servers: Iterable[str]) -> dict[str, int]:
    """Map each of these game servers that is known to the cursor of the feed that was stored for it."""
    rows = await tx.all(SQL.cursors, as_column("server", servers))
    return {row[0]: row[1] for row in rows}


async def read_overdue(tx: Reading, wait_ms: int, limit: int) -> list[OverdueCommand]:
    """Read commands that no game server has acknowledged in this time, newest first. Only the newest are examined."""
    return await tx.rows(OverdueCommand, SQL.overdue, wait_ms, MAX_EXAMINED, limit)


async def lock_deliveries(tx: Reading, server: str, numbers: Iterable[int]) -> dict[int, str]:
    """Lock a game server's deliveries of these changes. Return their states, by number of the change."""
    return {row[0]: row[1] for row in await tx.all(SQL.lock, server, as_column("seq", numbers))}


def acknowledge(tx: Writing, server: str, acks: Iterable[Acknowledgement]) -> None:
    tx.defer(SQL.acknowledge, server, as_table(each._asdict() for each in acks))


async def save_cursors(tx: Writing, cursors: Mapping[str, int]) -> None:
    """Store how far each game server has read the change feed. A cursor never moves back."""
    table = as_table({"server": server, "seq": seq} for server, seq in cursors.items())
    await tx.returning(SQL.save_cursors, table)


def delete_deliveries(tx: Writing, numbers: Iterable[int]) -> None:
    tx.defer(SQL.delete, as_column("seq", numbers))


def delete_old_deliveries(tx: Writing, before_ms: int, limit: int) -> None:
    tx.defer(SQL.delete_old, before_ms, limit)


def blank_deliveries(tx: Writing, numbers: Iterable[int]) -> None:
    """Remove the game's reasons from deliveries of an erased person's changes."""
    tx.defer(SQL.blank, as_column("seq", numbers))


class FeedRow(NamedTuple):
    seq: int
    at: int
    kind: str
    player_id: str | None
    before: str | bytes | None
    after: str | bytes | None
    by: str | None
    request_id: str
    target: Delivery | None = None  # delivery of a command to the game server that asked; None: no command


async def read_between(tx: Reading, after: int, upto: int, account_id: str, limit: int, *, own: bool) -> list[FeedRow]:
    """Read changes of players in a range of numbers; without `own`, leave out those that this account reported."""
    return await tx.rows(FeedRow, SQL.between, after, upto, own, account_id, limit)


async def read_of_player(tx: Reading, player_id: str, after: int, account_id: str, limit: int) -> list[FeedRow]:
    """Read changes of one player that its game server must apply, without those that this account itself reported.

    Commands that are told at most once are left out: a game server may have let them expire.
    """
    return await tx.rows(FeedRow, SQL.of_player, player_id, after, account_id, limit)
