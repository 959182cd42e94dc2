"""The API as OpenAPI 3.1, made once at start from the table, the wire's types and the refusals."""

import inspect
from collections.abc import Mapping, Sequence
from functools import cache

import msgspec
from msgspec import Struct

from gamekeeper import __version__
from gamekeeper.http import failures, samples, wire
from gamekeeper.http.caller import POWERS
from gamekeeper.http.files import KINDS
from gamekeeper.http.request import LONGEST_REASON
from gamekeeper.http.routes import NEVER, WRITE, Route
from gamekeeper.http.schemas import Schema, Schemas
from gamekeeper.settings import Settings

JSON, FORM, CSV = "application/json", "application/x-www-form-urlencoded", "text/csv"
OK, NOT_MODIFIED = "200", "304"
GRANTS = wire.PasswordGrant | wire.RefreshGrant
ABOUT = """\
Read and change the characters and accounts of an online game.

* **Log in** at `POST /api/oauth/token` with the SHA-256 of the password, in hex. Every other request then carries
  `Authorization: Bearer` and the token.
* **Every refusal** has the same body: `Message` for people, `Code` for programs, `RequestId` for the log.
* **Wrong passwords** are limited per account, caller and client address. A site that checks passwords forwards its
  visitor's address in `X-Forwarded-For`, and the server's setting `trusted_proxies` names the site.
* **Any write may be repeated** with the same `Idempotency-Key`: it is applied once, and answered alike.
* **Any read may be kept** by its caller, who asks with the answer's `ETag` in `If-None-Match` whether it still holds:
  304 says so. Answers with a secret in them, and the change feed, are not for keeping.
* **Any write may be tried** with `?dryRun=true`: the answer is what would happen, and nothing does.
  The answer then has the header `X-Dry-Run: true`.
* **An unknown query parameter** is ignored under `/api/v1`, and a 400 under `/api/keeper` and `/api/link`.
* Names in paths, queries and bodies match in any case. Whole numbers and booleans of a body may also come as text; in a
  form booleans may also be `1`, `0`, `on` or `off`.
* The examples are of the world that `gamekeeper demo` serves.
"""
GROUPS = {  # module → what its operations are about
    "players": "Characters: listed, ranked, online, looked up.",
    "variables": "What a game remembers of a character.",
    "items": "Inventory, bank and bags; giving and taking.",
    "spells": "Known spells; teaching and forgetting.",
    "users": "Accounts, and which characters are theirs.",
    "moderation": "Bans, mutes and kicks.",
    "powers": "What accounts may do.",
    "credentials": "Passwords and emails: proving, changing and resetting them.",
    "tokens": "Logging in and out.",
    "info": "What sites and tools ask about the server first.",
    "gameobjects": "The catalogue in the engine's own types and shapes.",
    "link": "What game servers tell us: the catalogue, characters, who is online.",
    "feed": "What game servers are told.",
    "history": "What happened, how it was before, and taking it back.",
    "mails": "The outbox, and trying a mail again.",
    "finder": "One search for everything.",
    "pages": "This description, for programs and for people.",
    "health": "For load balancers.",
}
SCHEMES: Schema = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An access token of `POST /api/oauth/token`."}
}
HEADERS: Mapping[str, Schema] = {
    "X-Request-Id": {"description": "The request's id, also in the log.", "schema": {"type": "string"}},
    "Idempotent-Replay": {
        "description": "`true` when this is the kept answer to an earlier request with the same key.",
        "schema": {"type": "string", "const": "true"},
    },
    "X-Dry-Run": {
        "description": "`true` when this answers a dry run: nothing was changed.",
        "schema": {"type": "string", "const": "true"},
    },
    "ETag": {"description": "The answer's tag, for `If-None-Match`.", "schema": {"type": "string"}},
    "Deprecation": {"description": "Since when (RFC 9745).", "schema": {"type": "string"}},
    "Link": {"description": "What takes its place.", "schema": {"type": "string"}},
    "WWW-Authenticate": {"description": "How to authorize.", "schema": {"type": "string"}},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 0}},
}

HELD: Schema = {
    "name": "If-None-Match",
    "in": "header",
    "description": "The tags of the answers that the caller holds; one that cannot be read is as if it were not sent.",
    "schema": {"type": "string"},
    "example": '"9f86d081884c7d659a2feaa0c55ad015"',
}
SAME: Schema = {
    "description": "The caller holds this answer already.",
    "headers": failures.headers(["X-Request-Id", "ETag"]),
}


def document(routes: Sequence[Route], settings: Settings) -> bytes:
    return _made(routes, settings.game_name, settings.name_pattern, settings.max_level)


@cache  # of no other setting: a process that makes many apps has one document
def _made(routes: Sequence[Route], game_name: str, name_pattern: str, max_level: int) -> bytes:
    schemas = Schemas(name_pattern, max_level)
    shared: dict[str, Schema] = {}
    paths: dict[str, dict[str, Schema]] = {}
    for route in routes:
        operations = paths.setdefault(route.path.replace("[", "{").replace("]", "}"), {})
        operations[route.method.lower()] = _operation(route, schemas, shared, alias=_is_alias(route, routes))
    return wire.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": f"{game_name} API",
                "version": __version__,
                "summary": "Characters and accounts of an online game, over HTTP.",
                "description": ABOUT,
                "license": {"name": "MIT", "identifier": "MIT"},
            },
            "servers": [{"url": "/"}],
            "tags": [{"name": name.title(), "description": about} for name, about in GROUPS.items()],
            "paths": paths,
            "components": {
                "schemas": schemas.components,
                "responses": shared,
                "headers": HEADERS,
                "securitySchemes": SCHEMES,
            },
        }
    )


def _is_alias(route: Route, routes: Sequence[Route]) -> bool:
    """A second address of the same operation."""
    return next(each for each in routes if each.handler is route.handler) is not route


def _operation(route: Route, schemas: Schemas, shared: dict[str, Schema], *, alias: bool) -> Schema:
    module, name = route.handler.__module__.rpartition(".")[2], route.handler.__name__
    operation: Schema = {
        "operationId": f"{module}_{name}" + ("_alias" if alias else ""),
        "summary": inspect.getdoc(route.handler),
        "description": _description(route),
        "tags": [module.title()],
        "x-roles": sorted((route.needs or frozenset[str]()) - POWERS),
        "x-powers": sorted((route.needs or frozenset[str]()) & POWERS),
        "x-writes": route.does is WRITE,
        "security": [{"bearer": []}] if route.needs is not None else [],
        "parameters": _parameters(route, schemas),
        "responses": {**_successes(route, schemas), **failures.responses(route, schemas, shared)},
    }
    if route.number is not None:
        operation["x-number"] = route.number
    if route.takes is not None:
        operation["requestBody"] = _body(route, schemas)
    if route.successor:
        operation["deprecated"] = True
    return operation


def _description(route: Route) -> str:
    if route.needs is None:
        who = "Needs no token."
    elif route.needs:
        who = f"Needs {' and '.join(_rights(route.needs - POWERS, 'role') + _rights(route.needs & POWERS, 'power'))}."
    else:
        who = "Needs any good token."
    parts = [who]
    if route.needs is not None:
        parts.append("A read-only token is refused." if route.does is WRITE else "A read-only token will do.")
    if route.successor:
        parts.append(f"Deprecated, and kept for good; `GET {route.successor}` takes its place.")
    return " ".join(parts)


def _rights(needed: frozenset[str], kind: str) -> list[str]:
    named = " and ".join(f"`{each}`" for each in sorted(needed))
    return [f"the {kind}{'s' * (len(needed) > 1)} {named}"] if needed else []


# --- what is sent ----------------------------------------------------------------------------------------------------


def _parameters(route: Route, schemas: Schemas) -> list[Schema]:
    found = [_in_path(name, route) for name in route.parameters]
    for name, schema in schemas.asked(route.asks).items() if route.asks else ():
        plain = {key: value for key, value in schema.items() if key != "description"}
        found.append({"name": name, "in": "query", "description": schema["description"], "schema": plain})
    found += _with_every_write(route) if failures.takes_key(route) else []
    return found + ([HELD] if route.kept is not NEVER else [])


def _in_path(name: str, route: Route) -> Schema:
    about, _ = samples.PARAMETERS[name]
    choices = {"kind": sorted(wire.ENTRIES), "file": sorted(KINDS), "type": sorted(wire.OBJECTS)}
    schema: Schema = {"type": "string", "minLength": 1, "maxLength": 255}
    if name in {"variableId", "bagId", "id", "objectId", "mailId"}:
        schema = {"type": "string", "format": "uuid"}
    elif name == "seq":
        schema = {"type": "string", "pattern": "^[0-9]{1,18}$"}
    elif name == "server":
        schema = {"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,64}$"}
    elif name in choices:
        schema = {"type": "string", "enum": choices[name]}
    example = samples.parameter(name, route.path)
    return {"name": name, "in": "path", "required": True, "schema": schema, "description": about, "example": example}


def _with_every_write(route: Route) -> list[Schema]:
    key = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"}
    reason = {"type": "string", "maxLength": LONGEST_REASON, "pattern": "^[^\\x00-\\x1f\\x7f-\\x9f]*$"}
    return [
        {
            "name": "dryRun",
            "in": "query",
            "description": "Answer what would happen, and change nothing. Also as `dry_run` or `dry-run`, in any case.",
            "schema": {"type": "boolean", "default": False},
        },
        {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "Makes the write safe to repeat: the same key with the same request is applied once. "
            "Passwords are not compared: another one needs another key.",
            "schema": key,
            "example": f"order-4711-{route.handler.__name__}",
        },
        {
            "name": "X-Reason",
            "in": "header",
            "description": "Why, for the ledger.",
            "schema": reason,
            "example": "shop order 4711",
        },
    ]


def _body(route: Route, schemas: Schemas) -> Schema:
    """Where nothing is required an empty body will do, and PHP's empty array is an empty object."""
    example = samples.sent(route.takes or bytes, route.handler)
    if route.takes is None or not issubclass(route.takes, Struct):
        entries = [schemas.sent(kind, strict=True) for kind in dict.fromkeys(wire.ENTRIES.values())]
        schema: Schema = {"type": "array", "items": {"anyOf": entries}}
        return {"required": True, "content": {JSON: {"schema": schema, "example": example}}}
    schema = schemas.sent(GRANTS if route.takes is wire.LogIn else route.takes, strict=route.over_link)
    required = route.takes is wire.LogIn or any(each.required for each in msgspec.structs.fields(route.takes))
    forgiving = schema if required else {"anyOf": [schema, {"type": "array", "maxItems": 0}]}
    content: Schema = {JSON: {"schema": forgiving, "example": example}}
    if not route.over_link:
        content[FORM] = {"schema": schemas.form(schema), "example": example}
    return {"required": required, "content": content}


# --- what is answered ------------------------------------------------------------------------------------------------


def _successes(route: Route, schemas: Schemas) -> dict[str, Schema]:
    done = {OK: _success(route, schemas)}
    return done if route.kept is NEVER else {**done, NOT_MODIFIED: SAME}


def _success(route: Route, schemas: Schemas) -> Schema:
    names = ["X-Request-Id"]
    names += ["ETag"] if route.kept is not NEVER else []
    names += ["Idempotent-Replay", "X-Dry-Run"] if failures.takes_key(route) else []
    names += ["Deprecation", "Link"] if route.successor else []
    return {"description": "Done.", "headers": failures.headers(names), "content": _content(route, schemas)}


def _content(route: Route, schemas: Schemas) -> Schema:
    if route.gives == "text/html":
        return {"text/html": {"schema": {"type": "string"}}}
    if isinstance(route.gives, str):
        return {kind: {"schema": {"type": "string"}} for kind in sorted(set(KINDS.values()))}
    example = samples.given(route.gives, route.handler)
    content: Schema = {JSON: {"schema": schemas.given(route.gives), "example": example}}
    return {**content, CSV: {"schema": {"type": "string"}}} if route.asks is wire.HistoryQuery else content
