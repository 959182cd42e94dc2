"""The pages of the economy: all items, one item with holders and sources, and gifts of staff and API keys."""

from collections.abc import Sequence
from urllib.parse import urlencode

from gamekeeper.console.frame import list_page, pages
from gamekeeper.console.frame.formats import format_date, format_signed
from gamekeeper.console.frame.list_page import HOLDERS_SIZES, EconomyItemsQuery, GiftsPageQuery, ItemQuery
from gamekeeper.console.frame.menu import GAME, PLAYERS
from gamekeeper.console.frame.routes import page_route
from gamekeeper.console.frame.texts import PerLanguage, gettext, pgettext
from gamekeeper.console.insight import charts
from gamekeeper.console.insight.charts import BARS, Chart, TimeAxis, make_chart
from gamekeeper.console.players.items import Tile, make_tile
from gamekeeper.console.world import catalogue as console_catalogue
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import NoSuchItem
from gamekeeper.game.insight import economy_reports as reports
from gamekeeper.game.insight import flows
from gamekeeper.game.insight.economy_reports import Days, EconomyItem, ItemEconomy, Sources
from gamekeeper.game.insight.flows import DAY_MS, IMPORT, KEY, STAFF, UNDO
from gamekeeper.ground.instants import format_day
from gamekeeper.ground.wire import PageRange
from gamekeeper.http.server import paging, queries
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight.economy import ITEM_SORTS, GiftFilter
from gamekeeper.store.insight.holdings import ITEM
from gamekeeper.store.world import catalogue

GIFTS_NEEDED = "audit.read"  # without this permission, the names of givers are left out
DAYS_PRESETS = (7, 30, 90)  # days of a report that the pages offer


async def show_gifts(request: Request) -> Response:
    """Show all givers, or the items of one."""
    query = queries.decode(GiftsPageQuery, request.query)
    keeper, giver_id = request.services.keeper, query.giver
    page = paging.read_query(query, keeper.settings.max_page_size)
    days = await choose_days(request, query.days)
    if giver_id:
        found = await keeper.store.read(lambda tx: reports.report_giver(tx, giver_id, days, page))
        part = list_page.make_page(request, page, found.whole.items, len(found.gifts))
        shown: dict[str, object] = {"giver": found.whole, "gifts": found.gifts}
    else:
        found = await keeper.store.read(lambda tx: reports.report_givers(tx, days, page))
        part = list_page.make_page(request, page, found.total, len(found.givers))
        shown = {"giver": None, "givers": found.givers}
    return pages.render(
        request,
        "insight/gifts.html",
        part=part,
        up_to=found.up_to,
        days=query.days,
        presets=DAYS_PRESETS,
        since=format_date(format_day(days.first)),
        **shown,
    )


async def choose_days(request: Request, days: int) -> Days:
    """Return the last `days` UTC days, with the present one."""
    today = (await reports.choose_days(request.services.keeper.store, None, None, reports.MAX_DAYS)).last
    return Days(today - days + 1, today)


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


async def show(request: Request) -> Response:
    """Show all items, and the gifts of staff and API keys."""
    query = queries.decode(EconomyItemsQuery, request.query)
    keeper = request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)
    days = await choose_days(request, query.days)
    descending = query.sortDirection == "Descending"

    async def read(tx: Reading) -> dict[str, object]:
        found = await reports.report_items(tx, days, page, query.sortBy, descending=descending)
        tiles = await _make_tiles(tx, [each.item_id for each in found.values])
        first = PageRange(0, MOST_GIVERS, MOST_GIVERS)
        return {
            "items": [(each, tiles[each.item_id], _describe_sources(each)) for each in found.values],
            "givers": await reports.report_givers(tx, days, first) if may_see_gifts(request) else None,
            "variables": await reports.report_variables(tx),
            "up_to": found.up_to,
            "part": list_page.make_page(request, page, found.total, found.count),
        }

    kept = {name: request.query[name] for name in ("sortby", "sortdirection") if name in request.query}
    return pages.render(
        request,
        "insight/economy.html",
        days=query.days,
        presets=DAYS_PRESETS,
        since=format_date(format_day(days.first)),
        heads=list_page.make_columns(request, ITEM_SORTS, ascending=not descending),
        kept=f"&{urlencode(kept)}" if kept else "",
        **await keeper.store.read(read),
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

    async def read(tx: Reading) -> dict[str, object]:
        found = await reports.report_item(tx, item_id, days)
        holders = await reports.report_holders(tx, ITEM, item_id, page)
        wanted, first = GiftFilter(item_id), PageRange(0, MOST_GIFTS, MOST_GIFTS)
        known = await catalogue.find_by_ids(tx, "items", [item_id])
        known = await catalogue.add_details(tx, "items", list(known.values()))
        return {
            "item": found,
            "entry": known[0] if known else None,
            "tile": (await _make_tiles(tx, [item_id]))[item_id],
            "details": console_catalogue.describe_item(known[0].details if known else None),
            "holders": holders,
            "part": list_page.make_page(request, page, holders.total, holders.count, anchor=HOLDERS),
            "gifts": await reports.report_gifts(tx, wanted, days, first) if may_see_gifts(request) else None,
            "charts": [each for each in _make_charts(found, days) if not each.is_empty],
        }

    return pages.render(
        request,
        "insight/item.html",
        sizes=HOLDERS_SIZES,
        size=query.pageSize,
        height=charts.HEIGHT,
        days=query.days,
        presets=DAYS_PRESETS,
        here=f"/console/items/{item_id}",
        anchor=HOLDERS,
        **await keeper.store.read(read),
    )


def may_see_gifts(request: Request) -> bool:
    return GIFTS_NEEDED in request.caller.permissions


async def _make_tiles(tx: Reading, ids: Sequence[str]) -> dict[str, Tile]:
    known = await catalogue.find_by_ids(tx, "items", ids)
    hashes = await catalogue.find_picture_hashes(tx, ids)
    return {
        each: make_tile(each, known[each].name if each in known else "", known.get(each), hashes.get(each))
        for each in ids
    }


def _describe_sources(item: EconomyItem) -> str:
    """Describe what an item gained or lost by each source."""
    created, destroyed, titles = item.created.by_source, item.destroyed.by_source, TITLES()
    moved = [each for each in sorted(flows.SOURCES) if created[each] or destroyed[each]]
    return ", ".join(f"{titles[each]} {format_signed(created[each] - destroyed[each])}" for each in moved)


def _make_charts(item: ItemEconomy, days: Days) -> list[Chart]:
    starts = [day * DAY_MS for day in range(days.first, days.last + 1)]
    axis = TimeAxis(starts[0], starts[-1] + DAY_MS, starts, DAY_MS)
    unit = gettext("items")
    created = _make_series([each.created for each in item.days])
    destroyed = _make_series([each.destroyed for each in item.days])
    circulation = {gettext("In circulation"): [each.quantity for each in item.days]}
    holders = {gettext("Holders"): [each.holders for each in item.days]}
    return [
        make_chart("created", gettext("Created per day"), unit, axis, created, BARS),
        make_chart("destroyed", gettext("Destroyed per day"), unit, axis, destroyed, BARS),
        make_chart("circulation", gettext("In circulation"), unit, axis, circulation),
        make_chart("holders", gettext("Holders"), gettext("players"), axis, holders),
    ]


def _make_series(days: Sequence[Sources]) -> dict[str, list[int]]:
    """Make a series of each source, so that the legend names its colour."""
    return {title: [each.by_source[source] for each in days] for source, title in TITLES().items()}


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
