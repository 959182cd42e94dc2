"""The catalogue as the engine's own clients ask for it: by the engine's types, in its shapes."""

from gamekeeper.game import catalogue, inventory
from gamekeeper.game.refusals import NoSuchObject, NoSuchObjectType
from gamekeeper.http import paging, spelling, wire
from gamekeeper.http.paging import Page
from gamekeeper.http.request import Request
from gamekeeper.http.segments import guid_param
from gamekeeper.store import catalogue as entries


async def objects(request: Request) -> bytes:
    """The game's objects of one type, page by page."""
    page = paging.from_query(request.query, request.keeper.settings.max_page_size)
    total, found = await _found(request, page)
    return wire.paged(total, page.number, page.size, [_object(request, each) for each in found])


async def legacy_objects(request: Request, body: wire.LegacyPage) -> bytes:
    """The game's objects of one type, in the old envelope."""
    page = paging.from_body(body, request.keeper.settings.max_page_size)
    total, found = await _found(request, page)
    return wire.legacy(total, page.number, [wire.keyed(each.id, _object(request, each)) for each in found])


async def object_names(request: Request) -> bytes:
    """The names of the objects of one type, page by page."""
    page = paging.from_query(request.query, request.keeper.settings.max_page_size)
    total, found = await _found(request, page)
    return wire.paged(total, page.number, page.size, [wire.encode(each.name) for each in found])


async def legacy_object_names(request: Request) -> bytes:
    """The names of all objects of one type, by their ids."""
    _, found = await _found(request, Page(0, paging.MOST, paging.MOST))
    return wire.encode({each.id: each.name for each in found})


async def game_object(request: Request) -> bytes:
    """One of the game's objects, by its type and id."""
    kind, object_id = _kind(request), guid_param("objectId", request.params[1])
    found = await entries.by_id(request.keeper.store, kind, [object_id]) if kind else {}
    if object_id not in found:
        raise NoSuchObject(type=request.params[0].lower(), id=object_id)
    return _object(request, found[object_id])


async def _found(request: Request, page: Page) -> tuple[int, list[entries.Entry]]:
    kind = _kind(request)
    return await catalogue.page(request.keeper.store, kind, page.limit, page.offset) if kind else (0, [])


def _kind(request: Request) -> str | None:
    """Which of our lists is meant; None for a type that we keep none of."""
    name = request.params[0].lower()
    if name not in wire.OBJECTS:
        raise NoSuchObjectType(type=request.params[0])
    return wire.OBJECTS[name]


def _object(request: Request, entry: entries.Entry) -> bytes:
    return wire.encode(spelling.game_object(entry, inventory.sizes(request.keeper.settings)))
