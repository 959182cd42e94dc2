"""Call API operations inside this process as the signed-in account. The console makes every change this way.

A form of an action describes such a call, and the fields that its confirmation needs.
"""

from collections.abc import Mapping, MutableMapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec

from gamekeeper.console.frame import pages, sessions
from gamekeeper.console.frame.refusals import NoSuchPage, OwnPassword
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.access.refusals import QuotaReached
from gamekeeper.game.core import lookup
from gamekeeper.game.core.lookup import new_guid
from gamekeeper.game.core.refusals import MissingField
from gamekeeper.game.core.writes import fingerprint_state
from gamekeeper.ground.instants import format_instant, parse_typed_time
from gamekeeper.http.accounts import credentials
from gamekeeper.http.contract.operation import WRITE, Operation
from gamekeeper.http.server import dispatcher
from gamekeeper.http.server.errors import MethodNotAllowed, NoSuchRoute
from gamekeeper.http.server.request import Receive, Request
from gamekeeper.http.server.response import Response


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
    if route.handler in {credentials.manage_password, credentials.redeem_reset_code}:
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
        item = refusal.name or refusal.item  # pages show an id only if there is no name
        raise QuotaReached(most=refusal.most, item=item, given=refusal.given, ends_at=refusal.ends_at) from None


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


BODY = "body."  # prefix of the form fields that become the body of the call
# Each of these follows BODY in the name of a form field, and says what its value is:
LINES = "lines."  # lines of text, each an entry of a list; an empty value is left out
FLAG = "flag."  # a boolean: "true" or "false"
TEXT = "text."  # a text that is sent even if it is empty; other empty values are left out
TIME = "time."  # a time in UTC, as browsers send it
LIST = "["  # in the name of a form field: it is an entry of a list
REASON = BODY + "reason"  # the reason that a banned, muted or kicked player is shown
FORCE = {"force": "true"}  # query of an undo that returns a player's item although another player may have it now
# fingerprint of a dry run that changes nothing: no reason is required, as the audit log would not store it
NO_CHANGES = fingerprint_state(())


class ActionForm(NamedTuple):
    """A form that was sent from a page of this session."""

    call: ApiCall
    back: str  # path of the page that the form was on
    asks: tuple[str, ...]  # body fields for new passwords, which the dialog asks for
    confirmed: bool
    fields: Mapping[str, str]


def read_form(request: Request, raw: bytes) -> ActionForm:
    fields = sessions.verify_form(request, raw)
    confirmed = fields.get("confirmed") == "yes"
    require(fields, "method", "path")
    if confirmed:
        require_confirmation(fields)
    asks = tuple(each for each in fields.get("ask", "").split(",") if each)
    body = _read_body(fields)
    body |= {name: hash_for_wire(new_guid()) for name in asks}  # a dry run accepts any password
    call = ApiCall(
        method=fields["method"],
        path=fields["path"],
        body=body,
        query=FORCE if fields.get("force") == "yes" else {},
        reason=fields.get("reason", "").strip(),
        key=fields.get("key", "") if confirmed else "",
        dry_run=not confirmed,
        expected=fields.get("seen") if confirmed else None,
    )
    return ActionForm(call, pages.keep_console_path(fields.get("back", "")), asks, confirmed, fields)


def _read_body(fields: Mapping[str, str]) -> dict[str, object]:
    """Read the body of the call. `give[]=x` and `give[x]=yes` add x to the list `give`; an empty value adds nothing."""
    body: dict[str, object] = {}
    lists: dict[str, list[str]] = {}
    for field, value in fields.items():
        name, bracket, entry = field.removeprefix(BODY).partition(LIST)
        if not field.startswith(BODY):
            continue
        if bracket:
            lists.setdefault(name, []).extend([entry.removesuffix("]") or value] if value else [])
        elif name.startswith(LINES) and value.strip():
            lists[name.removeprefix(LINES)] = [each.strip() for each in value.splitlines() if each.strip()]
        elif name.startswith(TIME) and value:
            body[name.removeprefix(TIME)] = _read_time(value)
        elif name.startswith(FLAG):
            body[name.removeprefix(FLAG)] = value == "true"
        elif name.startswith(TEXT):
            body[name.removeprefix(TEXT)] = value.replace("\r\n", "\n")
        elif value and not name.startswith(LINES):
            body[name] = value
    return body | lists


def _read_time(text: str) -> str:
    """Add what an API time has and a typed one lacks. The operation refuses a text that is no time."""
    try:
        return format_instant(parse_typed_time(text))
    except (ValueError, OverflowError):
        return text


def require_confirmation(fields: Mapping[str, str]) -> None:
    """Require a reason, unless the preview had no changes. Should the call change something then, it is rejected."""
    require(fields, "key", "seen", *([] if fields.get("seen") == NO_CHANGES else ["reason"]))


def require(fields: Mapping[str, str], *names: str) -> None:
    for each in names:
        if not fields.get(each, "").strip():
            raise MissingField(field=each)
