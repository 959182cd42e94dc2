"""The page of the game's catalogue: items, spells, variables, classes and maps."""

from gamekeeper.console import lists, pages
from gamekeeper.console.queries import CatalogueQuery
from gamekeeper.game import catalogue, lookup
from gamekeeper.http import paging, queries
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import catalogue as entries

MAX_MATCHES = 1_000  # a search by name stops after this many catalogue entries


async def show(request: Request) -> Response:
    kind = request.query.get("kind", "") or "items"
    catalogue.require_kind(kind)
    query = queries.decode(CatalogueQuery, request.query)
    sought = query.search.strip()
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    store, alone = request.services.keeper.store, request.query.get("id", "")
    if alone:
        wanted = lookup.parse_guid(alone)
        found = list((await entries.find_by_ids(store, kind, [wanted] if wanted else [])).values())
        total = len(found)
    elif sought:
        called = await catalogue.find_by_name(store, kind, sought, MAX_MATCHES)
        total, found = len(called), called[page.offset : page.offset + page.limit]
    else:
        total, found = await catalogue.load_page(store, kind, page.limit, page.offset)
    return pages.render(
        request,
        "catalogue.html",
        kind=kind,
        kinds=list(entries.KINDS),
        entries=found,
        alone=bool(alone),
        part=lists.make_page(request, page, total, len(found), cut=bool(sought) and total >= MAX_MATCHES),
        sought=query.search,
    )
