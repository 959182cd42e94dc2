"""Sums of the economy: what came into being and ended per item, UTC day and source, and who gave it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table

SQL = Statements(__file__)
ItemSort = Literal["name", "quantity", "holders"]
ITEM_SORTS: Sequence[ItemSort] = ("name", "quantity", "holders")  # in the order of the numbers in `items`


class EconomyState(NamedTuple):
    seq: int  # changes of the audit log up to this number are counted
    at: int  # newest time of a counted change, in ms since 1970; 0: none
    since: int  # all changes from this time on are counted
    swept: str | None  # holdings are counted for players up to this id; None: for all
    variables: str  # JSON list of the variables whose values are in holdings
    recount: bool  # a recount is under way: totals have only the players up to `swept`


class CountedChange(NamedTuple):
    """A change of the audit log with the fields that the economy needs. On SQLite a bool is 0 or 1."""

    seq: int
    at: int
    kind: str
    actor_id: str | None
    token_id: str | None
    is_key: bool  # the token is an API key
    over_link: bool
    player_id: str | None
    before: bytes | str | None
    after: bytes | str | None
    undoes: int | None
    request_id: str


class Flow(NamedTuple):
    item_id: str
    day: int
    source: str
    created: int
    destroyed: int


class GiftFlow(NamedTuple):
    day: int
    giver_id: str
    item_id: str
    source: str
    given: int
    taken: int


class ItemTotal(NamedTuple):
    item_id: str
    name: str | None  # None: not in the catalogue
    quantity: int
    holders: int


class ItemDay(NamedTuple):
    day: int
    quantity: int
    holders: int


class DayFlow(NamedTuple):
    day: int
    source: str
    created: int
    destroyed: int


class GiftFilter(NamedTuple):
    """Which gifts are read. None: of all items, or of all givers."""

    item_id: str | None = None
    giver_id: str | None = None  # an account or an API key


class GiftSum(NamedTuple):
    giver_id: str
    source: str
    item_id: str
    given: int
    taken: int


class GiverSum(NamedTuple):
    """What an account or an API key gave and took, of all items together."""

    giver_id: str
    items: int  # number of different items
    given: int
    taken: int


class Giver(NamedTuple):
    id: str
    name: str | None  # None: a deleted account
    is_key: bool
    owner: str | None  # name of a key's account


async def read_state(tx: Reading) -> EconomyState | None:
    return await tx.row(EconomyState, SQL.state)


async def find_counted(tx: Reading) -> int:
    """Return the number up to which the economy has counted the changes."""
    found = await read_state(tx)
    return found.seq if found else 0


async def lock_state(tx: Reading) -> EconomyState | None:
    """Lock the economy until the transaction ends. None: another instance counts, or nothing was counted yet."""
    return await tx.row(EconomyState, SQL.lock)


async def wait_for_lock(tx: Reading) -> EconomyState | None:
    """Lock the economy until the transaction ends, after other instances. None: nothing was counted yet."""
    return await tx.row(EconomyState, SQL.wait_for_lock)


async def set_state(tx: Writing, state: EconomyState) -> None:
    await tx.returning(SQL.set_state, state.seq, state.at, state.swept, state.variables, state.recount)


async def read_changes(tx: Reading, after: int, upto: int, limit: int) -> list[CountedChange]:
    rows = await tx.all(SQL.changes, after, upto, limit)
    return [CountedChange._make(row) for row in rows]


async def read_changes_of(
    tx: Reading, player_ids: Iterable[str], first: int, upto: int, limit: int
) -> list[CountedChange]:
    """Read changes of some players between two numbers, both included, in no order."""
    return await tx.rows(CountedChange, SQL.changes_of, as_column("id", player_ids), first, upto, limit)


async def add_flows(tx: Writing, flows: Sequence[Flow], gifts: Sequence[GiftFlow]) -> None:
    """Add quantities to the sums of flows and gifts; each key must be there only once."""
    if flows:
        await tx.returning(SQL.add_flows, as_table(each._asdict() for each in flows))
    if gifts:
        await tx.returning(SQL.add_gifts, as_table(each._asdict() for each in gifts))


async def add_totals(tx: Writing, totals: Iterable[tuple[str, int, int]]) -> None:
    """Add quantity and holders to the totals of items."""
    rows = [{"item_id": item_id, "quantity": quantity, "holders": holders} for item_id, quantity, holders in totals]
    if rows:
        await tx.returning(SQL.add_totals, as_table(rows))


async def save_days(tx: Writing, day: int, item_ids: Iterable[str]) -> None:
    """Store the present totals of these items as those of a day."""
    await tx.returning(SQL.save_days, day, as_column("id", item_ids))


async def add_to_day(tx: Writing, day: int, steps: Mapping[str, ItemDay]) -> None:
    """Add to the totals of items at the end of a day. An item without totals at that time gets none."""
    rows = [{"item_id": item_id, "quantity": each.quantity, "holders": each.holders} for item_id, each in steps.items()]
    if rows:
        await tx.returning(SQL.add_to_day, day, as_table(rows))


async def correct_days(tx: Writing, corrections: Iterable[tuple[str, ItemDay, ItemDay]]) -> int:
    """Replace totals of items at the ends of days, if they are still those that were read; return how many."""
    rows = [
        {
            "item_id": item_id,
            "day": read.day,
            "read_quantity": read.quantity,
            "read_holders": read.holders,
            "quantity": right.quantity,
            "holders": right.holders,
        }
        for item_id, read, right in corrections
    ]
    return len(await tx.returning(SQL.correct_days, as_table(rows)))


async def delete_days(tx: Writing, item_ids: Iterable[str], first: int, end: int) -> None:
    """Delete the totals of these items from a day on, up to the day before `end`."""
    await tx.returning(SQL.delete_days, as_column("id", item_ids), first, end)


async def read_items(
    tx: Reading, limit: int, offset: int, sort: ItemSort = "name", *, descending: bool = False
) -> list[ItemTotal]:
    """Read a page of all items. Items that are equal in the sorted column are in order of name."""
    if sort == "name" and descending:
        return await tx.rows(ItemTotal, SQL.items_down, limit, offset)
    order = ITEM_SORTS.index(sort) * (-1 if descending else 1)
    return await tx.rows(ItemTotal, SQL.items, limit, offset, order)


async def find_item(tx: Reading, item_id: str) -> ItemTotal | None:
    """Return the total of an item that is in the catalogue, or that a player ever had."""
    return await tx.row(ItemTotal, SQL.item, item_id)


async def sum_flows(tx: Reading, item_ids: Iterable[str], first: int, last: int) -> dict[str, list[DayFlow]]:
    """Return for each item its flows by source, summed over a range of days; `day` is the first one."""
    found: dict[str, list[DayFlow]] = {}
    for item_id, source, created, destroyed in await tx.all(SQL.flows_of_items, as_column("id", item_ids), first, last):
        found.setdefault(item_id, []).append(DayFlow(first, source, created, destroyed))
    return found


async def read_flows(tx: Reading, item_id: str, first: int, last: int) -> list[DayFlow]:
    """Read the flows of an item in a range of days."""
    return await tx.rows(DayFlow, SQL.flows_of_item, item_id, first, last)


async def read_gifts(
    tx: Reading, wanted: GiftFilter, first: int, last: int, limit: int, offset: int
) -> tuple[int, list[GiftSum]]:
    """Read a page of who gave how much in a range of days, most first, and the number of all rows."""
    count, page = {
        (False, False): (SQL.count_gifts, SQL.gifts),
        (True, False): (SQL.count_gifts_of_item, SQL.gifts_of_item),
        (False, True): (SQL.count_gifts_of_giver, SQL.gifts_of_giver),
        (True, True): (SQL.count_gifts_of_item_and_giver, SQL.gifts_of_item_and_giver),
    }[wanted.item_id is not None, wanted.giver_id is not None]
    chosen = [each for each in wanted if each is not None]
    total = await tx.value(count, *chosen, first, last)
    return total or 0, await tx.rows(GiftSum, page, *chosen, first, last, limit, offset)


async def read_givers(tx: Reading, first: int, last: int, limit: int, offset: int) -> tuple[int, list[GiverSum]]:
    """Read a page of the sums of each giver in a range of days, most first, and the number of all givers."""
    total = await tx.value(SQL.count_givers, first, last)
    return total or 0, await tx.rows(GiverSum, SQL.givers, first, last, limit, offset)


async def read_gifts_of_giver(
    tx: Reading, giver_id: str, first: int, last: int, limit: int, offset: int
) -> tuple[GiverSum, list[GiftSum]]:
    """Read a page of the items that one giver gave and took in a range of days, most first, and the sum of all."""
    whole = await tx.row(GiverSum, SQL.sum_of_giver, giver_id, first, last) or GiverSum(giver_id, 0, 0, 0)
    return whole, await tx.rows(GiftSum, SQL.gifts_of_giver, giver_id, first, last, limit, offset)


async def read_totals(tx: Reading) -> dict[str, tuple[int, int]]:
    """Return quantity and holders of every item."""
    return {row[0]: (row[1], row[2]) for row in await tx.all(SQL.totals)}


async def read_flow_items(tx: Reading) -> list[str]:
    """Read the ids of all items with flows or with totals of days, for the doctor."""
    return [row[0] for row in await tx.all(SQL.flow_items)]


async def read_key_givers(tx: Reading) -> frozenset[str]:
    """Read the ids of all API keys that ever gave something, also of those that are gone."""
    return frozenset(row[0] for row in await tx.all(SQL.key_givers))


async def read_changes_by_player(
    tx: Reading, after: tuple[str, int], upto: int, since: int, limit: int
) -> list[CountedChange]:
    """Read changes from a time on, by player and number, after those of a player up to a number."""
    return await tx.rows(CountedChange, SQL.changes_by_player, *after, upto, since, limit)


async def find_givers(tx: Reading, ids: Iterable[str]) -> dict[str, Giver]:
    return {each.id: each for each in await tx.rows(Giver, SQL.giver_names, as_column("id", ids))}


async def find_item_names(tx: Reading, ids: Iterable[str]) -> dict[str, str]:
    return {row[0]: row[1] for row in await tx.all(SQL.item_names, as_column("id", ids))}
