"""The game's logs of activity and trades: game servers report them, and staff read them in pages.

They are logs, not changes: they are not in the audit log. An entry is added once, whatever is repeated. Entries of an
erased account are left out.
"""

from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from gamekeeper.game.core.background_jobs import Erasure, OldRows
from gamekeeper.game.core.change import Unlogged
from gamekeeper.game.core.lookup import fold
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.core.writes import Decision
from gamekeeper.ground.instants import format_engine_time
from gamekeeper.ground.wire import EngineTime, PageRange, PlainInt32, Shape
from gamekeeper.store.audit.history import NEVER
from gamekeeper.store.core import ledger
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import as_column
from gamekeeper.store.world import logs
from gamekeeper.store.world.logs import DAY_MS, NO_ID, ActivityEntry, TradeEntry, TradeRow

E = TypeVar("E", ActivityEntry, TradeEntry)

MAX_AHEAD_MS = DAY_MS  # a time further in the future is refused: the entry would not be deleted when it is old
_decode_names = msgspec.json.Decoder(dict[str, str]).decode


class LogReceipt(Shape):
    """How many entries were added, were known, or belong to erased accounts and were left out."""

    taken: PlainInt32
    known: PlainInt32
    erased: PlainInt32


class UsedAddress(Shape):
    """An address of an account. `OtherUsers`: ids and names of accounts that used it too."""

    ip: str
    last_used: EngineTime
    other_users: dict[str, str]


class LogFilter(NamedTuple):
    user_id: str | None = None
    player_id: str | None = None


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
    return _decide_addition(logs.add_activity, kept, len(entries))


async def add_trades(tx: Reading, entries: Sequence[TradeEntry]) -> Decision[LogReceipt]:
    """Add entries that are not there yet, except those of erased accounts."""
    erased, _ = await _find_erased(tx, {each.user_id for each in entries})
    return _decide_addition(logs.add_trades, [each for each in entries if each.user_id not in erased], len(entries))


def _decide_addition(
    add: Callable[[Writing, Sequence[E]], Coroutine[Any, Any, int]], kept: Sequence[E], given: int
) -> Decision[LogReceipt]:
    """Decide to add the entries that are kept. The effect of the decision fills in the receipt."""
    receipt = LogReceipt(0, 0, given - len(kept))

    async def add_kept(tx: Writing) -> None:
        receipt.taken = await add(tx, kept)
        receipt.known = len(kept) - receipt.taken

    return Decision([Unlogged(add_kept)], receipt)


async def load_activity(
    tx: Reading, wanted: LogFilter, page: PageRange, *, newest_first: bool = False
) -> tuple[int, Sequence[ActivityEntry]]:
    """Load a page of the activity of an account or of a player, and the number of entries."""
    if wanted.player_id == NO_ID:
        return 0, ()
    by_minute = logs.ACTIVITY_BY_MINUTE if wanted == LogFilter(user_id=NO_ID) else None
    total, place = await _find_place(tx, logs.ACTIVITY, by_minute, wanted, page, newest_first=newest_first)
    if place is None:
        return total, ()
    return total, await logs.read_activity(tx, *wanted, place.time, page.limit, place.skipped, backwards=newest_first)


async def load_trades(
    tx: Reading, wanted: LogFilter, page: PageRange, *, newest_first: bool = False
) -> tuple[int, Sequence[TradeRow]]:
    """Load a page of the trades of an account, a player or both; without a filter of all trades, each once."""
    of_all = wanted == LogFilter()
    lists = (logs.TRADES_ONCE, logs.TRADES_BY_MINUTE) if of_all else (logs.TRADES, None)
    total, place = await _find_place(tx, *lists, wanted, page, newest_first=newest_first)
    if place is None:
        return total, ()
    return total, await logs.read_trades(tx, *wanted, place.time, page.limit, place.skipped, backwards=newest_first)


async def load_addresses(tx: Reading, user_id: str, page: PageRange) -> tuple[int, Sequence[UsedAddress]]:
    """Load a page of an account's addresses, the last used first, and who else used each."""
    total = await tx.value(logs.SQL.count_addresses, user_id)
    if page.offset >= total:
        return total, ()
    rows = await tx.all(logs.SQL.addresses, user_id, page.limit, page.offset)
    others = await logs.read_other_users(tx, user_id, [address for address, _ in rows])
    return total, [
        UsedAddress(address, format_engine_time(last_used), _decode_names(others.get(address, "{}")))
        for address, last_used in rows
    ]


async def _find_place(
    tx: Reading, by_day: str, by_minute: str | None, wanted: LogFilter, page: PageRange, *, newest_first: bool
) -> tuple[int, _Place | None]:
    """Return the length of a list, and where a page of it starts; None: after its end.

    `by_minute`: for a list of the whole game. Its days may have very many entries, so look up the minute too.
    """
    days = await logs.read_counts(tx, by_day, *(LogFilter(NO_ID, NO_ID) if by_minute else wanted), 0, NEVER)
    total = sum(entries for _, entries in days)
    place = _find_period(days, page.offset, DAY_MS, newest_first=newest_first)
    if place is None or by_minute is None:
        return total, place
    start = place.time - DAY_MS if newest_first else place.time
    minutes = await logs.read_counts(tx, by_minute, NO_ID, NO_ID, start, start + DAY_MS)
    return total, _find_period(minutes, place.skipped, logs.MINUTE_MS, newest_first=newest_first) or place


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
    present = {row[0] for row in await tx.all(logs.SQL.lock_users, as_column("id", sorted(set(ids))))}
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
