"""Decode request bodies: JSON or form, names in any letter case, numbers and booleans also as strings.

Unknown fields are ignored. Strict bodies, those of our own operations, reject them: a misspelt field could do harm.
"""

import json
import re
import types
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta, Struct, UnsetType
from msgspec.structs import FieldInfo

from gamekeeper.game.access import passwords
from gamekeeper.game.core import lookup, values
from gamekeeper.game.core.refusals import BadField, MissingField, RepeatedField
from gamekeeper.http.contract.shapes import list_read_only, list_together
from gamekeeper.http.server import field_names, queries
from gamekeeper.http.server.admission import pauses
from gamekeeper.http.server.errors import MalformedBody, UnsupportedMediaType

S = TypeVar("S", bound=Struct)
R = TypeVar("R")
ReadValue = Callable[[object, str], object]
JSON_TYPE = "application/json"
JSON = frozenset({JSON_TYPE, "text/json"})
FORM = "application/x-www-form-urlencoded"
SWITCHES = {"on": True, "off": False}  # spellings of booleans in forms: HTML check boxes send `on`
# spellings of booleans by PHP's http_build_query; not for fields that also accept numbers
BITS = {"1": True, "0": False}
BOM = b"\xef\xbb\xbf"
MAX_DEPTH = 32
MAX_DIGITS = 20
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,19})", re.ASCII)
_INSTANT = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d{1,6})?(Z|[+-]\d{2}:\d{2})", re.ASCII | re.IGNORECASE
)


def decode(
    raw: bytes, content_type: str, shape: type[S], *, forms: bool = True, strict: bool = False, changes: bool = False
) -> S:
    """Decode a request body into its shape. `changes`: a write, so reject fields like `dryRun`, a query parameter."""
    fields = _parse_fields(raw.removeprefix(BOM), content_type, shape if forms else None)
    if changes:
        queries.reject_in_body(fields, _list_accepted_names(shape))
    try:
        return cast("S", _make_struct_reader(shape, strict=strict)(fields, ""))
    except field_names.UnknownFieldFound as unknown:
        raise field_names.make_error(raw, unknown) from None


def decode_list(raw: bytes, content_type: str, shape: type[S]) -> list[S]:
    """Decode a request body that is a JSON array of records, such as the catalogue of the game link."""
    if _read_media_type(content_type) not in {"", *JSON}:
        raise UnsupportedMediaType(types=JSON_TYPE)
    value = _parse_json(raw.removeprefix(BOM))
    if not isinstance(value, list):
        raise MalformedBody(problem="The body must be a JSON array.")
    read = _make_struct_reader(shape, strict=True)
    try:
        return [cast("S", read(each, f"[{number}]")) for number, each in enumerate(cast("list[object]", value))]
    except field_names.UnknownFieldFound as unknown:
        raise field_names.make_error(raw, unknown) from None


def _parse_fields(raw: bytes, content_type: str, form: type[Struct] | None) -> object:
    """Parse a request body to fields. `form`: shape of the body if forms are accepted, else None."""
    kind = _read_media_type(content_type)
    start = raw.lstrip()[:1]
    if not start:
        return {}
    if kind in JSON or (start == b"{" and kind in {"", FORM}) or (start == b"[" and not kind):
        return _parse_json(raw)
    if kind == FORM and form is not None:
        return _parse_form(raw, form)
    raise UnsupportedMediaType(types=" or ".join([JSON_TYPE, FORM] if form else [JSON_TYPE]))


def is_form(raw: bytes, content_type: str) -> bool:
    """Check whether `decode` reads a body as a form. One that starts with `{` is JSON, whatever its Content-Type."""
    return _read_media_type(content_type) == FORM and not raw.removeprefix(BOM).lstrip().startswith(b"{")


def _read_media_type(content_type: str) -> str:
    return JSON_TYPE if content_type == JSON_TYPE else content_type.partition(";")[0].strip().lower()


def _parse_form(raw: bytes, shape: type[Struct]) -> dict[str, object]:
    """Parse a form body. It must be UTF-8: guessing the encoding could store garbled text."""
    try:
        pairs = parse_qsl(raw.decode("utf-8"), keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise MalformedBody(problem="The form is not UTF-8. Encode its text as UTF-8 and send it again.") from None
    blank, words = _list_blank_names(shape), _list_boolean_words(shape)
    fields = _fold_names(field_names.nest(pairs, shape))
    sent = {name: value for name, value in fields.items() if value or name not in blank}
    return {name: words.get(name, {}).get(str(value).lower(), value) for name, value in sent.items()}


@cache
def _list_boolean_words(shape: type[Struct]) -> dict[str, Mapping[str, bool]]:
    """List the words for booleans in a form, besides true and false: field name → word → boolean."""
    found: dict[str, Mapping[str, bool]] = {}
    for each in msgspec.structs.fields(shape):
        if _accepts_type(each.type, bool):
            words = SWITCHES if _accepts_type(each.type, int) else SWITCHES | BITS
            found |= dict.fromkeys(_list_spellings(each), words)
    return found


def _accepts_type(kind: Any, wanted: type) -> bool:  # noqa: ANN401 - a type annotation of any form
    return kind is wanted or any(_accepts_type(each, wanted) for each in get_args(kind))


@cache
def _list_blank_names(shape: type[Struct]) -> frozenset[str]:
    """List the fields for which an empty text in a form counts as missing: forms have no null."""
    optional = list_optional_names(shape)
    known = [each for each in msgspec.structs.fields(shape) if each.name in optional]
    return frozenset(spelling for each in known for spelling in _list_spellings(each))


def _parse_json(raw: bytes) -> object:
    try:
        value: object = _decoder.decode(raw.decode("utf-8"))
    except RecursionError:
        raise MalformedBody(problem=f"The body is nested deeper than {MAX_DEPTH} levels.") from None
    except ValueError:
        raise MalformedBody(problem="The body is not valid JSON.") from None
    if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH and _measure_depth(value) > MAX_DEPTH:
        raise MalformedBody(problem=f"The body is nested deeper than {MAX_DEPTH} levels.")
    return value


def _fold_names(pairs: list[tuple[str, Any]]) -> dict[str, object]:
    pauses.pause_if_due()
    fields: dict[str, object] = {}
    for name, value in pairs:
        key = name.lower()
        if key in fields:
            raise RepeatedField(field=name)
        fields[key] = value
    return fields


def _parse_int(digits: str) -> object:
    """Parse an integer in a JSON body. A very long one becomes infinity: parsing it would be slow."""
    return int(digits) if len(digits) <= MAX_DIGITS else float("inf")


def _reject_constant(name: str) -> object:
    raise ValueError(name)


def _measure_depth(value: object) -> int:
    """Return the nesting depth of arrays and objects in a JSON body."""
    level, depth = [value], 0
    while level := [child for each in level for child in _list_children(each)]:
        depth += 1
    return depth


def _list_children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(cast("dict[str, object]", value).values()) or [None]
    return (cast("list[object]", value) or [None]) if isinstance(value, list) else []


@cache
def list_optional_names(shape: type[Struct]) -> frozenset[str]:
    """List the body fields for which null means the same as missing: many clients send null for unset fields."""
    known = [each for each in msgspec.structs.fields(shape) if not each.required]
    return frozenset(each.name for each in known if not _is_nullable(each.type) and not _find_extra(each, "never_null"))


@cache
def _make_struct_reader(shape: type[Struct], *, strict: bool) -> ReadValue:
    known, optional = msgspec.structs.fields(shape), list_optional_names(shape)
    fields = [
        (each.name, _list_spellings(each), _make_reader(each.type, strict=strict), each.required, each.name in optional)
        for each in known
    ]
    accepted = _list_accepted_names(shape)
    needed = [each.name for each in known if each.required]
    together = list_together(shape)

    def read(value: object, path: str) -> object:
        pauses.pause_if_due()
        sent = cast("Mapping[str, object]", value) if isinstance(value, dict) else _read_empty_object(value, path)
        if strict and not sent.keys() <= accepted:
            field_names.reject(sent, accepted, shape, path)
        given: dict[str, object] = {}
        for name, spellings, reader, required, optional in fields:
            for key in spellings:
                if key in sent and not (optional and sent[key] is None):
                    given[name] = reader(sent[key], f"{path}.{name}" if path else name)
                    if strict:
                        _require_one_spelling(sent, spellings, name)
                    break
            else:
                if required:
                    raise MissingField(field=f"{path}.{name}" if path else name)
        record = shape(**given)
        if together:
            _require_together(record, given, needed, together, path)
        return record

    return read


def _require_one_spelling(sent: Mapping[str, object], spellings: list[str], name: str) -> None:
    if len(spellings) > 1 and sum(sent.get(each) is not None for each in spellings) > 1:
        raise RepeatedField(field=name)


def _require_together(
    record: Struct, given: Mapping[str, object], needed: list[str], together: Sequence[str], path: str
) -> None:
    missing = next((name for name in together if name not in given), None)
    if missing and record != type(record)(**{name: given[name] for name in needed}):
        raise MissingField(field=f"{path}.{missing}" if path else missing)


@cache
def _list_accepted_names(shape: type[Struct]) -> frozenset[str]:
    """List all names that a body's fields may have, in lower case."""
    ignored = frozenset(name.lower() for name in list_read_only(shape))
    return ignored.union(*map(_list_spellings, msgspec.structs.fields(shape)))


def _list_spellings(field: FieldInfo) -> list[str]:
    """List the names under which a body may have a field, in lower case. The first one present is used."""
    return [field.name.lower(), *_find_extra(field, "or")]


def _find_extra(field: FieldInfo, name: str) -> list[Any]:
    """Find the values of `Meta.extra[name]` in a field's type."""
    metas = [each.extra or {} for each in get_args(field.type) if isinstance(each, Meta)]
    return [each[name] for each in metas if name in each]


def _is_nullable(kind: Any) -> bool:  # noqa: ANN401 - a type annotation of any form
    return get_origin(kind) in (Union, types.UnionType) and types.NoneType in get_args(kind)


def _read_empty_object(value: object, path: str) -> dict[str, object]:
    if value == []:  # PHP sends [] for an empty object
        return {}
    if path:
        raise BadField(field=path, problem="must be a JSON object")
    raise MalformedBody(problem="The body must be a JSON object.")


def _make_reader(kind: Any, *, strict: bool) -> ReadValue:  # noqa: ANN401 - a type annotation of any form
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        meta = next(each for each in arguments[1:] if isinstance(each, Meta))
        return _make_annotated_reader(arguments[0], meta, strict=strict)
    if origin in (Union, types.UnionType):
        return _make_union_reader([each for each in arguments if each is not UnsetType], strict=strict)
    if origin is list:
        return _make_list_reader(_make_reader(arguments[0], strict=strict), Meta())
    if origin is Literal:
        return _make_choice_reader(arguments)
    simple: dict[Any, ReadValue] = {bool: _read_boolean, str: _make_text_reader(Meta())}
    return simple.get(kind) or _make_struct_reader(kind, strict=strict)


def _make_annotated_reader(base: Any, meta: Meta, *, strict: bool) -> ReadValue:  # noqa: ANN401 - as above
    special = (meta.extra or {}).get("is")
    if special is not None:
        return _SPECIAL_READERS[special]
    if base is int:
        return _make_integer_reader(cast("int", meta.ge), cast("int", meta.le))
    if get_origin(base) is list:
        return _make_list_reader(_make_reader(get_args(base)[0], strict=strict), meta)
    return _make_text_reader(meta) if base is str else _make_reader(base, strict=strict)


def _make_union_reader(kinds: list[Any], *, strict: bool) -> ReadValue:
    readers = [_make_reader(kind, strict=strict) for kind in kinds if kind is not types.NoneType]
    # a record that may also be sent as a text has the text's type as its second one
    text = readers[-1] if isinstance(kinds[0], type) and issubclass(kinds[0], Struct) else readers[0]

    def read(value: object, path: str) -> object:
        if value is None and types.NoneType in kinds:
            return None
        return (text if isinstance(value, str) else readers[0])(value, path)

    return read


def _make_list_reader(element: ReadValue, meta: Meta) -> ReadValue:
    least, most = meta.min_length or 0, meta.max_length

    def read(value: object, path: str) -> object:
        if not isinstance(value, list):
            raise BadField(field=path, problem="must be an array")
        elements = cast("list[object]", value)
        if len(elements) < least or (most is not None and len(elements) > most):
            wanted = f"{least}" if least == most else f"{least} to {most}"
            raise BadField(field=path, problem=f"must have {wanted} elements")
        return [element(each, f"{path}[{number}]") for number, each in enumerate(elements)]

    return read


def _make_choice_reader(options: tuple[str, ...]) -> ReadValue:
    def read(value: object, path: str) -> object:
        if value not in options:
            raise BadField(field=path, problem=f"must be one of {', '.join(options)}")
        return value

    return read


def _make_integer_reader(least: int, most: int) -> ReadValue:
    def read(value: object, path: str) -> object:
        if isinstance(value, str) and _INTEGER.fullmatch(value):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise BadField(field=path, problem=f"must be a whole number from {least} to {most}")
        return value

    return read


def _read_boolean(value: object, path: str) -> object:
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise BadField(field=path, problem="must be true or false")
    return value


def _read_variable_value(value: object, path: str) -> object:
    if isinstance(value, bool) or (isinstance(value, str) and value.lower() in {"true", "false"}):
        return _read_boolean(value, path)
    return _make_integer_reader(-(2**63), 2**63 - 1)(value, path)


def _keep_value(value: object, _: str) -> object:
    """Keep a value of a variable as it was sent: only the rules know the variable's type."""
    return value


def _make_text_reader(meta: Meta, require: Callable[[str, str, int | None], str] = values.require_text) -> ReadValue:
    def read(value: object, path: str) -> object:
        if not isinstance(value, str):
            raise BadField(field=path, problem="must be a string")
        return require(value, path, meta.max_length)

    return read


def _read_guid(value: object, path: str) -> object:
    found = lookup.parse_guid(value) if isinstance(value, str) else None
    if found is None:
        raise BadField(field=path, problem="must be a guid")
    return found


def _read_password(value: object, path: str) -> object:
    del path  # leave out the path of the field: the message is fixed, because clients compare it
    return passwords.require_wire_hash(value if isinstance(value, str) else "")


def _read_instant(value: object, path: str) -> object:
    if isinstance(value, str) and _INSTANT.fullmatch(value):
        try:
            datetime.fromisoformat(value).astimezone(UTC)  # check that the time is also valid as a UTC date
        except (ValueError, OverflowError):
            pass
        else:
            return value
    raise BadField(field=path, problem="must be a time such as 2026-01-31T12:00:00Z")


_decoder = json.JSONDecoder(object_pairs_hook=_fold_names, parse_int=_parse_int, parse_constant=_reject_constant)
_SPECIAL_READERS: Mapping[str, ReadValue] = {
    "guid": _read_guid,
    "password": _read_password,
    "secret": _make_text_reader(Meta(max_length=255)),
    "game_text": _make_text_reader(Meta(max_length=255), values.require_game_text),
    "instant": _read_instant,
    "value": _read_variable_value,
    "any_value": _keep_value,
}
