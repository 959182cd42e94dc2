"""Reports of the economy: items with their flows, one item day by day, holders, and who gave how much."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.refusals import BadField, NoSuchItem, NoSuchVariable
from gamekeeper.game.core.values import require_order
from gamekeeper.game.insight import flows
from gamekeeper.game.insight.economy import NOTHING_COUNTED, Economy
from gamekeeper.game.lists import ranked_lists
from gamekeeper.game.lists.ranked_lists import HoldersPage
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading, Store
from gamekeeper.store.insight import economy
from gamekeeper.store.insight import holdings as holding_rows
from gamekeeper.store.insight.economy import (
    DayFlow,
    EconomyState,
    GiftFilter,
    GiftSum,
    Giver,
    GiverSum,
    ItemSort,
    ItemTotal,
)
from gamekeeper.store.insight.holdings import ITEM, VARIABLE
from gamekeeper.store.lists.ranked_buckets import Holder
from gamekeeper.store.world import catalogue

# days after a day in which its next stored total must lie; the limit keeps the rows of a report bounded
LOOK_AHEAD_DAYS = 400
USUAL_DAYS = 7  # days of a report, the present one included
MAX_DAYS = 92  # days of a report about many items or givers
MAX_ITEM_DAYS = 400  # days of a report about one item

Sums = Mapping[str, tuple[int, int]]  # source → created, destroyed


class Days(NamedTuple):
    first: int  # days since 1970
    last: int


class EconomyItem(NamedTuple):
    total: ItemTotal
    sums: Sums


class ItemsReport(NamedTuple):
    state: EconomyState
    days: Days
    total: int
    items: Sequence[EconomyItem]


class DayReport(NamedTuple):
    day: int
    quantity: int | None  # at the end of the day; None: not known
    holders: int | None
    sums: Sums


class ItemReport(NamedTuple):
    state: EconomyState
    total: ItemTotal
    days: Sequence[DayReport]


class HoldersReport(NamedTuple):
    state: EconomyState
    name: str | None
    page: HoldersPage


class RankedVariable(NamedTuple):
    id: str
    name: str
    first: Holder | None  # the player with the highest value; None: no player has a value


class NamedGift(NamedTuple):
    gift: GiftSum
    giver: Giver
    item_name: str | None


class GiftsReport(NamedTuple):
    state: EconomyState
    days: Days
    total: int
    gifts: Sequence[NamedGift]


class GiverTotal(NamedTuple):
    sums: GiverSum
    giver: Giver


class GiversReport(NamedTuple):
    state: EconomyState
    total: int
    givers: Sequence[GiverTotal]


class GiverReport(NamedTuple):
    """What one account or API key gave and took: in all, and a page of its items."""

    state: EconomyState
    whole: GiverTotal
    gifts: Sequence[NamedGift]


async def choose_days(tx: Reading, first_ms: int | None, last_ms: int | None, most: int) -> Days:
    """Return the UTC days of a range of times; without a start, the last seven."""
    require_order("from", first_ms, last_ms)
    for field, given in (("from", first_ms), ("to", last_ms)):
        if given is not None and given < 0:
            raise BadField(field=field, problem="must not be before 1970")
    last = flows.find_day(await clock.now(tx) if last_ms is None else last_ms)
    first = last - USUAL_DAYS + 1 if first_ms is None else flows.find_day(first_ms)
    if last - first >= most:
        raise BadField(field="from", problem=f"must be less than {most} days before the end")
    require_order("from", first, last)
    return Days(first, last)


async def report_items(
    store: Store,
    counted: Economy,
    days: Days,
    limit: int,
    offset: int,
    sort: ItemSort = "name",
    *,
    descending: bool = False,
) -> ItemsReport:
    """Report a page of all items that players ever had, with their flows in a range of days."""
    await counted.refresh()

    async def read(tx: Reading) -> ItemsReport:
        totals = await economy.read_items(tx, limit, offset, sort, descending=descending)
        sums = await economy.sum_flows(tx, [each.item_id for each in totals], *days)
        items = [EconomyItem(each, _to_sums(sums.get(each.item_id, ()))) for each in totals]
        return ItemsReport(await _read_state(tx), days, await economy.count_items(tx), items)

    return await store.read(read)


async def report_item(store: Store, counted: Economy, item_id: str, days: Days) -> ItemReport:
    """Report an item day by day."""
    await counted.refresh()

    async def read(tx: Reading) -> ItemReport:
        total = await _require_item(tx, item_id)
        moved: dict[int, list[DayFlow]] = {}
        known = {each.day: each for each in await economy.read_days(tx, item_id, *days, LOOK_AHEAD_DAYS)}
        first, last = min((days.first, *known)), max((days.last, *known))
        for flow in await economy.read_flows(tx, item_id, first, last):
            moved.setdefault(flow.day, []).append(flow)
        return ItemReport(await _read_state(tx), total, list(_list_days(days, moved, known)))

    return await store.read(read)


async def report_holders(
    store: Store, counted: Economy, kind: str, thing_id: str, limit: int, offset: int
) -> HoldersReport:
    """Report a page of who has the most of an item, or the highest value of a variable."""
    await counted.refresh()

    async def read(tx: Reading) -> HoldersReport:
        name = (await _require_item(tx, thing_id)).name if kind == ITEM else await _require_variable(tx, thing_id)
        page = await ranked_lists.load_holders_page(tx, kind, thing_id, offset, limit)
        return HoldersReport(await _read_state(tx), name, page or HoldersPage(0, False, None, ()))

    return await store.read(read)


async def report_variables(tx: Reading) -> list[RankedVariable]:
    """Report the ranked variables by name, each with the player who has the highest value."""
    ids = [each.thing_id for each in await holding_rows.read_lists(tx) if each.kind == VARIABLE]
    named = sorted((each.name, each.id) for each in (await catalogue.find_by_ids(tx, "variables", ids)).values())
    return [RankedVariable(each, name, await ranked_lists.find_first(tx, VARIABLE, each)) for name, each in named]


async def report_gifts(
    store: Store, counted: Economy, wanted: GiftFilter, days: Days, limit: int, offset: int
) -> GiftsReport:
    """Report who gave and took how much of which item in a range of days, most first."""
    await counted.refresh()

    async def read(tx: Reading) -> GiftsReport:
        total, gifts = await economy.read_gifts(tx, wanted, *days, limit, offset)
        givers = await economy.find_givers(tx, {each.giver_id for each in gifts})
        names = await economy.find_item_names(tx, {each.item_id for each in gifts})
        named = [NamedGift(each, givers[each.giver_id], names.get(each.item_id)) for each in gifts]
        return GiftsReport(await _read_state(tx), days, total, named)

    return await store.read(read)


async def report_givers(store: Store, counted: Economy, days: Days, limit: int, offset: int) -> GiversReport:
    """Report how much each account and API key gave and took in a range of days, of all items together, most first."""
    await counted.refresh()

    async def read(tx: Reading) -> GiversReport:
        total, sums = await economy.read_givers(tx, *days, limit, offset)
        givers = await economy.find_givers(tx, {each.giver_id for each in sums})
        return GiversReport(await _read_state(tx), total, [GiverTotal(each, givers[each.giver_id]) for each in sums])

    return await store.read(read)


async def report_giver(
    store: Store, counted: Economy, giver_id: str, days: Days, limit: int, offset: int
) -> GiverReport:
    """Report which items one account or API key gave and took in a range of days, most first."""
    await counted.refresh()

    async def read(tx: Reading) -> GiverReport:
        whole, gifts = await economy.read_gifts_of_giver(tx, giver_id, *days, limit, offset)
        giver = (await economy.find_givers(tx, {giver_id}))[giver_id]
        names = await economy.find_item_names(tx, {each.item_id for each in gifts})
        named = [NamedGift(each, giver, names.get(each.item_id)) for each in gifts]
        return GiverReport(await _read_state(tx), GiverTotal(whole, giver), named)

    return await store.read(read)


def is_command_line(giver: Giver) -> bool:
    return giver.id == ZERO_GUID


async def _read_state(tx: Reading) -> EconomyState:
    return await economy.read_state(tx) or NOTHING_COUNTED


async def _require_item(tx: Reading, item_id: str) -> ItemTotal:
    found = await economy.find_item(tx, item_id)
    if found is None:
        raise NoSuchItem
    return found


async def _require_variable(tx: Reading, variable_id: str) -> str | None:
    found = await catalogue.find_variable(tx, variable_id)
    if found is None:
        raise NoSuchVariable
    return found.name


def _to_sums(rows: Iterable[DayFlow]) -> Sums:
    return {each.source: (each.created, each.destroyed) for each in rows}


def _list_days(
    days: Days, moved: Mapping[int, Sequence[DayFlow]], known: Mapping[int, economy.ItemDay]
) -> Iterable[DayReport]:
    """List all days of a range. Where no total is stored, the flows lead to its quantity from the nearest one.

    `known` and `moved` may have days before and after the range. Flows do not tell how many players have an item, so
    after one the number of holders is not known until the next stored day.
    """
    gains = {day: sum(each.created - each.destroyed for each in own) for day, own in moved.items()}
    quantity = holders = None
    first = min(known, default=None)
    if first is not None and first >= days.first:  # no total before the range: go back from the first one
        quantity = known[first].quantity - sum(gain for day, gain in gains.items() if days.first <= day <= first)
    for day in range(days.first if first is None else min(first, days.first), days.last + 1):
        if day in known:
            quantity, holders = known[day].quantity, known[day].holders
        elif quantity is not None and day in gains:
            quantity, holders = quantity + gains[day], None
        if day >= days.first:
            is_near = first is not None and first - day <= LOOK_AHEAD_DAYS
            yield DayReport(day, quantity if is_near else None, holders, _to_sums(moved.get(day, ())))
