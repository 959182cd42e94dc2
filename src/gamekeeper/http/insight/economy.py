"""The economy: items in circulation, where they come from, who holds the most, and who gave how much."""

from msgspec import UnsetType

from gamekeeper.game.core import refusals as no
from gamekeeper.game.insight import economy_reports as reports
from gamekeeper.game.insight.economy_reports import (
    DayReport,
    EconomyItem,
    GiftsReport,
    HoldersReport,
    ItemReport,
    ItemsReport,
    NamedGift,
    Sums,
    is_command_line,
)
from gamekeeper.ground.instants import encode_date, format_instant
from gamekeeper.ground.settings import MOST_PAGE_ROWS
from gamekeeper.http.contract import samples, shapes
from gamekeeper.http.contract.operation import READ_PLAYERS, Group, needs
from gamekeeper.http.insight import economy_shapes
from gamekeeper.http.server import paging
from gamekeeper.http.server.paging import PageRange
from gamekeeper.http.server.request import Request
from gamekeeper.store.insight.economy import EconomyState, GiftFilter
from gamekeeper.store.insight.holdings import ITEM, VARIABLE


def make_items_page(report: ItemsReport, page: PageRange) -> economy_shapes.EconomyPage:
    items = [_make_item(each) for each in report.items]
    first, last = (format_day(each) for each in report.days)
    return economy_shapes.EconomyPage(
        report.total, page.number, page.size, len(items), first, last, make_up_to(report.state), items
    )


def make_item(report: ItemReport) -> economy_shapes.ItemEconomy:
    days = [_make_day(each) for each in report.days]
    return economy_shapes.ItemEconomy(*report.total, make_up_to(report.state), days)


def make_holders_page(report: HoldersReport, page: PageRange) -> economy_shapes.HoldersPage:
    found = report.page
    holders = [
        economy_shapes.Holder(page.offset + place, each.player_id, each.name, each.quantity)
        for place, each in enumerate(found.holders, start=1)
    ]
    return economy_shapes.HoldersPage(
        found.total,
        page.number,
        page.size,
        len(holders),
        found.is_ranked,
        found.in_all,
        make_up_to(report.state),
        holders,
    )


def make_gifts_page(report: GiftsReport, page: PageRange) -> economy_shapes.GiftsPage:
    gifts = [_make_gift(each) for each in report.gifts]
    first, last = (format_day(each) for each in report.days)
    return economy_shapes.GiftsPage(
        report.total, page.number, page.size, len(gifts), first, last, make_up_to(report.state), gifts
    )


def make_up_to(state: EconomyState) -> economy_shapes.UpTo:
    at = format_instant(state.at) if state.at else None
    return economy_shapes.UpTo(state.seq, at, format_instant(state.since), state.swept is None)


def format_day(day: int) -> str:
    return encode_date(day).decode()


def _make_item(each: EconomyItem) -> economy_shapes.EconomyItem:
    return economy_shapes.EconomyItem(*each.total, *_make_sources(each.sums))


def _make_day(each: DayReport) -> economy_shapes.ItemDay:
    return economy_shapes.ItemDay(format_day(each.day), each.quantity, each.holders, *_make_sources(each.sums))


def _make_gift(each: NamedGift) -> economy_shapes.GiftSum:
    gift, giver = each.gift, each.giver
    return economy_shapes.GiftSum(
        "key" if giver.is_key or gift.source == "key" else "staff",
        None if is_command_line(giver) else giver.id,
        giver.name,
        giver.owner,
        gift.item_id,
        each.item_name,
        gift.given,
        gift.taken,
    )


def _make_sources(sums: Sums) -> tuple[economy_shapes.Sources, economy_shapes.Sources]:
    """Return created and destroyed by source."""
    created, destroyed = (
        economy_shapes.Sources(**{source.capitalize(): pair[side] for source, pair in sums.items()}) for side in (0, 1)
    )
    return created, destroyed


# Examples for the documents, made of the demo data.
UP_TO = economy_shapes.UpTo(4711, samples.TIME, "2025-01-01T09:00:00.000Z", Complete=True)
_COIN_FLOWS = (economy_shapes.Sources(Game=1200, Staff=40), economy_shapes.Sources(Game=300))
ECONOMY_PAGE = economy_shapes.EconomyPage(
    *(1, 0, 5, 1, "2026-01-25", "2026-01-31", UP_TO),
    [economy_shapes.EconomyItem(samples.COIN, "Silver Mark", 93120, 61, *_COIN_FLOWS)],
)
ITEM_ECONOMY = economy_shapes.ItemEconomy(
    samples.COIN, "Silver Mark", 93120, 61, UP_TO, [economy_shapes.ItemDay("2026-01-31", 93120, 61, *_COIN_FLOWS)]
)
HOLDERS_PAGE = economy_shapes.HoldersPage(
    *(61, 0, 5, 1), Ranked=True, Holders=61, UpTo=UP_TO, Values=[economy_shapes.Holder(1, *samples.NAMED_PLAYER, 4200)]
)
GIFTS_PAGE = economy_shapes.GiftsPage(
    *(1, 0, 5, 1, "2026-01-25", "2026-01-31", UP_TO),
    [economy_shapes.GiftSum("staff", *samples.NAMED_USER, None, samples.COIN, "Silver Mark", 40, 0)],
)
GROUP = Group("Economy", "Items in circulation, where they come from, and who has the most.", place=320)
GROUPS = (GROUP,)


@GROUP.operation(
    "GET /api/keeper/v1/economy",
    permissions=READ_PLAYERS,
    answer=economy_shapes.EconomyPage,
    rows=MOST_PAGE_ROWS,
    example_answer=ECONOMY_PAGE,
)
async def list_economy(request: Request, query: economy_shapes.EconomyQuery) -> bytes:
    """List items with quantity, holders, and what was created and destroyed in a range."""
    keeper = request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)
    days = await _choose_days(request, query, reports.MAX_DAYS)
    found = await reports.report_items(keeper.store, keeper.economy, days, page.limit, page.offset)
    return shapes.encode(make_items_page(found, page))


@GROUP.operation(
    "GET /api/keeper/v1/economy/items/[itemId]",
    permissions=READ_PLAYERS,
    answer=economy_shapes.ItemEconomy,
    rows=reports.MAX_ITEM_DAYS,
    refusals=(no.NoSuchItem,),
    example_answer=ITEM_ECONOMY,
)
async def get_item_economy(request: Request, query: economy_shapes.DaysQuery, item_id: str) -> bytes:
    """Get what was created and destroyed of an item on each UTC day, by source; at most 400 days."""
    keeper = request.services.keeper
    days = await _choose_days(request, query, reports.MAX_ITEM_DAYS)
    return shapes.encode(make_item(await reports.report_item(keeper.store, keeper.economy, item_id, days)))


@GROUP.operation(
    "GET /api/keeper/v1/economy/items/[itemId]/holders",
    permissions=READ_PLAYERS,
    answer=economy_shapes.HoldersPage,
    rows=MOST_PAGE_ROWS,
    refusals=(no.NoSuchItem,),
    example_answer=HOLDERS_PAGE,
)
async def list_item_holders(request: Request, query: shapes.PageQuery, item_id: str) -> bytes:
    """List who has the most of an item: all if the setting `ranked` names it, else 100."""
    return await _list_holders(request, query, ITEM, item_id)


@GROUP.operation(
    "GET /api/keeper/v1/economy/variables/[variableId]/holders",
    permissions=READ_PLAYERS,
    answer=economy_shapes.HoldersPage,
    rows=MOST_PAGE_ROWS,
    refusals=(no.NoSuchVariable,),
    example_answer=HOLDERS_PAGE,
)
async def list_variable_holders(request: Request, query: shapes.PageQuery, variable_id: str) -> bytes:
    """List players by the value of a variable that the setting `ranked` names, highest first."""
    return await _list_holders(request, query, VARIABLE, variable_id)


@GROUP.operation(
    "GET /api/keeper/v1/economy/staff",
    permissions=needs("audit.read"),
    answer=economy_shapes.GiftsPage,
    rows=MOST_PAGE_ROWS,
    example_answer=GIFTS_PAGE,
)
async def list_gifts(request: Request, query: economy_shapes.GiftsQuery) -> bytes:
    """List how much accounts and API keys gave and took of each item, most first."""
    keeper = request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)
    days = await _choose_days(request, query, reports.MAX_DAYS)
    wanted = GiftFilter(query.item or None, query.giver or None)
    found = await reports.report_gifts(keeper.store, keeper.economy, wanted, days, page.limit, page.offset)
    return shapes.encode(make_gifts_page(found, page))


async def _list_holders(request: Request, query: shapes.PageQuery, kind: str, thing_id: str) -> bytes:
    keeper = request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)
    found = await reports.report_holders(keeper.store, keeper.economy, kind, thing_id, page.limit, page.offset)
    return shapes.encode(make_holders_page(found, page))


async def _choose_days(
    request: Request,
    query: economy_shapes.DaysQuery | economy_shapes.EconomyQuery | economy_shapes.GiftsQuery,
    most: int,
) -> reports.Days:
    since, to = (None if isinstance(each, UnsetType) else each for each in (query.since, query.to))
    return await reports.choose_days(request.services.keeper.store, since, to, most)
