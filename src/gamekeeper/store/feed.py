"""Change feed for game servers: changes of players in order, without skipping those that commit late."""

from typing import NamedTuple

from gamekeeper.store.deliveries import Delivery
from gamekeeper.store.engine import Reading
from gamekeeper.store.statements import Statements

SQL = Statements("feed")


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
    return [FeedRow(*row) for row in await tx.all(SQL.between, after, upto, own, account_id, limit)]


async def read_of_player(tx: Reading, player_id: str, after: int, account_id: str, limit: int) -> list[FeedRow]:
    """Read changes of one player that its game server must apply, without those that this account itself reported.

    Commands that are told at most once are left out: a game server may have let them expire.
    """
    return [FeedRow(*row) for row in await tx.all(SQL.of_player, player_id, after, account_id, limit)]
