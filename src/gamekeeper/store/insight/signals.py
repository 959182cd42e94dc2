"""Signals: what the rules over changes, requests and game servers have found, and the facts that the rules compare.

Facts are sums of the last hour and others, each compared with the limit of a rule.
"""

from collections.abc import Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table

SQL = Statements(__file__)
OPEN, ACKNOWLEDGED = "open", "acknowledged"
# subject of the signal for all that a rule finds beyond the most open signals; no game server has an empty name
BEYOND = ""
# the rules of signals
SUPPLY, GAIN, GIFT, BAG, CONSERVATION, REFUSALS, SILENT = (
    *("supply", "gain", "gift", "bag", "conservation", "refusals", "silent"),
)


class Signal(NamedTuple):
    id: str
    rule: str
    subject: str  # what the rule found it about
    item_id: str | None
    player_id: str | None
    giver_id: str | None  # account or API key of gifts
    first_at: int
    last_at: int
    times: int  # how often the rule found it
    evidence: str  # JSON
    state: str = OPEN
    acknowledged_at: int | None = None
    acknowledged_by: str | None = None
    note: str | None = None


class SignalCount(NamedTuple):
    rule: str
    raised: int
    opened: int  # open now


class ChangeOfPlayer(NamedTuple):
    seq: int
    at: int
    kind: str
    player_id: str | None
    player: str | None  # None: the change is of no player, or the player is deleted


async def find_newest(tx: Reading, rule: str, subject: str) -> Signal | None:
    """Lock and return the newest signal of a rule and subject, open or acknowledged."""
    return await tx.row(Signal, SQL.newest, rule, subject)


async def insert(tx: Writing, signal: Signal) -> None:
    await tx.returning(SQL.insert, *signal[:10])


def acknowledge(tx: Writing, signal: Signal) -> None:
    tx.defer(SQL.acknowledge, signal.id, signal.acknowledged_at, signal.acknowledged_by, signal.note)
    tx.defer(SQL.add_counts, signal.rule, 0, -1)


async def lock_counts(tx: Reading, rule: str) -> int | None:
    """Lock the counts of a rule until the transaction ends; return the number of open signals. None: never raised."""
    return await tx.value(SQL.lock_counts, rule)


async def lock_rule(tx: Writing, rule: str) -> int:
    """Lock the counts of a rule, of which there may be none yet; return the number of open signals."""
    opened = await lock_counts(tx, rule)
    if opened is None:
        await tx.returning(SQL.begin_counts, rule)
        opened = await lock_counts(tx, rule)
    return opened or 0


async def read_counts(tx: Reading) -> list[SignalCount]:
    return await tx.rows(SignalCount, SQL.counts)


async def lock_owner(tx: Reading, player_id: str) -> str | None:
    """Return the account of a player, who is then not deleted before the transaction ends. None: it is deleted."""
    return await tx.value(SQL.owner, player_id)


async def find(tx: Reading, signal_id: str) -> Signal | None:
    return await tx.row(Signal, SQL.find, signal_id)


async def find_some(tx: Reading, ids: Iterable[str]) -> list[Signal]:
    """Return the signals with these ids, in any order. Deleted ones are missing."""
    return await tx.rows(Signal, SQL.some, as_column("id", ids))


async def lock(tx: Reading, signal_id: str) -> Signal | None:
    return await tx.row(Signal, SQL.lock, signal_id)


async def read_page(
    tx: Reading, before: tuple[int, str], limit: int, rule: str | None, state: str | None
) -> list[Signal]:
    """Read signals before a position, newest first."""
    if rule and state:
        return await tx.rows(Signal, SQL.page_of_rule_and_state, *before, limit, rule, state)
    if rule:
        return await tx.rows(Signal, SQL.page_of_rule, *before, limit, rule)
    if state:
        return await tx.rows(Signal, SQL.page_of_state, *before, limit, state)
    return await tx.rows(Signal, SQL.page, *before, limit)


async def find_player_names(tx: Reading, ids: Iterable[str]) -> dict[str, str | None]:
    return {row[0]: row[1] for row in await tx.all(SQL.player_names, as_column("id", ids))}


async def find_user_names(tx: Reading, ids: Iterable[str]) -> dict[str, str | None]:
    return {row[0]: row[1] for row in await tx.all(SQL.user_names, as_column("id", ids))}


async def read_changes(tx: Reading, numbers: Iterable[int]) -> list[ChangeOfPlayer]:
    """Read changes with their players. Trimmed ones are missing."""
    return await tx.rows(ChangeOfPlayer, SQL.changes, as_table({"seq": each} for each in numbers))


async def delete_old(tx: Writing, before_ms: int, limit: int) -> int:
    """Delete acknowledged signals that were raised before a time; return their number."""
    return len(await tx.returning(SQL.delete_old, before_ms, limit))


def erase(tx: Writing, player_ids: Iterable[str], giver_ids: Iterable[str]) -> None:
    """Remove what leads to an erased person: its players, its account and its API keys."""
    players = as_column("id", player_ids)
    tx.defer(SQL.erase_players, players)
    tx.defer(SQL.erase_gains, players)
    tx.defer(SQL.erase_checks, players)
    tx.defer(SQL.erase_givers, as_column("id", giver_ids))


Key = TypeVar("Key")


class GainKey(NamedTuple):
    player_id: str
    item_id: str


class Check(NamedTuple):
    """Something that is a signal if it is still so after a while."""

    rule: str
    subject: str
    at: int
    player_id: str | None


class Unbalanced(NamedTuple):
    item_id: str
    before: int  # quantity at the end of the day before
    after: int
    created: int
    destroyed: int


Slots = dict[int, int]  # ten minutes since 1970 → sum


class StoredSums(NamedTuple, Generic[Key]):
    """Sums of the last hour, and the largest changes of ten minutes as JSON, if there are any."""

    sums: dict[Key, Slots]
    changes: dict[tuple[Key, int], str]


async def read_quantities(tx: Reading, item_ids: Iterable[str]) -> dict[str, int]:
    return {row[0]: row[1] for row in await tx.all(SQL.quantities, as_column("id", item_ids))}


async def read_growth(tx: Reading, item_ids: Iterable[str]) -> StoredSums[str]:
    found = StoredSums[str]({}, {})
    for item_id, slot, grown, changes in await tx.all(SQL.growth, as_column("id", item_ids)):
        found.sums.setdefault(item_id, {})[slot] = grown
        if changes:
            found.changes[item_id, slot] = changes
    return found


async def save_growth(
    tx: Writing,
    growth: Mapping[tuple[str, int], int],
    changes: Mapping[tuple[str, int], str],
    before: int,
) -> None:
    """Store the growth of items in some slots, with the largest changes, and forget those items' slots before one."""
    rows = [
        {"item_id": key[0], "slot": key[1], "grown": grown, "changes": changes.get(key)}
        for key, grown in growth.items()
    ]
    await tx.returning(SQL.save_growth, as_table(rows))
    await tx.returning(SQL.forget_growth, as_column("id", {item_id for item_id, _ in growth}), before)


async def read_gains(tx: Reading, keys: Iterable[GainKey]) -> StoredSums[GainKey]:
    found = StoredSums[GainKey]({}, {})
    for row in await tx.all(SQL.gains, as_table(each._asdict() for each in keys)):
        player_id, item_id, slot, gained, changes = row
        key = GainKey(player_id, item_id)
        found.sums.setdefault(key, {})[slot] = gained
        if changes:
            found.changes[key, slot] = changes
    return found


async def save_gains(
    tx: Writing,
    gains: Mapping[tuple[GainKey, int], int],
    changes: Mapping[tuple[GainKey, int], str],
    before: int,
) -> None:
    """Store the gains of players in some slots, with the largest changes, and forget all slots before one."""
    rows = [
        {**key[0]._asdict(), "slot": key[1], "gained": gained, "changes": changes.get(key)}
        for key, gained in gains.items()
    ]
    await tx.returning(SQL.save_gains, as_table(rows))
    await tx.returning(SQL.forget_gains, before)


async def add_check(tx: Writing, rule: str, subject: str, player_id: str | None = None) -> None:
    await tx.returning(SQL.add_check, rule, subject, player_id)


async def find_unbalanced(tx: Reading, day: int, limit: int) -> list[Unbalanced]:
    """Return items whose total at the end of a day does not follow from that before, and what came and went."""
    return await tx.rows(Unbalanced, SQL.unbalanced, day, limit)


PERSON = (PersonRows(170, "signals", SQL.of_person),)
