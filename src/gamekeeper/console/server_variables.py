"""The page of the server's variables, with a form to set each."""

from typing import NamedTuple

from gamekeeper.console import lists, pages
from gamekeeper.console.queries import CatalogueQuery
from gamekeeper.console.texts import PerLanguage, gettext
from gamekeeper.game import server_variables
from gamekeeper.game.values import BOOLEAN, INTEGER, NUMBER, STRING, Value, decode_value
from gamekeeper.http import paging, queries
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response

TYPES = PerLanguage(
    lambda: {
        BOOLEAN: gettext("yes or no"),
        INTEGER: gettext("whole number"),
        NUMBER: gettext("number"),
        STRING: gettext("text"),
    }
)


class VariableLine(NamedTuple):
    """A variable of the server as a line of the page."""

    id: str
    name: str
    type: str
    type_title: str
    folder: str
    value: Value | None  # None: never set


async def show(request: Request) -> Response:
    query = queries.decode(CatalogueQuery, request.query)
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    total, found = await server_variables.load_page(request.services.keeper.store, page.limit, page.offset)
    lines = [
        VariableLine(each.id, each.name, each.type, TYPES()[each.type], each.folder, decode_value(each.value))
        for each in found
    ]
    part = lists.make_page(request, page, total, len(found))
    return pages.render(request, "server_variables.html", lines=lines, part=part)
