"""Types of JSON values without a language, read from type annotations of the server. client_model.py uses them."""

import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Meta, UnsetType

from gamekeeper.http.contract.schemas import Schema


@dataclass(frozen=True)
class Simple:
    """A JSON value without parts.

    `format`: uuid, date-time, int32, int64, double, email, name, level, password, sha256 (a password's, in hex), or
    empty.
    """

    kind: Literal["text", "integer", "number", "boolean", "null", "anything"]
    format: str = ""


@dataclass(frozen=True)
class Choice:
    """One of a few texts or numbers."""

    values: tuple[str | int, ...]


@dataclass(frozen=True)
class ListOf:
    item: "Type"


@dataclass(frozen=True)
class MapOf:
    """A JSON object with any names."""

    value: "Type"


@dataclass(frozen=True)
class Reference:
    """A shape by name, with its arguments if it is generic."""

    name: str
    arguments: tuple["Type", ...] = ()


@dataclass(frozen=True)
class Variable:
    """A parameter of a generic shape."""

    name: str


@dataclass(frozen=True)
class OneOf:
    options: tuple["Type", ...]


Type = Simple | Choice | ListOf | MapOf | Reference | Variable | OneOf
NULL = Simple("null")


def list_references(kind: Type | None) -> Iterator[str]:
    """List the shapes that a type refers to."""
    match kind:
        case Reference():
            yield kind.name
            for each in kind.arguments:
                yield from list_references(each)
        case ListOf():
            yield from list_references(kind.item)
        case MapOf():
            yield from list_references(kind.value)
        case OneOf():
            for each in kind.options:
                yield from list_references(each)
        case _:
            return


_SIMPLE: dict[Any, Simple] = {
    str: Simple("text"),
    int: Simple("integer"),
    float: Simple("number"),
    bool: Simple("boolean"),
    type(None): NULL,
    Any: Simple("anything"),
    msgspec.Raw: Simple("anything"),
}
_JSON_TYPES = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean", "null": "null"}
_MAX_INT32 = 2**31 - 1


def read_type(kind: Any, metas: tuple[Meta, ...] = ()) -> Type:  # noqa: ANN401 - a type annotation of any form
    """Read a type annotation. `metas`: its annotations, from the innermost to the outermost."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return read_type(arguments[0], (*[each for each in arguments[1:] if isinstance(each, Meta)], *metas))
    if origin in (Union, types.UnionType):
        options = dict.fromkeys(read_type(each) for each in arguments if each is not UnsetType)
        return next(iter(options)) if len(options) == 1 else OneOf(tuple(options))
    if schema := _find_schema(metas):
        return read_schema(schema)
    if origin in (list, dict):
        item = read_type(arguments[-1])
        return ListOf(item) if origin is list else MapOf(item)
    return _read_single(kind, metas)


def _read_single(kind: Any, metas: tuple[Meta, ...]) -> Type:  # noqa: ANN401 - a type is any object
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return Choice(arguments)
    if isinstance(kind, TypeVar):
        return Variable(kind.__name__)
    if kind not in _SIMPLE:
        return Reference((origin or kind).__name__, tuple(read_type(each) for each in arguments))
    return replace(_SIMPLE[kind], format=_find_format(metas))


def _find_schema(metas: Iterable[Meta]) -> Schema | None:
    """Find a schema that replaces the type: of a query parameter that is read specially, or of a choice."""
    for each in metas:
        given = (each.extra or {}).get("schema") or each.extra_json_schema or {}
        if (each.extra or {}).get("schema") or given.keys() & {"anyOf", "enum"}:
            return given
    return None


def read_schema(schema: Schema) -> Type:
    if "enum" in schema:
        return Choice(tuple(schema["enum"]))
    if "type" not in schema:
        return OneOf(tuple(read_schema(each) for each in schema["anyOf"]))
    return Simple(_JSON_TYPES[schema["type"]], schema.get("format", ""))  # pyright: ignore[reportArgumentType] - its values are kinds


def _find_format(metas: Iterable[Meta]) -> str:
    if any((each.extra or {}).get("is") == "password" for each in metas):
        return "sha256"
    formats = [(each.extra_json_schema or {}).get("format", "") for each in metas]
    limits = [each.le for each in metas if each.le is not None]
    wide = "int64" if any(each > _MAX_INT32 for each in limits) else ""
    return next((each for each in reversed(formats) if each), wide)


def find_description(kind: Any) -> str:  # noqa: ANN401 - a type is any object
    """Find the outermost description of a type. Options of a union may have it too."""
    if get_origin(kind) is Annotated:
        of, *annotations = get_args(kind)
        metas = [each for each in reversed(annotations) if isinstance(each, Meta)]
        described = [each.description or (each.extra_json_schema or {}).get("description", "") for each in metas]
        return next(filter(None, [*described, find_description(of)]), "")
    if get_origin(kind) in (Union, types.UnionType):
        return next((found for each in get_args(kind) if (found := find_description(each))), "")
    return ""


def fits(value: object, kind: Type) -> bool:
    """Check that a default is JSON of its type. Some defaults of queries are values inside the server."""
    match kind:
        case OneOf():
            return any(fits(value, each) for each in kind.options)
        case Choice():
            return value in kind.values
        case ListOf():
            return isinstance(value, list)
        case Reference():
            return isinstance(value, dict)
        case Simple():
            return any(type(value) is of for of, each in _SIMPLE.items() if each.kind == kind.kind)
        case _:
            return False
