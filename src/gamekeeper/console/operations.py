"""The operations of the API as people can fill them in: every input out of the OpenAPI document."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from gamekeeper.http import bodies, operation, wire
from gamekeeper.http.operation import READ
from gamekeeper.http.routes import ROUTES

PATH, QUERY, BODY = "path.", "query.", "body."  # how a form calls what it sends
WHOLE = "body"  # a body that is a list, typed as JSON
TEXT, NUMBER, CHOICE, VALUE, PASSWORD, SECRET = "text", "number", "choice", "value", "password", "secret"
NEW_PASSWORD = "new password"  # noqa: S105 - a kind of field: one that the operation sets; PASSWORD is one that it checks
PASSWORDS = frozenset({PASSWORD, NEW_PASSWORD})
HIDDEN = PASSWORDS | {SECRET}  # typed, sent, and never shown again
CHECKED = "authorization"  # how the body of a write calls the current password
HIDDEN_IN_PATH = frozenset({"tokenId"})  # it may be a refresh token
EVERY_WRITE = "dryRun"  # the explorer's own doing
Schema = Mapping[str, Any]


class Field(NamedTuple):
    name: str  # with where it belongs before it
    label: str
    about: str
    kind: str
    required: bool
    choices: tuple[str, ...] = ()
    example: str = ""


class Operation(NamedTuple):
    key: str  # its method and path
    id: str
    route: operation.Operation
    summary: str
    about: str
    fields: tuple[Field, ...]

    @property
    def triable(self) -> bool:
        """Reads, and writes that can be tried first: every one but the log-in, which gives away a secret."""
        return self.route.access is READ or self.route.is_repeatable


class Group(NamedTuple):
    title: str
    about: str
    operations: tuple[Operation, ...]


@cache
def groups(document: bytes) -> tuple[Group, ...]:
    """In the document's order; asked for with the one document there is, so made once."""
    described: Schema = msgspec.json.decode(document)
    made = [(_description(described, route), route) for route in ROUTES]
    return tuple(
        Group(
            tag["name"],
            tag["description"],
            tuple(_operation(described, about, route) for about, route in made if tag["name"] in about["tags"]),
        )
        for tag in described["tags"]
    )


@cache
def by_key(document: bytes) -> Mapping[str, Operation]:
    return {each.key: each for group in groups(document) for each in group.operations}


def _description(described: Schema, route: operation.Operation) -> Schema:
    return described["paths"][route.path.replace("[", "{").replace("]", "}")][route.method.lower()]


def _operation(described: Schema, about: Schema, route: operation.Operation) -> Operation:
    fields = (*_parameters(about), *_body(described, about, route))
    key = f"{route.method} {route.path}"
    return Operation(key, about["operationId"], route, about["summary"], about["description"], fields)


def _parameters(about: Schema) -> Iterator[Field]:
    for each in about["parameters"]:
        if each["in"] == "path":
            kind = SECRET if each["name"] in HIDDEN_IN_PATH else None
            yield _field(PATH, each["name"], each["schema"], each["description"], kind, each.get("example"))
        elif each["in"] == "query" and each["name"] != EVERY_WRITE:
            yield _field(QUERY, each["name"], each["schema"], each["description"], None, each["schema"].get("default"))


def _body(described: Schema, about: Schema, route: operation.Operation) -> Iterator[Field]:
    if route.body is None:
        return
    content = about["requestBody"]["content"]["application/json"]
    if not issubclass(route.body, Struct):
        yield Field(WHOLE, "body", "A JSON list.", VALUE, required=True, example=_shown(content["example"]))
        return
    public = bodies.public_names(route.body)
    shapes = list(_shapes(described, content["schema"]))
    fields = [field for shape in shapes for field in shape["properties"].items()]
    for name in dict.fromkeys(name for name, schema in fields if not schema.get("readOnly")):
        schemas = [shape["properties"][name] for shape in shapes if name in shape["properties"]]
        hashed = schemas[0].get("pattern") == wire.scalars.HASH["pattern"]
        known = PASSWORD if route.access is READ or name == CHECKED else NEW_PASSWORD
        kind = None if name in public else known if hashed else SECRET
        field = _field(BODY, name, schemas[0], schemas[0].get("description", ""), kind, content["example"].get(name))
        choices = tuple(choice for schema in schemas for choice in _kind(schema)[1])
        yield field._replace(choices=choices, required=all(name in shape.get("required", ()) for shape in shapes))


def _shapes(described: Schema, schema: Schema) -> Iterator[Schema]:
    """One, or those of which a body may be any."""
    known = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "oneOf" not in known:
        yield known
    for each in known.get("oneOf", ()):
        yield from _shapes(described, each)


def _field(where: str, name: str, schema: Schema, about: str, kind: str | None, example: object) -> Field:
    found, choices = _kind(schema)
    kind = kind or found
    shown = "" if kind in HIDDEN or example is None else _shown(example)
    about = "As people type it; its SHA-256 is sent." if kind in PASSWORDS else about
    return Field(where + name, name, about, kind, where == PATH, choices, shown)


def _kind(schema: Schema) -> tuple[str, tuple[str, ...]]:
    types = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", ())
    if "enum" in schema:
        return CHOICE, tuple(dict.fromkeys(_shown(each) for each in schema["enum"]))
    if "boolean" in types:
        return CHOICE, ("true", "false")
    if "integer" in types:
        return NUMBER, ()
    return (TEXT if "string" in types else VALUE), ()


def _shown(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
