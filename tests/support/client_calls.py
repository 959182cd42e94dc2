"""Calls that the Python client can build, and the route that serves each."""

import inspect
import re
from typing import Any

from gamekeeper.http.contract import operation
from gamekeeper.http.routes import ROUTES
from gamekeeper_client import Client, PutPlayer
from gamekeeper_client.call import Call
from gamekeeper_client.operation import Operation, find_declarations

GUID = "00000000-0000-4000-8000-000000000001"
METHODS: dict[str, Any] = find_declarations(Client)
OPERATIONS: dict[str, Any] = {name: each for name, each in METHODS.items() if isinstance(each, Operation)}
WRITES = [name for name, each in OPERATIONS.items() if each.is_write]
GIVEN: dict[str, Any] = {
    **{each: list[Any]() for each in ("entries", "members", "players", "acks")},
    "kind": "items",
    "object_type": "item",
    "act": "ban_player",
    "ranks": "level",
    "fields": PutPlayer(level=2),
    "picture": b"x",
    "roles": ["viewer"],
    "tags": ["a"],
}
NUMBERS = {"value", "lease", "level", "slot", "to_slot", "quantity"}


def build_call(name: str, **options: Any) -> Call[Any]:
    """Build a call of the client method with a value for every required parameter."""
    asked = [each for each in METHODS[name].signature.parameters.values() if each.name != "self"]
    needed = [each.name for each in asked if each.default is inspect.Parameter.empty]
    values = {each: GIVEN.get(each, 3 if each in NUMBERS else GUID) for each in needed}
    return METHODS[name].call(**values, **options)


def route_of(call: Call[Any]) -> operation.Operation:
    """Return the route that the server chooses for a path; literal segments win over parameters."""
    fitting = [
        route
        for route in ROUTES
        if route.method == call.method and re.fullmatch(re.sub(r"\[\w+\]", "[^/]+", route.path), call.path)
    ]
    assert fitting, f"{call.method} {call.path}"
    return min(fitting, key=lambda route: len(route.parameters))


CALLED = {name: route_of(build_call(name)) for name in METHODS}
