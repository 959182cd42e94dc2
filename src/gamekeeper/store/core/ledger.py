from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine.interface import DatabaseUnavailable, Reading, Store, UnusableDatabase, Writing
from gamekeeper.store.engine.statements import Statements, as_column

SQL = Statements(__file__)


class LedgerEntry(NamedTuple):
    kind: str
    actor_id: str | None
    token_id: str | None
    over_link: bool
    player_id: str | None
    user_id: str | None
    before: str | None
    after: str | None
    request_id: str
    reason: str | None
    undoes: int | None = None  # number of the change that this one undoes


class LedgerRow(NamedTuple):
    """A stored change with its number and time; before and after are JSON."""

    seq: int
    at: int
    kind: str
    actor_id: str | None
    token_id: str | None
    over_link: bool
    player_id: str | None
    user_id: str | None
    before: bytes | str | None
    after: bytes | str | None
    request_id: str
    reason: str | None


class OldChanges(NamedTuple):
    last: int
    rows: int
    oldest_at: int  # time of the oldest change in the audit log, in milliseconds since 1970


async def append(tx: Writing, entries: list[LedgerEntry]) -> None:
    """Append changes to the audit log. Only the last is deferred: the others run one by one, for numbers in order."""
    if not entries:
        return
    for entry in entries[:-1]:
        await tx.returning(SQL.append, *entry)
    tx.defer(SQL.append, *entries[-1])


async def append_numbered(tx: Writing, entries: list[LedgerEntry]) -> list[int]:
    """Append changes to the audit log one by one, and return their numbers."""
    return [(await tx.returning(SQL.append_numbered, *entry))[0][0] for entry in entries]


async def read_after(tx: Reading, seq: int, limit: int) -> list[LedgerRow]:
    return await tx.rows(LedgerRow, SQL.after, seq, limit)


async def read_trimmed(tx: Reading) -> int:
    """Return the number up to which the audit log was trimmed, and block trimming until this transaction ends."""
    row = await tx.one(SQL.trimmed)
    if row is None:
        raise NoEpoch
    return row[0]


async def read_trimmed_number(tx: Reading) -> int:
    """Return the number up to which the audit log was trimmed, without blocking anything."""
    return (await read_state(tx)).trimmed


async def find_old(tx: Reading, after: int, before_ms: int, most: int) -> OldChanges:
    return await tx.row(OldChanges, SQL.old, after, before_ms, most) or OldChanges(0, 0, before_ms)


def set_trimmed(tx: Writing, upto: int) -> None:
    tx.defer(SQL.set_trimmed, upto)


def delete(tx: Writing, numbers: Iterable[int]) -> None:
    tx.defer(SQL.delete, as_column("seq", numbers))


async def find_deleted_players(tx: Reading, ids: Iterable[str]) -> set[str]:
    """Return which of these ids belong to deleted players, by the audit log."""
    return {row[0] for row in await tx.all(SQL.deleted_players, as_column("id", ids))}


async def find_deleted_users(tx: Reading, ids: Iterable[str]) -> set[str]:
    """Return which of these ids belong to erased accounts, by the audit log."""
    return {row[0] for row in await tx.all(SQL.deleted_users, as_column("id", ids))}


async def find_deleted_of_user(tx: Reading, user_id: str) -> list[str]:
    """Return the ids of players that belonged to an account when they were deleted."""
    return [row[0] for row in await tx.all(SQL.deleted_of_user, user_id)]


async def count_about(tx: Reading, user_id: str, player_ids: Iterable[str], most: int) -> int:
    """Count the audit log entries of an account and these players, up to `most`."""
    return await tx.value(SQL.count_about, user_id, as_column("id", player_ids), most) or 0


async def read_last(tx: Reading) -> int:
    return await tx.value(SQL.last) or 0


class NoEpoch(DatabaseUnavailable, UnusableDatabase):
    """The table `epoch` is empty, so readers of the change feed cannot tell whether their cursor is still valid."""

    def __init__(self) -> None:
        super().__init__("The table epoch has lost its only row. Put the same row back, or restore a backup.")


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
    number = await store.value(SQL.last_drawn) or 0
    if number == passed and await read_last_written(store, number) <= decided:
        return None
    return Horizon(number, await store.value(SQL.own_transaction) or 0)


async def is_passed(store: Store, horizon: Horizon) -> bool:
    return (await store.value(SQL.oldest_transaction) or 0) >= horizon.transaction


async def read_last_written(tx: Reading, upto: int) -> int:
    """Return the highest stored change number up to `upto`. Unlike drawn numbers, it never repeats after a crash."""
    return await tx.value(SQL.last_written, upto) or 0
