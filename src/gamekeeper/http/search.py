"""A page of a list in the order asked for: of the whole of it, or of what a search finds."""

from collections.abc import Callable, Mapping

from gamekeeper.game import search
from gamekeeper.game.lists import Wanted
from gamekeeper.game.refusals import BadField
from gamekeeper.game.search import R, Sort
from gamekeeper.http import paging, wire
from gamekeeper.http.request import CONTROL, Request


async def page(request: Request, sorts: Mapping[str, Sort[R]], spell: Callable[[R], bytes]) -> bytes:
    asked = paging.from_query(request.query, request.keeper.settings.max_page_size)
    sort = paging.sort(request.query, sorts)
    wanted = Wanted(asked.offset, asked.limit, descending=not paging.ascending(request.query, "ascending"))
    total, found = await search.page(request.keeper, sort, _text(request.query), wanted)
    return wire.paged(total, asked.number, asked.size, [spell(each) for each in found])


def _text(query: Mapping[str, str]) -> str:
    text = query.get("search", "")
    if CONTROL.search(text):
        raise BadField(field="search", problem="must have no control characters")
    return text
