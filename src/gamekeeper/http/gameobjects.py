"""The catalogue for clients of the Intersect engine: with the engine's object types and JSON shapes."""

from gamekeeper.game import catalogue, inventory
from gamekeeper.game import refusals as no
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.game.refusals import NoSuchObject
from gamekeeper.http import catalogue_codec, paging, samples, wire
from gamekeeper.http.answered_rows import MANY
from gamekeeper.http.errors import InvalidObjectType
from gamekeeper.http.operation import READ, READ_PLAYERS, REVALIDATED, Group
from gamekeeper.http.paging import PageRange
from gamekeeper.http.request import Request
from gamekeeper.settings import MOST_PAGE_ROWS
from gamekeeper.store import catalogue as entries

OBJECT = (
    wire.catalogue.ItemObject
    | wire.catalogue.VariableObject
    | wire.variables.ServerVariable
    | wire.variables.GuildVariableObject
    | wire.catalogue.NamedEntry
)
OBJECTS = (
    wire.lists.Paged[wire.catalogue.ItemObject]
    | wire.lists.Paged[wire.catalogue.VariableObject]
    | wire.lists.Paged[wire.variables.ServerVariable]
    | wire.lists.Paged[wire.variables.GuildVariableObject]
    | wire.lists.Paged[wire.catalogue.NamedEntry]
)
KEYED = (
    wire.lists.Legacy[wire.catalogue.Keyed[wire.catalogue.ItemObject]]
    | wire.lists.Legacy[wire.catalogue.Keyed[wire.catalogue.VariableObject]]
    | wire.lists.Legacy[wire.catalogue.Keyed[wire.variables.ServerVariable]]
    | wire.lists.Legacy[wire.catalogue.Keyed[wire.variables.GuildVariableObject]]
    | wire.lists.Legacy[wire.catalogue.Keyed[wire.catalogue.NamedEntry]]
)
GROUP = Group("Gameobjects", "The catalogue with the object types and JSON shapes of the Intersect engine.")


@GROUP.operation(
    "GET /api/v1/gameobjects/[type]",
    name="list_game_objects",
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    query=wire.lists.PageQuery,
    answer=OBJECTS,
    rows=MOST_PAGE_ROWS,
    refusals=(),
    example_answer=wire.lists.Paged(31, 0, 5, 1, [samples.DRAUGHT_OBJECT]),
)
async def list_objects(request: Request, query: wire.lists.PageQuery, object_type: str) -> bytes:
    """List the game's objects of one type, in pages."""
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    total, found = await _load_page(request, object_type, page, details=True)
    return wire.lists.encode_paged(total, page.number, page.size, [_encode_object(request, each) for each in found])


@GROUP.operation(
    "POST /api/v1/gameobjects/[type]",
    name="list_game_objects_legacy",
    permissions=READ_PLAYERS,
    access=READ,
    body=wire.lists.LegacyPage,
    answer=KEYED,
    rows=MOST_PAGE_ROWS,
    refusals=(),
    example_body=wire.lists.LegacyPage(),
    example_answer=wire.lists.Legacy(31, 0, 1, [wire.catalogue.Keyed(samples.DRAUGHT, samples.DRAUGHT_OBJECT)]),
)
async def list_objects_legacy(request: Request, body: wire.lists.LegacyPage, object_type: str) -> bytes:
    """List the game's objects of one type, in the legacy format."""
    page = paging.read_legacy(request, body)
    total, found = await _load_page(request, object_type, page, details=True)
    return wire.lists.encode_legacy(
        total, page.number, [wire.catalogue.encode_keyed(each.id, _encode_object(request, each)) for each in found]
    )


@GROUP.operation(
    "GET /api/v1/gameobjects/[type]/names",
    name="list_game_object_names",
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    query=wire.lists.PageQuery,
    answer=wire.lists.Paged[str],
    rows=MOST_PAGE_ROWS,
    refusals=(),
    example_answer=wire.lists.Paged(31, 0, 5, 1, [samples.DRAUGHT_OBJECT.Name]),
)
async def list_names(request: Request, query: wire.lists.PageQuery, object_type: str) -> bytes:
    """List the names of the objects of one type, in pages."""
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    total, found = await _load_page(request, object_type, page, details=False)
    return wire.lists.encode_paged(total, page.number, page.size, [wire.encode(each.name) for each in found])


@GROUP.operation(
    "POST /api/v1/gameobjects/[type]/names",
    name="list_game_object_names_legacy",
    permissions=READ_PLAYERS,
    access=READ,
    answer=dict[str, str],
    rows=MANY,
    gated=True,
    refusals=(no.TooManyLongReads,),
    example_answer={samples.DRAUGHT: samples.DRAUGHT_OBJECT.Name},
)
async def list_names_legacy(request: Request, object_type: str) -> bytes:
    """Get the names of all objects of one type, as an object of id and name."""
    everything = PageRange(0, paging.MAX_INT32, paging.MAX_INT32)

    async def read() -> bytes:
        _, found = await _load_page(request, object_type, everything, details=False)
        return wire.encode({each.id: each.name for each in found})

    return await request.run_through_gate(read)


@GROUP.operation(
    "GET /api/v1/gameobjects/[type]/[objectId]",
    name="get_game_object",
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=OBJECT,
    refusals=(no.NoSuchObject,),
    example_answer=samples.DRAUGHT_OBJECT,
)
async def get_object(request: Request, object_type: str, object_id: str) -> bytes:
    """Get one of the game's objects by type and id."""
    kind = wire.catalogue.OBJECTS[object_type]
    found = await catalogue.find_detailed(request.services.keeper.store, kind, object_id)
    if found is None:
        raise NoSuchObject(type=object_type, id=object_id)
    return _encode_object(request, found)


@GROUP.operation(
    "GET /api/v1/gameobjects/time",
    name="get_time_settings",
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=wire.catalogue.TimeSettings,
    rows=24,
    refusals=(),
    example_answer=wire.catalogue.DEFAULT_TIME,
)
async def get_time(request: Request) -> bytes:
    """Get the game's settings of day and night."""
    found = await catalogue.find_detailed(request.services.keeper.store, "time", ZERO_GUID)
    return wire.catalogue.encode_time(found.details if found else None)


async def refuse_time_list(request: Request) -> bytes:
    """Refuse a POST to the settings of day and night, as the engine does: they are no list."""
    del request  # the answer is always the same
    raise InvalidObjectType


async def _load_page(
    request: Request, object_type: str, page: PageRange, *, details: bool
) -> tuple[int, list[entries.CatalogueEntry]]:
    load = catalogue.load_detailed_page if details else catalogue.load_page
    kind = wire.catalogue.OBJECTS[object_type]
    return await load(request.services.keeper.store, kind, page.limit, page.offset)


def _encode_object(request: Request, entry: entries.CatalogueEntry) -> bytes:
    room = inventory.read_capacity(request.services.keeper.settings)
    return catalogue_codec.encode_game_object(entry, room)
