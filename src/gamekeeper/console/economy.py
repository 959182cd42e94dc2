"""The pages of the economy: all items, gifts of staff and ranked variables; and one item with holders and sources."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from gamekeeper.console import chart, gifts, item_details, lists, pages
from gamekeeper.console.chart import BARS, Chart, ChartSeries, TimeAxis
from gamekeeper.console.formats import format_date, format_signed
from gamekeeper.console.queries import HOLDERS_SIZES, EconomyItemsQuery, ItemQuery
from gamekeeper.console.texts import PerLanguage, gettext, pgettext
from gamekeeper.console.tiles import Tile, make_tile
from gamekeeper.game import economy_reports as reports
from gamekeeper.game import lookup
from gamekeeper.game.economy_reports import Days, GiftsReport, ItemReport, Sums
from gamekeeper.game.flows import DAY_MS, GAME, IMPORT, KEY, STAFF, UNDO
from gamekeeper.game.refusals import NoSuchItem
from gamekeeper.http import paging, queries
from gamekeeper.http.economy_codec import format_day
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import catalogue as entries
from gamekeeper.store import pictures
from gamekeeper.store.economy import ITEM_SORTS, GiftFilter, ItemTotal
from gamekeeper.store.holdings import ITEM

HOLDERS = "#holders-title"  # where the holders are on the page of an item
MOST_GIFTS = 20
MOST_GIVERS = 10  # givers on the page of all items, which links to all of them
TITLES = PerLanguage(
    lambda: {
        GAME: gettext("Game"),
        KEY: gettext("API keys"),
        STAFF: gettext("Staff"),
        UNDO: pgettext("economy", "Undo"),
        IMPORT: gettext("Import"),
    }
)
TONES = {GAME: "1", KEY: "2", STAFF: "3", UNDO: "4", IMPORT: "5"}


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
    days = await gifts.choose_days(request, query.days)
    ascending = query.sortDirection == "Ascending"
    found = await reports.report_items(
        keeper.store, keeper.economy, days, page.limit, page.offset, query.sortBy, descending=not ascending
    )
    may_see = gifts.NEEDED in request.caller.permissions
    ids = [each.total.item_id for each in found.items]
    known, hashes = await entries.find_by_ids(keeper.store, "items", ids), await pictures.find_hashes(keeper.store, ids)
    tiles = {
        each: make_tile(each, known[each].name if each in known else "", known.get(each), hashes.get(each))
        for each in ids
    }
    givers = await gifts.load_givers(request, days, MOST_GIVERS, 0) if may_see else None
    kept = {name: request.query[name] for name in ("sortby", "sortdirection") if name in request.query}
    return pages.render(
        request,
        "economy.html",
        items=[_make_line(each.total, each.sums, tiles[each.total.item_id]) for each in found.items],
        givers=givers,
        variables=await reports.report_variables(keeper.store),
        days=query.days,
        presets=gifts.PRESETS,
        since=format_date(format_day(days.first)),
        part=lists.make_page(request, page, found.total, len(found.items)),
        heads=lists.make_columns(request, ITEM_SORTS, ascending=ascending),
        kept=f"&{urlencode(kept)}" if kept else "",
        state=found.state,
    )


async def show_item(request: Request) -> Response:
    """Show one item: what it is, how much there is, its holders, its flows day by day, and who gave it."""
    if to := lists.find_jump(request):
        return pages.redirect(to)
    query = queries.decode(ItemQuery, request.query)
    item_id = lookup.parse_guid(request.params[0])
    if item_id is None:
        raise NoSuchItem
    keeper = request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)
    days = await gifts.choose_days(request, query.days)
    found = await reports.report_item(keeper.store, keeper.economy, item_id, days)
    holders = await reports.report_holders(keeper.store, keeper.economy, ITEM, item_id, page.limit, page.offset)
    given = await _load_gifts(request, item_id, days)
    known = await entries.find_by_ids(keeper.store, "items", [item_id])
    known = await entries.add_details(keeper.store, "items", list(known.values()))
    return pages.render(
        request,
        "item.html",
        item=found.total,
        entry=known[0] if known else None,
        tile=make_tile(
            item_id,
            known[0].name if known else "",
            known[0] if known else None,
            await pictures.find_hash(keeper.store, item_id),
        ),
        details=item_details.describe(known[0].details if known else None),
        holders=list(enumerate(holders.page.holders, start=page.offset + 1)),
        ranked=holders.page.is_ranked,
        part=lists.make_page(request, page, holders.page.total, len(holders.page.holders), anchor=HOLDERS),
        sizes=HOLDERS_SIZES,
        size=query.pageSize,
        gifts=given and [gifts.make_line(each) for each in given.gifts],
        charts=[each for each in _make_charts(found, days) if not each.is_empty],
        height=chart.HEIGHT,
        days=query.days,
        presets=gifts.PRESETS,
        state=found.state,
        here=f"/console/items/{item_id}",
        anchor=HOLDERS,
    )


async def _load_gifts(request: Request, item_id: str, days: Days) -> GiftsReport | None:
    """Load who gave most; None: the viewer may not see it."""
    keeper = request.services.keeper
    if gifts.NEEDED not in request.caller.permissions:
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
        chart.make_chart("created", gettext("Created per day"), unit, axis, _make_series(report, 0), BARS),
        chart.make_chart("destroyed", gettext("Destroyed per day"), unit, axis, _make_series(report, 1), BARS),
        chart.make_chart("circulation", gettext("In circulation"), unit, axis, circulation),
        chart.make_chart("holders", gettext("Holders"), gettext("players"), axis, holders),
    ]


def _make_series(report: ItemReport, side: int) -> Sequence[ChartSeries]:
    """Make a series of each source, so that the legend names its colour; 0: created, 1: destroyed."""
    return [
        ChartSeries(title, [each.sums.get(source, (0, 0))[side] for each in report.days], TONES[source])
        for source, title in TITLES().items()
    ]
