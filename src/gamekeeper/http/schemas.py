"""The wire's types as JSON Schema: what comes in as forgiving as bodies.py is, what goes out as full as it is sent."""

import re
import types
from collections.abc import Callable
from functools import cache
from typing import Any, Union, cast, get_args, get_origin

import msgspec
from msgspec import Struct

from gamekeeper.http import bodies, wire

Schema = dict[str, Any]
REF = "#/components/schemas/{name}"
TRUTH = [True, False, "true", "false"]
NULL: Schema = {"type": "null"}
_MODULE = re.compile(r"gamekeeper\.http\.wire\.\w+\.")
BLANK: Schema = {"const": ""}  # what a form has for it


class Schemas:
    """Collects the components that the schemas it makes refer to."""

    def __init__(self, name_pattern: str, max_level: int) -> None:
        self._names = f"^(?:{name_pattern})$"
        self._max_level = max_level
        self.components: dict[str, Schema] = {}

    def given(self, kind: Any) -> Schema:  # noqa: ANN401 - a type annotation of any form
        """Of an answer."""
        return self._made(kind, _full, lambda name: name)

    def sent(self, kind: Any, *, strict: bool = False) -> Schema:  # noqa: ANN401 - as above
        """Of a body, strict or not as bodies.py reads it. A shape that also goes out has another name here."""
        change = self._strict if strict else self._forgiving
        return self._made(kind, change, lambda name: f"{name}Sent" if name in _both() else name)

    def form(self, schema: Schema) -> Schema:
        """The same as a form, in which a field that is there twice is refused even when nobody knows it."""
        if "anyOf" in schema:
            return {"anyOf": [self.form(each) for each in schema["anyOf"]]}
        known = cast("Schema", _walked(self.components[schema["$ref"].rpartition("/")[2]], _as_in_form))
        return {"additionalProperties": {"type": ["string", "number", "boolean"]}, **known}

    def asked(self, shape: type[Struct]) -> dict[str, Schema]:
        """Of the query: a schema per parameter."""
        return _components(shape)[1][shape.__name__]["properties"]

    def _made(self, kind: Any, change: Callable[[str, Schema], Schema], name: Callable[[str], str]) -> Schema:  # noqa: ANN401 - as above
        if get_origin(kind) in (Union, types.UnionType):
            return {"anyOf": [self._made(each, change, name) for each in get_args(kind)]}
        schema, components = _components(kind)
        for each, component in components.items():
            self.components[name(_plain(each))] = _referring(change(_plain(each), component), name)
        return _referring(schema, name)

    def _forgiving(self, name: str, schema: Schema) -> Schema:
        forgiven = cast("Schema", _walked(schema, self._forgiven))
        optional = bodies.optional_names(wire.SHAPES[name])
        fields = {
            field: _or_null(each) if field in optional else each for field, each in forgiven["properties"].items()
        }
        return {**forgiven, "properties": fields}

    def _strict(self, name: str, schema: Schema) -> Schema:
        """Without unknown fields; those of our answers are accepted and ignored."""
        forgiven = self._forgiving(name, schema)
        about = {"readOnly": True, "description": "Accepted and ignored."}
        shape = wire.SHAPES[name]
        more = dict.fromkeys(wire.strict.READ_ONLY.get(shape, ()), about)
        strict = {**forgiven, "properties": {**forgiven["properties"], **more}, "additionalProperties": False}
        together = wire.strict.TOGETHER.get(shape, ())
        optional = [field for field in forgiven["properties"] if field not in forgiven.get("required", ())]
        needing = {field: [each for each in together if each != field] for field in optional}
        return {**strict, "dependentRequired": needing} if together else strict

    def _forgiven(self, schema: Schema) -> Schema:
        if schema.get("format") == "level":
            return self._forgiven({"type": "integer", "minimum": 1, "maximum": self._max_level})
        if schema.get("type") == "integer":
            return {**schema, "type": ["integer", "string"], "pattern": _digits(schema["minimum"], schema["maximum"])}
        if schema.get("type") == "boolean":
            return {**schema, "type": ["boolean", "string"], "enum": TRUTH}
        if schema.get("format") == "name":
            return {"type": "string", "pattern": self._names}
        return schema


@cache
def _components(kind: Any) -> tuple[Schema, dict[str, Schema]]:  # noqa: ANN401 - as above
    (schema,), components = msgspec.json.schema_components([kind], ref_template=REF)
    return schema, components


def _plain(name: str) -> str:
    """Paged_PlayerRecord_ is PagedPlayerRecord; what is inside twice has its module before it."""
    return _MODULE.sub("", name).replace("_", "")


def _both() -> set[str]:
    return {
        each.__name__
        for each in (
            wire.items.ItemSlot,
            wire.items.Bag,
            wire.spells.KnownSpell,
            wire.variables.Variable,
            *wire.catalogue.ENTRIES.values(),
        )
    }


def _full(name: str, schema: Schema) -> Schema:
    """Every field is there, unless the shape leaves out what is not set."""
    shape = wire.SHAPES.get(name)
    if shape is not None and shape.__struct_config__.omit_defaults:
        return schema
    fields = {field: _without_default(each) for field, each in schema.get("properties", {}).items()}
    return {**schema, "properties": fields, "required": list(fields)}


def _or_null(schema: Schema) -> Schema:
    about = {key: value for key, value in schema.items() if key in {"default", "description"}}
    return {"anyOf": [{key: value for key, value in schema.items() if key not in about}, NULL], **about}


def _as_in_form(schema: Schema) -> Schema:
    """A form has no null, and more words for booleans."""
    if schema == NULL:
        return BLANK
    return {**schema, "enum": [*TRUTH, *bodies.BITS, *bodies.SWITCHES]} if schema.get("enum") == TRUTH else schema


def _without_default(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "default"}


def _digits(least: int, most: int) -> str:
    """Whole numbers as text, of fewer digits than the greatest: their range needs no words."""
    sign = "-?" if least < 0 else ""
    more = f"[1-9][0-9]{{0,{len(str(most)) - 2}}}" if most > 9 else f"[{max(least, 0)}-{most}]"  # noqa: PLR2004 - one digit
    return f"^{sign}{more}$" if least > 0 or most <= 9 else f"^(0|{sign}{more})$"  # noqa: PLR2004 - as above


def _referring(schema: Schema, name: Callable[[str], str]) -> Schema:
    def change(each: Schema) -> Schema:
        shown = {key: value for key, value in each.items() if key != "title" and not _ours(key, each)}
        if "$ref" in each:
            shown["$ref"] = REF.format(name=name(_plain(each["$ref"].rpartition("/")[2])))
        return shown

    return cast("Schema", _walked(schema, change))


def _ours(key: str, schema: Schema) -> bool:
    """A shape's docstring is for those who read the code."""
    return key == "description" and "properties" in schema


def _walked(value: object, change: Callable[[Schema], Schema]) -> object:
    if isinstance(value, dict):
        known = cast("Schema", value)
        walked = {key: _walked(each, change) if key != "default" else each for key, each in known.items()}
        return change(walked)
    return [_walked(each, change) for each in cast("list[object]", value)] if isinstance(value, list) else value
