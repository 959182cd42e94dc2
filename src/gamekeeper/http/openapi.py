"""Build the two OpenAPI 3.1 documents from the operations' declarations, and serve them with the API explorer.

One is the strict contract, the other the tolerant one. The explorer is a page and its files.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec

from gamekeeper import __version__
from gamekeeper.game.audit.refusals import ApprovalRequired
from gamekeeper.ground.settings import Settings
from gamekeeper.http.audit import change_shapes
from gamekeeper.http.contract import examples, operation_refusals, shapes
from gamekeeper.http.contract.operation import NO_STORE, NO_TOKEN, REVALIDATED, WRITE, Group, Operation
from gamekeeper.http.contract.path_parameters import PathParameter, find_parameter
from gamekeeper.http.contract.schemas import Schema
from gamekeeper.http.contract.strict_document import Contract
from gamekeeper.http.contract.tolerant_document import TolerantContract
from gamekeeper.http.server import errors, queries, static_files
from gamekeeper.http.server.request import MAX_REASON_LENGTH, Request
from gamekeeper.http.server.response import Response, make_encoded_response
from gamekeeper.http.server.static_files import FOREVER, MEDIA_TYPES, VERSION, Encoded
from gamekeeper.http.world import info_shapes

JSON, CSV = "application/json", "text/csv"
FORMAT = "format"  # parameter of queries whose answer may be a CSV table
OK, ACCEPTED, NOT_MODIFIED = "200", "202", "304"
ABOUT = """\
Read and change the players and accounts of an online game.

* **Log in** at `POST /api/oauth/token` with the SHA-256 of the password, in hex. Send the token with every other
  request, as `Authorization: Bearer <token>`.
* **Every error** has the same body: `Message` for people, `Code` for programs, `RequestId` to find it in the log.
* **Wrong passwords** are limited per account, caller and client address. A site that checks passwords forwards its
  visitor's address in `X-Forwarded-For`, and the server's setting `trusted_proxies` names the site.
* **Every write can be retried** with the same `Idempotency-Key`: it is applied once, and retries get its answer.
* **Most reads can be cached**: send the `ETag` of the cached answer in `If-None-Match`; 304 means it is still valid.
  Answers that contain secrets and answers of the change feed must not be cached.
* **Every write can be previewed** with `?dryRun=true`: the answer shows what would happen, and nothing is changed.
  The answer then has the header `X-Dry-Run: true`.
* **Some changes wait for a second person**, if the server has rules for that: 409 `approval_required` under `/api/v1`,
  202 elsewhere, both with `ApprovalId`. A retry with the same `Idempotency-Key` gets the answer once it was approved.
* **An unknown query parameter** is ignored under `/api/v1`. It is a 400 under `/api/keeper` and `/api/link`.
* **An empty value of a query parameter** counts as left out where `allowEmptyValue` says so: everywhere but under
  `/api/v1`, and for some parameters there, such as `sortBy`. An empty `dryRun` is always a 400. A range that ends
  before it begins is a 400.
* The examples use the data that `gamekeeper demo` serves.
"""
Document = Contract | TolerantContract
SCHEMES: Schema = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An access token from `POST /api/oauth/token`."}
}
TEXT, TRUE = {"type": "string"}, {"type": "string", "const": "true"}
_HEADERS: list[tuple[str, Schema, str]] = [
    ("X-Request-Id", TEXT, "The request's id, which the server's log shows too."),
    (
        "Idempotent-Replay",
        TRUE,
        "`true` when this is the stored answer to an earlier request with the same `Idempotency-Key`.",
    ),
    ("X-Dry-Run", TRUE, "`true` when the request was a dry run: nothing was changed."),
    ("X-Approval-Required", TRUE, "`true` when the request was a dry run, and the change would wait for an approval."),
    ("ETag", TEXT, "The entity tag of the answer, to send in `If-None-Match`."),
    ("Deprecation", TEXT, "Since when the operation is deprecated (RFC 9745)."),
    ("Link", TEXT, "The operation that replaces this one."),
    ("WWW-Authenticate", TEXT, "`Bearer`, and why the token does not work: `error_description` (RFC 6750)."),
    ("Retry-After", {"type": "integer", "format": "int32", "minimum": 0}, "Seconds to wait before the next attempt."),
]
HEADERS = {name: {"description": text, "schema": schema} for name, schema, text in _HEADERS}
IF_NONE_MATCH: Schema = {
    "name": "If-None-Match",
    "in": "header",
    "description": "Entity tags of cached answers. A malformed value is ignored.",
    "schema": {"type": "string"},
    "example": '"9f86d081884c7d659a2feaa0c55ad015"',
}
NOT_MODIFIED_RESPONSE: Schema = {
    "description": "The cached answer is still valid.",
    "headers": operation_refusals.refer_to_headers(["X-Request-Id", "ETag"]),
}


def make_document(operations: Sequence[Operation], settings: Settings, *, tolerant: bool = False) -> bytes:
    rules = (settings.name_pattern, settings.max_level)
    return _make_cached(tuple(operations), settings.game_name, *rules, tolerant=tolerant)


@cache  # cached: the OpenAPI document depends only on these arguments, so a process with many apps builds it once
def _make_cached(
    operations: tuple[Operation, ...], game_name: str, name_pattern: str, max_level: int, *, tolerant: bool
) -> bytes:
    rules = (name_pattern, max_level)
    schemas = TolerantContract(*rules) if tolerant else Contract(*rules, change_shapes.list_sides())
    groups = dict.fromkeys(each.group for each in operations)
    paths: dict[str, dict[str, Schema]] = {}
    for operation in operations:
        methods = paths.setdefault(operation.path.replace("[", "{").replace("]", "}"), {})
        methods[operation.method.lower()] = _describe_operation(operation, schemas)
    return shapes.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": f"{game_name} API",
                "version": __version__,
                "summary": "Players and accounts of an online game, over HTTP.",
                "description": ABOUT + schemas.about,
                "license": {"name": "MIT", "identifier": "MIT"},
            },
            "servers": [{"url": "/"}],
            "tags": [{"name": group.title, "description": group.about} for group in groups],
            "paths": paths,
            "components": {
                "schemas": schemas.components,
                "responses": schemas.responses,
                "examples": schemas.examples,
                "headers": HEADERS,
                "securitySchemes": SCHEMES,
            },
        }
    )


def _describe_operation(operation: Operation, schemas: Document) -> Schema:
    described: Schema = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": _describe_needs(operation),
        "tags": [operation.group.title],
        "x-permissions": sorted(operation.permissions or ()),
        "x-writes": operation.access is WRITE,
        "security": [{"bearer": []}] if operation.permissions is not None else [],
        "parameters": _list_parameters(operation, schemas),
        "responses": {**_describe_successes(operation, schemas), **schemas.describe_refusals(operation)},
    }
    if operation.number is not None:
        described["x-number"] = operation.number
    if operation.body is not None:
        described["requestBody"] = schemas.describe_body(operation)
    if operation.successor:
        described["deprecated"] = True
    return described


def _describe_needs(operation: Operation) -> str:
    needed = operation.permissions
    if needed is None:
        needs = "Needs no token."
    elif needed:
        named = " and ".join(f"`{each}`" for each in sorted(needed))
        needs = f"Needs the permission{'s' * (len(needed) > 1)} {named}."
    else:
        needs = "Needs an active token, with any permissions."
    parts = [needs]
    if operation.permissions is not None:
        parts.append(
            "Read-only tokens are rejected." if operation.access is WRITE else "Read-only tokens are accepted."
        )
    if operation.successor:
        parts.append(f"Deprecated, but not going to be removed; use `GET {operation.successor}` instead.")
    return " ".join(parts)


# --- requests ---------------------------------------------------------------------------------------------------


def _list_parameters(operation: Operation, schemas: Document) -> list[Schema]:
    found = [_describe_path_parameter(name, operation, schemas) for name in operation.parameters]
    if shape := operation.query:
        for name, schema in schemas.describe_query(shape).items():
            plain = {key: value for key, value in schema.items() if key != "description"}
            can_be_empty = queries.can_be_empty(shape, name, keep_empty=operation.keeps_empty)
            empty = {"allowEmptyValue": True} if can_be_empty else {}
            found.append({"name": name, "in": "query", "description": schema["description"], **empty, "schema": plain})
    found += _list_write_parameters(operation) if operation.is_repeatable else []
    return found + ([IF_NONE_MATCH] if operation.cache is not NO_STORE else [])


def _describe_path_parameter(name: str, operation: Operation, schemas: Document) -> Schema:
    about = schemas.describe_path(find_parameter(name, operation.path))
    own = {"example": operation.example_path[name]} if name in operation.example_path else {}
    return {"name": name, "in": "path", "required": True, **about, **own}


def _list_write_parameters(operation: Operation) -> list[Schema]:
    key = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"}
    reason = {"type": "string", "maxLength": MAX_REASON_LENGTH, "pattern": "^[^\\x00-\\x1f\\x7f-\\x9f]*$"}
    return [
        {
            "name": "dryRun",
            "in": "query",
            "description": "Preview the change without making it. Also `dry_run` or `dry-run`, in any letter case.",
            "schema": {"type": "boolean", "default": False},
        },
        {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "Makes the write safe to retry: requests with the same key are applied once. "
            "The comparison ignores passwords: use a new key to send another password.",
            "schema": key,
            "example": f"order-4711-{operation.name}",
        },
        {
            "name": "X-Reason",
            "in": "header",
            "description": "Reason for the change, for the audit log.",
            "schema": reason,
            "example": "shop order 4711",
        },
    ]


# --- responses ------------------------------------------------------------------------------------------------


def _describe_successes(operation: Operation, schemas: Document) -> dict[str, Schema]:
    done = {OK: _describe_success(operation, schemas)}
    if operation_refusals.is_accepted_when_held(operation):
        done[ACCEPTED] = _describe_held(schemas)
    return done if operation.cache is NO_STORE else {**done, NOT_MODIFIED: NOT_MODIFIED_RESPONSE}


def _describe_success(operation: Operation, schemas: Document) -> Schema:
    names = ["X-Request-Id"]
    names += ["ETag"] if operation.cache is not NO_STORE else []
    names += ["Idempotent-Replay", "X-Dry-Run"] if operation.is_repeatable else []
    names += ["X-Approval-Required"] if operation_refusals.can_be_held(operation) else []
    names += ["Deprecation", "Link"] if operation.successor else []
    return {
        "description": "Success.",
        "headers": operation_refusals.refer_to_headers(names),
        "content": _describe_content(operation, schemas),
    }


def _describe_held(schemas: Document) -> Schema:
    refusal = ApprovalRequired(examples.MAIL_ID)
    example = msgspec.to_builtins(shapes.Held(refusal.message, refusal.code, examples.MAIL_ID))
    return {
        "description": "The change waits for the approval of a second person. Nothing was changed yet.",
        "headers": operation_refusals.refer_to_headers(["X-Request-Id"]),
        "content": {JSON: {"schema": schemas.describe_held(), "example": example}},
    }


def _describe_content(operation: Operation, schemas: Document) -> Schema:
    if operation.answer == "text/html":
        return {"text/html": {"schema": {"type": "string"}}}
    if isinstance(operation.answer, str):
        return {kind: {"schema": {"type": "string"}} for kind in sorted(set(MEDIA_TYPES.values()))}
    example = msgspec.json.decode(shapes.encode(operation.example_answer))
    content: Schema = {JSON: {"schema": schemas.describe_answer(operation), "example": example}}
    has_table = operation.query is not None and FORMAT in operation.query.__struct_fields__
    return {**content, CSV: {"schema": {"type": "string"}}} if has_table else content


POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

GROUP = Group("Pages", "The OpenAPI document and the API explorer.", place=400)


def read_file(text: str, _: str) -> str:
    if text not in static_files.MEDIA_TYPES:
        raise errors.NoSuchRoute
    return text


PathParameter(
    "asset",
    "Name of a file of the API explorer.",
    next(iter(static_files.MEDIA_TYPES)),
    errors.NoSuchRoute,
    {"type": "string", "enum": sorted(static_files.MEDIA_TYPES)},
    read_file,
    "file",
)


@GROUP.operation(
    "GET /api/openapi.json",
    permissions=NO_TOKEN,
    cache=REVALIDATED,
    answer=dict[str, Any],
    example_answer={"openapi": "3.1.0"},
)
async def get_openapi(request: Request, query: info_shapes.DocumentQuery) -> Response:
    """Get the OpenAPI 3.1 document of this API."""
    document = await request.services.files.load_document(tolerant=query.tolerant)
    return make_encoded_response(document, request.headers)


@GROUP.operation(
    "GET /api/docs",
    permissions=NO_TOKEN,
    cache=REVALIDATED,
    answer="text/html",
)
async def show_docs(request: Request) -> Response:
    """Show the API explorer, a web page that describes and calls the API."""
    return _make_response(request, "text/html", request.services.files.page)


@GROUP.operation(
    "GET /api/docs/[asset]",
    permissions=NO_TOKEN,
    cache=REVALIDATED,
    answer="text/*",
)
async def get_docs_file(request: Request, query: info_shapes.DocsFileQuery, file: str) -> Response:
    """Get a script or style sheet of the API explorer."""
    found = _make_response(request, MEDIA_TYPES[file], request.services.files.named[file])
    if query.v == VERSION:
        found.cache_control = FOREVER
    return found


def _make_response(request: Request, kind: str, content: Encoded) -> Response:
    return make_encoded_response(content, request.headers, f"{kind}; charset=utf-8".encode(), POLICY)
