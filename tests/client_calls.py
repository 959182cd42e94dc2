"""Every call that the Python client can build, and the route that serves it."""

import inspect
import re
from typing import Any

from gamekeeper.http.routes import ROUTES, Route
from gamekeeper_client import shapes
from gamekeeper_client.call import Call
from gamekeeper_client.operations import Many, One, Operations

GUID = "00000000-0000-4000-8000-000000000001"
OPERATIONS: dict[str, Any] = {name: value for name, value in vars(Operations).items() if isinstance(value, One | Many)}
GIVEN: dict[str, Any] = {
    "kind": "items",
    "fields": shapes.PutPlayer(level=2),
    "entries": [],
    "player_ids": [],
    "object_type": "item",
    "powers": {"mute": True, "users_query": False},
}
NUMBERS = {"value", "lease", "level"}


def built(name: str, **options: Any) -> Call[Any]:
    """The operation's call, with something for everything it asks for."""
    asked = inspect.signature(OPERATIONS[name].build).parameters.values()
    needed = [each.name for each in asked if each.default is each.empty and each.kind is not each.VAR_KEYWORD]
    values = {each: GIVEN.get(each, 3 if each in NUMBERS else GUID) for each in needed}
    build: Any = OPERATIONS[name].build
    return build(**values, **options)


def route_of(call: Call[Any]) -> Route:
    """The row that the server would find: literal segments win over parameters."""
    fitting = [
        route
        for route in ROUTES
        if route.method == call.method and re.fullmatch(re.sub(r"\[\w+\]", "[^/]+", route.path), call.path)
    ]
    assert fitting, f"{call.method} {call.path}"
    return min(fitting, key=lambda route: len(route.parameters))


CALLED = {name: route_of(built(name)) for name in OPERATIONS}
