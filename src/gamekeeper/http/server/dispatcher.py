"""Handle a request: find its route, run the checks that all routes share, read the body, then call the handler.

The body is read with a size limit and a deadline.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from msgspec import Struct

from gamekeeper.game.core.refusals import Overloaded, ReadOnlyToken, Refusal, RepeatedField
from gamekeeper.http.contract.operation import ANY_TOKEN, NO_STORE, REVALIDATED, WRITE, Route
from gamekeeper.http.contract.shapes import encode_answer
from gamekeeper.http.server import bodies, errors, queries, static_files
from gamekeeper.http.server.admission import LARGE_BYTES, UNLIMITED_PATHS
from gamekeeper.http.server.caller import POWERS, ROLES, Caller
from gamekeeper.http.server.errors import LOG_IN, BodyTooLarge, BodyTooSlow, MalformedBody, MethodNotAllowed
from gamekeeper.http.server.request import Receive, Request, parse_query
from gamekeeper.http.server.response import Header, Response
from gamekeeper.http.server.response_headers import Cors


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, limit: int, seconds: int) -> bytes:
    announced = headers.get(b"content-length", b"0")
    if announced.isdigit() and int(announced[:20]) > limit:
        raise BodyTooLarge(limit=limit)
    try:
        async with asyncio.timeout(seconds):
            message = await receive()
            if message.get("more_body") or message["type"] == "http.disconnect":
                return await _read_all(message, receive, limit)
    except TimeoutError:
        raise BodyTooSlow(seconds=seconds) from None
    body: bytes = message.get("body", b"")
    if len(body) > limit:
        raise BodyTooLarge(limit=limit)
    return body


async def _read_all(message: Mapping[str, Any], receive: Receive, limit: int) -> bytes:
    """Read a body of several messages, of which the first has arrived."""
    parts: list[bytes] = []
    size = 0
    while True:
        if message["type"] == "http.disconnect":
            raise MalformedBody(problem="The body ended before it was complete.")
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise BodyTooLarge(limit=limit)
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)
        message = await receive()


# Deprecation header of the legacy POST lists: 2026-01-01, since when they have GET successors
DEPRECATED_SINCE = b"@1767225600"
NOT_MODIFIED = 304
SINGLE_HEADERS = ("Authorization", "Idempotency-Key")
DRY_RUN_HEADER: Header = (queries.HEADER, b"true")


class ConsoleRoutes(NamedTuple):
    """The console's routes, which are not operations of the API."""

    root: bytes  # path prefix of all console routes except the redirect at /
    routes: tuple[Route, ...]
    render_refusal: Callable[[Request, Refusal], Response]  # renders a refusal as an HTML page
    live: object  # state that the console's pages share in this process


class Dispatcher:
    """Handles requests from the network: limits their number, and turns every exception into a response."""

    def __init__(self, cors: Cors, pages: ConsoleRoutes | None) -> None:
        self._cors, self._pages = cors, pages

    async def handle(self, request: Request) -> Response:
        admission = request.services.admission
        try:
            if request.raw_path in UNLIMITED_PATHS:
                return await call(request)
            if admission.in_flight >= admission.most:
                return self._refuse(request, Overloaded())
            admission.in_flight += 1
            admission.total += 1
            try:
                return await call(request)
            finally:
                admission.in_flight -= 1
        except MethodNotAllowed as refusal:
            return (
                self._cors.answer_preflight(refusal)
                if self._cors.is_preflight(request)
                else self._refuse(request, refusal)
            )
        except Exception as error:  # noqa: BLE001 - any exception becomes a response without details
            return self._refuse(request, errors.to_refusal(error, request.id))

    def _refuse(self, request: Request, refusal: Refusal) -> Response:
        if self._pages and _is_below(self._pages.root, request.raw_path):
            return self._pages.render_refusal(request, refusal)
        path = request.route.path
        content = errors.encode_body(refusal, request.id, log_in=path == LOG_IN)
        headers = (*_make_notice_headers(request), *errors.make_headers(refusal))
        return Response(content, errors.find_status(type(refusal), path), headers)


async def call(request: Request) -> Response:
    """Handle a request, without the limit of concurrent requests, which `Dispatcher.handle` applies; raise refusals.

    The console calls this for its API calls too, with the same checks.
    """
    route, request.params = request.services.router.find(request.method, request.raw_path)
    request.route = route
    if route.permissions is not None:
        await _authorize(request, route)
    if route.body is not None:
        request.raw_body = await _receive_body(request, route)
    return await _run_handler(request, route)


async def call_as(request: Request, caller: Caller, route: Route, params: tuple[str, ...]) -> Response:
    """Handle a request whose body is known as this caller, without a token: a held request that was approved.

    The caller's permissions must be checked elsewhere: those of a requester are checked in the transaction.
    """
    request.route, request.params, request.caller = route, params, caller
    return await _run_handler(request, route)


async def _run_handler(request: Request, route: Route) -> Response:
    if route.body is not None:
        given = _read_arguments(request, route)
        made = await route.handler(request, await _decode_body(request, route, route.body), **given)
    elif request.raw_query or route.takes_input:
        made = await route.handler(request, **_read_arguments(request, route))
    else:
        made = await route.handler(request)
    answer = made if isinstance(made, Response) else Response(encode_answer(made))
    if request.dry_run or route.successor:
        answer.headers = (*_make_notice_headers(request), *answer.headers)
    if route.cache is REVALIDATED or (route.cache is not NO_STORE and not request.caller.sees_reset_codes):
        answer.tag = answer.tag or static_files.make_etag(answer.content)
        held = request.headers.get(b"if-none-match")
        if held is not None and static_files.is_listed(answer.tag, held):  # the client has cached this response
            answer.status, answer.content = NOT_MODIFIED, b""
    return answer


def require_permissions(caller: Caller, route: Route) -> None:
    """Check that the caller has the permissions that a route needs.

    A token that can only read is refused as such, unless a role or power is missing: older versions answered so.
    """
    needed = route.permissions or ANY_TOKEN
    if route.access is WRITE and caller.read_only:
        caller.require(needed & (ROLES | POWERS))
        raise ReadOnlyToken(problem=caller.read_only_problem)
    caller.require(needed)


def may_call(caller: Caller, route: Route) -> bool:
    """Tell whether the caller has the permissions that a route needs, for menus and buttons."""
    return (route.permissions or ANY_TOKEN) <= caller.permissions and not (route.access is WRITE and caller.read_only)


async def _authorize(request: Request, route: Route, *, again: bool = False) -> None:
    """Find the caller by the token and check its permissions. Cheap to repeat: active tokens are cached.

    `again`: the second check of a request, which its API key has counted already.
    """
    headers, callers = request.headers, request.services.callers
    if len(headers) < len(request.scope["headers"]):
        _require_one_value(request.raw_headers)
    authorization = headers.get(b"authorization", b"")
    request.caller = callers.get_cached(authorization) or await callers.find_caller(authorization, request)
    if request.caller.key is not None and not again:
        callers.admit_key(request.caller, request.caller.key, request.address)
    # most requests are reads with the permission: one comparison of sets, without a call
    if route.is_repeatable or not (route.permissions or ANY_TOKEN) <= request.caller.permissions:
        require_permissions(request.caller, route)


async def _receive_body(request: Request, route: Route) -> bytes:
    """Receive the request body. Meanwhile the request does not count as concurrent: a slow sender occupies no slot.

    Then the caller is found again: the token may have been revoked while the body was received.
    """
    settings, admission = request.services.keeper.settings, request.services.admission
    limit = settings.link_body_limit if route.over_link else max(settings.body_limit, route.body_limit)
    admission.in_flight -= 1
    try:
        sent = await read_body(request.headers, request.receive, limit, settings.receive_seconds)
    finally:
        admission.in_flight += 1
    admission.require_slot()
    if route.permissions is not None:
        still = request.services.callers.get_cached(request.headers.get(b"authorization", b""))
        if still is not request.caller:  # the same caller has the same permissions, which were checked
            await _authorize(request, route, again=True)
    return sent


def _read_arguments(request: Request, route: Route) -> dict[str, object]:
    """Read the query and the path parameters; return the handler's arguments besides the body."""
    if request.raw_query:
        request.query = parse_query(request.raw_query)
        queries.require_known(route, request.query)
    if route.is_repeatable:
        request.dry_run = queries.is_requested(request.query, request.headers)
    given: dict[str, object] = {}
    for each in route.path_values:
        given[each.argument] = each.read(request.params[each.place], each.name)
    if route.query is not None:
        given["query"] = queries.decode(route.query, request.query, keep_empty=route.keeps_empty)
    return given


async def _decode_body(request: Request, route: Route, shape: type[Struct] | type[bytes]) -> Struct | bytes:
    if not issubclass(shape, Struct):
        return request.raw_body
    raw, content_type = request.raw_body, request.headers.get(b"content-type", b"").decode("latin-1")
    forms, strict, changes = route.takes_forms, route.is_own_api, route.is_repeatable
    if len(raw) <= LARGE_BYTES:
        request.body = bodies.decode(raw, content_type, shape, forms=forms, strict=strict, changes=changes)
    else:
        read = partial(bodies.decode, raw, content_type, shape, forms=forms, strict=strict, changes=changes)
        request.body = await request.read_body(read)
    return request.body


def _require_one_value(headers: Sequence[Header]) -> None:
    """Reject a repeated header with different values: a retry with a second Idempotency-Key would be a new change."""
    for wanted in SINGLE_HEADERS:
        if len({value for name, value in headers if name == wanted.lower().encode()}) > 1:
            raise RepeatedField(field=wanted)


def _make_notice_headers(request: Request) -> tuple[Header, ...]:
    """Make the headers that mark deprecated operations and dry runs; error responses have them too."""
    notes: tuple[Header, ...] = (DRY_RUN_HEADER,) if request.dry_run else ()
    if request.route.successor:
        link = f'<{request.route.successor}>; rel="successor-version"'.encode()
        notes += ((b"deprecation", DEPRECATED_SINCE), (b"link", link))
    return notes


def _is_below(root: bytes, path: bytes) -> bool:
    return path.startswith(root) and path[len(root) :][:1] in b"/?"
