"""The catalogue: decode the entries that a game server publishes, and list them for clients of the Intersect engine.

Published entries can have further fields (details). Lists have the engine's object types and JSON shapes.
"""

from collections.abc import Sequence
from typing import Union, cast, get_args

import msgspec

from gamekeeper.game.core import lookup, values
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.refusals import BadField, NoSuchObject, WrongValueType
from gamekeeper.game.players import inventory
from gamekeeper.game.world import catalogue as game_catalogue
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import MANY, READ, READ_PLAYERS, REVALIDATED, Group, Route
from gamekeeper.http.server import bodies, paging
from gamekeeper.http.server.admission import pauses
from gamekeeper.http.server.errors import InvalidObjectType, MalformedBody
from gamekeeper.http.server.paging import PageRange
from gamekeeper.http.server.request import Request
from gamekeeper.http.world import catalogue_shapes, documents
from gamekeeper.store.world import catalogue

MAX_DETAILS_BYTES = 65_536  # size of the further fields of one entry, as compact JSON
_fields_decoder = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])


def read_entries(kind: str, body: bytes, content_type: str) -> Sequence[catalogue.CatalogueEntry]:
    """Read the entries of one kind that a game server publishes."""
    shape = catalogue_shapes.ENTRIES[kind]
    sent = bodies.decode_list(body, content_type, shape)
    given = [_read_entry(each, number) for number, each in enumerate(sent)]
    if kind == "time":
        if len(given) > 1:
            raise BadField(field="[1]", problem="must not be there: the kind time has one entry")
        _check_time(body)
    elif len({entry.id for entry in given}) < len(given):
        raise BadField(field="Id", problem="occurs more than once")
    own = {name.lower() for name in shape.__struct_fields__}
    return [
        _check_entry(entry, kind, number)._replace(details=_read_details(fields, own, number))
        for number, (entry, fields) in enumerate(zip(given, _read_fields(body), strict=True))
    ]


def _check_time(body: bytes) -> None:
    """Reject settings of day and night whose values have other types than the engine's: strict clients would fail."""
    shapes = {each.name.lower(): each for each in msgspec.structs.fields(catalogue_shapes.TimeSettings)}
    for fields in _read_fields(body):
        for name, value in fields.items():
            if (known := shapes.get(name.lower())) and known.name != "Id":
                try:
                    msgspec.json.decode(value, type=known.type)
                except msgspec.DecodeError as error:
                    raise BadField(field=f"[0].{known.name}", problem=f"is refused: {error}") from None


def _read_fields(body: bytes) -> list[dict[str, msgspec.Raw]]:
    """Read the fields of each entry, with their original spelling."""
    try:
        return _fields_decoder.decode(body.removeprefix(bodies.BOM))
    except msgspec.DecodeError:  # valid JSON otherwise: `bodies` has already decoded it
        raise MalformedBody(problem="The body has half a surrogate pair in a text.") from None


def _check_entry(entry: catalogue.CatalogueEntry, kind: str, number: int) -> catalogue.CatalogueEntry:
    if kind == "time":
        return catalogue.NamedEntry(lookup.ZERO_GUID, "")  # all times have one key, so that there is only one entry
    if entry.id == lookup.ZERO_GUID:
        raise BadField(field=f"[{number}].Id", problem="must not be all zeros")
    if isinstance(entry, catalogue.CatalogueItem) and entry.stackable and entry.bag_slots:
        raise BadField(field=f"[{number}].BagSlots", problem="must be 0 when the item is stackable")
    return entry


def _read_value(entry: catalogue_shapes.ServerVariableEntry, number: int) -> str | None:
    """Return the value of a server's variable as JSON; None: the game publishes none."""
    if entry.Value is None:
        return None
    field = f"[{number}].Value"
    try:
        return values.encode_value(values.read_value(entry.Value, entry.Type, field=field))
    except WrongValueType:
        raise BadField(field=field, problem=f"must be a value of type {entry.Type}") from None


def _read_details(fields: dict[str, msgspec.Raw], own: set[str], number: int) -> str | None:
    """Return the further fields of an entry as compact JSON; None if it has none. Numbers keep their spelling."""
    pauses.pause_if_due()
    rest = {name: value for name, value in fields.items() if name.lower() not in own}
    if not rest:
        return None
    for name, value in rest.items():
        _require_storable(name, value, f"[{number}].{name}")
    details = msgspec.json.format(shapes.encode(rest), indent=-1)
    if len(details) > MAX_DETAILS_BYTES:
        problem = f"has {len(details)} bytes of further fields: at most {MAX_DETAILS_BYTES} are stored"
        raise BadField(field=f"[{number}]", problem=problem)
    return details.decode()


def _require_storable(name: str, value: msgspec.Raw, field: str) -> None:
    """Reject numbers beyond a double, and texts with U+0000, which databases do not store."""
    try:
        decoded: object = msgspec.json.decode(value)
    except msgspec.DecodeError:
        raise BadField(field=field, problem="has a number that cannot be stored") from None
    if b"\\u0000" in bytes(value) and _has_null(decoded):
        raise BadField(field=field, problem="has characters that cannot be stored")
    values.require_game_text(name, field, 255)


def _has_null(value: object) -> bool:
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return any(_has_null(name) or _has_null(each) for name, each in pairs)
    if isinstance(value, list):
        return any(_has_null(each) for each in cast("list[object]", value))
    return isinstance(value, str) and "\0" in value


def _read_entry(value: catalogue_shapes.Entry, number: int) -> catalogue.CatalogueEntry:
    entry = STORED.get(type(value), catalogue.NamedEntry)(*msgspec.structs.astuple(value))
    is_of_server = isinstance(value, catalogue_shapes.ServerVariableEntry)
    return entry._replace(value=_read_value(value, number)) if is_of_server else entry


STORED = {shape: entry for entry, shape in catalogue_shapes.SHAPES.items()}
# answers of an operation have one of these shapes, by the type of the objects
_OBJECTS = get_args(catalogue_shapes.GameObject)
OBJECTS = Union[tuple(shapes.Paged[each] for each in _OBJECTS)]  # noqa: UP007 - made at run time
KEYED = Union[tuple(shapes.Legacy[catalogue_shapes.Keyed[each]] for each in _OBJECTS)]  # noqa: UP007 - as above
GROUP = Group(
    "Gameobjects",
    "The catalogue with the object types and JSON shapes of the Intersect engine.",
    place=250,
    permissions=READ_PLAYERS,
    cache=REVALIDATED,
)
GROUPS = (GROUP,)


@GROUP.operation("GET /api/v1/gameobjects/[type]", answer=OBJECTS)
async def list_game_objects(request: Request, query: shapes.PageQuery, object_type: str) -> bytes:
    """List the game's objects of one type, in pages."""
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    total, found = await _load_page(request, object_type, page)
    return shapes.encode_paged(total, page.number, page.size, [_encode_object(request, each) for each in found])


@GROUP.operation("POST /api/v1/gameobjects/[type]", access=READ, answer=KEYED)
async def list_game_objects_legacy(request: Request, body: shapes.LegacyPage, object_type: str) -> bytes:
    """List the game's objects of one type, in the legacy format."""
    page = paging.read_legacy(request, body)
    total, found = await _load_page(request, object_type, page)
    return shapes.encode_legacy(
        total, page.number, [catalogue_shapes.encode_keyed(each.id, _encode_object(request, each)) for each in found]
    )


@GROUP.operation(
    "GET /api/v1/gameobjects/[type]/names",
    answer=shapes.Paged[str],
    example_answer=shapes.Paged(31, 0, 5, 1, ["Healing Draught"]),
)
async def list_game_object_names(request: Request, query: shapes.PageQuery, object_type: str) -> bytes:
    """List the names of the objects of one type, in pages."""
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    total, found = await _load_page(request, object_type, page, details=False)
    return shapes.encode_paged(total, page.number, page.size, [shapes.encode(each.name) for each in found])


@GROUP.operation(
    "POST /api/v1/gameobjects/[type]/names",
    access=READ,
    answer=dict[str, str],
    rows=MANY,
    gated=True,
)
async def list_game_object_names_legacy(request: Request, object_type: str) -> bytes:
    """Get the names of all objects of one type, as an object of id and name."""
    everything = PageRange(0, paging.MAX_INT32, paging.MAX_INT32)

    async def read() -> bytes:
        _, found = await _load_page(request, object_type, everything, details=False)
        return shapes.encode({each.id: each.name for each in found})

    return await request.run_through_gate(read)


@GROUP.operation(
    "GET /api/v1/gameobjects/[type]/[objectId]",
    answer=catalogue_shapes.GameObject,
    refusals=(no.NoSuchObject,),
)
async def get_game_object(request: Request, object_type: str, object_id: str) -> bytes:
    """Get one of the game's objects by type and id."""
    kind = catalogue_shapes.OBJECTS[object_type]
    store = request.services.keeper.store
    found = await store.read(lambda tx: game_catalogue.find_detailed(tx, kind, object_id))
    if found is None:
        raise NoSuchObject(type=object_type, id=object_id)
    return _encode_object(request, found)


@GROUP.operation("GET /api/v1/gameobjects/time", answer=catalogue_shapes.TimeSettings, rows=24)
async def get_time_settings(request: Request) -> bytes:
    """Get the game's settings of day and night."""
    store = request.services.keeper.store
    found = await store.read(lambda tx: game_catalogue.find_detailed(tx, "time", ZERO_GUID))
    return catalogue_shapes.encode_time(found.details if found else None)


async def refuse_time_list(request: Request) -> bytes:
    """Refuse a POST to the settings of day and night, as the engine does: they are no list."""
    del request  # the answer is always the same
    raise InvalidObjectType


REFUSED = (
    Route(
        method="POST",
        path="/api/v1/gameobjects/time",
        permissions=READ_PLAYERS,
        access=READ,
        handler=refuse_time_list,
    ),
)


async def _load_page(
    request: Request, object_type: str, page: PageRange, *, details: bool = True
) -> tuple[int, list[catalogue.CatalogueEntry]]:
    kind, store = catalogue_shapes.OBJECTS[object_type], request.services.keeper.store
    return await store.read(lambda tx: game_catalogue.load_page(tx, kind, page.limit, page.offset, details=details))


def _encode_object(request: Request, entry: catalogue.CatalogueEntry) -> bytes:
    room = inventory.read_capacity(request.services.keeper.settings)
    return documents.encode_game_object(entry, room)
