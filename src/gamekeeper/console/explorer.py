"""The API explorer's calls, run as the signed-in account. A write is a dry run until it is confirmed."""

import re
from collections.abc import Mapping
from typing import cast
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from gamekeeper.console import differences, erasing, inside, pages, password, sessions
from gamekeeper.console.actions import require, require_confirmation
from gamekeeper.console.inside import Call
from gamekeeper.game.passwords import hash_for_wire
from gamekeeper.game.refusals import Refusal
from gamekeeper.http import errors
from gamekeeper.http.errors import MalformedBody
from gamekeeper.http.operation import WRITE, Operation
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.http.wire.scalars import PasswordHash
from gamekeeper.http.wire.users import USER_FIELDS

CHECKED = "authorization"  # the field of a write's body for the current password; every other password is a new one
MOST_SHOWN = 200_000  # bytes of an answer: encoding a whole export would hold up other requests
RESET_CODE = re.compile(rf'("{USER_FIELDS["reset_code"]}":\s*")[^"]+')
Fields = Mapping[str, str]


async def show(request: Request) -> Response:
    """The same explorer as at /api/docs; its requests come to `run`."""
    return pages.render(request, "explorer.html")


async def run(request: Request, raw: bytes) -> Response:
    """Answer as the operation does outside; refusals of the console itself, such as a forged form, are raised."""
    fields = sessions.own_fields(request, raw)
    require(fields, "method", "path")
    route, _ = inside.find(request, fields["method"], fields["path"])
    try:
        return pages.answer(await _answer(request, route, fields))
    except Refusal as refusal:
        text = errors.encode_body(refusal, request.id, log_in=False).decode()
        return pages.answer({"status": errors.find_status(type(refusal), route.path), "text": text})


async def _answer(request: Request, route: Operation, fields: Fields) -> dict[str, object]:
    call = await _with_hashes(request, route, _read(route, fields))
    if call.key:
        await erasing.require_name(request, call, fields)
    answer = await inside.call(request, call)
    changes = await differences.list_differences(
        request.services.keeper,
        answer.entries,
        sees_accounts="users.query" in request.caller.permissions,
        is_preview=call.dry_run,
    )
    return {
        "status": answer.status,
        "text": RESET_CODE.sub(r"\1…", answer.content[:MOST_SHOWN].decode("utf-8", "ignore")),
        "cut": len(answer.content) > MOST_SHOWN,
        "request": request.id,
        "changes": [[line._asdict() for line in each] for each in changes],
        "seen": answer.state_fingerprint,
        "recorded": bool(answer.entries) or route.access is not WRITE,
        "replayed": answer.replayed,
        "erases": await erasing.find_name(request, call) if call.dry_run and answer.entries else "",
    }


def _read(route: Operation, fields: Fields) -> Call:
    query = dict(parse_qsl(fields.get("query", "")))
    call = Call(fields["method"], fields["path"], _body(fields.get("body", "")), query)
    if route.access is not WRITE:
        return call
    if fields.get("confirmed") != "yes":
        return call._replace(dry_run=True)
    require_confirmation(fields)
    return call._replace(reason=fields.get("reason", "").strip(), key=fields["key"], expected=fields["seen"])


def _body(text: str) -> Mapping[str, object] | None:
    """A list, which a call's type leaves out, is sent like an object."""
    try:
        return cast("Mapping[str, object]", msgspec.json.decode(text)) if text else None
    except (msgspec.DecodeError, RecursionError):
        raise MalformedBody(problem="The body is not valid JSON.") from None


async def _with_hashes(request: Request, route: Operation, call: Call) -> Call:
    """Replace passwords, which come as they were typed, by their hashes; new ones must keep the rules."""
    shape = route.body
    if not isinstance(call.body, dict) or shape is None or not issubclass(shape, Struct):
        return call
    hashed = {each.name.lower() for each in msgspec.structs.fields(shape) if each.type == PasswordHash}
    typed = {name: value for name, value in call.body.items() if name.lower() in hashed and isinstance(value, str)}
    new = [value for name, value in typed.items() if route.access is WRITE and name.lower() != CHECKED]
    whose = await password.find_owner(request, call) if new else ()
    for each in new:
        password.require_usable(request, each, whose)
    return call._replace(body={**call.body, **{name: hash_for_wire(value) for name, value in typed.items()}})
