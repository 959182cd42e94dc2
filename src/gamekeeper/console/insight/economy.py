"""The pages of the economy: all items, one item with holders and sources, and gifts of staff and API keys."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from gamekeeper.console.frame import list_page, pages
from gamekeeper.console.frame.formats import format_date, format_signed
from gamekeeper.console.frame.list_page import HOLDERS_SIZES, EconomyItemsQuery, GiftsPageQuery, ItemQuery, ListPage
from gamekeeper.console.frame.menu import GAME, PLAYERS
from gamekeeper.console.frame.routes import page_route
from gamekeeper.console.frame.texts import PerLanguage, gettext, pgettext
from gamekeeper.console.insight import charts
from gamekeeper.console.insight.charts import BARS, Chart, ChartSeries, TimeAxis
from gamekeeper.console.players.items import Tile, make_tile
from gamekeeper.console.world import catalogue as console_catalogue
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import NoSuchItem
from gamekeeper.game.insight import economy_reports as reports
from gamekeeper.game.insight import flows
from gamekeeper.game.insight.economy_reports import Days, GiftsReport, GiverTotal, ItemReport, NamedGift, Sums
from gamekeeper.game.insight.flows import DAY_MS, IMPORT, KEY, STAFF, UNDO
from gamekeeper.http.insight.economy import format_day
from gamekeeper.http.server import paging, queries
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.insight.economy import ITEM_SORTS, EconomyState, GiftFilter, Giver, ItemTotal
from gamekeeper.store.insight.holdings import ITEM
from gamekeeper.store.world import catalogue

GIFTS_PATH = "/console/economy/gifts"
GIFTS_NEEDED = "audit.read"  # without this permission, the names of givers are left out
DAYS_PRESETS = (7, 30, 90)  # days of a report that the pages offer


class GiftLine(NamedTuple):
    """An item that somebody gave or took."""

    who: str
    url: str  # page of the account; empty: none
    item_id: str
    item: str
    given: int
    taken: int


class GiverLine(NamedTuple):
    id: str
    who: str
    url: str  # page of the account; empty: none
    items_url: str  # page of the items that this giver gave and took
    items: int
    given: int
    taken: int


class GiverLines(NamedTuple):
    state: EconomyState
    total: int
    lines: list[GiverLine]


async def show_gifts(request: Request) -> Response:
    """Show all givers, or the items of one."""
    query = queries.decode(GiftsPageQuery, request.query)
    keeper = request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)
    days = await choose_days(request, query.days)
    if query.giver:
        found = await reports.report_giver(keeper.store, keeper.economy, query.giver, days, page.limit, page.offset)
        part = list_page.make_page(request, page, found.whole.sums.items, len(found.gifts))
        lines = [make_gift_line(each) for each in found.gifts]
        return _render_gifts(
            request, days, part, found.state, giver=_make_giver_line(found.whole, query.days), gifts=lines
        )
    givers = await load_givers(request, days, page.limit, page.offset)
    part = list_page.make_page(request, page, givers.total, len(givers.lines))
    return _render_gifts(request, days, part, givers.state, giver=None, givers=givers.lines)


async def load_givers(request: Request, days: Days, limit: int, offset: int) -> GiverLines:
    """Load a page of givers, most first."""
    keeper = request.services.keeper
    found = await reports.report_givers(keeper.store, keeper.economy, days, limit, offset)
    count = days.last - days.first + 1
    return GiverLines(found.state, found.total, [_make_giver_line(each, count) for each in found.givers])


async def choose_days(request: Request, days: int) -> Days:
    """Return the last `days` UTC days, with the present one."""
    today = (await reports.choose_days(request.services.keeper.store, None, None, reports.MAX_DAYS)).last
    return Days(today - days + 1, today)


def make_gift_line(each: NamedGift) -> GiftLine:
    gift = each.gift
    return GiftLine(
        *_name_giver(each.giver), gift.item_id, each.item_name or gettext("(no name)"), gift.given, gift.taken
    )


def _make_giver_line(each: GiverTotal, days: int) -> GiverLine:
    url = f"{GIFTS_PATH}?{urlencode({'giver': each.giver.id, 'days': days})}"
    return GiverLine(each.giver.id, *_name_giver(each.giver), url, each.sums.items, each.sums.given, each.sums.taken)


def _name_giver(giver: Giver) -> tuple[str, str]:
    """Return the name of a giver and the URL of its page. The URL is empty if the giver has no page."""
    if reports.is_command_line(giver):
        return gettext("Command line"), ""
    if giver.name is None:
        return gettext("Deleted account"), ""
    if giver.is_key:
        return gettext("API key %(name)s of %(owner)s", name=giver.name, owner=giver.owner or ""), ""
    return giver.name, f"/console/accounts/{giver.id}"


def _render_gifts(request: Request, days: Days, part: ListPage, state: EconomyState, **lines: object) -> Response:
    return pages.render(
        request,
        "insight/gifts.html",
        part=part,
        state=state,
        days=days.last - days.first + 1,
        presets=DAYS_PRESETS,
        since=format_date(format_day(days.first)),
        **lines,
    )


HOLDERS = "#holders-title"  # where the holders are on the page of an item
MOST_GIFTS = 20
MOST_GIVERS = 10  # givers on the page of all items, which links to all of them
TITLES = PerLanguage(
    lambda: {
        flows.GAME: gettext("Game"),
        KEY: gettext("API keys"),
        STAFF: gettext("Staff"),
        UNDO: pgettext("economy", "Undo"),
        IMPORT: gettext("Import"),
    }
)
TONES = {flows.GAME: "1", KEY: "2", STAFF: "3", UNDO: "4", IMPORT: "5"}


class ItemLine(NamedTuple):
    """An item of the list: what was created and destroyed, in all and by source."""

    item_id: str
    name: str
    quantity: int
    holders: int
    created: int
    destroyed: int
    sources: str
    tile: Tile


async def show(request: Request) -> Response:
    """Show all items, and the gifts of staff and API keys."""
    query = queries.decode(EconomyItemsQuery, request.query)
    keeper = request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)
    days = await choose_days(request, query.days)
    ascending = query.sortDirection == "Ascending"
    found = await reports.report_items(
        keeper.store, keeper.economy, days, page.limit, page.offset, query.sortBy, descending=not ascending
    )
    may_see = GIFTS_NEEDED in request.caller.permissions
    ids = [each.total.item_id for each in found.items]
    known, hashes = (
        await catalogue.find_by_ids(keeper.store, "items", ids),
        await catalogue.find_picture_hashes(keeper.store, ids),
    )
    tiles = {
        each: make_tile(each, known[each].name if each in known else "", known.get(each), hashes.get(each))
        for each in ids
    }
    givers = await load_givers(request, days, MOST_GIVERS, 0) if may_see else None
    kept = {name: request.query[name] for name in ("sortby", "sortdirection") if name in request.query}
    return pages.render(
        request,
        "insight/economy.html",
        items=[_make_line(each.total, each.sums, tiles[each.total.item_id]) for each in found.items],
        givers=givers,
        variables=await reports.report_variables(keeper.store),
        days=query.days,
        presets=DAYS_PRESETS,
        since=format_date(format_day(days.first)),
        part=list_page.make_page(request, page, found.total, len(found.items)),
        heads=list_page.make_columns(request, ITEM_SORTS, ascending=ascending),
        kept=f"&{urlencode(kept)}" if kept else "",
        state=found.state,
    )


async def show_item(request: Request) -> Response:
    """Show one item: what it is, how much there is, its holders, its flows day by day, and who gave it."""
    if to := list_page.find_jump(request):
        return pages.redirect(to)
    query = queries.decode(ItemQuery, request.query)
    item_id = lookup.parse_guid(request.params[0])
    if item_id is None:
        raise NoSuchItem
    keeper = request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)
    days = await choose_days(request, query.days)
    found = await reports.report_item(keeper.store, keeper.economy, item_id, days)
    holders = await reports.report_holders(keeper.store, keeper.economy, ITEM, item_id, page.limit, page.offset)
    given = await _load_gifts(request, item_id, days)
    known = await catalogue.find_by_ids(keeper.store, "items", [item_id])
    known = await catalogue.add_details(keeper.store, "items", list(known.values()))
    return pages.render(
        request,
        "insight/item.html",
        item=found.total,
        entry=known[0] if known else None,
        tile=make_tile(
            item_id,
            known[0].name if known else "",
            known[0] if known else None,
            await catalogue.find_picture_hash(keeper.store, item_id),
        ),
        details=console_catalogue.describe_item(known[0].details if known else None),
        holders=list(enumerate(holders.page.holders, start=page.offset + 1)),
        ranked=holders.page.is_ranked,
        part=list_page.make_page(request, page, holders.page.total, len(holders.page.holders), anchor=HOLDERS),
        sizes=HOLDERS_SIZES,
        size=query.pageSize,
        gifts=given and [make_gift_line(each) for each in given.gifts],
        charts=[each for each in _make_charts(found, days) if not each.is_empty],
        height=charts.HEIGHT,
        days=query.days,
        presets=DAYS_PRESETS,
        state=found.state,
        here=f"/console/items/{item_id}",
        anchor=HOLDERS,
    )


async def _load_gifts(request: Request, item_id: str, days: Days) -> GiftsReport | None:
    """Load who gave most; None: the viewer may not see it."""
    keeper = request.services.keeper
    if GIFTS_NEEDED not in request.caller.permissions:
        return None
    return await reports.report_gifts(keeper.store, keeper.economy, GiftFilter(item_id), days, MOST_GIFTS, 0)


def _make_line(total: ItemTotal, sums: Sums, tile: Tile) -> ItemLine:
    created, destroyed = (sum(pair[side] for pair in sums.values()) for side in (0, 1))
    parts = [
        f"{TITLES()[source]} {format_signed(pair[0] - pair[1])}"
        for source, pair in sorted(sums.items())
        if pair[0] or pair[1]
    ]
    name = total.name or gettext("(no name)")
    return ItemLine(total.item_id, name, total.quantity, total.holders, created, destroyed, ", ".join(parts), tile)


def _make_charts(report: ItemReport, days: Days) -> list[Chart]:
    starts = [each.day * DAY_MS for each in report.days]
    axis = TimeAxis(days.first * DAY_MS, (days.last + 1) * DAY_MS, starts, DAY_MS)
    unit = gettext("items")
    circulation = [ChartSeries(gettext("In circulation"), [each.quantity for each in report.days])]
    holders = [ChartSeries(gettext("Holders"), [each.holders for each in report.days])]
    return [
        charts.make_chart("created", gettext("Created per day"), unit, axis, _make_series(report, 0), BARS),
        charts.make_chart("destroyed", gettext("Destroyed per day"), unit, axis, _make_series(report, 1), BARS),
        charts.make_chart("circulation", gettext("In circulation"), unit, axis, circulation),
        charts.make_chart("holders", gettext("Holders"), gettext("players"), axis, holders),
    ]


def _make_series(report: ItemReport, side: int) -> Sequence[ChartSeries]:
    """Make a series of each source, so that the legend names its colour; 0: created, 1: destroyed."""
    return [
        ChartSeries(title, [each.sums.get(source, (0, 0))[side] for each in report.days], TONES[source])
        for source, title in TITLES().items()
    ]


PAGES = (
    page_route("/economy", show, PLAYERS)
    .in_menu("Economy", GAME, 90, "economy", ("/console/items/",))
    .with_help(
        "How much of each item is in circulation, what was created and destroyed, and which staff and programs "
        "gave most. Choose an item or a variable to see who has the most.",
        "economy",
    ),
    page_route("/economy/gifts", show_gifts, PLAYERS | {GIFTS_NEEDED}).with_help(
        "What staff and API keys gave and took. Choose one to see its items.", "economy"
    ),
    page_route("/items/[itemId]", show_item, PLAYERS).with_help(
        "One item: how much there is, where it comes from, who has the most, and who gave it.", "economy"
    ),
)
