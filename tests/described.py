"""The operations as the OpenAPI document describes them, and answers held against what it says."""

import copy
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import jsonschema
import pytest

from gamekeeper import settings
from gamekeeper.http import openapi, operation
from gamekeeper.http.operation import UNLESS_RESET_CODES_SHOWN
from gamekeeper.http.routes import ROUTES
from world import Answer

SETTINGS = settings.Settings()
RAW = openapi.document(ROUTES, SETTINGS)
DOCUMENT: Any = json.loads(RAW)
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
IGNORED = "If-None-Match"  # when it makes no sense


class Operation(NamedTuple):
    route: operation.Operation
    about: Any  # its part of the document

    @property
    def name(self) -> str:
        return self.about["operationId"]

    def parameters(self, place: str) -> dict[str, Any]:
        return {each["name"]: each for each in self.about["parameters"] if each["in"] == place}

    def path(self, **other: str) -> str:
        """The path with its examples filled in."""
        filled = {name: each["example"] for name, each in self.parameters("path").items()} | other
        return re.sub(r"\[(\w+)\]", lambda found: filled[found[1]], self.route.path)

    def tried(self, **other: str) -> str:
        return self.path(**other) + ("?dryRun=true" if "dryRun" in self.parameters("query") else "")

    def bodies(self) -> dict[str, Any]:
        return {kind: each["example"] for kind, each in self.about.get("requestBody", {}).get("content", {}).items()}


def operations() -> Iterator[Operation]:
    for route in ROUTES:
        path = route.path.replace("[", "{").replace("]", "}")
        yield Operation(route, DOCUMENT["paths"][path][route.method.lower()])


OPERATIONS = list(operations())
each_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)


def strict(components: Any) -> Any:
    """The components with nothing allowed that they do not name: a field nobody documented is noticed."""
    closed = copy.deepcopy(components)
    for schema in closed["schemas"].values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    return closed


STRICT = strict(DOCUMENT["components"])
LIBRARY: Any = jsonschema


def faults(schema: Any, value: object) -> list[str]:
    formats = LIBRARY.FormatChecker(["uuid", "date-time", "email"])
    whole = {"allOf": [schema], "components": STRICT}
    return [
        f"{each.json_path}: {each.message[:300]}"
        for each in LIBRARY.Draft202012Validator(whole, format_checker=formats).iter_errors(value)
    ]


def response_of(operation: Operation, status: int) -> Any:
    described = operation.about["responses"].get(str(status))
    assert described, f"{operation.name} does not say that it answers {status}"
    name = described.get("$ref", "").rpartition("/")[2]
    return DOCUMENT["components"]["responses"][name] if name else described


def hold(operation: Operation, answer: Answer, status: int) -> None:
    """The answer has the status expected, and all that the document says of it."""
    assert answer.status == status, answer.raw
    described = response_of(operation, status)
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in described["content"]
    assert "x-request-id" in answer.headers
    promised = {each.lower() for each in described["headers"]} - {"idempotent-replay", "x-dry-run", "retry-after"}
    promised -= (
        {"etag"} if operation.route.cache is UNLESS_RESET_CODES_SHOWN else set()
    )  # whoever sees the codes keeps nothing
    assert promised <= answer.headers.keys()
    if kind == JSON:
        assert faults(described["content"][kind]["schema"], answer.json) == []
