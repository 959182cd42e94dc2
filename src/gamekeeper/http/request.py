"""A request as the handlers see it, after the checks that all routes share."""

import asyncio
import hashlib
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from gamekeeper.game import lookup
from gamekeeper.game.changes import Decide, Done, Intent
from gamekeeper.game.history import Rest
from gamekeeper.game.refusals import BadField, Refusal, RepeatedField
from gamekeeper.http import bodies, dry_runs, large_bodies
from gamekeeper.http.caller import Caller
from gamekeeper.http.operation import LINK_ROOT
from gamekeeper.http.services import Services
from gamekeeper.store.engine import Snapshot
from gamekeeper.store.ledger import Entry

R = TypeVar("R")
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
LONGEST_REASON = 500
_VISIBLE = re.compile(r"[\x21-\x7e]{1,255}")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
TRIED = (dry_runs.HEADER, b"true")
REPLAYED = (b"idempotent-replay", b"true")
POLICY = b"default-src 'none'; frame-ancestors 'none'"  # of JSON: a browser has nothing to do with it
NOBODY = Caller("", "", "", read_only=True, rights=frozenset())


@dataclass(slots=True)
class Request:
    services: Services
    id: str
    method: str
    path: str  # the route's, with its parameters unfilled
    params: tuple[str, ...]
    headers: Mapping[bytes, bytes]
    query: Mapping[str, str]
    address: str
    over_tls: bool  # ours, or that of a proxy we trust
    receive: Receive
    asked: tuple[bytes, bytes]  # the path and the query, as they came
    caller: Caller = NOBODY
    raw: bytes = b""
    body: msgspec.Struct | None = None
    content_type: bytes = b"application/json; charset=utf-8"  # of the answer
    policy: bytes = POLICY  # of the answer, for browsers
    tag: bytes = b""  # of the answer, where the caller may keep it
    answer_headers: list[tuple[bytes, bytes]] = field(default_factory=list[tuple[bytes, bytes]])
    status: int = 200  # of the answer, unless it is refused
    stream: AsyncGenerator[bytes] | None = None  # what follows the answer as long as the caller listens
    refused: Callable[[Refusal], bytes] | None = None  # how a refusal is put, where not as JSON
    expected: str | None = None  # what whoever asks has looked at
    entries: Sequence[Entry] = ()  # what the change wrote, or would have written, into the ledger
    seen: str = ""  # fingerprint of the state that the change started from

    def intent(self) -> Intent:
        key = self._key()
        return Intent(
            request_id=self.id,
            actor_id=self.caller.account_id,
            token_id=self.caller.token_id,
            over_link=self.path.startswith(LINK_ROOT),
            reason=self._reason(),
            key=key,
            fingerprint=self._fingerprint() if key else "",
            dry_run=self.is_dry_run(),
            expected=self.expected,
            queue=self._queue(),
        )

    def is_dry_run(self) -> bool:
        dry_runs.require_known(self.query)
        dry_runs.require_no_header(self.headers)
        given = {self.flag(name) for name in dry_runs.SPELLINGS if name.lower() in self.query}
        if len(given) > 1:
            raise BadField(field="dryRun", problem="is true in one spelling and false in another")
        return True in given

    def flag(self, name: str) -> bool:
        """A query parameter that is true or false, and false when it is not there."""
        given = self.query.get(name.lower(), "false").lower()
        if given not in {"true", "false"}:
            raise BadField(field=name, problem="must be true or false")
        return given == "true"

    async def gone(self) -> None:
        """Returns when the caller has hung up; for operations that read no body."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def unless_gone(self, work: Coroutine[Any, Any, R]) -> R | None:
        """Do the work until the caller hangs up: callers that give up and ask again must not pile up."""
        task, gone = asyncio.ensure_future(work), asyncio.ensure_future(self.gone())
        try:
            await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else None
        finally:
            task.cancel()
            gone.cancel()

    async def read_in_pieces(
        self, work: Callable[[Snapshot, Rest], Coroutine[Any, Any, R]], *, long: bool = False
    ) -> R:
        """Read one snapshot in pieces, through the gate for long reads; `long`: it is known to be long."""

        async def read(rest: Rest) -> R:
            return await self.services.keeper.store.read_in_pieces(lambda tx: work(tx, rest))

        return await self.services.gate.run(self.caller.account_id, read, long=long)

    async def through_gate(self, work: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """Do work that is one piece; it counts as a read of the caller's account."""
        return await self.services.gate.run(self.caller.account_id, lambda _: work())

    async def read_body(self, decode: Callable[[], R]) -> R:
        """Decode the body. A large one waits for its turn, and the token may be revoked meanwhile."""
        body = await large_bodies.read(self.raw, decode, self.services.gate, self.caller.account_id)
        if len(self.raw) > large_bodies.LARGE:
            await self.require_still()
        return body

    async def require_still(self) -> None:
        """Check after a long wait that the token is still good and the caller has lost no permission."""
        caller = await self.services.callers.caller(self.headers.get(b"authorization"))
        caller.require(self.caller.rights)

    async def change(self, decide: Decide[R], answer: Callable[[R], bytes]) -> bytes:
        return self.done(await self.services.keeper.changes.apply(self.intent(), decide, answer))

    def done(self, done: Done) -> bytes:
        self.entries, self.seen = done.entries, done.seen
        if done.replayed:
            self.answer_headers.append(REPLAYED)
        return done.answer

    def _queue(self) -> str | None:
        """Name the player or account that the path is about. A name and an id are two queues for one player."""
        if not self.params:
            return None
        noun = self.path.partition("/[")[0].rpartition("/")[2]
        return f"{noun}/{lookup.guid(self.params[0]) or lookup.fold(self.params[0])}"

    def _key(self) -> str | None:
        sent = self.headers.get(b"idempotency-key")
        if sent is None:
            return None
        key = sent.decode("latin-1")
        if not _VISIBLE.fullmatch(key):
            raise BadField(field="Idempotency-Key", problem="must be 1 to 255 visible ASCII characters")
        return key

    def _reason(self) -> str | None:
        reason = _text(self.headers.get(b"x-reason", b"")).strip()
        if len(reason) > LONGEST_REASON or CONTROL.search(reason):
            raise BadField(field="X-Reason", problem=f"must be at most {LONGEST_REASON} printable characters")
        return reason or None

    def _fingerprint(self) -> str:
        public = hashlib.sha256(self.raw).hexdigest() if self.body is None else bodies.public_part(self.body)
        return hashlib.sha256(msgspec.json.encode([self.method, self.path, self.params, public])).hexdigest()


def _text(raw: bytes) -> str:
    """Some clients send headers as UTF-8, some as Latin-1; a mistaken guess must not end as question marks."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def query_of(raw: bytes) -> dict[str, str]:
    """Names in any case, each at most once."""
    if not raw:
        return {}
    found: dict[str, str] = {}
    for name, value in parse_qsl(raw.decode("latin-1"), keep_blank_values=True, errors="replace"):
        if name.lower() in found:
            raise RepeatedField(field=name)
        found[name.lower()] = value
    return found
