"""Every operation of the API, run as whoever is signed in. A write is tried first, and done when it is confirmed."""

import json
import time
from collections.abc import Mapping
from typing import NamedTuple, cast
from urllib.parse import parse_qsl, quote

import msgspec

from gamekeeper.console import curl, differences, inside, operations, pages, sessions
from gamekeeper.console.inside import Call
from gamekeeper.console.operations import BODY, HIDDEN, NUMBER, PASSWORD, PATH, QUERY, VALUE, WHOLE, Field, Operation
from gamekeeper.console.refusals import NoSuchPage
from gamekeeper.game.changes import seen
from gamekeeper.game.lookup import new_guid
from gamekeeper.game.passwords import wire_form
from gamekeeper.game.refusals import ChangedMeanwhile, MissingField, Refusal
from gamekeeper.http import errors
from gamekeeper.http.request import Request
from gamekeeper.http.routes import WRITE
from gamekeeper.store.ledger import Entry

MOST_SHOWN = 200_000  # characters of an answer
NOT_JSON = (msgspec.DecodeError, RecursionError)
Fields = Mapping[str, str]


class Outcome(NamedTuple):
    status: int
    milliseconds: float
    text: str
    entries: tuple[Entry, ...] = ()
    refusal: Refusal | None = None


async def show(request: Request) -> bytes:
    sought = request.query.get("q", "").strip()
    rights = request.caller.rights
    found = [
        (group, [(each, _why_not(each, rights)) for each in group.operations if _meant(each, sought)])
        for group in operations.groups(request.files.document)
    ]
    return pages.render(request, "explorer.html", groups=[(group, of) for group, of in found if of], q=sought)


async def run(request: Request, raw: bytes) -> bytes:
    fields = dict(parse_qsl(raw.decode("utf-8", "replace"), keep_blank_values=True))
    sessions.require_own_form(request, fields)
    operation = operations.by_key(request.files.document).get(fields.get("operation", ""))
    if operation is None:
        raise NoSuchPage
    call = _call(operation, fields)
    if "line" in fields:
        return _render(request, operation, fields, call._replace(dry_run=False), None)
    if not operation.triable:
        raise NoSuchPage
    outcome = await _outcome(request, call)
    if isinstance(outcome.refusal, ChangedMeanwhile):  # what would happen now, to be confirmed again
        call = call._replace(dry_run=True, key="", expected=None)
        tried = await _outcome(request, call)
        outcome = tried._replace(refusal=tried.refusal or outcome.refusal)
    lines = await differences.lines(request.keeper, [(each.before, each.after) for each in outcome.entries])
    return _render(request, operation, fields, call, outcome, lines=lines)


def _render(
    request: Request, operation: Operation, fields: Fields, call: Call, outcome: Outcome | None, **more: object
) -> bytes:
    """Nothing that was typed into a field for secrets is in the page."""
    secrets = [each for each in operation.fields if each.kind in HIDDEN and fields.get(each.name)]
    sent = {each.name: fields.get(each.name, "") for each in operation.fields if each.kind not in HIDDEN}
    return pages.render(
        request,
        "explorer_answer.html",
        operation=operation,
        call=call,
        outcome=outcome,
        line=_line(request, operation, fields, call),
        sent={name: value for name, value in sent.items() if value},
        secrets=secrets,
        reason=fields.get("reason", ""),
        key=new_guid(),
        seen=seen(outcome.entries) if outcome else "",
        most=MOST_SHOWN,
        **more,
    )


def _line(request: Request, operation: Operation, fields: Fields, call: Call) -> str:
    """Secrets are left to variables of whoever pastes it."""
    typed = [each for each in operation.fields if each.kind in HIDDEN and fields.get(each.name)]
    marks = {each.name: new_guid() for each in typed}
    names = {marks[each.name]: _variable(each) for each in typed}
    path, query, body = _sent(operation, fields, marks)
    shown = call._replace(path=path, query=query, body=body)
    host = request.headers.get(b"host", b"localhost").decode("latin-1")
    secure = sessions._over_tls(request)  # noqa: SLF001 - as for the cookie  # pyright: ignore[reportPrivateUsage] - the same
    origin = f"{'https' if secure else 'http'}://{host}"
    return curl.line(origin, shown, authorized=operation.route.needs is not None, hidden=names)


def _call(operation: Operation, fields: Fields) -> Call:
    """A write is a dry run until it is confirmed."""
    secrets = {each.name: _secret(each, fields) for each in operation.fields if each.kind in HIDDEN}
    path, query, body = _sent(operation, fields, secrets)
    call = Call(operation.route.method, path, body, query)
    route, _ = inside.find(call.method, call.path)  # a name may lead elsewhere, as it does outside
    if route.does is not WRITE or not operation.triable:
        return call
    if fields.get("confirmed") != "yes":
        return call._replace(dry_run=True)
    reason = fields.get("reason", "").strip()
    if not reason:
        raise MissingField(field="reason")
    return call._replace(reason=reason, key=fields.get("key", ""), expected=fields.get("seen"))


def _sent(
    operation: Operation, fields: Fields, secrets: Fields
) -> tuple[str, dict[str, str], dict[str, object] | None]:
    """The path, the query and the body, as a program would send them; what is empty is not sent."""
    given = {each.name: secrets.get(each.name, fields.get(each.name, "")) for each in operation.fields}
    path, kinds = operation.route.path, {each.name: each for each in operation.fields}
    for name, text in given.items():
        if name.startswith(PATH):
            if not text:
                raise MissingField(field=kinds[name].label)
            path = path.replace(f"[{kinds[name].label}]", quote(text, safe=""))
    query = {kinds[name].label: text for name, text in given.items() if name.startswith(QUERY) and text}
    if WHOLE in given:
        return path, query, _whole(given[WHOLE])
    filled = {name: text for name, text in given.items() if name.startswith(BODY) and text}
    body = {kinds[name].label: _value(kinds[name], text) for name, text in filled.items()}
    return path, query, body if operation.route.takes is not None else None


def _whole(text: str) -> dict[str, object] | None:
    """A list, though a call says otherwise: it is sent like any other."""
    try:
        return cast("dict[str, object]", msgspec.json.decode(text, type=list[object]))
    except (*NOT_JSON, msgspec.ValidationError):
        return None


def _value(field: Field, text: str) -> object:
    """What cannot be read is sent as it is: the operation says what is wrong with it."""
    if field.kind not in {NUMBER, VALUE} and field.choices != ("true", "false"):
        return text
    try:
        return msgspec.json.decode(text)
    except NOT_JSON:
        return text


def _secret(field: Field, fields: Fields) -> str:
    typed = fields.get(field.name, "")
    return wire_form(typed) if typed and field.kind == PASSWORD else typed


def _variable(field: Field) -> str:
    return field.label.upper() + ("_SHA256" if field.kind == PASSWORD else "")


async def _outcome(request: Request, call: Call) -> Outcome:
    started = time.perf_counter()
    try:
        answer = await inside.call(request, call)
    except Refusal as refusal:
        said = msgspec.json.decode(errors.body(refusal, request.id, log_in=False))
        return Outcome(errors.status(type(refusal)), _since(started), _pretty(said), refusal=refusal)
    text = answer.content if isinstance(answer.content, str) else _pretty(answer.content)
    return Outcome(request.status, _since(started), text[:MOST_SHOWN], answer.entries)


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _why_not(operation: Operation, rights: frozenset[str]) -> str:
    """Empty: it can be run here."""
    if not operation.triable:
        return "You are signed in already; this is how programs log in."
    missing = (operation.route.needs or frozenset[str]()) - rights
    return f"You need {' and '.join(sorted(missing))} for this." if missing else ""


def _meant(operation: Operation, sought: str) -> bool:
    said = f"{operation.key} {operation.summary} {operation.id}".lower()
    return all(word in said for word in sought.lower().split())
