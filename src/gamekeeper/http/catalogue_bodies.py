"""Decode the catalogue entries that a game server publishes, with their further fields (details)."""

from collections.abc import Sequence
from typing import cast

import msgspec

from gamekeeper.game import lookup, texts, values
from gamekeeper.game.refusals import BadField
from gamekeeper.game.world_refusals import WrongValueType
from gamekeeper.http import bodies, wire
from gamekeeper.http.errors import MalformedBody
from gamekeeper.http.large_bodies import pauses
from gamekeeper.store import catalogue

MAX_DETAILS_BYTES = 65_536  # size of the further fields of one entry, as compact JSON
_fields_decoder = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])


def read_entries(kind: str, body: bytes, content_type: str) -> Sequence[catalogue.CatalogueEntry]:
    """Read the entries of one kind that a game server publishes."""
    shape = wire.catalogue.ENTRIES[kind]
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
    shapes = {each.name.lower(): each for each in msgspec.structs.fields(wire.catalogue.TimeSettings)}
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


def _read_value(entry: wire.catalogue.ServerVariableEntry, number: int) -> str | None:
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
    details = msgspec.json.format(wire.encode(rest), indent=-1)
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
    texts.require_game_text(name, field, 255)


def _has_null(value: object) -> bool:
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return any(_has_null(name) or _has_null(each) for name, each in pairs)
    if isinstance(value, list):
        return any(_has_null(each) for each in cast("list[object]", value))
    return isinstance(value, str) and "\0" in value


def _read_entry(value: wire.catalogue.Entry, number: int) -> catalogue.CatalogueEntry:
    fields = msgspec.structs.astuple(value)
    match value:
        case wire.catalogue.ItemEntry():
            return catalogue.CatalogueItem(*fields)
        case wire.catalogue.VariableEntry():
            return catalogue.CatalogueVariable(*fields)
        case wire.catalogue.ServerVariableEntry():
            known = (value.Id, value.Name, value.Type, value.TextId, value.Folder, value.TimeCreated)
            return catalogue.CatalogueServerVariable(*known, _read_value(value, number))
        case wire.catalogue.GuildVariableEntry():
            return catalogue.CatalogueGuildVariable(*fields)
        case wire.catalogue.NamedEntry() | wire.catalogue.TimeEntry():
            return catalogue.NamedEntry(*fields)
