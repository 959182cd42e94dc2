"""The economy: items in circulation, where they come from, who holds the most, and who gave how much."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.game.core import refusals as no
from gamekeeper.game.insight import economy_reports as reports
from gamekeeper.game.insight.economy_reports import EconomyPage, GiftsPage, HoldersPage, ItemEconomy
from gamekeeper.ground.wire import PageRange
from gamekeeper.http.contract.operation import READ_PLAYERS, Group, needs
from gamekeeper.http.contract.shapes import TIME, Id, PageQuery, describe, describe_start
from gamekeeper.http.server import paging
from gamekeeper.http.server.query_values import read_end
from gamekeeper.http.server.request import Request
from gamekeeper.store.insight.economy import GiftFilter
from gamekeeper.store.insight.holdings import ITEM, VARIABLE

FirstDay = Annotated[int, describe_start("A time on the first UTC day; default six days before the last one.")]
LastDay = Annotated[
    int, Meta(description="A time on the last UTC day; default today.", extra={"read": read_end, "schema": TIME})
]
GivenItem = Annotated[Id, describe("Gifts of this item.")]

GiverId = Annotated[Id, describe("Gifts of this account or API key; all zeros: the command line.")]


class DaysQuery(Struct, frozen=True, rename={"since": "from"}):
    since: FirstDay | UnsetType = UNSET
    to: LastDay | UnsetType = UNSET


class EconomyQuery(PageQuery, frozen=True, rename={"since": "from"}):
    since: FirstDay | UnsetType = UNSET
    to: LastDay | UnsetType = UNSET


class GiftsQuery(PageQuery, frozen=True, rename={"since": "from"}):
    item: GivenItem | UnsetType = UNSET
    giver: GiverId | UnsetType = UNSET
    since: FirstDay | UnsetType = UNSET
    to: LastDay | UnsetType = UNSET


GROUP = Group("Economy", "Items in circulation, where they come from, and who has the most.", 320, READ_PLAYERS)
GROUPS = (GROUP,)


@GROUP.operation("GET /api/keeper/v1/economy")
async def list_economy(request: Request, query: EconomyQuery) -> EconomyPage:
    """List items with quantity, holders, and what was created and destroyed in a range."""
    page, days = _read_page(request, query), await _choose_days(request, query, reports.MAX_DAYS)
    return await request.services.keeper.economy.read(lambda tx: reports.report_items(tx, days, page))


@GROUP.operation("GET /api/keeper/v1/economy/items/[itemId]", rows=reports.MAX_ITEM_DAYS, refusals=(no.NoSuchItem,))
async def get_item_economy(request: Request, query: DaysQuery, item_id: str) -> ItemEconomy:
    """Get what was created and destroyed of an item on each UTC day, by source; at most 400 days."""
    days = await _choose_days(request, query, reports.MAX_ITEM_DAYS)
    return await request.services.keeper.economy.read(lambda tx: reports.report_item(tx, item_id, days))


@GROUP.operation("GET /api/keeper/v1/economy/items/[itemId]/holders", refusals=(no.NoSuchItem,))
async def list_item_holders(request: Request, query: PageQuery, item_id: str) -> HoldersPage:
    """List who has the most of an item: all if the setting `ranked` names it, else 100."""
    page = _read_page(request, query)
    return await request.services.keeper.economy.read(lambda tx: reports.report_holders(tx, ITEM, item_id, page))


@GROUP.operation("GET /api/keeper/v1/economy/variables/[variableId]/holders", refusals=(no.NoSuchVariable,))
async def list_variable_holders(request: Request, query: PageQuery, variable_id: str) -> HoldersPage:
    """List players by the value of a variable that the setting `ranked` names, highest first."""
    page = _read_page(request, query)
    return await request.services.keeper.economy.read(
        lambda tx: reports.report_holders(tx, VARIABLE, variable_id, page)
    )


@GROUP.operation("GET /api/keeper/v1/economy/staff", permissions=needs("audit.read"))
async def list_gifts(request: Request, query: GiftsQuery) -> GiftsPage:
    """List how much accounts and API keys gave and took of each item, most first."""
    page, days = _read_page(request, query), await _choose_days(request, query, reports.MAX_DAYS)
    wanted = GiftFilter(query.item or None, query.giver or None)
    return await request.services.keeper.economy.read(lambda tx: reports.report_gifts(tx, wanted, days, page))


def _read_page(request: Request, query: PageQuery) -> PageRange:
    return paging.read_query(query, request.services.keeper.settings.max_page_size)


async def _choose_days(request: Request, query: DaysQuery | EconomyQuery | GiftsQuery, most: int) -> reports.Days:
    since, to = (None if isinstance(each, UnsetType) else each for each in (query.since, query.to))
    return await reports.choose_days(request.services.keeper.store, since, to, most)
