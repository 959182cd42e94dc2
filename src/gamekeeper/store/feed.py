"""Change feed for game servers: changes of players in order, without skipping those that commit late."""

from typing import NamedTuple

from gamekeeper.store.deliveries import Delivery
from gamekeeper.store.engine import DatabaseUnavailable, Reading, Row, Store, UnusableDatabase
from gamekeeper.store.statements import Statements

SQL = Statements("feed")


class NoEpoch(DatabaseUnavailable, UnusableDatabase):
    """The table `epoch` is empty, so readers of the change feed cannot tell whether their cursor is still valid."""

    def __init__(self) -> None:
        super().__init__("The table epoch has lost its only row. Put the same row back, or restore a backup.")


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


class FeedState(NamedTuple):
    epoch: str
    last: int  # highest change number in the audit log; transactions with lower numbers may still be running
    trimmed: int  # changes up to this number may have been trimmed from the audit log


class Horizon(NamedTuple):
    """Once all transactions before `transaction` have ended, all change numbers up to `number` are final."""

    number: int
    transaction: int


async def read_state(tx: Reading) -> FeedState:
    row = await tx.one(SQL.standing)
    if row is None:
        raise NoEpoch
    return FeedState(*row)


async def take_horizon(store: Store, passed: int, decided: int) -> Horizon | None:
    """Take a new horizon of the change feed; None if there are no new change numbers since the horizon `passed`.

    A transaction gets its id before it draws a change number. So read the last number first and take a transaction id
    of our own after it: only transactions with lower ids can hold such numbers. Both must run as separate statements
    outside a transaction. After a crash a lost number can be drawn again: so if the number is still `passed`, compare
    the last stored change with `decided`, the last change up to which the feed knows all to be final.
    """
    number = await read_last_drawn(store)
    if number == passed and await read_last_written(store, number) <= decided:
        return None
    return Horizon(number, await read_own_transaction(store))


async def is_passed(store: Store, horizon: Horizon) -> bool:
    return await read_oldest_transaction(store) >= horizon.transaction


async def read_last_drawn(tx: Reading) -> int:
    return _to_number(await tx.one(SQL.last_drawn))


async def read_own_transaction(tx: Reading) -> int:
    return _to_number(await tx.one(SQL.own_transaction))


async def read_oldest_transaction(tx: Reading) -> int:
    return _to_number(await tx.one(SQL.oldest_transaction))


async def read_last_written(tx: Reading, upto: int) -> int:
    """Return the highest stored change number up to `upto`. Unlike drawn numbers, it never repeats after a crash."""
    return _to_number(await tx.one(SQL.last_written, upto))


async def read_between(tx: Reading, after: int, upto: int, account_id: str, limit: int, *, own: bool) -> list[FeedRow]:
    """Read changes of players in a range of numbers; without `own`, leave out those that this account reported."""
    return [FeedRow(*row) for row in await tx.all(SQL.between, after, upto, own, account_id, limit)]


async def read_of_player(tx: Reading, player_id: str, after: int, account_id: str, limit: int) -> list[FeedRow]:
    """Read changes of one player that its game server must apply, without those that this account itself reported.

    Commands that are told at most once are left out: a game server may have let them expire.
    """
    return [FeedRow(*row) for row in await tx.all(SQL.of_player, player_id, after, account_id, limit)]


def _to_number(row: Row | None) -> int:
    return row[0] if row else 0
