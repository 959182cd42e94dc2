"""Schemas of the tolerant OpenAPI document: everything that bodies.py accepts. The fuzz tests use it."""

import types
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import Struct

from gamekeeper.http import bodies, operation_refusals, wire
from gamekeeper.http.operation import Operation
from gamekeeper.http.path_parameters import PathParameter
from gamekeeper.http.schemas import (
    NULL,
    Change,
    Rename,
    Schema,
    name_given,
    name_of,
    name_sent,
    plain_name,
    read_components,
    read_query,
    refer,
    require_all,
    walk,
)

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
TRUTH = [True, False, "true", "false"]
BLANK: Schema = {"const": ""}  # stands for null in a form
GRANTS = wire.tokens.PasswordGrant | wire.tokens.RefreshGrant
FEW = 3
ABOUT = """\
* Names in paths, queries and bodies match in any letter case. Integers and booleans of a body may also be text. In a
  form, booleans may also be `1`, `0`, `on` or `off`.
"""


class Tolerance:
    """Make the schemas of the tolerant document, and collect the components that they refer to."""

    about = ABOUT

    def __init__(self, name_pattern: str, max_level: int) -> None:
        self._names = f"^(?:{name_pattern})$"
        self._max_level = max_level
        self.components: dict[str, Schema] = {}
        self.responses: dict[str, Schema] = {}
        self.examples: dict[str, Schema] = {}

    def describe_path(self, parameter: PathParameter) -> Schema:
        return {"schema": parameter.schema, "description": parameter.about, "example": parameter.example}

    def describe_query(self, shape: type[Struct]) -> dict[str, Schema]:
        """Describe each parameter of a query."""
        return _refer(read_query(shape), name_given)["properties"]

    def describe_body(self, operation: Operation) -> Schema:
        """Describe a body. Without required fields it may be empty, or `[]`: PHP sends that for an empty object."""
        example = msgspec.to_builtins(operation.example_body)
        if operation.body is None or not issubclass(operation.body, Struct):
            entries = [self._sent(kind, strict=True) for kind in dict.fromkeys(wire.catalogue.ENTRIES.values())]
            schema: Schema = {"type": "array", "items": {"anyOf": entries}}
            return {"required": True, "content": {JSON: {"schema": schema, "example": example}}}
        is_log_in = operation.body is wire.tokens.LogIn
        schema = self._sent(GRANTS if is_log_in else operation.body, strict=operation.is_ours)
        required = is_log_in or any(each.required for each in msgspec.structs.fields(operation.body))
        forgiving = schema if required else {"anyOf": [schema, {"type": "array", "maxItems": 0}]}
        content: Schema = {JSON: {"schema": forgiving, "example": example}}
        if not operation.over_link:
            content[FORM] = {"schema": self._form(schema), "example": example}
        return {"required": required, "content": content}

    def describe_answer(self, operation: Operation) -> Schema:
        return self._describe(operation.answer)

    def describe_refusals(self, operation: Operation) -> dict[str, Schema]:
        """Describe the errors by status. Responses that several operations have in common become components."""
        found: dict[str, Schema] = {}
        for status, kinds in operation_refusals.of(operation).items():
            refused = operation_refusals.describe_response(
                kinds, self._error(kinds, operation), operation_refusals.show_examples(kinds, operation)
            )
            name = "-".join(operation_refusals.code_of(kind) for kind in kinds)
            if len(kinds) <= FEW and self.responses.setdefault(name, refused) == refused:
                refused = {"$ref": f"#/components/responses/{name}"}
            found[str(status)] = refused
        return found

    def _error(self, kinds: list[operation_refusals.Kind], operation: Operation) -> Schema:
        shapes: dict[type[wire.errors.Error], list[str]] = {}
        for kind in kinds:
            shapes.setdefault(operation_refusals.shape_of(kind, operation), []).append(operation_refusals.code_of(kind))
        described = [
            {"allOf": [self._describe(shape), {"properties": wire.errors.error_code(codes)}]}
            for shape, codes in shapes.items()
        ]
        return described[0] if len(described) == 1 else {"anyOf": described}

    def _describe(self, kind: Any) -> Schema:  # noqa: ANN401 - a type annotation of any form
        return self._collect(kind, require_all, name_given)

    def _sent(self, kind: Any, *, strict: bool) -> Schema:  # noqa: ANN401 - as above
        """Describe a body as bodies.py reads it: strictly or not."""
        return self._collect(kind, self._close if strict else self._forgive, name_sent)

    def _form(self, schema: Schema) -> Schema:
        """Describe a body as a form. Every field may occur once, unknown fields too."""
        if "anyOf" in schema:
            return {"anyOf": [self._form(each) for each in schema["anyOf"]]}
        known = walk(self.components[name_of(schema["$ref"])], _as_in_form)
        return {"additionalProperties": {"type": ["string", "number", "boolean"]}, **known}

    def _collect(self, kind: Any, change: Change, rename: Rename) -> Schema:  # noqa: ANN401 - as above
        if get_origin(kind) in (Union, types.UnionType):
            return {"anyOf": [self._collect(each, change, rename) for each in get_args(kind)]}
        schema, components = read_components(kind)
        for each, component in components.items():
            self.components[rename(plain_name(each))] = _refer(change(plain_name(each), component), rename)
        return _refer(schema, rename)

    def _forgive(self, name: str, schema: Schema) -> Schema:
        forgiven = walk(schema, self._forgive_value)
        optional = bodies.optional_names(wire.SHAPES[name])
        fields = {
            field: _or_null(each) if field in optional else each for field, each in forgiven["properties"].items()
        }
        return {**forgiven, "properties": fields}

    def _close(self, name: str, schema: Schema) -> Schema:
        """Describe a strict body: unknown fields are rejected; fields that only our answers have are ignored."""
        forgiven = self._forgive(name, schema)
        about = {"readOnly": True, "description": "Accepted and ignored."}
        shape = wire.SHAPES[name]
        more = dict.fromkeys(wire.strict.READ_ONLY.get(shape, ()), about)
        closed = {**forgiven, "properties": {**forgiven["properties"], **more}, "additionalProperties": False}
        return closed | wire.strict.need_together(shape)

    def _forgive_value(self, schema: Schema) -> Schema:
        if schema.get("format") == "level":
            return self._forgive_value({"type": "integer", "minimum": 1, "maximum": self._max_level})
        if schema.get("type") == "integer":
            return {**schema, "type": ["integer", "string"], "pattern": _digits(schema["minimum"], schema["maximum"])}
        if schema.get("type") == "boolean":
            return {**schema, "type": ["boolean", "string"], "enum": TRUTH}
        if schema.get("format") == "name":
            return {"type": "string", "pattern": self._names}
        return schema


def _or_null(schema: Schema) -> Schema:
    about = {key: value for key, value in schema.items() if key in {"default", "description"}}
    return {"anyOf": [{key: value for key, value in schema.items() if key not in about}, NULL], **about}


def _as_in_form(schema: Schema) -> Schema:
    """Adapt a schema to forms: an empty text instead of null, and more words for booleans."""
    if schema == NULL:
        return BLANK
    return {**schema, "enum": [*TRUTH, *bodies.BITS, *bodies.SWITCHES]} if schema.get("enum") == TRUTH else schema


def _digits(least: int, most: int) -> str:
    """Return a pattern for integers as text. It allows fewer digits than the maximum has, so each match is in range."""
    sign = "-?" if least < 0 else ""
    more = f"[1-9][0-9]{{0,{len(str(most)) - 2}}}" if most > 9 else f"[{max(least, 0)}-{most}]"  # noqa: PLR2004 - one digit
    return f"^{sign}{more}$" if least > 0 or most <= 9 else f"^(0|{sign}{more})$"  # noqa: PLR2004 - as above


def _refer(schema: Schema, rename: Rename) -> Schema:
    def change(each: Schema) -> Schema:
        """Clean one schema. Docstrings of shapes are left out: they are for readers of the code."""
        dropped = {"title", "description"} if "properties" in each else {"title"}
        shown = {key: value for key, value in each.items() if key not in dropped}
        return shown | (refer(rename(plain_name(name_of(each["$ref"])))) if "$ref" in each else {})

    return walk(schema, change)
