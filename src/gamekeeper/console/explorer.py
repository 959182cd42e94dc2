"""Every operation of the API, run as whoever is signed in. A write is tried first, and done when it is confirmed."""

import json
import re
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple, cast
from urllib.parse import quote

import msgspec

from gamekeeper.console import curl, differences, erasing, inside, operations, pages, password, refusals, sessions
from gamekeeper.console.actions import NO_LINE, REASON, require_confirmation
from gamekeeper.console.inside import Call
from gamekeeper.console.operations import (
    BODY,
    HIDDEN,
    NEW_PASSWORD,
    NUMBER,
    PASSWORDS,
    PATH,
    QUERY,
    VALUE,
    WHOLE,
    Field,
    Operation,
)
from gamekeeper.console.refusals import NameNotTyped, NoSuchPage, UnusablePassword
from gamekeeper.game.lookup import new_guid
from gamekeeper.game.passwords import wire_form
from gamekeeper.game.refusals import ChangedMeanwhile, MissingField, Refusal
from gamekeeper.http import errors, wire
from gamekeeper.http.answer import Answer
from gamekeeper.http.operation import WRITE
from gamekeeper.http.request import Request
from gamekeeper.store.ledger import Entry

IMPRINT = "imprint."  # before the name of a new password's field: what it was typed as the first time
MOST_SHOWN = 200_000  # bytes of an answer
NOT_JSON = (msgspec.DecodeError, RecursionError)
RESET_CODE = re.compile(rf'("{wire.users.USER_FIELDS["reset_code"]}":\s*")[^"]+')
Fields = Mapping[str, str]


class Outcome(NamedTuple):
    status: int
    milliseconds: float
    text: str
    entries: tuple[Entry, ...] = ()
    seen: str = ""
    refusal: Refusal | None = None
    replayed: bool = False
    cut: bool = False


async def show(request: Request) -> Answer:
    sought = request.query.get("q", "").strip()
    rights = request.caller.rights
    found = [
        (group, [(each, _why_not(each, rights)) for each in group.operations if _meant(each, sought)])
        for group in operations.groups(request.services.files.document)
    ]
    return pages.render(request, "explorer.html", groups=[(group, of) for group, of in found if of], q=sought)


async def run(request: Request, raw: bytes) -> Answer:
    fields = sessions.own_fields(request, raw)
    operation = operations.by_key(request.services.files.document).get(fields.get("operation", ""))
    if operation is None:
        raise NoSuchPage
    call = _call(request, operation, fields)
    if "line" in fields:
        return _render(request, operation, fields, call._replace(dry_run=False), None, erased="")
    if not operation.triable:
        raise NoSuchPage
    try:
        return await _run(request, operation, fields, call)
    except Exception as error:
        if not call.key:
            raise
        refusal = errors.refusal_of(error, request.id)
        page = _render(request, operation, fields, call, _no(request, call, refusal), lines=(), erased="")
        return pages.with_refusal(page, refusal)


async def _run(request: Request, operation: Operation, fields: Fields, call: Call) -> Answer:
    outcome = await _outcome(request, operation, fields, call)
    if isinstance(outcome.refusal, ChangedMeanwhile | NameNotTyped):  # what would happen now, to be confirmed again
        call = call._replace(dry_run=True, key="", expected=None)
        tried = await _outcome(request, operation, fields, call)
        outcome = tried._replace(refusal=tried.refusal or outcome.refusal)
    lines = await differences.of_request(request.services.keeper, outcome.entries, dry_run=call.dry_run)
    erased = await erasing.find_name(request, call) if call.dry_run and outcome.entries else ""
    return _render(request, operation, fields, call, outcome, lines=lines, erased=erased)


def _render(
    request: Request, operation: Operation, fields: Fields, call: Call, outcome: Outcome | None, **more: object
) -> Answer:
    """Nothing that was typed into a field for secrets is in the page.

    What can be sent again is there with its key: then it is not done twice, whatever became of it.
    """
    again = refusals.again(outcome.refusal) if call.key and outcome and outcome.refusal else ""
    secrets = [each for each in operation.fields if each.kind in HIDDEN and fields.get(each.name)]
    sent = {each.name: fields.get(each.name, "") for each in operation.fields if each.kind not in HIDDEN}
    return pages.render(
        request,
        "explorer_answer.html",
        operation=operation,
        call=call,
        outcome=outcome and _mask(outcome, _said(operation, fields)),
        line=_line(request, operation, fields, call),
        sent={name: value for name, value in sent.items() if value},
        secrets=secrets,
        imprints={IMPRINT + name: sessions.imprint(request, text) for name, text in _new_passwords(operation, fields)},
        reason=fields.get("reason", "") or fields.get(REASON, "").strip(),
        again=again,
        no_line=NO_LINE,
        typed=fields.get(erasing.TYPED, ""),
        key=call.key if again else new_guid(),
        seen=call.expected if again else outcome.seen if outcome else "",
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
    origin = f"{'https' if request.over_tls else 'http'}://{host}"
    return curl.line(origin, shown, authorized=operation.route.permissions is not None, hidden=names)


def _call(request: Request, operation: Operation, fields: Fields) -> Call:
    """A write is a dry run until it is confirmed."""
    secrets = {each.name: _secret(each, fields) for each in operation.fields if each.kind in HIDDEN}
    path, query, body = _sent(operation, fields, secrets)
    call = Call(operation.route.method, path, body, query)
    route, _ = inside.find(request, call.method, call.path)  # a name may lead elsewhere, as it does outside
    if route.access is not WRITE or not operation.triable:
        return call
    if fields.get("confirmed") != "yes":
        return call._replace(dry_run=True)
    require_confirmation(fields)
    return call._replace(reason=fields.get("reason", "").strip(), key=fields["key"], expected=fields["seen"])


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
    return path, query, body if operation.route.body is not None else None


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
    return wire_form(typed) if typed and field.kind in PASSWORDS else typed


def _variable(field: Field) -> str:
    return field.label.upper() + ("_SHA256" if field.kind in PASSWORDS else "")


async def _require_passwords(request: Request, operation: Operation, fields: Fields, call: Call) -> None:
    """New ones keep the rules, and are the same when they are typed again to confirm."""
    new = _new_passwords(operation, fields)
    whose = await password.owner_of(request, call) if new else ()
    for name, text in new:
        password.require_usable(request, text, whose)
        if call.key and fields.get(IMPRINT + name) != sessions.imprint(request, text):
            raise UnusablePassword(problem=password.DIFFERENT)


def _new_passwords(operation: Operation, fields: Fields) -> list[tuple[str, str]]:
    """By the name of their field, as far as they are typed."""
    typed = [(each.name, fields.get(each.name, "")) for each in operation.fields if each.kind == NEW_PASSWORD]
    return [(name, text) for name, text in typed if text]


async def _outcome(request: Request, operation: Operation, fields: Fields, call: Call) -> Outcome:
    started = time.perf_counter()
    try:
        await _require_passwords(request, operation, fields, call)
        if call.key:
            await erasing.require_name(request, call, fields)
        answer = await inside.call(request, call)
    except Refusal as refusal:
        return _no(request, call, refusal)._replace(milliseconds=_since(started))
    took, cut = _since(started), len(answer.content) > MOST_SHOWN
    text = answer.content[:MOST_SHOWN].decode("utf-8", "ignore") if cut else _pretty(answer.content)
    return Outcome(answer.status, took, text, tuple(answer.entries), answer.seen, replayed=answer.replayed, cut=cut)


def _no(request: Request, call: Call, refusal: Refusal) -> Outcome:
    said = errors.body(refusal, request.id, log_in=False)
    route, _ = inside.find(request, call.method, call.path)
    return Outcome(errors.status(type(refusal), route.path), 0, _pretty(said), refusal=refusal)


def _said(operation: Operation, fields: Fields) -> Iterable[str]:
    """Every secret that was typed, as it was and as it was sent."""
    hidden = [each for each in operation.fields if each.kind in HIDDEN and fields.get(each.name)]
    return {text for each in hidden for text in (fields[each.name], _secret(each, fields))}


def _mask(outcome: Outcome, secrets: Iterable[str]) -> Outcome:
    """Mask reset codes, and typed secrets that the answer quotes.

    Our own words stay: a password that is one of them would be told by the gaps.
    """
    text = RESET_CODE.sub(r"\1…", outcome.text)
    ours = f"{outcome.refusal.__doc__} {outcome.refusal.code}" if outcome.refusal else ""
    if isinstance(outcome.refusal, UnusablePassword):
        return outcome  # it never quotes the password
    for each in secrets:
        said = json.dumps(each, ensure_ascii=False)
        text = text.replace(said, '"…"')
        if outcome.refusal and each not in ours:
            text = text.replace(each, "…").replace(said[1:-1], "…")
    return outcome._replace(text=text)


def _pretty(answer: bytes) -> str:
    """What is no JSON stays as it is."""
    try:
        return json.dumps(msgspec.json.decode(answer), indent=2, ensure_ascii=False)
    except NOT_JSON:
        return answer.decode("utf-8", "replace")


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _why_not(operation: Operation, rights: frozenset[str]) -> str:
    """Empty: it can be run here."""
    if not operation.triable:
        return "You are signed in already; this is how programs log in."
    missing = (operation.route.permissions or frozenset[str]()) - rights
    return f"You need {' and '.join(sorted(missing))} for this." if missing else ""


def _meant(operation: Operation, sought: str) -> bool:
    said = f"{operation.key} {operation.summary} {operation.id}".lower()
    return all(word in said for word in sought.lower().split())
