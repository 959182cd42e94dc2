"""Schemas of the tolerant OpenAPI document: everything that bodies.py accepts. The fuzz tests use it."""

from typing import Any, Union

import msgspec
from msgspec import Struct

from gamekeeper.http.contract import operation_refusals, schemas
from gamekeeper.http.contract import shapes as http_shapes
from gamekeeper.http.contract.operation import Operation
from gamekeeper.http.contract.path_parameters import PathParameter
from gamekeeper.http.contract.schemas import (
    NULL,
    Schema,
    Schemas,
    get_component_name,
    name_in_body,
    transform,
)
from gamekeeper.http.server import bodies

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
TRUTH = [True, False, "true", "false"]
BLANK: Schema = {"const": ""}  # schema of an empty text, which stands for null in a form
MAX_SHARED_REFUSALS = 3
ABOUT = """\
* Names in paths, queries and bodies match in any letter case. Integers and booleans of a body may also be text. In a
  form, booleans may also be `1`, `0`, `on` or `off`.
"""


class TolerantContract(Schemas):
    """Makes the schemas of the tolerant OpenAPI document."""

    about = ABOUT

    def __init__(self, name_pattern: str, max_level: int) -> None:
        super().__init__()
        self._names = f"^(?:{name_pattern})$"
        self._max_level = max_level

    def describe_path(self, parameter: PathParameter) -> Schema:
        return {"schema": parameter.schema, "description": parameter.about, "example": parameter.example}

    def describe_body(self, operation: Operation) -> Schema:
        """Describe a request body in OpenAPI. Without required fields it may be empty, or `[]`: PHP's empty object."""
        example = msgspec.to_builtins(operation.example_body)
        if operation.body is None or not issubclass(operation.body, Struct):
            entries = [self._describe_sent(kind, strict=True) for kind in operation.records.shapes]
            schema: Schema = {"type": "array", "items": {"anyOf": entries}}
            return {"required": True, "content": {JSON: {"schema": schema, "example": example}}}
        choice = http_shapes.find_choice(operation.body)
        body = Union[tuple(choice[1].values())] if choice else operation.body  # noqa: UP007 - made at run time
        schema = self._describe_sent(body, strict=operation.is_own_api)
        required = choice is not None or any(each.required for each in msgspec.structs.fields(operation.body))
        forgiving = schema if required else {"anyOf": [schema, {"type": "array", "maxItems": 0}]}
        content: Schema = {JSON: {"schema": forgiving, "example": example}}
        if operation.takes_forms:
            content[FORM] = {"schema": self._describe_form(schema), "example": example}
        return {"required": required, "content": content}

    def describe_answer(self, operation: Operation) -> Schema:
        return self._collect_answer(operation.answer)

    def describe_refusals(self, operation: Operation) -> dict[str, Schema]:
        """Describe an operation's errors by status in OpenAPI. Responses that operations share become components."""
        found: dict[str, Schema] = {}
        for status, kinds in operation_refusals.list_refusals(operation).items():
            refused = operation_refusals.describe_response(
                kinds, self._describe_error(kinds, operation), operation_refusals.make_examples(kinds, operation)
            )
            name = "-".join(operation_refusals.get_code(kind) for kind in kinds)
            if len(kinds) <= MAX_SHARED_REFUSALS and self.responses.setdefault(name, refused) == refused:
                refused = {"$ref": f"#/components/responses/{name}"}
            found[str(status)] = refused
        return found

    def _describe_error(self, kinds: list[operation_refusals.RefusalType], operation: Operation) -> Schema:
        shapes: dict[type[http_shapes.Error], list[str]] = {}
        for kind in kinds:
            shapes.setdefault(operation_refusals.find_shape(kind, operation), []).append(
                operation_refusals.get_code(kind)
            )
        described = [
            {"allOf": [self._collect_answer(shape), {"properties": http_shapes.describe_code(codes)}]}
            for shape, codes in shapes.items()
        ]
        return described[0] if len(described) == 1 else {"anyOf": described}

    def _describe_sent(self, kind: Any, *, strict: bool) -> Schema:  # noqa: ANN401 - a type annotation of any form
        """Describe a request body as bodies.py reads it: strictly or not."""
        return self._collect(kind, self._forbid_unknown if strict else self._tolerate, name_in_body)

    def _describe_form(self, schema: Schema) -> Schema:
        """Describe a request body as a form in OpenAPI. Every field may occur once, unknown fields too."""
        if "anyOf" in schema:
            return {"anyOf": [self._describe_form(each) for each in schema["anyOf"]]}
        known = transform(self.components[get_component_name(schema["$ref"])], _adapt_to_form)
        return {"additionalProperties": {"type": ["string", "number", "boolean"]}, **known}

    def _tolerate(self, name: str, schema: Schema) -> Schema:
        forgiven = transform(schema, self._tolerate_value)
        optional = bodies.list_optional_names(schemas.list_shapes()[name])
        fields = {
            field: _allow_null(each) if field in optional else each for field, each in forgiven["properties"].items()
        }
        return {**forgiven, "properties": fields}

    def _forbid_unknown(self, name: str, schema: Schema) -> Schema:
        """Describe a strict request body: unknown fields are rejected; fields that only answers have are ignored."""
        forgiven = self._tolerate(name, schema)
        about = {"readOnly": True, "description": "Accepted and ignored."}
        shape = schemas.list_shapes()[name]
        more = dict.fromkeys(http_shapes.list_read_only(shape), about)
        is_open = http_shapes.find_further(shape) is not None
        closed = {**forgiven, "properties": {**forgiven["properties"], **more}, "additionalProperties": is_open}
        return closed | http_shapes.describe_together(shape)

    def _tolerate_value(self, schema: Schema) -> Schema:
        if schema.get("format") == "level":
            return self._tolerate_value({"type": "integer", "minimum": 1, "maximum": self._max_level})
        if schema.get("type") == "integer":
            return {
                **schema,
                "type": ["integer", "string"],
                "pattern": _make_number_pattern(schema["minimum"], schema["maximum"]),
            }
        if schema.get("type") == "boolean":
            return {**schema, "type": ["boolean", "string"], "enum": TRUTH}
        if schema.get("format") == "name":
            return {"type": "string", "pattern": self._names}
        return schema


def _allow_null(schema: Schema) -> Schema:
    about = {key: value for key, value in schema.items() if key in {"default", "description"}}
    return {"anyOf": [{key: value for key, value in schema.items() if key not in about}, NULL], **about}


def _adapt_to_form(schema: Schema) -> Schema:
    """Adapt a JSON Schema to forms: an empty text instead of null, and more words for booleans."""
    if schema == NULL:
        return BLANK
    return {**schema, "enum": [*TRUTH, *bodies.BITS, *bodies.SWITCHES]} if schema.get("enum") == TRUTH else schema


def _make_number_pattern(least: int, most: int) -> str:
    """Return a pattern for integers as text, with fewer digits than the maximum, so that each match is in range."""
    sign = "-?" if least < 0 else ""
    more = f"[1-9][0-9]{{0,{len(str(most)) - 2}}}" if most > 9 else f"[{max(least, 0)}-{most}]"  # noqa: PLR2004 - one digit
    return f"^{sign}{more}$" if least > 0 or most <= 9 else f"^(0|{sign}{more})$"  # noqa: PLR2004 - as above
