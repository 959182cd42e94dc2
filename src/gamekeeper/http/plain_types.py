"""Simplify JSON Schemas to the forms that all client generators understand."""

from typing import Any

from gamekeeper.http.schemas import NULL, Schema

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
