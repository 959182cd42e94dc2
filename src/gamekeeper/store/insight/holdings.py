"""What each player has of each item, and the values of ranked variables; lists whose pages are found by buckets."""

from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table, as_tree
from gamekeeper.store.lists import ranked_buckets
from gamekeeper.store.lists.ranked_buckets import BucketStatements, BucketTable, RankedBucket

SQL = Statements(__file__)
ITEM, VARIABLE = "item", "variable"
BUCKETS = BucketTable(BucketStatements(*(SQL.named[each] for each in BucketStatements._fields)), has_kinds=True)


class Holding(NamedTuple):
    """The key of a holding: a player, and an item or a variable."""

    player_id: str
    kind: str
    thing_id: str


class RankedList(NamedTuple):
    kind: str
    thing_id: str
    quantity: int  # cursor of a list that is being counted: keys before it are in buckets
    player_id: str
    built: bool
    wanted_at: int  # when a serving process last had it in its setting, in ms since 1970

    def has_bucket_for(self, quantity: int, player_id: str) -> bool:
        return self.built or (quantity, player_id) < (self.quantity, self.player_id)


async def read_held(tx: Reading, keys: Iterable[Holding]) -> dict[Holding, int]:
    rows = await tx.all(SQL.held, as_tree(((each.kind, each.thing_id, each.player_id) for each in keys), repeat(0)))
    return {Holding(*row[:3]): row[3] for row in rows}


async def read_held_between(tx: Reading, after: str, upto: str) -> dict[Holding, int]:
    """Read all holdings of the players after one id, up to another."""
    return {Holding(*row[:3]): row[3] for row in await tx.all(SQL.held_between, after, upto)}


async def add(tx: Writing, gains: Mapping[Holding, int]) -> dict[Holding, int]:
    """Add to quantities, which is faster than to read and save them; return the new ones. A missing row counts as 0."""
    rows = ((each.kind, each.thing_id, each.player_id) for each in gains)
    return {Holding(*row[:3]): row[3] for row in await tx.returning(SQL.add, as_tree(rows, gains.values()))}


async def delete(tx: Writing, keys: Iterable[Holding]) -> None:
    await tx.returning(SQL.delete, as_table(each._asdict() for each in keys))


async def save(tx: Writing, held: Mapping[Holding, int], gone: Iterable[Holding]) -> None:
    if held:
        rows = ((each.kind, each.thing_id, each.player_id) for each in held)
        await tx.returning(SQL.save, as_tree(rows, held.values()))
    if lost := list(gone):
        await delete(tx, lost)


async def read_players_after(tx: Reading, after: str, limit: int) -> list[str]:
    return [row[0] for row in await tx.all(SQL.players_after, after, limit)]


async def find_players_of_row(tx: Reading, after: str, number: int) -> list[str]:
    """Return the players who have this row of the slots and of the holdings, counted from 1 after a player."""
    found = [await tx.one(statement, after, number - 1) for statement in (SQL.slot_at, SQL.holding_at)]
    return [row[0] for row in found if row]


async def sum_slots_between(tx: Reading, after: str, upto: str) -> dict[Holding, int]:
    """Add up the slots of the players after one id, up to another."""
    rows = await tx.all(SQL.items_between, after, upto)
    return {Holding(player, ITEM, item): quantity for player, item, quantity in rows}


async def read_variables_between(tx: Reading, after: str, upto: str, ids: Iterable[str]) -> dict[Holding, int]:
    rows = await tx.all(SQL.variables_between, after, upto, as_column("id", ids))
    return {Holding(player, VARIABLE, variable): value for player, variable, value in rows}


async def read_lists(tx: Reading) -> list[RankedList]:
    return await tx.rows(RankedList, SQL.lists)


async def find_list(tx: Reading, kind: str, thing_id: str) -> RankedList | None:
    return await tx.row(RankedList, SQL.list, kind, thing_id)


async def want_list(tx: Writing, kind: str, thing_id: str, quantity: int, player_id: str, now: int) -> None:
    """Note that a list is wanted. A new one is counted from its lowest key on."""
    await tx.returning(SQL.want_list, kind, thing_id, quantity, player_id, now)


async def move_list(tx: Writing, counted: RankedList) -> None:
    await tx.returning(SQL.move_list, *counted[:5])


async def delete_some_buckets(tx: Writing, kind: str, thing_id: str, limit: int) -> int:
    """Delete all blocks and some buckets of a list; return how many buckets."""
    await ranked_buckets.delete_blocks(tx, kind, thing_id)
    return len(await tx.returning(SQL.delete_some_buckets, kind, thing_id, limit))


async def delete_list(tx: Writing, kind: str, thing_id: str) -> None:
    await tx.returning(SQL.delete_list, kind, thing_id)
    await tx.returning(SQL.delete_buckets, kind, thing_id)
    await ranked_buckets.delete_blocks(tx, kind, thing_id)


async def count_from(tx: Reading, start: RankedBucket | RankedList, most: int) -> int:
    return await tx.value(SQL.count_from, start.kind, start.thing_id, start.quantity, start.player_id, most) or 0


async def sum_buckets(tx: Reading) -> dict[tuple[str, str], int]:
    """Return the number of holders of each counted list, by its buckets."""
    return {(row[0], row[1]): row[2] for row in await tx.all(SQL.bucket_sums)}
