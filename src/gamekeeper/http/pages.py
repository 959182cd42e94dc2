"""Handlers of the API explorer's page, its files, and the OpenAPI document."""

from typing import Any

from gamekeeper.http import wire
from gamekeeper.http.docs_files import FOREVER, MEDIA_TYPES, VERSION
from gamekeeper.http.encodings import Encoded
from gamekeeper.http.operation import NO_TOKEN, READ, REVALIDATED, Group
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response, make_encoded_response

POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

GROUP = Group("Pages", "The OpenAPI document and the API explorer.")


@GROUP.operation(
    "GET /api/openapi.json",
    name="get_openapi",
    permissions=NO_TOKEN,
    access=READ,
    cache=REVALIDATED,
    query=wire.info.DocumentQuery,
    answer=dict[str, Any],
    refusals=(),
    example_answer={"openapi": "3.1.0"},
)
async def get_openapi(request: Request, query: wire.info.DocumentQuery) -> Response:
    """Get the OpenAPI 3.1 document of this API."""
    document = await request.services.files.load_document(tolerant=query.tolerant)
    return make_encoded_response(document, request.headers)


@GROUP.operation(
    "GET /api/docs",
    name="show_docs",
    permissions=NO_TOKEN,
    access=READ,
    cache=REVALIDATED,
    answer="text/html",
    refusals=(),
)
async def show_docs(request: Request) -> Response:
    """Show the API explorer, a web page that describes and calls the API."""
    return _make_response(request, "text/html", request.services.files.page)


@GROUP.operation(
    "GET /api/docs/[asset]",
    name="get_docs_file",
    permissions=NO_TOKEN,
    access=READ,
    cache=REVALIDATED,
    query=wire.info.DocsFileQuery,
    answer="text/*",
    refusals=(),
)
async def get_file(request: Request, query: wire.info.DocsFileQuery, file: str) -> Response:
    """Get a script or style sheet of the API explorer."""
    found = _make_response(request, MEDIA_TYPES[file], request.services.files.named[file])
    if query.v == VERSION:
        found.cache_control = FOREVER
    return found


def _make_response(request: Request, kind: str, content: Encoded) -> Response:
    return make_encoded_response(content, request.headers, f"{kind}; charset=utf-8".encode(), POLICY)
