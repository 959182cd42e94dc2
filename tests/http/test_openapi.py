"""The OpenAPI document: complete, with valid examples, and of what all client generators support."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import openapi_spec_validator
import pytest
from msgspec import Struct

from described import (
    DOCUMENT,
    JSON,
    OPERATIONS,
    RAW,
    TOLERANT,
    TOLERANT_RAW,
    Operation,
    each_operation,
    examples_of,
    faults,
    hold_changes,
    response_of,
)
from gamekeeper.game.refusals import Refusal
from gamekeeper.http import errors, operation_refusals, samples, wire
from gamekeeper.http.bodies import list_optional_names
from gamekeeper.http.operation import NO_TOKEN, WRITE
from gamekeeper.http.routes import ROUTES
from person import erase, finish, live
from world import World

VERBS = {"get", "post", "put", "delete"}
# modules of refusals that only pages of the console show
OF_THE_CONSOLE = ("gamekeeper.console.", "gamekeeper.game.own_factor_refusals", "gamekeeper.game.identity_refusals")
# error codes that no operation documents: the router's, and those of the console's forms
OF_NO_OPERATION = {
    *("method_not_allowed", "invitation_void", "invalid_object_type"),
    "job_of_former_epoch",  # stops the runner of a job only
    "too_many_public_requests",  # the public side is not in the document
    *("invalid_action", "act_not_supported", "act_not_implemented"),
}


@pytest.mark.long_only
def test_document_is_valid_openapi_3_1() -> None:
    validator: Any = openapi_spec_validator
    for document in (DOCUMENT, TOLERANT):
        validator.validate(document)
        assert document["openapi"] == "3.1.0"


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_document_follows_the_servers_settings(make_world: Any) -> None:
    world = make_world(game_name="Harrowmere", name_pattern="[a-z]{3}", max_level=77)
    known = world.get("/api/openapi.json", by=None).json
    assert known["info"]["title"] == "Harrowmere API"
    shapes = known["components"]["schemas"]
    assert shapes["Register"]["properties"]["username"]["pattern"] == "^(?:[a-z]{3})$"
    assert shapes["SetLevel"]["properties"]["level"]["maximum"] == 77


def test_document_has_exactly_the_operations_each_with_an_id_and_a_group() -> None:
    described = {(verb.upper(), path) for path, item in DOCUMENT["paths"].items() for verb in item if verb in VERBS}
    assert described == {(each.method, each.path.replace("[", "{").replace("]", "}")) for each in ROUTES}
    assert len({each.name for each in OPERATIONS}) == len(ROUTES)
    assert {tag for each in OPERATIONS for tag in each.about["tags"]} == {each["name"] for each in DOCUMENT["tags"]}


@each_operation
def test_every_operation_has_a_summary_and_its_permission(operation: Operation) -> None:
    about, route = operation.about, operation.route
    assert re.fullmatch(r"[A-Z][^\n]{10,90}\.", about["summary"])
    assert about["x-permissions"] == sorted(route.permissions or ())
    assert all(f"`{role}`" in about["description"] for role in route.permissions or ())
    assert about["security"] == ([] if route.permissions is NO_TOKEN else [{"bearer": []}])
    assert about.get("deprecated", False) == bool(route.successor)
    assert ("Deprecation" in about["responses"]["200"]["headers"]) == bool(route.successor)
    assert ("Read-only tokens are rejected." in about["description"]) == (
        route.access is WRITE and route.permissions is not NO_TOKEN
    )


@each_operation
def test_every_write_but_log_in_accepts_key_reason_and_dry_run(operation: Operation) -> None:
    writes = operation.route.access is WRITE and operation.name != "issue_token"
    assert ({"Idempotency-Key", "X-Reason"} == operation.parameters("header").keys()) == writes
    assert ("dryRun" in operation.parameters("query")) == writes


@each_operation
def test_examples_fit_their_own_schemas(operation: Operation) -> None:
    for document, about in ((DOCUMENT, operation.about), (TOLERANT, operation.tolerant)):
        parts = [*about.get("requestBody", {}).get("content", {}).values(), *about["parameters"]]
        for status in about["responses"]:
            parts += response_of(operation, int(status), document).get("content", {}).values()
        for part in parts:
            values = examples_of(part, document)
            assert values or "in" in part or "string" in part["schema"].values()
            found = [faults(part["schema"], value, document) for value in values]
            assert [each for each in found if each] == []


@each_operation
def test_null_and_empty_form_field_are_described_where_accepted(operation: Operation) -> None:
    shape = operation.route.body
    # Not of the log-in: its schema describes required fields differently
    if shape is None or not issubclass(shape, Struct) or shape is wire.tokens.LogIn:
        return
    optional = list_optional_names(shape)
    for kind, each in operation.tolerant["requestBody"]["content"].items():
        nothing = None if kind == JSON else ""
        assert faults(each["schema"], each["example"] | dict.fromkeys(optional, nothing), TOLERANT) == []
        for field in set(shape.__struct_fields__) & {"duration", "quantity"}:
            assert faults(each["schema"], each["example"] | {field: nothing}, TOLERANT)


def kinds(kind: type[Refusal]) -> Iterator[type[Refusal]]:
    """Yield the refusals of the API, without those that only the console shows."""
    found = [each for each in kind.__subclasses__() if each.__module__.startswith("gamekeeper.")]
    below = [each for each in found if not each.__module__.startswith(OF_THE_CONSOLE)]
    for each in below:
        yield from kinds(each)
    if not below:
        yield kind


def test_document_has_exactly_the_error_codes() -> None:
    documented = set(re.findall(r'"Code":"(\w+)"', RAW.decode()))
    assert documented == {each.__new__(each).code for each in kinds(Refusal)} - OF_NO_OPERATION


@each_operation
def test_documented_statuses_are_those_of_the_refusals(operation: Operation) -> None:
    for status, some in operation_refusals.list_refusals(operation.route).items():
        described = response_of(operation, status)
        codes = described["content"][JSON]["examples"].keys()
        assert codes == {each.__new__(each).code for each in some}
        assert {errors.find_status(each, operation.route.path) for each in some} == {status}
        assert ("Retry-After" in described["headers"]) == (status in {429, 503} or "idempotency_in_progress" in codes)


# --- plain types and named objects, as all client generators need ----------------------------------------------------

SCHEMAS = DOCUMENT["components"]["schemas"]
# JSON fields whose values a game sets and that can be beyond 2^53, where JavaScript loses digits
BEYOND = {"Exp", "ExperienceToNextLevel", "PlayTimeSeconds", "TimeCreated", "Value", "value"}


def list_parts(value: Any) -> list[Any]:
    """Return all JSON objects within a JSON value, also the value itself."""
    if isinstance(value, list):
        return [part for each in cast("list[Any]", value) for part in list_parts(each)]
    if not isinstance(value, dict):
        return []
    fields = cast("dict[str, Any]", value)
    return [fields, *list_parts([*fields.values()])]


def test_number_has_a_width_and_no_value_has_two_types() -> None:
    for name, schema in SCHEMAS.items():
        for part in list_parts(schema):
            given: Any = part.get("type", [])
            types: list[str] = [given] if isinstance(given, str) else [*given]
            if not isinstance(given, dict):  # a map of properties, of which one is called `type`
                assert len({*types} - {"null"}) <= 1, name
                assert "integer" not in types or part.get("format") in {"int32", "int64"}, name
                assert "number" not in types or part.get("format") == "double", name


def test_every_object_is_a_component_and_every_component_is_used() -> None:
    """Generators invent names for inline objects."""
    for name, schema in SCHEMAS.items():
        inline = [part for part in list_parts(schema) if "properties" in part and part is not schema]
        assert inline == [], name
    used = {name for name in SCHEMAS if f'"#/components/schemas/{name}"'.encode() in RAW}
    # ApiError is not used by a schema: it documents the fields of all errors
    assert SCHEMAS.keys() - used == {"ApiError"}


def test_documents_name_every_value_beyond_2_to_the_53() -> None:
    """JavaScript loses digits of such values, so docs/openapi.md and the description name them."""
    fields = [field for schema in SCHEMAS.values() for field in schema.get("properties", {}).items()]
    large = {name for name, each in fields if any(part.get("format") == "int64" for part in list_parts(each))}
    page = (Path(__file__).parents[2] / "docs/openapi.md").read_text("utf-8").partition("## Numbers beyond 2^53")[2]
    beyond, below = (
        set(re.findall(r"`(\w+)`", part)) for part in page.partition("JSON.parse")[0].split("All other numbers")
    )
    assert (beyond, below) == (BEYOND, large - BEYOND)
    (line,) = re.findall(r"\* \*\*Numbers beyond.*?All other", DOCUMENT["info"]["description"], re.DOTALL)
    assert set(re.findall(r"`(\w+)`", line)) == BEYOND


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


def test_document_contains_no_secret() -> None:
    text = RAW.decode() + TOLERANT_RAW.decode()
    assert "$argon2" not in text
    assert set(re.findall(r"gka_[\w-]*", text)) == {samples.ACCESS}
    assert set(re.findall(r"\b[0-9a-f]{64}\b", text)) == {samples.HASH, samples.PICTURE_HASH}


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
