from gamekeeper.game import lookup
from gamekeeper.game.lists import NAMES, ONLINE, RANK, Listing
from gamekeeper.http import paging, spelling, wire
from gamekeeper.http.paging import Page
from gamekeeper.http.request import Request
from gamekeeper.store.players import Record

AROUND = 5
MOST_AROUND = 50


async def by_name(request: Request) -> bytes:
    """Characters by name, page by page."""
    page = paging.from_query(request.query, request.keeper.settings.max_page_size)
    total, records = await _found(request, NAMES, page)
    return wire.paged(total, page.number, page.size, records)


async def by_rank(request: Request) -> bytes:
    """Characters by level and experience, the best first."""
    page = paging.from_query(request.query, request.keeper.settings.max_page_size)
    total, records = await _found(request, RANK, page, descending=not paging.ascending(request.query))
    return wire.paged(total, page.number, page.size, records)


async def online(request: Request) -> bytes:
    """Characters that are online, page by page."""
    page = paging.from_query(request.query, request.keeper.settings.max_page_size)
    total, records = await _found(request, ONLINE, page)
    return wire.paged(total, page.number, page.size, records)


async def legacy_online(request: Request, body: wire.LegacyPage) -> bytes:
    """Characters that are online, in the old envelope."""
    page = paging.from_body(body, request.keeper.settings.max_page_size)
    total, records = await _found(request, ONLINE, page)
    return wire.legacy(total, page.number, records)


async def legacy_by_name(request: Request, body: wire.LegacyPage) -> bytes:
    """Characters by name, in the old envelope."""
    page = paging.from_body(body, request.keeper.settings.max_page_size)
    total, records = await _found(request, NAMES, page)
    return wire.legacy(total, page.number, records)


async def online_count(request: Request) -> bytes:
    """How many characters are online."""
    return wire.encode(wire.OnlineCount(await request.keeper.lists.total(ONLINE)))


async def show(request: Request) -> bytes:
    """One character, by name or id."""
    return spelling.player_record(await lookup.player_record(request.keeper.store, request.params[0]))


async def rank(request: Request) -> bytes:
    """The rank of one character, with those just above and below it."""
    around = paging.integer(request.query, "around", 0, AROUND, MOST_AROUND)
    return spelling.rank(await request.keeper.lists.rank(request.params[0], around))


async def _found(
    request: Request, listing: Listing[Record], page: Page, *, descending: bool = False
) -> tuple[int, list[bytes]]:
    total, records = await request.keeper.lists.page(listing, page.offset, page.limit, descending=descending)
    return total, [spelling.player_record(record) for record in records]
