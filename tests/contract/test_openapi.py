"""The OpenAPI document: complete, with valid examples, and without secrets."""

import re
from collections.abc import Iterator
from typing import Any

import openapi_spec_validator
import pytest

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
from gamekeeper.game.core.refusals import Refusal
from gamekeeper.http.audit import change_shapes
from gamekeeper.http.contract import examples, operation_refusals
from gamekeeper.http.contract.operation import NO_TOKEN, WRITE
from gamekeeper.http.routes import ROUTES
from gamekeeper.http.server import errors
from person import erase, finish, live
from world import World

VERBS = {"get", "post", "put", "delete"}
# modules of refusals that only pages of the console show
OF_THE_CONSOLE = ("gamekeeper.console.", "gamekeeper.game.access.console_refusals")
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


SCHEMAS = DOCUMENT["components"]["schemas"]


def test_document_contains_no_secret() -> None:
    text = RAW.decode() + TOLERANT_RAW.decode()
    assert "$argon2" not in text
    assert set(re.findall(r"gka_[\w-]*", text)) == {examples.ACCESS}
    assert set(re.findall(r"\b[0-9a-f]{64}\b", text)) == {examples.HASH, examples.PICTURE_HASH}


def test_every_kind_of_change_has_before_and_after_schemas() -> None:
    assert change_shapes.SIDES.keys() == set(change_shapes.KINDS_OF["ToldChange"])
    change = {"Kind": "items_given", "PlayerId": None, "UserId": None, "Before": {}, "After": {"Email": "x"}}
    assert faults(SCHEMAS["DoneChange"], change)
    assert faults(SCHEMAS["DoneChange"], change | {"Kind": "email_changed", "Before": {}}) == []


def test_changes_of_an_erased_account_fit_the_schema(world: World) -> None:
    live(world)
    erase(world)
    hold_changes(world)
    finish(world)
    hold_changes(world)
