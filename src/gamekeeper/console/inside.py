"""Operations of the API, run from inside as whoever is signed in: the console has no other way to change anything."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import unquote

import msgspec

from gamekeeper.console.refusals import NoSuchPage, OwnPassword
from gamekeeper.game import lookup
from gamekeeper.http import credentials
from gamekeeper.http.asgi import handled, require
from gamekeeper.http.operation import WRITE, Operation
from gamekeeper.http.request import REPLAYED, Request
from gamekeeper.http.routes import ROUTES
from gamekeeper.store.ledger import Entry


class Call(NamedTuple):
    """A request as a program would send it."""

    method: str
    path: str  # with its parameters filled in and encoded
    body: Mapping[str, object] | None = None
    query: Mapping[str, str] = {}
    reason: str = ""
    key: str = ""
    dry_run: bool = False
    expected: str | None = None  # as changes.seen has it


class Answer(NamedTuple):
    content: bytes
    entries: tuple[Entry, ...]
    replayed: bool  # it was done already, by an earlier request with the same key
    seen: str  # fingerprint of the state that it started from, for the confirmation


async def call(request: Request, wanted: Call) -> Answer:
    """Raises what the operation raises; nothing is checked less than for a program."""
    route, params = find(wanted.method, wanted.path)
    if route.access is WRITE and not route.is_repeatable:  # the log-in: it can neither be tried nor repeated
        raise NoSuchPage
    inner = replace(
        request,
        method=wanted.method,
        path=route.path,
        params=params,
        headers=_headers(wanted),
        query={name.lower(): value for name, value in wanted.query.items()} | _dry(wanted),
        raw=msgspec.json.encode(wanted.body) if wanted.body is not None else b"",
        answer_headers=[],
        entries=(),
        seen="",
        expected=wanted.expected,
        refused=None,
    )
    require(inner, route)
    if route.handler in {credentials.manage_password, credentials.redeem_code}:
        await _require_another(inner)
    answered = await handled(inner, route)
    return Answer(answered, tuple(inner.entries), REPLAYED in inner.answer_headers, inner.seen)


async def _require_another(request: Request) -> None:
    """Whoever finds a console open must not be able to take its owner's account over."""
    if (await lookup.user(request.services.keeper.store, request.params[0])).id == request.caller.account_id:
        raise OwnPassword


def find(method: str, path: str) -> tuple[Operation, tuple[str, ...]]:
    """Literal segments win over parameters, as outside."""
    segments = path.split("/")[1:]
    matches = [
        (route, found) for route in ROUTES if route.method == method and (found := _match(route, segments)) is not None
    ]
    if not matches:
        raise NoSuchPage
    return min(matches, key=lambda match: len(match[1]))


def _match(route: Operation, segments: list[str]) -> tuple[str, ...] | None:
    steps = route.path.split("/")[1:]
    if len(steps) != len(segments):
        return None
    pairs = list(zip(steps, segments, strict=True))
    if any(step != segment.lower() for step, segment in pairs if not step.startswith("[")):
        return None
    return tuple(unquote(segment) for step, segment in pairs if step.startswith("["))


def _headers(wanted: Call) -> dict[bytes, bytes]:
    given = {
        b"content-type": b"application/json",
        b"x-reason": wanted.reason.encode(),
        b"idempotency-key": wanted.key.encode(),
    }
    return {name: value for name, value in given.items() if value}


def _dry(wanted: Call) -> dict[str, str]:
    return {"dryrun": "true"} if wanted.dry_run else {}
