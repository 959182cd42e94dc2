"""Decode a query into the shape that its operation declares, and find out whether a request is a dry run."""

import re
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, cast, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, UnsetType

from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.core.values import require_order
from gamekeeper.http.contract.operation import Route
from gamekeeper.http.server import field_names, query_values
from gamekeeper.http.server.errors import UnknownParameter
from gamekeeper.http.server.query_values import ReadValue, read_boolean

SPELLINGS = ("dryRun", "dry_run", "dry-run")  # spellings of the query parameter for a dry run, in any letter case
HEADER = b"x-dry-run"  # header that marks the response to a dry run; clients must not send it
_KNOWN = frozenset(each.lower() for each in SPELLINGS)
# prefixes and signs to ignore in a misspelt `dryRun`; `amp;` remains of an unescaped `&amp;` in a link
_DECORATION = re.compile(r"^amp;|^x-|[^a-z]")


def is_requested(query: Mapping[str, str], headers: Mapping[bytes, bytes]) -> bool:
    if not query and HEADER not in headers:
        return False
    for name in query:
        if name not in _KNOWN:
            _reject_misplaced(name)
    if HEADER in headers:
        _reject_misplaced(HEADER.decode())
    given = {read_boolean(query[name.lower()], name) for name in SPELLINGS if name.lower() in query}
    if len(given) > 1:
        raise BadField(field=SPELLINGS[0], problem="is true in one spelling and false in another")
    return True in given


def make_dry_run(raw_query: str) -> str:
    """Return a query for a dry run of a request; one that says `dryRun=false` must not say both."""
    kept = [pair for pair in raw_query.split("&") if pair and pair.partition("=")[0].lower() not in _KNOWN]
    return "&".join([*kept, "dryrun=true"])


def reject_in_body(body: object, known: frozenset[str]) -> None:
    """Reject a body with a field similar to `dryRun`: only the query can request one. `known`: the API's fields."""
    names = cast("Mapping[str, object]", body).keys() if isinstance(body, dict) else known
    if not names <= known:
        for name in names:
            _reject_misplaced(name)


def _reject_misplaced(name: str) -> None:
    if _DECORATION.sub("", name.lower()) == "dryrun":
        problem = "does not start a dry run. Put dryRun=true into the query"
        raise BadField(field=field_names.shorten(name), problem=problem)


S = TypeVar("S", bound=Struct)
Query = Mapping[str, str]  # query parameters of a request: name in lower case → text


class _FieldType(NamedTuple):
    """A field's type without annotations, and its annotations."""

    bare: Any
    metas: tuple[Meta, ...]

    def find_extra(self, name: str) -> Any:  # noqa: ANN401 - any value of the shape
        return next((each.extra[name] for each in reversed(self.metas) if each.extra and name in each.extra), None)

    def find_limit(self, name: str) -> int | None:
        return next((found for each in reversed(self.metas) if (found := getattr(each, name)) is not None), None)


def require_known(route: Route, query: Query) -> None:
    """Reject an unknown query parameter of one of our own operations."""
    if not query or not route.is_own_api:
        return
    known = list_known_names(route)
    for name in query:
        if name not in known:
            raise UnknownParameter(parameter=field_names.shorten(name), hint=field_names.make_hint(name, known))


@cache
def list_known_names(route: Route) -> dict[str, str]:
    """List a route's query parameters: name in lower case → documented name."""
    asked = route.query.__struct_encode_fields__ if route.query else ()
    return {name.lower(): name for name in (*asked, *(SPELLINGS if route.is_repeatable else ()))}


def decode(shape: type[S], query: Query, *, keep_empty: bool = False) -> S:
    """Decode the query parameters that a shape declares, in the order of its fields; others are ignored.

    `keep_empty`: an empty value is read like any other text. Otherwise it counts as no parameter.
    """
    if not keep_empty and "" in query.values():
        query = {name: text for name, text in query.items() if text}
    return cast("S", _make_decoder(shape)(query))


def can_be_empty(shape: type[Struct], name: str, *, keep_empty: bool) -> bool:
    """Return whether an empty value of a parameter counts as left out."""
    try:
        return decode(shape, {name.lower(): ""}, keep_empty=keep_empty) == shape()
    except BadField:
        return False


def find_schemas(shape: type[Struct]) -> dict[str, dict[str, Any]]:
    """Find the JSON schemas in a query's `Meta.extra`: name of the parameter → schema with its description."""
    given = {each.encode_name: _resolve(each.type) for each in msgspec.structs.fields(shape)}
    return {
        name: {"description": next(meta.description for meta in reversed(kind.metas) if meta.description), **schema}
        for name, kind in given.items()
        if (schema := kind.find_extra("schema"))
    }


@cache
def _make_decoder(shape: type[Struct]) -> Callable[[Query], Struct]:
    defaults = shape()  # the query with all parameters at their defaults; frozen, so that requests can share it
    fields = [
        (each.encode_name.lower(), each.name, each.encode_name, _make_reader(each.type, getattr(defaults, each.name)))
        for each in msgspec.structs.fields(shape)
    ]

    ranges = _list_ranges(shape)

    def decode(query: Query) -> Struct:
        if not query:
            return defaults
        given = {field: read(query[key], name) for key, field, name, read in fields if key in query}
        for name, start, end in ranges:
            if start in given and end in given:
                require_order(name, cast("int", given[start]), cast("int", given[end]))
        return shape(**given) if given else defaults

    return decode


def _list_ranges(shape: type[Struct]) -> list[tuple[str, str, str]]:
    """List a query's ranges, such as `from` to `to` or `levelFrom` to `levelTo`: name of the start, fields of both."""
    fields = {each.encode_name: each.name for each in msgspec.structs.fields(shape)}
    ends = {name: name.replace("from", "to").replace("From", "To") for name in fields if name.lower().endswith("from")}
    return [(name, fields[name], fields[end]) for name, end in ends.items() if end in fields]


def _make_reader(kind: Any, default: object) -> ReadValue:  # noqa: ANN401 - a type annotation of any form
    resolved = _resolve(kind)
    read = resolved.find_extra("read") or _find_reader(resolved)
    strip = resolved.find_extra("strip")
    if not strip and not resolved.find_extra("blank"):
        return read

    def read_unless_blank(text: str, name: str) -> object:
        text = text.strip() if strip else text
        return read(text, name) if text else default

    return read_unless_blank


def _resolve(kind: Any) -> _FieldType:  # noqa: ANN401 - as above
    """Split a type into bare type and annotations; drop the `| UnsetType` of parameters without a default."""
    if get_origin(kind) in (Union, types.UnionType):
        kinds = [each for each in get_args(kind) if each is not UnsetType]
        return _resolve(kinds[0]) if len(kinds) == 1 else _FieldType(kinds, ())
    if get_origin(kind) is Annotated:
        bare, *metas = get_args(kind)
        inner = _resolve(bare)
        return _FieldType(inner.bare, (*inner.metas, *(each for each in metas if isinstance(each, Meta))))
    return _FieldType(kind, ())


def _find_reader(kind: _FieldType) -> ReadValue:
    if isinstance(kind.bare, list):  # the parameter accepts a number, or one of a few words
        number, words = (_resolve(each) for each in cast("list[Any]", kind.bare))
        return query_values.make_word_reader(get_args(words.bare), _find_reader(number))
    if get_origin(kind.bare) is Literal:
        return query_values.make_choice_reader(get_args(kind.bare))
    if kind.bare is bool:
        return query_values.read_boolean
    if kind.bare is int:
        least, most = cast("int", kind.find_limit("ge")), cast("int", kind.find_limit("le"))
        return query_values.make_integer_reader(least, most, kind.find_extra("cut"))
    if kind.bare is not str:
        raise TypeError(f"A query parameter cannot be {kind.bare}: give its type a function that reads it.")
    if kind.find_extra("is") == "guid":
        return query_values.make_id_reader(kind.find_extra("problem"))
    return query_values.make_text_reader(kind.find_limit("max_length"))
