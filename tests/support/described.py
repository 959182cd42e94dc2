"""Operations as the two OpenAPI documents describe them, and validation of answers against them."""

import copy
import functools
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, get_args

import jsonschema_rs

from gamekeeper.ground import settings
from gamekeeper.http import openapi
from gamekeeper.http.contract import operation, shapes
from gamekeeper.http.contract.operation import UNLESS_RESET_CODES_SHOWN
from gamekeeper.http.routes import ROUTES
from gamekeeper.http.world import catalogue_shapes
from loops import over
from world import Answer, World

SETTINGS = settings.Settings()
RAW = openapi.make_document(ROUTES, SETTINGS)
TOLERANT_RAW = openapi.make_document(ROUTES, SETTINGS, tolerant=True)
DOCUMENT: Any = json.loads(RAW)
TOLERANT: Any = json.loads(TOLERANT_RAW)
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
# headers of some answers of an operation only
OPTIONAL_HEADERS = {"idempotent-replay", "x-dry-run", "x-approval-required", "retry-after"}
SCHEMA = re.compile(r"#/components/schemas/([\w.-]+)")
IGNORED = "If-None-Match"  # request header whose malformed values the server ignores instead of refusing


class Operation(NamedTuple):
    route: operation.Operation
    about: Any  # description of the operation in the strict OpenAPI document
    tolerant: Any  # description of the operation in the tolerant OpenAPI document

    @property
    def name(self) -> str:
        return self.about["operationId"]

    def parameters(self, place: str) -> dict[str, Any]:
        return {each["name"]: each for each in self.about["parameters"] if each["in"] == place}

    def path(self, **other: str) -> str:
        """Return the operation's path with its example parameters."""
        filled = {name: each["example"] for name, each in self.parameters("path").items()} | other
        return re.sub(r"\[(\w+)\]", lambda found: str(filled[found[1]]), self.route.path)

    def dry_run_path(self, **other: str) -> str:
        return self.path(**other) + ("?dryRun=true" if "dryRun" in self.parameters("query") else "")

    def bodies(self) -> dict[str, Any]:
        """Return the example bodies of both OpenAPI documents; the tolerant one has forms too."""
        content = self.tolerant.get("requestBody", {}).get("content", {}) | self.content()
        return {kind: each["example"] for kind, each in content.items()}

    def content(self) -> Any:
        return self.about.get("requestBody", {}).get("content", {})


def operations() -> Iterator[Operation]:
    for route in ROUTES:
        path, method = route.path.replace("[", "{").replace("]", "}"), route.method.lower()
        yield Operation(route, DOCUMENT["paths"][path][method], TOLERANT["paths"][path][method])


OPERATIONS = list(operations())
BY_NAME = {each.name: each for each in OPERATIONS}


each_operation = over("operation", *OPERATIONS)


# entries of the catalogue, which have the further fields that a game published
OPEN_ENTRIES = [each for each in catalogue_shapes.ENTRIES.values() if shapes.find_further(each) is not None]
WITH_FURTHER_FIELDS = {each.__name__ for each in (*OPEN_ENTRIES, *get_args(catalogue_shapes.GameObject))}


def close(components: Any) -> Any:
    """Forbid additional properties in all schemas of a document, so that undocumented fields are noticed."""
    closed = copy.deepcopy(components)
    for name, schema in closed["schemas"].items():
        if "properties" in schema and name not in WITH_FURTHER_FIELDS:
            schema["additionalProperties"] = False
    return closed


CLOSED = {id(each): close(each["components"]) for each in (DOCUMENT, TOLERANT)}


def faults(schema: Any, value: object, document: Any = DOCUMENT) -> list[str]:
    validator = _make_validator(json.dumps(schema), id(document))
    return [f"{each.instance_path}: {each.message[:300]}" for each in validator.iter_errors(value)]


def find_referenced(schema: str, document: int) -> set[str]:
    """Find the schemas that a schema refers to, also through others: a validator with all schemas is slow to make."""
    found, waiting = set[str](), set(SCHEMA.findall(schema))
    while waiting:
        found |= waiting
        waiting = {name for each in waiting for name in _find_next(each, document)} - found
    return found


@functools.cache
def _find_next(name: str, document: int) -> list[str]:
    return SCHEMA.findall(json.dumps(CLOSED[document]["schemas"][name]))


@functools.cache
def _make_validator(schema: str, document: int) -> jsonschema_rs.Draft202012Validator:
    schemas = {name: CLOSED[document]["schemas"][name] for name in find_referenced(schema, document)}
    whole = {"allOf": [json.loads(schema)], "components": {"schemas": schemas}}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


def response_of(operation: Operation, status: int, document: Any = DOCUMENT) -> Any:
    about = operation.about if document is DOCUMENT else operation.tolerant
    described = about["responses"].get(str(status))
    assert described, f"{operation.name} does not say that it answers {status}"
    name = described.get("$ref", "").rpartition("/")[2]
    return document["components"]["responses"][name] if name else described


def examples_of(part: Any, document: Any) -> list[Any]:
    """Return the documented example values of a body, an answer or a parameter."""
    known = document["components"]["examples"]
    given = [
        known[each["$ref"].rpartition("/")[2]] if "$ref" in each else each for each in part.get("examples", {}).values()
    ]
    return [each["value"] for each in given] + ([part["example"]] if "example" in part else [])


def hold(operation: Operation, answer: Answer, status: int) -> None:
    """Require the expected status, and that the answer fits both OpenAPI documents."""
    assert answer.status == status, answer.raw
    described = response_of(operation, status)
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in described["content"]
    assert "x-request-id" in answer.headers
    promised = {each.lower() for each in described["headers"]} - OPTIONAL_HEADERS
    # no ETag: an answer for a caller who sees reset codes must not be cached
    promised -= {"etag"} if operation.route.cache is UNLESS_RESET_CODES_SHOWN else set()
    assert promised <= answer.headers.keys()
    if kind == JSON:
        for document in (DOCUMENT, TOLERANT):
            schema = response_of(operation, status, document)["content"][kind]["schema"]
            found = faults(schema, answer.json, document)
            assert not found, found


def hold_changes(world: World) -> set[str]:
    """Validate the whole audit log and feed against the documents, and return the kinds of changes found."""
    kinds = set[str]()
    before = ""
    while True:
        page = world.get(f"/api/keeper/v1/changes?limit=1000{before}")
        hold(BY_NAME["list_history"], page, 200)
        kinds |= {each["Kind"] for each in page.json["Changes"]}
        if page.json["Next"] is None:
            break
        before = f"&before={page.json['Next']}"
    ((trimmed,),) = world.sql("SELECT trimmed FROM epoch")
    hold(BY_NAME["list_changes"], world.get(f"/api/link/v1/changes?limit=1000&own=true&after={trimmed}"), 200)
    return kinds
