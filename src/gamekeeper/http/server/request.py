"""A request as the handlers see it, after the checks that all routes share, and the objects that all requests share.

The app makes one `Services` at start. What is stored of a request's body is here too: a fingerprint for retries, or all
of it until the request is approved. A retry with an Idempotency-Key must have the fingerprint of the first request.
Held bodies with a password are encrypted with the key file.
"""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping, MutableMapping, Sequence
from functools import cache, partial
from typing import Annotated, Any, TypeVar, get_args, get_origin
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta, Struct

from gamekeeper.game.access.key_file import KeyFile
from gamekeeper.game.access.security_log import make_origin
from gamekeeper.game.audit.history import Pause
from gamekeeper.game.audit.refusals import RequesterLostAccess
from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Step
from gamekeeper.game.core.refusals import BadField, RepeatedField
from gamekeeper.game.core.request import Consent, HeldRequest, Origin
from gamekeeper.game.core.writes import Decide, Intent
from gamekeeper.game.keeper import Keeper
from gamekeeper.http.contract.operation import NO_TOKEN, READ, Route
from gamekeeper.http.contract.shapes import encode, encode_answer
from gamekeeper.http.server import admission
from gamekeeper.http.server.admission import Admission, Gate, SharedQuery
from gamekeeper.http.server.caller import Caller, Callers
from gamekeeper.http.server.errors import NoSuchRoute
from gamekeeper.http.server.metrics import Metrics
from gamekeeper.http.server.proxies import Proxies
from gamekeeper.http.server.query_values import CONTROL
from gamekeeper.http.server.rate_limits import ChatGuard, PublicGuard
from gamekeeper.http.server.response import Header, Response, make_change_response
from gamekeeper.http.server.router import Router
from gamekeeper.http.server.static_files import DocsFiles
from gamekeeper.store.engine.interface import Snapshot


class Services(Struct, frozen=True, kw_only=True):
    keeper: Keeper
    router: Router
    callers: Callers
    proxies: Proxies
    files: DocsFiles  # files of the API explorer at /api/docs
    admission: Admission
    gate: Gate  # limits the long reads of all requests
    readiness: SharedQuery[None]
    metrics: Metrics
    chat_guard: ChatGuard
    public_guard: PublicGuard
    live: object  # state that the console's pages share; `pages.get_shared` reads it


R = TypeVar("R")
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
MAX_REASON_LENGTH = 500
_VISIBLE = re.compile(r"[\x21-\x7e]{1,255}")
NO_CALLER = Caller("", "", "", read_only=True, permissions=frozenset())


async def _refuse(_: "Request") -> Response:
    raise NoSuchRoute


NO_ROUTE = Route(method="", path="", permissions=NO_TOKEN, access=READ, handler=_refuse)


class Request(msgspec.Struct):
    """An HTTP request with the results of the dispatcher's checks. Handlers do not write to it.

    A Struct, although it is never encoded: it is made in C, for every request.
    """

    services: Services
    id: str
    method: str
    raw_path: bytes  # path of the request, with its percent-encoding
    raw_query: bytes
    headers: Mapping[bytes, bytes]
    scope: Mapping[str, Any]  # the ASGI scope, for repeated headers and the address of the client or a proxy
    receive: Receive
    expected: str | None = (
        None  # fingerprint of the state that the console showed; the change is rejected if the state differs
    )
    route: Route = NO_ROUTE
    params: tuple[str, ...] = ()
    caller: Caller = NO_CALLER
    raw_body: bytes = b""  # the undecoded request body
    query: Mapping[str, str] = {}
    body: msgspec.Struct | None = None
    dry_run: bool = False
    consent: Consent | None = None  # the request was held, and a second person approves it
    step: Step | None = None  # the request is one of a bulk job

    @property
    def raw_headers(self) -> Sequence[Header]:
        """Headers of the request, including repeated ones."""
        return self.scope["headers"]

    @property
    def address(self) -> str:
        """Address of the client, behind trusted proxies too."""
        return self.services.proxies.find_address(self._peer, self.raw_headers)

    def find_origin(self) -> Origin:
        """Return the client's address and browser, for the security log."""
        return make_origin(self.address, self.headers.get(b"user-agent", b""))

    @property
    def over_tls(self) -> bool:
        """Whether the request used TLS, to this server or to a trusted proxy."""
        return self.services.proxies.is_over_tls(self._peer, self.headers)

    @property
    def _peer(self) -> str:
        return self.scope["client"][0] if self.scope.get("client") else ""

    def make_intent(self) -> Intent:
        key = self._read_idempotency_key()
        return Intent(
            request_id=self.id,
            actor_id=self.caller.account_id,
            token_id=self.caller.token_id,
            scope_id=None if self.caller.key is None else self.caller.key.scope_id,
            over_link=self.route.over_link,
            reason=self._read_reason(),
            key=key,
            fingerprint=make_fingerprint(self.method, self.route, self.params, self.body, self.raw_body) if key else "",
            dry_run=self.dry_run,
            gift_limits=self.caller.gift_limits,
            expected=self.expected,
            find_origin=self.find_origin,
            find_request=self.describe if self.services.keeper.changes.gate.rules else None,
            consent=self.consent,
            step=self.step,
            queue=self._name_queue(),
        )

    def describe(self) -> HeldRequest:
        """Describe the request, so that it can be held for approval and run again."""
        kind = self.headers.get(b"content-type", b"").decode("latin-1")
        content = compact(self.raw_body)
        body = seal(self.services.keeper.key_file, self.route, self.raw_path, content)
        return HeldRequest(self.method, self.raw_path.decode("latin-1"), self.raw_query.decode("latin-1"), kind, body)

    async def wait_for_disconnect(self) -> None:
        """Wait until the client disconnects. Only for operations without a request body."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def run_until_disconnect(self, work: Coroutine[Any, Any, R]) -> R | None:
        """Run a request's work; cancel it and return None if the client disconnects: its retries must not pile up."""
        task, gone = asyncio.ensure_future(work), asyncio.ensure_future(self.wait_for_disconnect())
        try:
            await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else None
        finally:
            task.cancel()
            gone.cancel()

    async def read_in_pieces(
        self, work: Callable[[Snapshot, Pause], Coroutine[Any, Any, R]], *, long: bool = False
    ) -> R:
        """Read one database snapshot in pieces, through the gate for long reads. `long`: it certainly takes long."""

        async def read(rest: Pause) -> R:
            return await self.services.keeper.store.read_in_pieces(lambda tx: work(tx, rest))

        return await self.services.gate.run(self.caller.account_id, read, long=long)

    async def run_through_gate(self, work: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """Run work without pauses through the gate for long reads. It counts as a read of the caller's account."""
        return await self.services.gate.run(self.caller.account_id, lambda _: work())

    async def read_body(self, decode: Callable[[], R]) -> R:
        """Decode the request body. A large one may wait for long reads, so check the token again afterwards."""
        body = await admission.decode_body(self.raw_body, decode, self.services.gate, self.caller.account_id)
        if len(self.raw_body) > admission.LARGE_BYTES:
            await self.recheck_permissions()
        return body

    async def recheck_permissions(self) -> None:
        """Check after a long wait that the token is still active and the caller has lost no permission meanwhile."""
        caller = await self.services.callers.find_caller(self.headers.get(b"authorization"), self)
        caller.require(self.caller.permissions)

    async def change(
        self, decide: Decide[R], answer: Callable[[R], bytes | Struct] | None = None, *, clear_callers: bool = False
    ) -> Response:
        """Make a change. `answer` makes the answer, a shape or its JSON, if it is not the rule's result.

        `clear_callers`: the change can concern names, permissions or tokens of callers that this process has cached.
        """
        encode = partial(_encode_answer, answer)
        done = await self.services.keeper.changes.apply(self.make_intent(), decide, encode)
        if clear_callers:
            self.services.callers.clear_cache()
        return make_change_response(done, self.route.path)

    def _name_queue(self) -> str | None:
        """Return the name of the write queue of the path's player or account, whose name and id give two queues."""
        if not self.params:
            return None
        key = self.params[0]
        return f"{self.route.queue_noun}/{lookup.parse_guid(key) or lookup.fold(key)}"

    def _read_idempotency_key(self) -> str | None:
        sent = self.headers.get(b"idempotency-key")
        if sent is None:
            return None
        key = sent.decode("latin-1")
        if not _VISIBLE.fullmatch(key):
            raise BadField(field="Idempotency-Key", problem="must be 1 to 255 visible ASCII characters")
        return key

    def _read_reason(self) -> str | None:
        sent = self.headers.get(b"x-reason")
        if sent is None:
            return None
        reason = _decode_header(sent).strip()
        if len(reason) > MAX_REASON_LENGTH or CONTROL.search(reason):
            raise BadField(field="X-Reason", problem=f"must be at most {MAX_REASON_LENGTH} printable characters")
        return reason or None


def _encode_answer(answer: Callable[[R], bytes | Struct] | None, result: R) -> bytes:
    return encode_answer(answer(result) if answer else result)


def _decode_header(raw: bytes) -> str:
    """Decode a request header as UTF-8, else as Latin-1: clients send both."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def parse_query(raw: bytes) -> dict[str, str]:
    """Parse the query string of a request. Names are in lower case; a repeated one is rejected."""
    if not raw:
        return {}
    text = raw.decode("latin-1")
    if "%" in text or "+" in text:
        pairs = parse_qsl(text, keep_blank_values=True, errors="replace")
    else:  # most query strings have nothing to decode, and need no `parse_qsl`
        pairs = [pair.partition("=")[::2] for pair in text.split("&") if pair]
    found: dict[str, str] = {}
    for name, value in pairs:
        key = name.lower()
        if key in found:
            raise RepeatedField(field=name)
        found[key] = value
    return found


def make_fingerprint(method: str, route: Route, params: Sequence[str], body: Struct | None, raw_body: bytes) -> str:
    public = hashlib.sha256(raw_body).hexdigest() if body is None else drop_secrets(body)
    return hashlib.sha256(encode((method, route.path, params, public))).hexdigest()


def drop_secrets(body: Struct) -> Struct | dict[str, object]:
    """Return a request body without its secrets. One that has none, as most, is encoded as it is."""
    shape = type(body)
    if is_encoded_whole(shape):
        return body
    given = {name: getattr(body, name) for name in list_public_names(shape)}
    return {name: value for name, value in given.items() if value is not msgspec.UNSET}


@cache
def is_encoded_whole(shape: type[Struct]) -> bool:
    """Check that a body's shape is encoded with all its fields under their own names, and that none is secret."""
    config, names = shape.__struct_config__, shape.__struct_fields__
    plain = not config.omit_defaults and not config.array_like and config.tag is None
    return plain and shape.__struct_encode_fields__ == names and len(list_public_names(shape)) == len(names)


@cache
def list_public_names(shape: type[Struct]) -> list[str]:
    """List the fields of a body's shape that are not secret."""
    return [each.name for each in msgspec.structs.fields(shape) if not _is_secret(each.type)]


def _is_secret(kind: Any) -> bool:  # noqa: ANN401 - a type annotation of any form
    if get_origin(kind) is not Annotated:
        return False
    metas = [each for each in get_args(kind)[1:] if isinstance(each, Meta)]
    return any((each.extra or {}).get("is") in {"password", "secret"} for each in metas)


SEALED = b"sealed:"  # prefix of an encrypted body; no JSON begins so


def compact(body: bytes) -> bytes:
    """Remove spaces between the values of a JSON body, which may be most of it; return other bodies as they are."""
    try:
        return msgspec.json.format(body, indent=-1)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return body


def seal(keys: KeyFile, route: Route, path: bytes, body: bytes) -> bytes:
    """Encrypt a body whose shape has a secret field; return others as they are."""
    if route.body in {None, bytes} or is_encoded_whole(route.body):
        return body
    return SEALED + keys.seal(body, _name_purpose(path)).encode()


def unseal(keys: KeyFile, path: bytes, body: bytes) -> bytes:
    if not body.startswith(SEALED):
        return body
    found = keys.unseal(body.removeprefix(SEALED).decode(), _name_purpose(path))
    if found is None:
        raise RequesterLostAccess  # encrypted with another key file: it must be asked for again
    return found


def _name_purpose(path: bytes) -> str:
    return f"approval {path.decode('latin-1')}"
