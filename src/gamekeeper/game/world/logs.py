"""The game's logs of activity and trades: game servers report them, and staff read them in pages.

They are logs, not changes: they are not in the audit log. An entry is added once, whatever is repeated. Entries of an
erased account are left out.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct

from gamekeeper.game.core.background_jobs import Erasure, OldRows
from gamekeeper.game.core.change import Unlogged
from gamekeeper.game.core.lookup import fold
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.core.writes import Decision
from gamekeeper.store.audit.history import NEVER
from gamekeeper.store.core import ledger
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.world import logs
from gamekeeper.store.world.logs import DAY_MS, NO_ID, ActivityEntry, ActivityRow, AddressRow, TradeEntry, TradeRow

R = TypeVar("R")
MAX_AHEAD_MS = DAY_MS  # a time further in the future is refused: the entry would not be deleted when it is old


class LogReceipt(Struct):
    """What became of a batch. The effect of the batch fills it in."""

    taken: int = 0
    known: int = 0  # entries that were there already
    erased: int = 0  # entries of erased accounts, which are left out


class LogFilter(NamedTuple):
    user_id: str | None = None
    player_id: str | None = None


class LogSlice(NamedTuple):
    """A part of a list: without the first `offset` entries, at most `limit`."""

    offset: int
    limit: int
    newest_first: bool = False


class LogPage(NamedTuple, Generic[R]):
    total: int
    rows: Sequence[R]


class SharedAddress(NamedTuple):
    """An address of an account, and who else used it, as a JSON object of ids and names."""

    used: AddressRow
    other_users: bytes | str


class _Place(NamedTuple):
    """Where a page starts: the first `skipped` entries from this time on are before it, or the last ones up to it."""

    time: int
    skipped: int


async def require_credible_times(tx: Reading, times: Sequence[int]) -> None:
    """Refuse times before 1970 and times more than a day in the future."""
    latest = await clock.now(tx) + MAX_AHEAD_MS
    for number, at in enumerate(times):
        if not 0 <= at <= latest:
            raise BadField(field=f"Entries[{number}].TimeStamp", problem="must be from 1970 on, and not in the future")


async def add_activity(tx: Reading, entries: Sequence[ActivityEntry]) -> Decision[LogReceipt]:
    """Add entries that are not there yet, except those of erased accounts."""
    typed = {fold(each.meta) for each in entries if each.user_id == NO_ID and each.meta}
    named = await logs.find_named_users(tx, typed) if typed else {}
    erased, present = await _find_erased(tx, {*(each.user_id for each in entries), *named.values()})
    named = {name: user for name, user in named.items() if user in present}
    kept = [attach_name(each, named) for each in entries if each.user_id not in erased]
    receipt = LogReceipt(erased=len(entries) - len(kept))

    async def add(tx: Writing) -> None:
        receipt.taken = await logs.add_activity(tx, kept)
        receipt.known = len(kept) - receipt.taken

    return Decision([Unlogged(add)], receipt)


async def add_trades(tx: Reading, entries: Sequence[TradeEntry]) -> Decision[LogReceipt]:
    """Add entries that are not there yet, except those of erased accounts."""
    erased, _ = await _find_erased(tx, {each.user_id for each in entries})
    kept = [each for each in entries if each.user_id not in erased]
    receipt = LogReceipt(erased=len(entries) - len(kept))

    async def add(tx: Writing) -> None:
        receipt.taken = await logs.add_trades(tx, kept)
        receipt.known = len(kept) - receipt.taken

    return Decision([Unlogged(add)], receipt)


async def load_activity(tx: Reading, wanted: LogFilter, part: LogSlice) -> LogPage[ActivityRow]:
    """Load a page of the activity of an account or of a player."""
    if wanted.player_id == NO_ID:
        return LogPage(0, ())
    if wanted == LogFilter(user_id=NO_ID):
        total, place = await _find_minute(tx, logs.ACTIVITY, logs.ACTIVITY_BY_MINUTE, part)
    else:
        total, place = await _find_place(tx, logs.ACTIVITY, wanted, part)
    if place is None:
        return LogPage(total, ())
    rows = await logs.read_activity(tx, *wanted, place.time, part.limit, place.skipped, backwards=part.newest_first)
    return LogPage(total, rows)


async def load_trades(tx: Reading, wanted: LogFilter, part: LogSlice) -> LogPage[TradeRow]:
    """Load a page of the trades of an account, a player or both; without a filter of all trades, each once."""
    if wanted == LogFilter():
        total, place = await _find_minute(tx, logs.TRADES_ONCE, logs.TRADES_BY_MINUTE, part)
    else:
        total, place = await _find_place(tx, logs.TRADES, wanted, part)
    if place is None:
        return LogPage(total, ())
    rows = await logs.read_trades(tx, *wanted, place.time, part.limit, place.skipped, backwards=part.newest_first)
    return LogPage(total, rows)


async def load_addresses(tx: Reading, user_id: str, part: LogSlice) -> LogPage[SharedAddress]:
    """Load a page of an account's addresses, the last used first, and who else used each."""
    total = await logs.count_addresses(tx, user_id)
    rows = await logs.read_addresses(tx, user_id, part.limit, part.offset) if part.offset < total else []
    others = await logs.read_other_users(tx, user_id, [each.address for each in rows]) if rows else {}
    return LogPage(total, [SharedAddress(each, others.get(each.address, "{}")) for each in rows])


async def _find_place(tx: Reading, counted: str, wanted: LogFilter, part: LogSlice) -> tuple[int, _Place | None]:
    """Return the length of a list, and where a part of it starts; None: after its end."""
    days = await logs.read_counts(tx, counted, *wanted, 0, NEVER)
    return sum(entries for _, entries in days), _find_period(days, part.offset, DAY_MS, newest_first=part.newest_first)


async def _find_minute(tx: Reading, by_day: str, by_minute: str, part: LogSlice) -> tuple[int, _Place | None]:
    """Return the same for a list of the whole game: a day may have very many entries, so look up the minute too."""
    total, place = await _find_place(tx, by_day, LogFilter(NO_ID, NO_ID), part)
    if place is None:
        return total, None
    start = place.time - DAY_MS if part.newest_first else place.time
    minutes = await logs.read_counts(tx, by_minute, NO_ID, NO_ID, start, start + DAY_MS)
    return total, _find_period(minutes, place.skipped, logs.MINUTE_MS, newest_first=part.newest_first) or place


def _find_period(
    periods: Sequence[tuple[int, int]], offset: int, length_ms: int, *, newest_first: bool
) -> _Place | None:
    """Find the period that has the entry with this number: its start, or its end if the newest entries come first."""
    for start, entries in reversed(periods) if newest_first else periods:
        if offset < entries:
            return _Place(start + length_ms if newest_first else start, offset)
        offset -= entries
    return None


async def _find_erased(tx: Reading, ids: Collection[str]) -> tuple[set[str], set[str]]:
    """Return which accounts were erased, and which exist. Those are locked, so that their erasure finds new entries."""
    present = await logs.lock_users(tx, ids)
    absent = set(ids) - present - {NO_ID}
    return (await ledger.find_deleted_users(tx, sorted(absent)) if absent else set()), present


def attach_name(entry: ActivityEntry, named: Mapping[str, str]) -> ActivityEntry:
    """Attach the account of an entry that has only a typed name, so that it is erased with the account.

    If no account has the name, remove name and address: no erasure would find them, and the account may be erased.
    """
    if entry.user_id != NO_ID:
        return entry
    named_id = named.get(fold(entry.meta)) if entry.meta else None
    if named_id is None:
        return entry._replace(player_id=None, address=None, meta=None)
    return entry._replace(player_id=None, named_id=named_id)


ERASURES = (Erasure(20, logs.delete_of_user),)
# each entry also changes counts
OLD_ROWS = (OldRows(10, lambda settings: settings.log_days, logs.delete_old, batch=1_000, batches=100),)
