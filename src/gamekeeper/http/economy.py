"""The economy: items in circulation, where they come from, who holds the most, and who gave how much."""

from msgspec import UnsetType

from gamekeeper.game import economy_reports as reports
from gamekeeper.game import refusals as no
from gamekeeper.http import economy_codec as codec
from gamekeeper.http import paging, samples, wire
from gamekeeper.http.operation import NO_STORE, READ, READ_PLAYERS, Group, needs
from gamekeeper.http.request import Request
from gamekeeper.settings import MOST_PAGE_ROWS
from gamekeeper.store.economy import GiftFilter
from gamekeeper.store.holdings import ITEM, VARIABLE

GROUP = Group("Economy", "Items in circulation, where they come from, and who has the most.")


@GROUP.operation(
    "GET /api/keeper/v1/economy",
    name="list_economy",
    permissions=READ_PLAYERS,
    access=READ,
    cache=NO_STORE,
    query=wire.economy.EconomyQuery,
    answer=wire.economy.EconomyPage,
    rows=MOST_PAGE_ROWS,
    refusals=(),
    example_answer=samples.ECONOMY_PAGE,
)
async def list_economy(request: Request, query: wire.economy.EconomyQuery) -> bytes:
    """List items with quantity, holders, and what was created and destroyed in a range."""
    keeper = request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)
    days = await _choose_days(request, query, reports.MAX_DAYS)
    found = await reports.report_items(keeper.store, keeper.economy, days, page.limit, page.offset)
    return wire.encode(codec.make_items_page(found, page))


@GROUP.operation(
    "GET /api/keeper/v1/economy/items/[itemId]",
    name="get_item_economy",
    permissions=READ_PLAYERS,
    access=READ,
    cache=NO_STORE,
    query=wire.economy.DaysQuery,
    answer=wire.economy.ItemEconomy,
    rows=reports.MAX_ITEM_DAYS,
    refusals=(no.NoSuchItem,),
    example_answer=samples.ITEM_ECONOMY,
)
async def get_item_economy(request: Request, query: wire.economy.DaysQuery, item_id: str) -> bytes:
    """Get what was created and destroyed of an item on each UTC day, by source; at most 400 days."""
    keeper = request.services.keeper
    days = await _choose_days(request, query, reports.MAX_ITEM_DAYS)
    return wire.encode(codec.make_item(await reports.report_item(keeper.store, keeper.economy, item_id, days)))


@GROUP.operation(
    "GET /api/keeper/v1/economy/items/[itemId]/holders",
    name="list_item_holders",
    permissions=READ_PLAYERS,
    access=READ,
    cache=NO_STORE,
    query=wire.lists.PageQuery,
    answer=wire.economy.HoldersPage,
    rows=MOST_PAGE_ROWS,
    refusals=(no.NoSuchItem,),
    example_answer=samples.HOLDERS_PAGE,
)
async def list_item_holders(request: Request, query: wire.lists.PageQuery, item_id: str) -> bytes:
    """List who has the most of an item: all if the setting `ranked` names it, else 100."""
    return await _list_holders(request, query, ITEM, item_id)


@GROUP.operation(
    "GET /api/keeper/v1/economy/variables/[variableId]/holders",
    name="list_variable_holders",
    permissions=READ_PLAYERS,
    access=READ,
    cache=NO_STORE,
    query=wire.lists.PageQuery,
    answer=wire.economy.HoldersPage,
    rows=MOST_PAGE_ROWS,
    refusals=(no.NoSuchVariable,),
    example_answer=samples.HOLDERS_PAGE,
)
async def list_variable_holders(request: Request, query: wire.lists.PageQuery, variable_id: str) -> bytes:
    """List players by the value of a variable that the setting `ranked` names, highest first."""
    return await _list_holders(request, query, VARIABLE, variable_id)


@GROUP.operation(
    "GET /api/keeper/v1/economy/staff",
    name="list_gifts",
    permissions=needs("audit.read"),
    access=READ,
    cache=NO_STORE,
    query=wire.economy.GiftsQuery,
    answer=wire.economy.GiftsPage,
    rows=MOST_PAGE_ROWS,
    refusals=(),
    example_answer=samples.GIFTS_PAGE,
)
async def list_gifts(request: Request, query: wire.economy.GiftsQuery) -> bytes:
    """List how much accounts and API keys gave and took of each item, most first."""
    keeper = request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)
    days = await _choose_days(request, query, reports.MAX_DAYS)
    wanted = GiftFilter(query.item or None, query.giver or None)
    found = await reports.report_gifts(keeper.store, keeper.economy, wanted, days, page.limit, page.offset)
    return wire.encode(codec.make_gifts_page(found, page))


async def _list_holders(request: Request, query: wire.lists.PageQuery, kind: str, thing_id: str) -> bytes:
    keeper = request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)
    found = await reports.report_holders(keeper.store, keeper.economy, kind, thing_id, page.limit, page.offset)
    return wire.encode(codec.make_holders_page(found, page))


async def _choose_days(
    request: Request, query: wire.economy.DaysQuery | wire.economy.EconomyQuery | wire.economy.GiftsQuery, most: int
) -> reports.Days:
    since, to = (None if isinstance(each, UnsetType) else each for each in (query.since, query.to))
    return await reports.choose_days(request.services.keeper.store, since, to, most)
