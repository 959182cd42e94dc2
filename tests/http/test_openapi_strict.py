"""The strict OpenAPI document uses only what all client generators support: plain types and named objects."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from described import BY_NAME, DOCUMENT, JSON, Operation, each_operation, faults, hold_changes
from gamekeeper.http import operation_refusals, wire
from person import erase, finish, live
from world import World

SCHEMAS = DOCUMENT["components"]["schemas"]
UNIONS = {"anyOf", "oneOf", "allOf"}
# JSON fields whose values a game sets and that can be beyond 2^53, where JavaScript loses digits
BEYOND = {"Exp", "ExperienceToNextLevel", "PlayTimeSeconds", "TimeCreated", "Value", "value"}


class FoundSchema(NamedTuple):
    where: str
    schema: Any
    is_component: bool = False


def within(found: FoundSchema) -> Iterator[FoundSchema]:
    """Yield a JSON schema and all schemas nested in it."""
    yield found
    where, schema, _ = found
    for name, each in schema.get("properties", {}).items():
        yield from within(FoundSchema(f"{where}.{name}", each))
    for key in UNIONS & schema.keys():
        for number, each in enumerate(schema[key]):
            yield from within(FoundSchema(f"{where}.{key}[{number}]", each))
    for key in {"items", "additionalProperties"} & schema.keys():
        if isinstance(schema[key], dict):
            yield from within(FoundSchema(f"{where}.{key}", schema[key]))


def outermost() -> Iterator[FoundSchema]:
    for name, schema in SCHEMAS.items():
        yield FoundSchema(name, schema, is_component=True)
    for name, header in DOCUMENT["components"]["headers"].items():
        yield FoundSchema(name, header["schema"])
    for operation in BY_NAME.values():
        parts = [*operation.about["parameters"], *operation.content().values()]
        for response in operation.about["responses"].values():
            parts += response.get("content", {}).values()
        for part in parts:
            yield FoundSchema(f"{operation.name} {part.get('name', '')}", part["schema"])


ALL = [each for found in outermost() for each in within(found)]


def types_of(schema: Any) -> list[str]:
    given = schema.get("type", [])
    return [given] if isinstance(given, str) else given


def test_value_has_one_type_and_a_width_or_is_null() -> None:
    found: list[str] = []
    for where, schema, _ in ALL:
        types = set(types_of(schema)) - {"null"}
        wide = {"integer": {"int32", "int64"}, "number": {"double"}}
        untyped = not types_of(schema) and (schema.keys() & {"enum", "const"} or not schema.keys() & {"$ref", *UNIONS})
        if len(types) > 1 or untyped or any(schema.get("format") not in wide[each] for each in types & wide.keys()):
            found.append(where)
    assert found == []


def test_every_object_and_every_choice_of_objects_is_a_component() -> None:
    """Generators invent names for inline objects. A choice of plain types stays inline: some reject such components."""
    found: list[str] = []
    for where, schema, is_component in ALL:
        for options in (schema[key] for key in UNIONS & schema.keys()):
            is_nullable = len(options) == 2 and {"type": "null"} in options and any("$ref" in each for each in options)
            is_plain = all(types_of(each) and not {"object", "array"} & set(types_of(each)) for each in options)
            if is_plain == is_component and not is_nullable:
                found.append(where)
        if not is_component and "properties" in schema:
            found.append(where)
    assert found == []


def test_documents_name_every_value_beyond_2_to_the_53() -> None:
    """JavaScript loses digits of such values, so docs/openapi.md and the description name them."""
    properties = [field for schema in SCHEMAS.values() for field in schema.get("properties", {}).items()]
    large = {name for name, each in properties for part in (each, *each.get("oneOf", ())) if is_large(part)}
    assert large >= BEYOND
    page = (Path(__file__).parents[2] / "docs/openapi.md").read_text("utf-8").partition("## Numbers beyond 2^53")[2]
    beyond, _, below = page.partition("All other numbers")
    assert set(re.findall(r"`(\w+)`", beyond)) == BEYOND
    assert set(re.findall(r"`(\w+)`", below.partition("JSON.parse")[0])) == large - BEYOND
    (line,) = re.findall(r"\* \*\*Numbers beyond.*?All other", DOCUMENT["info"]["description"], re.DOTALL)
    assert set(re.findall(r"`(\w+)`", line)) == BEYOND


def is_large(schema: Any) -> bool:
    return schema.get("format") == "int64"


def test_every_reference_resolves_and_every_component_is_used() -> None:
    used = {each.schema["$ref"].rpartition("/")[2] for each in ALL if "$ref" in each.schema}
    assert used <= SCHEMAS.keys()
    # ApiError is not used by a schema: it documents the fields of all errors
    assert SCHEMAS.keys() - used == {"ApiError"}


@each_operation
def test_body_is_json_only(operation: Operation) -> None:
    assert list(operation.content()) == ([JSON] if operation.route.body else [])


@each_operation
def test_errors_name_the_codes_of_the_operation(operation: Operation) -> None:
    expected = {
        operation_refusals.get_code(kind)
        for kinds in operation_refusals.list_refusals(operation.route).values()
        for kind in kinds
    }
    refused = {status: each for status, each in operation.about["responses"].items() if status >= "400"}
    names = {each["content"][JSON]["schema"]["$ref"].rpartition("/")[2] for each in refused.values()}
    assert names == {f"{operation.name.title().replace('_', '')}Error"}
    error = SCHEMAS[names.pop()]
    assert set(error["properties"]["Code"]["enum"]) == expected
    assert error["properties"].keys() >= SCHEMAS["ApiError"]["properties"].keys()
    assert error["required"] == SCHEMAS["ApiError"]["required"]


def test_choices_have_a_discriminator() -> None:
    known = {name: each["discriminator"] for name, each in SCHEMAS.items() if "discriminator" in each}
    assert known.keys() == {"FeedChange", "ToldChange", "DoneChange", "PreviewedChange", "LogIn"}
    for name, by in known.items():
        assert [each["$ref"] for each in SCHEMAS[name]["oneOf"]] == list(by["mapping"].values())
        for value, reference in by["mapping"].items():
            variant = SCHEMAS[reference.rpartition("/")[2]]
            assert variant["properties"][by["propertyName"]]["enum"] == [value]
            assert by["propertyName"] in variant["required"]


def test_every_kind_of_change_has_before_and_after_schemas() -> None:
    assert wire.sides.SIDES.keys() == set(wire.sides.KINDS_OF["ToldChange"])
    change = {"Kind": "items_given", "PlayerId": None, "UserId": None, "Before": {}, "After": {"Email": "x"}}
    assert faults(SCHEMAS["DoneChange"], change)
    assert faults(SCHEMAS["DoneChange"], change | {"Kind": "email_changed", "Before": {}}) == []


def test_changes_of_an_erased_account_fit_the_schema(world: World) -> None:
    live(world)
    erase(world)
    hold_changes(world)
    finish(world)
    hold_changes(world)
