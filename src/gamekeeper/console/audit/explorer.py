"""The API explorer's calls, run as the signed-in account. A write is a dry run until it is confirmed."""

import re
from collections.abc import Mapping
from typing import cast
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from gamekeeper.console.access import passwords
from gamekeeper.console.accounts import erasures
from gamekeeper.console.frame import api_calls, differences, pages, sessions
from gamekeeper.console.frame.api_calls import ApiCall, require, require_confirmation
from gamekeeper.console.frame.menu import ADMINISTRATION
from gamekeeper.console.frame.routes import form_route, page_route
from gamekeeper.console.frame.texts import gettext
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.core.refusals import Refusal
from gamekeeper.http.accounts.account_shapes import USER_FIELDS
from gamekeeper.http.contract.operation import WRITE, Operation
from gamekeeper.http.contract.shapes import PasswordHash
from gamekeeper.http.server import errors
from gamekeeper.http.server.errors import MalformedBody
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response

# Body field with the current password. Every other password in a body is a new one.
CURRENT_FIELD = "authorization"
# the explorer cuts a longer API response, such as a whole export: encoding it would delay other requests
MAX_SHOWN_BYTES = 200_000
RESET_CODE = re.compile(rf'("{USER_FIELDS["reset_code"]}":\s*")[^"]+')
Fields = Mapping[str, str]


async def show(request: Request) -> Response:
    """Show the API explorer of /api/docs inside the console. Its calls are sent to `run` instead of the API."""
    return pages.render(request, "audit/explorer.html")


async def run(request: Request, raw: bytes) -> Response:
    """Run an API call and return its status and body as JSON, also if the operation rejects it.

    Rejections by the console itself, such as a failed CSRF check, are raised.
    """
    fields = sessions.verify_form(request, raw)
    require(fields, "method", "path")
    route, _ = api_calls.find_operation(request, fields["method"], fields["path"])
    try:
        return pages.answer_json(await _run_call(request, route, fields))
    except Refusal as refusal:
        text = errors.encode_body(refusal, request.id, log_in=False).decode()
        return pages.answer_json({"status": errors.find_status(type(refusal), route.path), "text": text})


async def _run_call(request: Request, route: Operation, fields: Fields) -> dict[str, object]:
    call = await _hash_passwords(request, route, _read_call(route, fields))
    if call.key:
        await erasures.require_name(request, call, fields)
    answer = await api_calls.send(request, call)
    changes = await differences.list_differences(
        request.services.keeper,
        answer.entries,
        sees_accounts="users.query" in request.caller.permissions,
        is_preview=call.dry_run,
    )
    return {
        "status": answer.status,
        "text": RESET_CODE.sub(r"\1…", answer.content[:MAX_SHOWN_BYTES].decode("utf-8", "ignore")),
        "cut": len(answer.content) > MAX_SHOWN_BYTES,
        "request": request.id,
        "changes": [[line._asdict() for line in each] for each in changes],
        "seen": answer.state_fingerprint,
        "recorded": bool(answer.entries) or route.access is not WRITE,
        "replayed": answer.replayed,
        "erases": await erasures.find_name(request, call) if call.dry_run and answer.entries else "",
    }


def _read_call(route: Operation, fields: Fields) -> ApiCall:
    query = dict(parse_qsl(fields.get("query", "")))
    call = ApiCall(fields["method"], fields["path"], _decode_body(fields.get("body", "")), query)
    if route.access is not WRITE:
        return call
    if fields.get("confirmed") != "yes":
        return call._replace(dry_run=True)
    require_confirmation(fields)
    return call._replace(reason=fields.get("reason", "").strip(), key=fields["key"], expected=fields["seen"])


def _decode_body(text: str) -> Mapping[str, object] | None:
    """Decode the JSON body of an API call. A list is accepted too, although the return type names only objects."""
    try:
        return cast("Mapping[str, object]", msgspec.json.decode(text)) if text else None
    except (msgspec.DecodeError, RecursionError):
        raise MalformedBody(problem=gettext("The body is not valid JSON.")) from None


async def _hash_passwords(request: Request, route: Operation, call: ApiCall) -> ApiCall:
    """Replace plain-text passwords in the body by their hashes. New passwords must satisfy the password rules."""
    shape = route.body
    if not isinstance(call.body, dict) or shape is None or not issubclass(shape, Struct):
        return call
    hashed = {each.name.lower() for each in msgspec.structs.fields(shape) if each.type == PasswordHash}
    typed = {name: value for name, value in call.body.items() if name.lower() in hashed and isinstance(value, str)}
    new = [value for name, value in typed.items() if route.access is WRITE and name.lower() != CURRENT_FIELD]
    whose = await passwords.find_owner(request, call) if new else ()
    for each in new:
        passwords.require_usable(request, each, whose)
    return call._replace(body={**call.body, **{name: hash_for_wire(value) for name, value in typed.items()}})


PAGES = (
    page_route("/explorer", show)
    .in_menu("API explorer", ADMINISTRATION, 70, "explorer")
    .with_help("Every operation of the API. You run it as yourself; a write shows a preview first.", "openapi"),
    form_route("/explorer/run", run),
)
