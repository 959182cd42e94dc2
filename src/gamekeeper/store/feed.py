"""The ledger as game servers follow it: changes of characters, in order, none skipped that commits late."""

from typing import NamedTuple

from gamekeeper.store.engine import DatabaseUnavailable, Reading, Row, Store, UnusableDatabase
from gamekeeper.store.statements import Statements

SQL = Statements("feed")


class NoEpoch(DatabaseUnavailable, UnusableDatabase):
    """Without the row of the table epoch no follower can tell whether a cursor is still valid."""

    def __init__(self) -> None:
        super().__init__("The table epoch has lost its only row. Put the same row back, or restore a backup.")


class FeedRow(NamedTuple):
    seq: int
    at: int
    kind: str
    player_id: str
    before: str | bytes | None
    after: str | bytes | None
    by: str | None
    request_id: str


class FeedState(NamedTuple):
    epoch: str
    last: int  # what is in the ledger; numbers before it may still be on their way
    trimmed: int  # changes up to this one may be missing


class Horizon(NamedTuple):
    """The numbers up to this one are decided, written or never to be, once all older transactions are over."""

    number: int
    transaction: int


async def read_state(tx: Reading) -> FeedState:
    row = await tx.one(SQL.standing)
    if row is None:
        raise NoEpoch
    return FeedState(*row)


async def take_horizon(store: Store, passed: int, decided: int) -> Horizon | None:
    """A new one; None when no number has been drawn since the one that was passed, nor drawn again and written.

    Whoever drew a number owned a transaction before: reading the last number first, and beginning a transaction
    of our own then, leaves only older ones to wait for. Each must be a statement of its own, outside any transaction.
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
    """A number that was drawn for nothing can be drawn again after a crash; one that is in the ledger cannot."""
    return _to_number(await tx.one(SQL.last_written, upto))


async def read_between(tx: Reading, after: int, upto: int, account_id: str, limit: int, *, own: bool) -> list[FeedRow]:
    """Changes of characters; without `own` those that the account itself reported over the link are left out."""
    return [FeedRow(*row) for row in await tx.all(SQL.between, after, upto, own, account_id, limit)]


async def read_of_player(tx: Reading, player_id: str, after: int, account_id: str, limit: int) -> list[FeedRow]:
    """One character's, but for what the account itself reported over the link."""
    return [FeedRow(*row) for row in await tx.all(SQL.of_player, player_id, after, account_id, limit)]


def _to_number(row: Row | None) -> int:
    return row[0] if row else 0
