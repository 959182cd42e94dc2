"""JSON Schemas of the wire's shapes: the parts that both OpenAPI documents share."""

import re
import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Union, cast, get_args, get_origin

import msgspec
from msgspec import UNSET, Struct

from gamekeeper.ground.wire import Body, Shape
from gamekeeper.http.contract.shapes import Held, is_sent_too
from gamekeeper.http.server import queries

Schema = dict[str, Any]
# function that changes a JSON Schema; arguments: name of the shape, its schema
ChangeSchema = Callable[[str, Schema], Schema]
Rename = Callable[[str], str]
REF = "#/components/schemas/{name}"
NULL: Schema = {"type": "null"}
_MODULE = re.compile(r"gamekeeper\.(http|game)\.\w+\.\w+\.")


@cache
def list_shapes() -> Mapping[str, type[Struct]]:
    """Return the shapes of all rooms by their names, once their modules are imported."""
    return {each.__name__: each for each in _list_shapes_below(Struct)}


def _list_shapes_below(base: type[Struct]) -> Iterator[type[Struct]]:
    for each in base.__subclasses__():
        if _is_listed(each):
            yield each
        yield from _list_shapes_below(each)


def _is_listed(kind: type[Struct]) -> bool:
    """Tell whether a Struct is a shape of the API: one of a module `…_shapes.py`, or one that a rule takes or returns.

    Those that only other shapes derive from have no name of their own in documents and clients.
    """
    if issubclass(kind, Shape | Body):
        return not (kind.__module__ == Shape.__module__ or kind.__name__.startswith("_"))
    return kind.__module__.startswith("gamekeeper.http.") and kind.__module__.endswith("shapes")


@cache
def read_components(kind: Any) -> tuple[Schema, dict[str, Schema]]:  # noqa: ANN401 - a type annotation of any form
    """Return the JSON Schema of a type, and the components that it refers to."""
    (schema,), components = msgspec.json.schema_components([kind], ref_template=REF)
    return schema, components


def read_query(shape: type[Struct]) -> Schema:
    """Return the JSON Schema of a query, including schemas from `Meta.extra`."""
    schema = read_components(shape)[1][shape.__name__]
    return {**schema, "properties": {**schema["properties"], **queries.find_schemas(shape)}}


def make_reference(name: str) -> Schema:
    return {"$ref": REF.format(name=name)}


def get_component_name(reference: str) -> str:
    return reference.rpartition("/")[2]


def simplify_name(name: str) -> str:
    """Turn a schema name such as `Paged_PlayerRecord_` into PagedPlayerRecord, and drop the module of inner shapes."""
    return "".join(part[:1].upper() + part[1:] for part in _MODULE.sub("", name).split("_"))


def keep_name(name: str) -> str:
    return name


def name_in_body(name: str) -> str:
    """Name a shape's schema in request bodies. Add `Sent` if answers have it too: bodies require fewer fields."""
    return f"{name}Sent" if is_sent_too(list_shapes()[name]) else name


def require_all(name: str, schema: Schema) -> Schema:
    """Mark every field of an answer's schema as required, except fields that may be left out; drop defaults."""
    shape = list_shapes().get(name)
    if shape is not None and shape.__struct_config__.omit_defaults:
        return schema
    known = msgspec.structs.fields(shape) if shape is not None else ()
    left_out = {each.encode_name for each in known if each.default is UNSET}
    fields = {field: _drop_default(each) for field, each in schema.get("properties", {}).items()}
    return {**schema, "properties": fields, "required": [field for field in fields if field not in left_out]}


def transform(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """Apply `change` to a JSON Schema and all schemas in it, the inner ones first."""
    return change({key: _transform_part(key, value, change) for key, value in schema.items()})


def _transform_part(key: str, value: Any, change: Callable[[Schema], Schema]) -> Any:  # noqa: ANN401 - JSON
    if key == "properties":
        return {name: transform(each, change) for name, each in value.items()}
    if key in {"anyOf", "oneOf", "allOf"}:
        return [transform(each, change) for each in value]
    if key in {"items", "additionalProperties"} and isinstance(value, dict):
        return transform(cast("Schema", value), change)
    return value


def _drop_default(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "default"}


class Schemas:
    """Makes the schemas of an OpenAPI document, and collects the components that they refer to."""

    about: str

    def __init__(self) -> None:
        self.components: dict[str, Schema] = {}
        self.responses: dict[str, Schema] = {}
        self.examples: dict[str, Schema] = {}

    def describe_query(self, shape: type[Struct]) -> dict[str, Schema]:
        """Describe each parameter of a query in OpenAPI."""
        return self._clean(read_query(shape), keep_name)["properties"]

    def describe_held(self) -> Schema:
        """Describe the answer to a change that waits for approval."""
        return self._collect_answer(Held)

    def _collect_answer(self, kind: Any) -> Schema:  # noqa: ANN401 - a type annotation of any form
        return self._collect(kind, require_all, keep_name)

    def _collect(self, kind: Any, change: ChangeSchema, rename: Rename) -> Schema:  # noqa: ANN401 - as above
        if get_origin(kind) in (Union, types.UnionType):
            return {"anyOf": [self._collect(each, change, rename) for each in get_args(kind)]}
        schema, components = read_components(kind)
        for each, component in components.items():
            self._add(simplify_name(each), component, change, rename)
        return self._clean(schema, rename)

    def _add(self, name: str, component: Schema, change: ChangeSchema, rename: Rename) -> None:
        self.components[rename(name)] = self._clean(change(name, component), rename)

    def _clean(self, schema: Schema, rename: Rename) -> Schema:
        def change(each: Schema) -> Schema:
            """Clean one OpenAPI schema. Docstrings of shapes are left out: they are for readers of the code."""
            plain = self._simplify(each)
            dropped = {"title", "description"} if "properties" in plain else {"title"}
            shown = {key: value for key, value in plain.items() if key not in dropped}
            return shown | (
                make_reference(rename(simplify_name(get_component_name(plain["$ref"])))) if "$ref" in plain else {}
            )

        return transform(schema, change)

    def _simplify(self, schema: Schema) -> Schema:
        return schema
