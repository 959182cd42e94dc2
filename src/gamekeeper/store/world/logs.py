"""The game's logs of activity and trades, their addresses, and the counts from which totals and pages are found.

Every insert and delete updates the counts in the same transaction, so totals are exact and no page counts entries.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.ground.instants import DAY_MS, MINUTE_MS
from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statement, Statements, as_column, as_table

SQL = Statements(__file__)
NO_ID = "00000000-0000-0000-0000-000000000000"  # no account; in the counts also: no player, or all of them
ACTIVITY, TRADES = "activity", "trades"  # lists of one account or player, counted by day
ACTIVITY_BY_MINUTE = "activity_by_minute"  # the list of entries without an account, which is counted by day too
TRADES_ONCE, TRADES_BY_MINUTE = "trades_once", "trades_by_minute"  # the list of all trades, counted by day and minute
OTHER_USERS = 100  # most accounts that are shown beside an address


class ActivityEntry(NamedTuple):
    id: str
    at: int  # milliseconds since 1970
    user_id: str  # NO_ID: no account, such as a log-in with an unknown name
    player_id: str | None
    action: str
    peer: str
    address: str | None
    meta: str | None
    named_id: str | None = None  # without an account: the account whose name or email `meta` has


class TradeEntry(NamedTuple):
    """One party's side of a trade. The items are JSON lists, see game/world/logs.py."""

    id: str
    trade_id: str
    at: int
    user_id: str
    player_id: str
    target_id: str
    address: str | None
    items: str
    target_items: str


class ActivityRow(NamedTuple):
    id: str
    at: int
    user_id: str
    player_id: str | None
    action: str
    peer: str
    address: str | None
    meta: str | None


class TradeRow(NamedTuple):
    """A trade with the current names of account and players; None if they were deleted."""

    id: str
    trade_id: str
    at: int
    user_id: str
    player_id: str
    target_id: str
    address: str | None
    items: bytes | str  # JSON
    target_items: bytes | str  # JSON
    user: str | None
    player: str | None
    target: str | None


class AddressRow(NamedTuple):
    address: str
    last_used: int


class _Period(NamedTuple):
    """Key of a row of the counts."""

    list: str
    user_id: str
    player_id: str
    start: int


async def lock_users(tx: Reading, ids: Iterable[str]) -> set[str]:
    """Return which accounts exist, and lock them against deletion until the transaction ends."""
    return {row[0] for row in await tx.all(SQL.lock_users, as_column("id", sorted(set(ids))))}


async def find_named_users(tx: Reading, folds: Iterable[str]) -> dict[str, str]:
    """Find accounts by folded names or email addresses: fold → id."""
    return {row[0]: row[1] for row in await tx.all(SQL.named_users, as_column("fold", sorted(folds)))}


async def add_activity(tx: Writing, entries: Iterable[ActivityEntry]) -> int:
    """Add entries with their addresses and counts; return how many are new. Entries with a known id are left out."""
    given = {each.id: each for each in entries}
    added = await _add(tx, SQL.add_activity, given.values())
    rows = [given[each] for each in added]
    used = Counter[tuple[str, str]]()
    for each in rows:
        if each.address and each.user_id != NO_ID:
            used[each.user_id, each.address] = max(used[each.user_id, each.address], each.at)
    if used:
        uses = ({"user_id": user, "address": address, "last_used": at} for (user, address), at in used.items())
        tx.defer(SQL.note_addresses, as_table(uses))
    await _add_counts(tx, _count_activity((each.user_id, each.player_id, each.at) for each in rows))
    return len(added)


async def add_trades(tx: Writing, entries: Iterable[TradeEntry]) -> int:
    """Add entries with their counts; return how many are new. Entries with a known id are left out."""
    given = {each.id: each for each in entries}
    added = await _add(tx, SQL.add_trades, given.values())
    rows = [given[each] for each in added]
    await _add_counts(tx, _count_trades((each.user_id, each.player_id, each.target_id, each.at) for each in rows))
    return len(added)


async def read_counts(
    tx: Reading, counted: str, user_id: str | None, player_id: str | None, since: int, until: int
) -> list[tuple[int, int]]:
    """Read the numbers of entries of an account, a player or both by period: (start, entries), in order of time."""
    return [(row[0], row[1]) for row in await tx.all(SQL.counts, counted, user_id, player_id, since, until)]


async def read_activity(
    tx: Reading, user_id: str | None, player_id: str | None, start: int, limit: int, skipped: int, *, backwards: bool
) -> list[ActivityRow]:
    """Read entries of an account or a player from a time on, without the first `skipped`; `backwards`: before it."""
    statement = SQL.activity_backwards if backwards else SQL.activity
    return await tx.rows(ActivityRow, statement, user_id, player_id, start, limit, skipped)


async def read_trades(
    tx: Reading, user_id: str | None, player_id: str | None, start: int, limit: int, skipped: int, *, backwards: bool
) -> list[TradeRow]:
    """Read trades like `read_activity`; without account and player all trades, each once."""
    statement = SQL.trades_backwards if backwards else SQL.trades
    return await tx.rows(TradeRow, statement, user_id, player_id, start, limit, skipped)


async def read_item_names(tx: Reading, ids: Iterable[str]) -> dict[str, str]:
    rows = await tx.all(SQL.item_names, as_column("id", sorted(set(ids))))
    return {row[0]: row[1] for row in rows}


async def count_addresses(tx: Reading, user_id: str) -> int:
    return await tx.value(SQL.count_addresses, user_id) or 0


async def read_addresses(tx: Reading, user_id: str, limit: int, offset: int) -> list[AddressRow]:
    """Read the addresses of an account, the last used first."""
    return await tx.rows(AddressRow, SQL.addresses, user_id, limit, offset)


async def read_other_users(tx: Reading, user_id: str, addresses: Iterable[str]) -> dict[str, bytes | str]:
    """Read who else used each address: address → JSON object of ids and names. At most OTHER_USERS for each."""
    given = as_column("address", addresses)
    return {row[0]: row[1] or "{}" for row in await tx.all(SQL.other_users, given, user_id, OTHER_USERS)}


async def delete_of_user(tx: Writing, user_id: str, limit: int) -> int:
    """Delete entries of an erased account and entries that have its name; return how many."""
    rows = await tx.returning(SQL.delete_activity_of_user, user_id, limit)
    rows = rows or await tx.returning(SQL.delete_activity_naming, user_id, limit)
    if rows:
        await _add_counts(tx, _count_activity(rows), sign=-1)
        return len(rows)
    rows = await tx.returning(SQL.delete_trades_of_user, user_id, limit)
    if rows:
        await _add_counts(tx, _count_trades(rows), sign=-1)
        return len(rows)
    return len(await tx.returning(SQL.delete_addresses_of_user, user_id, limit))


async def delete_old(tx: Writing, before_ms: int, limit: int) -> int:
    """Delete up to `limit` old rows of each log and of addresses. Return the largest of the three numbers."""
    activity = await tx.returning(SQL.delete_old_activity, before_ms, limit)
    trades = await tx.returning(SQL.delete_old_trades, before_ms, limit)
    await _add_counts(tx, _count_activity(activity) + _count_trades(trades), sign=-1)
    addresses = await tx.returning(SQL.delete_old_addresses, before_ms, limit)
    return max(len(activity), len(trades), len(addresses))


async def count_old(tx: Reading, before_ms: int) -> int:
    """Count the entries that are older than a time."""
    return await tx.value(SQL.count_old, before_ms) or 0


async def recount(tx: Writing) -> None:
    """Count all entries again: a copy of a database has the entries, but not their counts."""
    await tx.returning(SQL.delete_all_counts)
    tx.defer(SQL.count_all, NO_ID)


async def _add(tx: Writing, statement: Statement, entries: Iterable[ActivityEntry | TradeEntry]) -> list[str]:
    rows = [each._asdict() for each in entries]
    return [row[0] for row in await tx.returning(statement, as_table(rows))] if rows else []


def _count_activity(rows: Iterable[Row]) -> Counter[_Period]:
    """Count entries by period. Each row: account, player and time."""
    counts = Counter[_Period]()
    for user, player, at in rows:
        counts[_Period(ACTIVITY, user, player or NO_ID, at - at % DAY_MS)] += 1
        if user == NO_ID:
            counts[_Period(ACTIVITY_BY_MINUTE, NO_ID, NO_ID, at - at % MINUTE_MS)] += 1
    return counts


def _count_trades(rows: Iterable[Row]) -> Counter[_Period]:
    """Count entries by period. Each row: account, player, the other player and time."""
    counts = Counter[_Period]()
    for user, player, target, at in rows:
        counts[_Period(TRADES, user, player, at - at % DAY_MS)] += 1
        if player < target:
            counts[_Period(TRADES_ONCE, NO_ID, NO_ID, at - at % DAY_MS)] += 1
            counts[_Period(TRADES_BY_MINUTE, NO_ID, NO_ID, at - at % MINUTE_MS)] += 1
    return counts


async def _add_counts(tx: Writing, counts: Counter[_Period], sign: int = 1) -> None:
    """Add to the counts, or subtract from them. A count of zero is deleted."""
    if not counts:
        return
    given = as_table(each._asdict() | {"entries": sign * count} for each, count in counts.items())
    rows = await tx.returning(SQL.add_counts, given)
    empty = [_Period(*row[:4])._asdict() for row in rows if row[4] == 0]
    if empty:
        tx.defer(SQL.delete_counts, as_table(empty))


PERSON = (
    PersonRows(190, "log_addresses", SQL.addresses_of_person),
    PersonRows(320, "activity", SQL.activity_of_person, cursor=("at", "id")),
    # entries without an account that have its name, such as failed log-ins
    PersonRows(321, "activity", SQL.activity_naming_person, cursor=("id",)),
    PersonRows(330, "trades", SQL.trades_of_person, cursor=("at", "id"), json=("items", "target_items")),
)
