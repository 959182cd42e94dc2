"""Schemas of the strict OpenAPI document: what clients should send, and what they get. Client generators read it.

Schemas are simplified to the forms that all client generators understand.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from gamekeeper.http.contract import operation_refusals, schemas
from gamekeeper.http.contract import shapes as http_shapes
from gamekeeper.http.contract.operation import Operation
from gamekeeper.http.contract.path_parameters import PathParameter
from gamekeeper.http.contract.schemas import (
    NULL,
    ChangeSchema,
    Rename,
    Schema,
    Schemas,
    keep_name,
    make_reference,
    name_in_body,
    read_components,
)

# name of a shape of changes → kind → types of `Before` and `After`
Sides = Mapping[str, Mapping[str, tuple[object, object]]]
TYPES = {bool: "boolean", int: "integer", str: "string"}
RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def simplify(schema: Schema) -> Schema:
    """Simplify one JSON Schema. The schemas inside it must be simplified already."""
    plain = {key: value for key, value in schema.items() if key != "default" or value is not None}
    if "anyOf" in plain:
        plain = _join_null(plain)
    if plain.get("type") == "object" and not plain.keys() & {"properties", "additionalProperties"}:
        plain["additionalProperties"] = True
    if "enum" in plain and "type" not in plain:
        plain["type"] = TYPES[type(plain["enum"][0])]
    return _set_width(plain) if plain.get("type") == "integer" else plain


def _join_null(schema: Schema) -> Schema:
    """Turn `anyOf: [X, null]` of a JSON Schema into a type list with "null", and disjoint `anyOf` into `oneOf`."""
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    if "type" in rest:
        return rest  # drop the `anyOf`: its alternatives only add restrictions
    given = [option for each in schema["anyOf"] for option in each.get("oneOf", [each])]
    options = [each for each in given if each != NULL]
    if {"integer", "number"} <= {str(each.get("type")) for each in given}:
        return {**rest, "anyOf": given}  # every integer is a number too, so it would match two alternatives
    if len(options) == len(given) or len(options) > 1:
        return {**rest, "oneOf": given}
    if "type" not in options[0]:
        return {**rest, "anyOf": given}
    joined = {**options[0], **rest, "type": [options[0]["type"], "null"]}
    return {**joined, "enum": [*joined["enum"], None]} if "enum" in joined else joined


def _set_width(schema: Schema) -> Schema:
    """Set the format int32 or int64 of an integer's JSON Schema, and drop bounds that the format implies."""
    bounds = [schema[each] for each in ("minimum", "maximum") if each in schema] or schema.get("enum", [])
    name = schema.get("format") or _find_width(bounds)
    if name is None:
        return schema  # unknown width, so no format: test_openapi.py reports such integers
    least, most = RANGES[name]
    said: dict[str, Any] = {"minimum": least, "maximum": most}
    return {key: value for key, value in schema.items() if key not in said or value != said[key]} | {"format": name}


def _find_width(bounds: list[int]) -> str | None:
    within = [name for name, (least, most) in RANGES.items() if all(least <= each <= most for each in bounds)]
    return within[0] if bounds else None


JSON = "application/json"
ERROR = "ApiError"
KIND = "Kind"
UNKNOWN_KINDS = "Later versions may have more kinds of changes: skip unknown ones."
ABOUT = """\
* **This is the strict contract**, for client generators. The server accepts more, such as numbers as text, forms, and
  names in any letter case: `/api/openapi.json?tolerant=true` describes that.
* **Numbers beyond 2^53**: `Exp`, `ExperienceToNextLevel`, `PlayTimeSeconds`, `TimeCreated` and the values of variables
  (`Value`, `value`) are 64-bit integers that a game sets. All other numbers stay below 2^53. JavaScript's `JSON.parse`
  rounds larger ones; a reviver that converts `context.source` to a `BigInt` keeps them exact.
* **Later versions** may add fields, error codes and kinds of changes: ignore unknown ones.
"""


class Contract(Schemas):
    """Makes the schemas of the strict OpenAPI document. Every JSON object becomes a named component."""

    about = ABOUT

    def __init__(self, name_pattern: str, max_level: int, sides: Sides) -> None:
        super().__init__()
        self._sides = sides
        self._formats: dict[str, Schema] = {
            "name": {"type": "string", "pattern": f"^(?:{name_pattern})$"},
            "level": {"type": "integer", "minimum": 1, "maximum": max_level},
        }
        self.components[ERROR] = self._describe_shape(http_shapes.Error)

    def describe_path(self, parameter: PathParameter) -> Schema:
        schema = parameter.strict_schema or parameter.schema
        example = int(parameter.example) if schema["type"] == "integer" else parameter.example
        return {"schema": schema, "description": parameter.about, "example": example}

    def describe_body(self, operation: Operation) -> Schema:
        schema, required = self._describe_body_schema(operation)
        example = msgspec.to_builtins(operation.example_body)
        return {"required": required, "content": {JSON: {"schema": schema, "example": example}}}

    def describe_answer(self, operation: Operation) -> Schema:
        """Describe an operation's answer in OpenAPI. An answer with several shapes becomes a component of its own."""
        described = self._collect_answer(operation.answer)
        if "anyOf" not in described:
            return described
        name = f"{_to_pascal_case(operation.name)}Answer"
        self.components[name] = described
        return make_reference(name)

    def describe_refusals(self, operation: Operation) -> dict[str, Schema]:
        """Describe an operation's errors by status in OpenAPI. All of them use one error component per operation."""
        name, found = f"{_to_pascal_case(operation.name)}Error", operation_refusals.list_refusals(operation)
        self.components[name] = self._describe_error([kind for kinds in found.values() for kind in kinds], operation)
        return {
            str(status): operation_refusals.describe_response(
                kinds, make_reference(name), self._collect_examples(kinds, operation)
            )
            for status, kinds in found.items()
        }

    def _collect_examples(self, kinds: list[operation_refusals.RefusalType], operation: Operation) -> Schema:
        """Move OpenAPI examples into components and refer to them: openapi-generator warns about inline examples."""
        found: Schema = {}
        for code, example in operation_refusals.make_examples(kinds, operation).items():
            same = self.examples.setdefault(code, example) == example
            name = code if same else f"{operation.name}_{code}"
            self.examples[name] = example
            found[code] = {"$ref": f"#/components/examples/{name}"}
        return found

    def _describe_error(self, kinds: list[operation_refusals.RefusalType], operation: Operation) -> Schema:
        """Describe an operation's error with its codes in OpenAPI. Fields that only some errors have are optional."""
        base = self.components[ERROR]
        codes = list(dict.fromkeys(operation_refusals.get_code(kind) for kind in kinds))
        fields: Schema = {}
        shapes = dict.fromkeys(operation_refusals.find_shape(kind, operation) for kind in kinds)
        for shape in [each for each in shapes if each is not http_shapes.Error]:
            self._collect_answer(shape)
            fields |= self.components.pop(shape.__name__)["properties"]
        return {**base, "properties": {**base["properties"], **fields, **http_shapes.describe_code(codes)}}

    def _describe_body_schema(self, operation: Operation) -> tuple[Schema, bool]:
        if operation.body is None or not issubclass(operation.body, Struct):
            name, kinds = operation.records
            self.components[name] = {
                "anyOf": [self._collect(kind, self._forbid_unknown, name_in_body) for kind in kinds]
            }
            return {"type": "array", "items": make_reference(name)}, True
        if choice := http_shapes.find_choice(operation.body):
            options = {
                value: self._collect(kind, self._forbid_unknown, name_in_body) for value, kind in choice[1].items()
            }
            self.components[operation.body.__name__] = _make_choice(choice[0], options)
            return make_reference(operation.body.__name__), True
        required = any(each.required for each in msgspec.structs.fields(operation.body))
        return self._collect(operation.body, self._forbid_unknown, name_in_body), required

    def _add(self, name: str, component: Schema, change: ChangeSchema, rename: Rename) -> None:
        if rename(name) in self.components:
            return
        super()._add(name, component, change, rename)
        if name in self._sides:
            self.components[rename(name)] = self._split_by_kind(name, self.components[rename(name)])

    def _split_by_kind(self, name: str, change: Schema) -> Schema:
        """Make one OpenAPI component per kind of change, with the schemas of its `Before` and `After`."""
        variants: dict[str, Schema] = {}
        for kind, sides in self._sides[name].items():
            before, after = (self._collect_answer(each) for each in sides)
            variant = f"{_to_pascal_case(kind)}{name}"
            self.components[variant] = {
                **change,
                "properties": change["properties"]
                | {KIND: {"type": "string", "enum": [kind]}, "Before": before, "After": after},
            }
            variants[kind] = make_reference(variant)
        return {"description": UNKNOWN_KINDS, **_make_choice(KIND, variants)}

    def _forbid_unknown(self, name: str, schema: Schema) -> Schema:
        shape = schemas.list_shapes()[name]
        is_open = http_shapes.find_further(shape) is not None
        return {**schema, "additionalProperties": is_open, **http_shapes.describe_together(shape)}

    def _describe_shape(self, shape: type[Struct]) -> Schema:
        return self._clean(read_components(shape)[1][shape.__name__], keep_name)

    def _simplify(self, schema: Schema) -> Schema:
        return simplify(self._formats.get(schema.get("format", ""), schema))


def _make_choice(field: str, options: dict[str, Schema]) -> Schema:
    """Make an OpenAPI `oneOf` with a discriminator field."""
    mapping = {value: each["$ref"] for value, each in options.items()}
    return {"oneOf": list(options.values()), "discriminator": {"propertyName": field, "mapping": mapping}}


def _to_pascal_case(name: str) -> str:
    """Turn `give_item` into GiveItem."""
    return re.sub(r"_?([a-z0-9]+)", lambda found: found[1].capitalize(), name)
