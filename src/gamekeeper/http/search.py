"""A page of a list in the order asked for: of the whole of it, or of what a search finds."""

from collections.abc import Callable, Mapping, Sequence

from gamekeeper.game import search
from gamekeeper.game.lists import Wanted
from gamekeeper.game.refusals import BadField
from gamekeeper.game.search import R, Sort
from gamekeeper.http import paging, wire
from gamekeeper.http.paging import Page
from gamekeeper.http.request import CONTROL, Request


async def page(request: Request, sorts: Mapping[str, Sort[R]], spell: Callable[[R], bytes]) -> bytes:
    asked, total, records, _ = await found(request, sorts)
    return wire.lists.paged(total, asked.number, asked.size, [spell(each) for each in records])


async def found(
    request: Request, sorts: Mapping[str, Sort[R]], size: int = paging.DEFAULT_SIZE
) -> tuple[Page, int, Sequence[R], bool]:
    """Which page was asked for, how many there are, those of the page, and whether there may be more."""
    asked = paging.from_query(request.query, request.services.keeper.settings.max_page_size, size)
    sort = paging.sort(request.query, sorts)
    wanted = Wanted(asked.offset, asked.limit, descending=not paging.ascending(request.query, "ascending"))
    sought = text(request)
    if sort.listing and not sought:
        return asked, *await search.page(request.services.keeper, sort, sought, wanted)
    return asked, *await request.through_gate(lambda: search.page(request.services.keeper, sort, sought, wanted))


def text(request: Request) -> str:
    """What is sought; nothing when all are wanted."""
    sought = request.query.get("search", "")
    if CONTROL.search(sought):
        raise BadField(field="search", problem="must have no control characters")
    return sought
