"""The economy: items in circulation, where they come from, who holds the most, and who gave how much."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from msgspec import UNSET, Struct, UnsetType

from gamekeeper.game.core import refusals as no
from gamekeeper.game.insight import economy_reports as reports
from gamekeeper.game.insight.economy_reports import (
    EconomyItem,
    EconomyPage,
    GiftsPage,
    GiftSum,
    Holder,
    HoldersPage,
    ItemDay,
    ItemEconomy,
    Sources,
    UpTo,
)
from gamekeeper.ground.settings import MOST_PAGE_ROWS
from gamekeeper.ground.wire import PageRange, Shape
from gamekeeper.http.contract import samples, shapes
from gamekeeper.http.contract.operation import READ_PLAYERS, Group, needs
from gamekeeper.http.contract.shapes import Id, PageQuery, describe, describe_end, describe_start
from gamekeeper.http.server import paging
from gamekeeper.http.server.request import Request
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight.economy import GiftFilter
from gamekeeper.store.insight.holdings import ITEM, VARIABLE

FirstDay = Annotated[int, describe_start("A time on the first UTC day; default six days before the last one.")]
LastDay = Annotated[int, describe_end("A time on the last UTC day; default today.")]
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


# Examples for the documents, made of the demo data.
UP_TO = UpTo(4711, samples.TIME, "2025-01-01T09:00:00.000Z", complete=True)
_COIN_FLOWS = (Sources(game=1200, staff=40), Sources(game=300))
ECONOMY_PAGE = EconomyPage(
    *(1, 0, 5, 1, "2026-01-25", "2026-01-31", UP_TO),
    [EconomyItem(samples.COIN, "Silver Mark", 93120, 61, *_COIN_FLOWS)],
)
ITEM_ECONOMY = ItemEconomy(
    samples.COIN, "Silver Mark", 93120, 61, UP_TO, [ItemDay("2026-01-31", 93120, 61, *_COIN_FLOWS)]
)
HOLDERS_PAGE = HoldersPage(
    *(61, 0, 5, 1), ranked=True, holders=61, up_to=UP_TO, values=[Holder(1, *samples.NAMED_PLAYER, 4200)]
)
GIFTS_PAGE = GiftsPage(
    *(1, 0, 5, 1, "2026-01-25", "2026-01-31", UP_TO),
    [GiftSum("staff", *samples.NAMED_USER, None, samples.COIN, "Silver Mark", 40, 0)],
)
GROUP = Group("Economy", "Items in circulation, where they come from, and who has the most.", place=320)
GROUPS = (GROUP,)


@GROUP.operation(
    "GET /api/keeper/v1/economy",
    permissions=READ_PLAYERS,
    answer=EconomyPage,
    rows=MOST_PAGE_ROWS,
    example_answer=ECONOMY_PAGE,
)
async def list_economy(request: Request, query: EconomyQuery) -> bytes:
    """List items with quantity, holders, and what was created and destroyed in a range."""
    page, days = _read_page(request, query), await _choose_days(request, query, reports.MAX_DAYS)
    return await _encode(request, lambda tx: reports.report_items(tx, days, page))


@GROUP.operation(
    "GET /api/keeper/v1/economy/items/[itemId]",
    permissions=READ_PLAYERS,
    answer=ItemEconomy,
    rows=reports.MAX_ITEM_DAYS,
    refusals=(no.NoSuchItem,),
    example_answer=ITEM_ECONOMY,
)
async def get_item_economy(request: Request, query: DaysQuery, item_id: str) -> bytes:
    """Get what was created and destroyed of an item on each UTC day, by source; at most 400 days."""
    days = await _choose_days(request, query, reports.MAX_ITEM_DAYS)
    return await _encode(request, lambda tx: reports.report_item(tx, item_id, days))


@GROUP.operation(
    "GET /api/keeper/v1/economy/items/[itemId]/holders",
    permissions=READ_PLAYERS,
    answer=HoldersPage,
    rows=MOST_PAGE_ROWS,
    refusals=(no.NoSuchItem,),
    example_answer=HOLDERS_PAGE,
)
async def list_item_holders(request: Request, query: PageQuery, item_id: str) -> bytes:
    """List who has the most of an item: all if the setting `ranked` names it, else 100."""
    page = _read_page(request, query)
    return await _encode(request, lambda tx: reports.report_holders(tx, ITEM, item_id, page))


@GROUP.operation(
    "GET /api/keeper/v1/economy/variables/[variableId]/holders",
    permissions=READ_PLAYERS,
    answer=HoldersPage,
    rows=MOST_PAGE_ROWS,
    refusals=(no.NoSuchVariable,),
    example_answer=HOLDERS_PAGE,
)
async def list_variable_holders(request: Request, query: PageQuery, variable_id: str) -> bytes:
    """List players by the value of a variable that the setting `ranked` names, highest first."""
    page = _read_page(request, query)
    return await _encode(request, lambda tx: reports.report_holders(tx, VARIABLE, variable_id, page))


@GROUP.operation(
    "GET /api/keeper/v1/economy/staff",
    permissions=needs("audit.read"),
    answer=GiftsPage,
    rows=MOST_PAGE_ROWS,
    example_answer=GIFTS_PAGE,
)
async def list_gifts(request: Request, query: GiftsQuery) -> bytes:
    """List how much accounts and API keys gave and took of each item, most first."""
    page, days = _read_page(request, query), await _choose_days(request, query, reports.MAX_DAYS)
    wanted = GiftFilter(query.item or None, query.giver or None)
    return await _encode(request, lambda tx: reports.report_gifts(tx, wanted, days, page))


async def _encode(request: Request, report: Callable[[Reading], Coroutine[Any, Any, Shape]]) -> bytes:
    return shapes.encode(await request.services.keeper.economy.read(report))


def _read_page(request: Request, query: PageQuery) -> PageRange:
    return paging.read_query(query, request.services.keeper.settings.max_page_size)


async def _choose_days(request: Request, query: DaysQuery | EconomyQuery | GiftsQuery, most: int) -> reports.Days:
    since, to = (None if isinstance(each, UnsetType) else each for each in (query.since, query.to))
    return await reports.choose_days(request.services.keeper.store, since, to, most)
