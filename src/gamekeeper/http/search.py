"""Load a page of a sorted list of players or accounts: of all records, or of the results of a search."""

from collections.abc import Callable, Mapping, Sequence

from gamekeeper.game import search
from gamekeeper.game.lists import PageRequest
from gamekeeper.game.search import R, Sort
from gamekeeper.http import paging, wire
from gamekeeper.http.paging import PageRange
from gamekeeper.http.request import Request

Query = wire.players.PlayersQuery | wire.users.UsersQuery


async def encode_page(
    request: Request, query: Query, sorts: Mapping[str, Sort[R]], encode: Callable[[Sequence[R]], list[bytes]]
) -> bytes:
    asked = paging.read_query(query, request.services.keeper.settings.max_page_size)
    descending = query.sortDirection == "Descending"
    total, records, _ = await load_page(request, asked, sorts[query.sortBy], query.search, descending=descending)
    return wire.lists.encode_paged(total, asked.number, asked.size, encode(records))


async def load_page(
    request: Request, page: PageRange, sort: Sort[R], sought: str, *, descending: bool
) -> tuple[int, Sequence[R], bool]:
    """Return the number of matches, the page's records, and whether the search stopped early. Empty `sought`: all."""
    keeper = request.services.keeper
    if sort.listing and not sought:
        total, records = await keeper.lists.load_page(sort.listing, page.offset, page.limit, descending=descending)
        return total, records, False
    wanted = PageRequest(page.offset, page.limit, descending=descending)
    return await request.run_through_gate(lambda: search.load_page(keeper, sort, sought, wanted))
