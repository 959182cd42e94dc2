"""What staff and API keys gave and took: one line per giver, and the items of one of them."""

from typing import NamedTuple
from urllib.parse import urlencode

from gamekeeper.console import lists, pages
from gamekeeper.console.formats import format_date
from gamekeeper.console.lists import ListPage
from gamekeeper.console.queries import GiftsPageQuery
from gamekeeper.console.texts import gettext
from gamekeeper.game import economy_reports as reports
from gamekeeper.game.economy_reports import Days, GiverTotal, NamedGift
from gamekeeper.http import paging, queries
from gamekeeper.http.economy_codec import format_day
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store.economy import EconomyState, Giver

PATH = "/console/economy/gifts"
NEEDED = "audit.read"  # without this permission, the names of givers are left out
PRESETS = (7, 30, 90)  # days of a report that the pages offer


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


async def show(request: Request) -> Response:
    """Show all givers, or the items of one."""
    query = queries.decode(GiftsPageQuery, request.query)
    keeper = request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)
    days = await choose_days(request, query.days)
    if query.giver:
        found = await reports.report_giver(keeper.store, keeper.economy, query.giver, days, page.limit, page.offset)
        part = lists.make_page(request, page, found.whole.sums.items, len(found.gifts))
        lines = [make_line(each) for each in found.gifts]
        return _render(request, days, part, found.state, giver=_make_giver_line(found.whole, query.days), gifts=lines)
    givers = await load_givers(request, days, page.limit, page.offset)
    part = lists.make_page(request, page, givers.total, len(givers.lines))
    return _render(request, days, part, givers.state, giver=None, givers=givers.lines)


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


def make_line(each: NamedGift) -> GiftLine:
    gift = each.gift
    return GiftLine(
        *_name_giver(each.giver), gift.item_id, each.item_name or gettext("(no name)"), gift.given, gift.taken
    )


def _make_giver_line(each: GiverTotal, days: int) -> GiverLine:
    url = f"{PATH}?{urlencode({'giver': each.giver.id, 'days': days})}"
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


def _render(request: Request, days: Days, part: ListPage, state: EconomyState, **lines: object) -> Response:
    return pages.render(
        request,
        "gifts.html",
        part=part,
        state=state,
        days=days.last - days.first + 1,
        presets=PRESETS,
        since=format_date(format_day(days.first)),
        **lines,
    )
