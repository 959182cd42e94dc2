"""Reports of the economy: items with their flows, one item day by day, holders, and who gave how much."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec

from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.refusals import BadField, NoSuchItem, NoSuchVariable
from gamekeeper.game.core.values import require_order
from gamekeeper.game.insight import flows
from gamekeeper.game.insight.economy import NOTHING_COUNTED
from gamekeeper.game.lists import ranked_lists
from gamekeeper.ground.instants import format_day, format_instant
from gamekeeper.ground.wire import Date, Guid, Instant, Page, PageRange, PlainInt32, PlainInt64, Shape, describe
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight import economy
from gamekeeper.store.insight import holdings as holding_rows
from gamekeeper.store.insight.economy import DayFlow, GiftFilter, Giver, GiverSum, ItemSort, ItemTotal
from gamekeeper.store.insight.holdings import ITEM, VARIABLE
from gamekeeper.store.lists import ranked_buckets
from gamekeeper.store.world import catalogue
from gamekeeper.store.world.catalogue import CatalogueVariable

# days after a day in which its next stored total must lie; the limit keeps the rows of a report bounded
LOOK_AHEAD_DAYS = 400
USUAL_DAYS = 7  # days of a report, the present one included
MAX_DAYS = 92  # days of a report about many items or givers
MAX_ITEM_DAYS = 400  # days of a report about one item


class Days(NamedTuple):
    first: int  # days since 1970
    last: int


class UpTo(Shape):
    """What is counted: all changes up to a number. Before `Since` the flows are not known."""

    seq: PlainInt64
    at: Instant | None
    since: Instant
    complete: Annotated[bool, describe("False: totals and holders are still being counted for some players.")]


class Sources(Shape):
    """Quantities by source. A report over the link is the game's, an undo stands for itself."""

    game: PlainInt64 = 0
    key: PlainInt64 = 0
    staff: PlainInt64 = 0
    undo: PlainInt64 = 0
    import_: PlainInt64 = 0

    @property
    def by_source(self) -> Mapping[str, int]:
        return dict(zip(flows.SOURCES, msgspec.structs.astuple(self), strict=True))

    @property
    def total(self) -> int:
        return sum(msgspec.structs.astuple(self))


class EconomyItem(Shape):
    item_id: Guid
    name: Annotated[str | None, describe("Null: the item is not in the catalogue.")]
    quantity: Annotated[PlainInt64, describe("In circulation: in all slots of all players.")]
    holders: PlainInt64
    created: Sources
    destroyed: Sources


class _DaysPage(Page):
    first: Date = msgspec.field(name="From")
    last: Date = msgspec.field(name="To")
    up_to: UpTo


class EconomyPage(_DaysPage):
    values: list[EconomyItem]


class ItemDay(Shape):
    day: Date
    quantity: Annotated[PlainInt64 | None, describe("At the end of the day; null: not known.")]
    holders: PlainInt64 | None
    created: Sources
    destroyed: Sources


class ItemEconomy(Shape):
    """An item with its days."""

    item_id: Guid
    name: str | None
    quantity: PlainInt64
    holders: PlainInt64
    up_to: UpTo
    days: list[ItemDay]


class Holder(Shape):
    rank: PlainInt32
    player_id: Guid
    name: Annotated[str | None, describe("Null: the player has just been deleted.")]
    quantity: Annotated[PlainInt64, describe("How many of the item, or the value of the variable.")]


class HoldersPage(Page):
    total: Annotated[PlainInt32, describe("Holders that can be listed.")]
    ranked: Annotated[bool, describe("False: the setting `ranked` does not name it; an item then has its first 100.")]
    holders: Annotated[PlainInt64 | None, describe("All players who have it; null: not known.")]
    up_to: UpTo
    values: list[Holder]


class _GiverShape(Shape):
    source: Literal["staff", "key"]
    giver_id: Annotated[Guid | None, describe("An account or an API key; null: the command line.")]
    name: Annotated[str | None, describe("Null: the command line, or a deleted account.")]
    owner: Annotated[str | None, describe("The account of an API key.")]

    @property
    def has_page(self) -> bool:
        """Tell whether the console has a page of the giver: only accounts that are not deleted have one."""
        return self.source == "staff" and self.name is not None


class GiftSum(_GiverShape):
    item_id: Guid
    item_name: str | None
    given: PlainInt64
    taken: PlainInt64


class GiftsPage(_DaysPage):
    values: list[GiftSum]


class GiverTotal(_GiverShape):
    """What an account or an API key gave and took, of all items together."""

    items: int  # number of different items
    given: int
    taken: int

    @property
    def id(self) -> str:
        return self.giver_id or ZERO_GUID


class GiversReport(NamedTuple):
    up_to: UpTo
    total: int
    givers: Sequence[GiverTotal]


class GiverReport(NamedTuple):
    """What one account or API key gave and took: in all, and a page of its items."""

    up_to: UpTo
    whole: GiverTotal
    gifts: Sequence[GiftSum]


class RankedVariable(NamedTuple):
    id: str
    name: str
    first: ranked_buckets.Holder | None  # the player with the highest value; None: no player has a value


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
    tx: Reading, days: Days, page: PageRange, sort: ItemSort = "name", *, descending: bool = False
) -> EconomyPage:
    """Report a page of all items that players ever had, with their flows in a range of days."""
    totals = await economy.read_items(tx, page.limit, page.offset, sort, descending=descending)
    found = await economy.sum_flows(tx, [each.item_id for each in totals], *days)
    items = [EconomyItem(*each, *_sum_sources(found.get(each.item_id, ()))) for each in totals]
    return EconomyPage(
        *page.head(await tx.value(economy.SQL.count_items), items), *_format(days), await read_up_to(tx), items
    )


async def report_item(tx: Reading, item_id: str, days: Days) -> ItemEconomy:
    """Report an item day by day."""
    total = await _require_item(tx, item_id)
    moved: dict[int, list[DayFlow]] = {}
    # the last day before the range on which the item changed is among them, and the next one after it if it is near
    rows = await tx.rows(economy.ItemDay, economy.SQL.days_of_item, item_id, *days, days.last + LOOK_AHEAD_DAYS)
    known = {each.day: each for each in rows}
    first, last = min((days.first, *known)), max((days.last, *known))
    for flow in await economy.read_flows(tx, item_id, first, last):
        moved.setdefault(flow.day, []).append(flow)
    return ItemEconomy(*total, await read_up_to(tx), list(_list_days(days, moved, known)))


async def report_holders(tx: Reading, kind: str, thing_id: str, page: PageRange) -> HoldersPage:
    """Report a page of who has the most of an item, or the highest value of a variable."""
    await (_require_item if kind == ITEM else require_variable)(tx, thing_id)
    found = await ranked_lists.load_holders_page(tx, kind, thing_id, page.offset, page.limit)
    total, is_ranked, in_all, rows = found or ranked_lists.HoldersPage(0, False, None, ())
    holders = [Holder(rank, *each) for rank, each in enumerate(rows, start=page.offset + 1)]
    return HoldersPage(*page.head(total, holders), is_ranked, in_all, await read_up_to(tx), holders)


async def report_variables(tx: Reading) -> list[RankedVariable]:
    """Report the ranked variables by name, each with the player who has the highest value."""
    ids = [each.thing_id for each in await holding_rows.read_lists(tx) if each.kind == VARIABLE]
    named = sorted((each.name, each.id) for each in (await catalogue.find_by_ids(tx, "variables", ids)).values())
    return [RankedVariable(each, name, await ranked_lists.find_first(tx, VARIABLE, each)) for name, each in named]


async def report_gifts(tx: Reading, wanted: GiftFilter, days: Days, page: PageRange) -> GiftsPage:
    """Report who gave and took how much of which item in a range of days, most first."""
    total, sums = await economy.read_gifts(tx, wanted, *days, page.limit, page.offset)
    gifts = await _name_gifts(tx, sums)
    return GiftsPage(*page.head(total, gifts), *_format(days), await read_up_to(tx), gifts)


async def report_givers(tx: Reading, days: Days, page: PageRange) -> GiversReport:
    """Report how much each account and API key gave and took in a range of days, of all items together, most first."""
    total, sums = await economy.read_givers(tx, *days, page.limit, page.offset)
    givers = await economy.find_givers(tx, {each.giver_id for each in sums})
    return GiversReport(await read_up_to(tx), total, [_sum_giver(each, givers) for each in sums])


async def report_giver(tx: Reading, giver_id: str, days: Days, page: PageRange) -> GiverReport:
    """Report which items one account or API key gave and took in a range of days, most first."""
    whole, sums = await economy.read_gifts_of_giver(tx, giver_id, *days, page.limit, page.offset)
    givers = await economy.find_givers(tx, {giver_id})
    return GiverReport(await read_up_to(tx), _sum_giver(whole, givers), await _name_gifts(tx, sums))


def is_command_line(giver: Giver) -> bool:
    return giver.id == ZERO_GUID


async def read_up_to(tx: Reading) -> UpTo:
    state = await economy.read_state(tx) or NOTHING_COUNTED
    at = format_instant(state.at) if state.at else None
    return UpTo(state.seq, at, format_instant(state.since), state.swept is None)


async def _name_gifts(tx: Reading, sums: Sequence[economy.GiftSum]) -> list[GiftSum]:
    givers = await economy.find_givers(tx, {each.giver_id for each in sums})
    names = await economy.find_item_names(tx, {each.item_id for each in sums})
    return [
        GiftSum(*_name_giver(givers[giver_id], source), item_id, names.get(item_id), given, taken)
        for giver_id, source, item_id, given, taken in sums
    ]


def _sum_giver(whole: GiverSum, givers: Mapping[str, Giver]) -> GiverTotal:
    return GiverTotal(*_name_giver(givers[whole.giver_id]), *whole[1:])


def _name_giver(giver: Giver, source: str = "") -> tuple[Literal["staff", "key"], str | None, str | None, str | None]:
    """Return the first fields of a shape with a giver. A key that is gone is known by the source of its gifts."""
    is_key = giver.is_key or source == flows.KEY
    return "key" if is_key else "staff", None if is_command_line(giver) else giver.id, giver.name, giver.owner


async def _require_item(tx: Reading, item_id: str) -> ItemTotal:
    found = await economy.find_item(tx, item_id)
    if found is None:
        raise NoSuchItem
    return found


async def require_variable(tx: Reading, variable_id: str) -> CatalogueVariable:
    found = await catalogue.find_variable(tx, variable_id)
    if found is None:
        raise NoSuchVariable
    return found


def _sum_sources(rows: Iterable[DayFlow]) -> tuple[Sources, Sources]:
    """Return what was created and destroyed by source."""
    found = {each.source: (each.created, each.destroyed) for each in rows}
    created, destroyed = (Sources(*(found.get(each, (0, 0))[side] for each in flows.SOURCES)) for side in (0, 1))
    return created, destroyed


def _format(days: Days) -> tuple[str, str]:
    return format_day(days.first), format_day(days.last)


def _list_days(
    days: Days, moved: Mapping[int, Sequence[DayFlow]], known: Mapping[int, economy.ItemDay]
) -> Iterable[ItemDay]:
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
            sources = _sum_sources(moved.get(day, ()))
            yield ItemDay(format_day(day), quantity if is_near else None, holders, *sources)
