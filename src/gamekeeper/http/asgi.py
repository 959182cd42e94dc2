"""The app: one plain ASGI callable that dispatches on the table and runs the checks in the order decided."""

import asyncio
import itertools
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping, Sequence
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from msgspec import Struct

from gamekeeper import log
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.refusals import ReadOnlyToken, Refusal, RepeatedField
from gamekeeper.http import bodies, errors, health, openapi, queries, receipt, tags, users
from gamekeeper.http.admission import ALWAYS, Admission
from gamekeeper.http.caller import Callers
from gamekeeper.http.cors import Cors
from gamekeeper.http.errors import LOG_IN, DatabaseAway, InternalError, MethodNotAllowed, NoSuchRoute, OutcomeUnknown
from gamekeeper.http.figures import Metrics
from gamekeeper.http.files import Files
from gamekeeper.http.gate import Gate
from gamekeeper.http.heads import Heads
from gamekeeper.http.operation import ANY_TOKEN, NO_STORE, REVALIDATED, WRITE, Route
from gamekeeper.http.proxies import Proxies
from gamekeeper.http.request import TRIED, Receive, Request, query_of
from gamekeeper.http.routes import METRICS, ROUTES
from gamekeeper.http.services import Services
from gamekeeper.store.engine import Away, Undecided

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Hook = Callable[[], Awaitable[None]]

API = "/api/"  # in any case, as the engine reads it: its clients write paths as they like
DEPRECATED_SINCE = b"@1767225600"  # 2026-01-01, when the POST lists got their successors here
NOT_MODIFIED = 304
ONCE = ("Authorization", "Idempotency-Key")


class _Node:
    """A step of a path: literal segments win over the parameter."""

    __slots__ = ("folded", "literals", "methods", "parameter")

    def __init__(self) -> None:
        self.literals: dict[bytes, _Node] = {}
        self.folded: dict[bytes, _Node] = {}  # those that are meant in any case, in lower case
        self.parameter: _Node | None = None
        self.methods: dict[str, Route] = {}


class Pages(NamedTuple):
    """What is there for people, and no operation of the API."""

    root: bytes  # all of them are at or below this path, but for the one that leads here from /
    routes: tuple[Route, ...]
    refused: Callable[[Request, Refusal], bytes]  # how they put a refusal
    live: object  # what they keep in this process


class Asgi:
    def __init__(self, keeper: Keeper, callers: Callers, start: Hook, stop: Hook, pages: Pages | None = None) -> None:
        admission = Admission(keeper.settings.requests_in_flight)
        self.services = Services(
            keeper=keeper,
            callers=callers,
            files=Files(
                openapi.document(ROUTES, keeper.settings),
                openapi.document(ROUTES, keeper.settings, tolerant=True),
            ),
            admission=admission,
            gate=Gate(admission),
            readiness=health.readiness(keeper),
            metrics=Metrics(keeper, callers, admission),
            live=pages.live if pages else None,
        )
        self._start, self._stop, self._pages = start, stop, pages
        more = (*(pages.routes if pages else ()), *((METRICS,) if keeper.settings.metrics_token else ()))
        self._root = _tree((*ROUTES, *more))
        self._proxies, self._cors = Proxies(keeper.settings), Cors(keeper.settings)
        self._tls = bool(keeper.settings.tls_cert)
        self._heads = Heads(keeper.settings, self._cors)
        self._pace = self.services.metrics.pace
        self._count = self.services.metrics.count if keeper.settings.metrics_token else None
        self._log = log.access if keeper.settings.access_log else None
        # of a request's id: which process it was, and which request
        self._prefix, self._numbers = os.urandom(8).hex(), itertools.count()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        started = time.perf_counter_ns()
        headers: Mapping[bytes, bytes] = dict(scope["headers"])
        peer: str = scope["client"][0] if scope.get("client") else ""
        request = Request(
            services=self.services,
            id=f"{self._prefix}{next(self._numbers):08x}",
            method=scope["method"],
            path="",
            params=(),
            headers=headers,
            query={},
            address=self._proxies.address(peer, scope["headers"]),
            over_tls=self._tls or self._proxies.over_tls(peer, headers),
            receive=receive,
            asked=(scope.get("raw_path") or b"", scope["query_string"]),
        )
        if self._pages and _below(self._pages.root, request.asked[0]):
            request.refused = partial(self._pages.refused, request)
        status, body = await self._answer(request, scope, receive)
        await send({"type": "http.response.start", "status": status, "headers": self._heads.of(request, status, body)})
        await send({"type": "http.response.body", "body": body, "more_body": request.stream is not None})
        if request.stream is not None:
            await _told_on(request, request.stream, send)
        self._pace.count(fault=status in errors.FAULTS)
        if self._count:
            self._count(request.method, request.path, status, started)
        if self._log:
            self._log(request.id, request.caller.name, f"{request.method} {request.path}", status, started)

    async def _answer(self, request: Request, scope: Scope, receive: Receive) -> tuple[int, bytes]:
        try:
            return await self._admitted(request, scope, receive)
        except Refusal as refusal:
            if isinstance(refusal, MethodNotAllowed) and self._cors.asked(request):
                return self._cors.preflight(request, refusal)
            return _refused(request, refusal)
        except Away as away:
            log.problem(request.id, f"the database is away: {away}")
            return _refused(request, OutcomeUnknown() if isinstance(away, Undecided) else DatabaseAway())
        except Exception:  # noqa: BLE001 - whatever it is, the caller learns only that it happened
            log.failure(request.id)
            return _refused(request, InternalError())

    async def _admitted(self, request: Request, scope: Scope, receive: Receive) -> tuple[int, bytes]:
        if scope.get("raw_path") in ALWAYS:
            return await self._handle(request, scope, receive)
        self.services.admission.enter()
        try:
            return await self._handle(request, scope, receive)
        finally:
            self.services.admission.leave()

    async def _handle(self, request: Request, scope: Scope, receive: Receive) -> tuple[int, bytes]:
        route = self._find(request, scope)
        request.path = route.path
        if len(request.headers) < len(scope["headers"]) and route.permissions is not None:
            _require_one_value(scope["headers"])
        await self._authorize(request, route)
        if route.body is not None:
            request.raw = await self._body(request, route, receive)
            await self._authorize(request, route)  # again: the token may have been revoked while the body arrived
        request.query = query_of(scope["query_string"])
        if route.successor:
            link = f'<{route.successor}>; rel="successor-version"'.encode()
            request.answer_headers += [(b"deprecation", DEPRECATED_SINCE), (b"link", link)]
        content = await handled(request, route)
        return _checked(request, content) if _kept(request, route) else (request.status, content)

    async def _authorize(self, request: Request, route: Route) -> None:
        """Find the caller by its token and check its permissions. Cheap to repeat: a token found good is cached."""
        if route.permissions is None:
            return
        request.caller = await self.services.callers.caller(request.headers.get(b"authorization"))
        if route.permissions or route.access is WRITE:
            require(request, route)

    async def _body(self, request: Request, route: Route, receive: Receive) -> bytes:
        """Those who send slowly keep nobody's place."""
        settings = self.services.keeper.settings
        limit = settings.link_body_limit if route.over_link else settings.body_limit
        sent = await self.services.admission.aside(
            receipt.body(request.headers, receive, limit, settings.receive_seconds)
        )
        self.services.admission.require_place()
        return sent

    def _find(self, request: Request, scope: Scope) -> Route:
        """On the raw path: in the decoded one a name's %2F has become a separator."""
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        node, params = self._root, list[str]()
        for segment in raw.partition(b"?")[0].rstrip(b"/").split(b"/")[1:]:
            node = node.literals.get(segment) or _beneath(node, segment, params)
        if not node.methods:
            raise NoSuchRoute
        route = node.methods.get(request.method)
        if route is None:
            raise MethodNotAllowed(", ".join(sorted(node.methods)))
        request.params = tuple(params)
        return route

    async def _started(self) -> str:
        """An exception here would be taken for an app without a lifespan, and served on regardless."""
        try:
            await self._start()
        except Away as away:
            log.problem("start", f"the database is away: {away}")
            return "lifespan.startup.failed"
        except Exception:  # noqa: BLE001 - whatever it is, it is in the log and the server does not start
            log.failure("start")
            return "lifespan.startup.failed"
        return "lifespan.startup.complete"

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": await self._started()})
            elif message["type"] == "lifespan.shutdown":
                await self._stop()
                log.flush()
                await send({"type": "lifespan.shutdown.complete"})
                return


def _require_one_value(headers: Sequence[tuple[bytes, bytes]]) -> None:
    """Reject headers that contradict each other: a retry with one more key would otherwise be a new change."""
    for wanted in ONCE:
        if len({value for name, value in headers if name == wanted.lower().encode()}) > 1:
            raise RepeatedField(field=wanted)


def _below(root: bytes, path: bytes) -> bool:
    return path.startswith(root) and path[len(root) :][:1] in b"/?"


def _beneath(node: _Node, segment: bytes, params: list[str]) -> _Node:
    if b"%" in segment:
        segment = unquote_to_bytes(segment)
    literal = node.folded.get(segment.lower()) or node.literals.get(segment)
    if literal is not None:
        return literal
    if node.parameter is None or not segment:
        raise NoSuchRoute
    params.append(segment.decode("utf-8", "replace"))
    return node.parameter


def _tree(routes: tuple[Route, ...]) -> _Node:
    root = _Node()
    for route in routes:
        node = root
        for segment in route.path.rstrip("/").split("/")[1:]:  # as `_find` divides a request's path
            if segment.startswith("["):
                node.parameter = node.parameter or _Node()
                node = node.parameter
            else:
                found = node.literals.setdefault(segment.encode(), _Node())
                if route.path.startswith(API):
                    node.folded[segment.lower().encode()] = found
                node = found
        node.methods[route.method] = route
    return root


async def handled(request: Request, route: Route) -> bytes:
    queries.require_known(route, request.query)
    if route.is_repeatable and request.is_dry_run():
        request.answer_headers.append(TRIED)
    return await (route.handler(request) if route.body is None else _with_body(request, route, route.body))


def require(request: Request, route: Route) -> None:
    request.caller.require(route.permissions or ANY_TOKEN)
    if route.access is WRITE and request.caller.read_only:
        raise ReadOnlyToken


async def _with_body(request: Request, route: Route, shape: type[Struct] | type[bytes]) -> bytes:
    if not issubclass(shape, Struct):
        return await route.handler(request, request.raw)
    content_type = request.headers.get(b"content-type", b"").decode("latin-1")
    forms, strict, changes = not route.over_link, route.is_ours, route.is_repeatable
    read = partial(bodies.decode, request.raw, content_type, shape, forms=forms, strict=strict, changes=changes)
    body = request.body = await request.read_body(read)
    return await route.handler(request, body)


def _kept(request: Request, route: Route) -> bool:
    return route.cache is REVALIDATED or (route.cache is not NO_STORE and not users.sees_codes(request))


def _checked(request: Request, content: bytes) -> tuple[int, bytes]:
    """The answer with its tag, or nothing but the tag for a caller who has that answer."""
    request.tag = tags.of(content)
    same = tags.among(request.tag, request.headers.get(b"if-none-match"))
    return (NOT_MODIFIED, b"") if same else (request.status, content)


async def _told_on(request: Request, stream: AsyncGenerator[bytes], send: Send) -> None:
    """Until it ends, or nobody listens any more."""
    gone = asyncio.ensure_future(request.gone())
    try:
        while piece := await _piece(stream, gone):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    except Exception:  # noqa: BLE001 - the head is sent: all that is left is to end, and to say it in the log
        log.failure(request.id)
    finally:
        gone.cancel()
        await stream.aclose()
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _piece(stream: AsyncGenerator[bytes], gone: asyncio.Future[None]) -> bytes:
    """The next one; nothing at its end, and as soon as nobody listens."""
    piece = asyncio.ensure_future(anext(stream, b""))
    try:
        await asyncio.wait({piece, gone}, return_when=asyncio.FIRST_COMPLETED)
        return piece.result() if piece.done() else b""
    finally:
        if not piece.done():
            piece.cancel()
            await asyncio.wait({piece})


def _refused(request: Request, refusal: Refusal) -> tuple[int, bytes]:
    request.answer_headers += errors.headers(refusal)
    status = errors.status(type(refusal), request.path)
    if request.refused is not None:
        return status, request.refused(refusal)
    return status, errors.body(refusal, request.id, log_in=request.path == LOG_IN)
