"""Call API operations inside this process as the signed-in account. The console makes every change this way."""

from collections.abc import Mapping, MutableMapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec

from gamekeeper.console import sessions
from gamekeeper.console.refusals import NoSuchPage, OwnPassword
from gamekeeper.game import lookup
from gamekeeper.game.key_refusals import QuotaReached
from gamekeeper.http import credentials, dispatcher
from gamekeeper.http.errors import MethodNotAllowed, NoSuchRoute
from gamekeeper.http.operation import WRITE, Operation
from gamekeeper.http.request import Receive, Request
from gamekeeper.http.response import Response


class ApiCall(NamedTuple):
    """An API request, as a client of the HTTP API would send it."""

    method: str
    path: str  # URL path, percent-encoded, with its parameters filled in
    body: Mapping[str, object] | None = None
    query: Mapping[str, str] = {}
    reason: str = ""
    key: str = ""  # idempotency key: a retry with the same key has no second effect
    dry_run: bool = False
    expected: str | None = None  # fingerprint of the state seen in the preview; in another state the write is rejected


async def send(request: Request, wanted: ApiCall) -> Response:
    """Run an API call within the console's own request. Refusals of the operation are raised."""
    route, params = find_operation(request, wanted.method, wanted.path)
    # the console cannot call the log-in, the only write without a dry run and an idempotency key
    if route.access is WRITE and not route.is_repeatable:
        raise NoSuchPage
    if route.handler in {credentials.manage_password, credentials.redeem_code}:
        await _require_other_account(request, route, params[0])
    body = b"" if wanted.body is None else msgspec.json.encode(wanted.body)
    made = Request(
        services=request.services,
        id=request.id,
        method=wanted.method,
        raw_path=wanted.path.encode(),
        raw_query=_make_query(wanted),
        headers=_make_headers(request, wanted),
        scope={"headers": (), "client": (request.address, 0)},
        receive=_make_receive(body, request.receive),
        expected=wanted.expected,
    )
    try:
        return await dispatcher.call(made)
    except QuotaReached as refusal:
        raise _leave_out_id(refusal) from None


def _leave_out_id(refusal: QuotaReached) -> QuotaReached:
    """Return the refusal with the name of its item only: pages show an id only if there is no name."""
    item = refusal.name or refusal.item
    return QuotaReached(most=refusal.most, item=item, given=refusal.given, ends_at=refusal.ends_at)


def find_operation(request: Request, method: str, path: str) -> tuple[Operation, tuple[str, ...]]:
    """Find an API operation and its path parameters by method and path. A console page is not an operation."""
    try:
        route, params = request.services.router.find(method, path.encode())
    except (NoSuchRoute, MethodNotAllowed):
        raise NoSuchPage from None
    if not isinstance(route, Operation):
        raise NoSuchPage
    return route, params


async def _require_other_account(request: Request, route: Operation, key: str) -> None:
    """Reject a password change of the caller's own account: an unattended browser must not allow a takeover."""
    # check the permissions before looking up the account: the lookup reveals whether it exists
    dispatcher.require_permissions(request.caller, route)
    if (await lookup.find_user(request.services.keeper.store, key)).id == request.caller.account_id:
        raise OwnPassword


def _make_headers(request: Request, wanted: ApiCall) -> dict[bytes, bytes]:
    given = {
        b"authorization": sessions.make_authorization(request),
        b"content-type": b"application/json",
        b"user-agent": request.headers.get(b"user-agent", b""),
        b"x-reason": wanted.reason.encode(),
        b"idempotency-key": wanted.key.encode(),
    }
    return {name: value for name, value in given.items() if value}


def _make_query(wanted: ApiCall) -> bytes:
    given = {name.lower(): value for name, value in wanted.query.items()}
    return urlencode(given | {"dryrun": "true"} if wanted.dry_run else given).encode()


def _make_receive(body: bytes, receive: Receive) -> Receive:
    """Make an ASGI receive function: it delivers the body, then the browser's messages, such as its disconnect."""
    bodies = [body]

    async def send() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": bodies.pop()} if bodies else await receive()

    return send
