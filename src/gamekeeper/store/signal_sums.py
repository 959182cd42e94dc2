"""Sums of the last hour and other facts that the rules of signals compare with their limits."""

from collections.abc import Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.statements import Statements
from gamekeeper.store.table import as_table

SQL = Statements("signal_sums")
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
    return {row[0]: row[1] for row in await tx.all(SQL.quantities, _to_ids(item_ids))}


async def read_growth(tx: Reading, item_ids: Iterable[str]) -> StoredSums[str]:
    found = StoredSums[str]({}, {})
    for item_id, slot, grown, changes in await tx.all(SQL.growth, _to_ids(item_ids)):
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
    await tx.returning(SQL.forget_growth, _to_ids({item_id for item_id, _ in growth}), before)


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


async def has_due_check(tx: Reading, rule: str, wait_ms: int) -> bool:
    return await tx.one(SQL.has_due_check, rule, wait_ms) is not None


async def lock_due_checks(tx: Writing, rule: str, wait_ms: int, limit: int) -> list[Check]:
    return [Check(*row) for row in await tx.returning(SQL.due_checks, rule, wait_ms, limit)]


async def delete_check(tx: Writing, check: Check) -> None:
    await tx.returning(SQL.delete_check, check.rule, check.subject)


async def find_bag_owner(tx: Reading, bag_id: str) -> str | None:
    row = await tx.one(SQL.bag_owner, bag_id)
    return row[0] if row else None


async def read_refused(tx: Reading, first_minute: int, end_minute: int) -> Slots:
    """Return the numbers of refused requests by ten minutes; those without one are missing."""
    return {row[0]: row[1] for row in await tx.all(SQL.refused, first_minute, end_minute)}


async def find_unbalanced(tx: Reading, day: int, limit: int) -> list[Unbalanced]:
    """Return items whose total at the end of a day does not follow from that before, and what came and went."""
    return [Unbalanced(*row) for row in await tx.all(SQL.unbalanced, day, limit)]


def _to_ids(ids: Iterable[str]) -> str:
    return as_table({"id": each} for each in ids)
