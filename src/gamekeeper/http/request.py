"""A request as the handlers see it, after the checks that all routes share."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import parse_qsl

import msgspec

from gamekeeper.game.changes import Decide, Done, Intent
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.refusals import BadField, RepeatedField
from gamekeeper.http import bodies
from gamekeeper.http.caller import Caller, Callers

R = TypeVar("R")
LONGEST_REASON = 500
_VISIBLE = re.compile(r"[\x21-\x7e]{1,255}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
NOBODY = Caller("", "", "", read_only=True, roles=frozenset())


@dataclass(slots=True)
class Request:
    id: str
    keeper: Keeper
    callers: Callers
    method: str
    path: str  # the route's, with its parameters unfilled
    params: tuple[str, ...]
    headers: Mapping[bytes, bytes]
    query: Mapping[str, str]
    address: str
    over_link: bool = False
    caller: Caller = NOBODY
    raw: bytes = b""
    body: msgspec.Struct | None = None
    answer_headers: list[tuple[bytes, bytes]] = field(default_factory=list[tuple[bytes, bytes]])

    def intent(self) -> Intent:
        return Intent(
            request_id=self.id,
            actor_id=self.caller.account_id,
            token_id=self.caller.token_id,
            over_link=self.over_link,
            reason=self._reason(),
            key=self._key(),
            fingerprint=self._fingerprint(),
            dry_run=self._dry_run(),
        )

    async def change(self, decide: Decide[R], answer: Callable[[R], bytes]) -> bytes:
        return self.done(await self.keeper.changes.apply(self.intent(), decide, answer))

    def done(self, done: Done) -> bytes:
        if done.replayed:
            self.answer_headers.append((b"idempotent-replay", b"true"))
        return done.answer

    def _key(self) -> str | None:
        sent = self.headers.get(b"idempotency-key")
        if sent is None:
            return None
        key = sent.decode("latin-1")
        if not _VISIBLE.fullmatch(key):
            raise BadField(field="Idempotency-Key", problem="must be 1 to 255 visible ASCII characters")
        return key

    def _reason(self) -> str | None:
        reason = self.headers.get(b"x-reason", b"").decode("utf-8", "replace").strip()
        if len(reason) > LONGEST_REASON or _CONTROL.search(reason):
            raise BadField(field="X-Reason", problem=f"must be at most {LONGEST_REASON} printable characters")
        return reason or None

    def _dry_run(self) -> bool:
        wanted = self.query.get("dryrun", "false").lower()
        if wanted not in {"true", "false"}:
            raise BadField(field="dryRun", problem="must be true or false")
        return wanted == "true"

    def _fingerprint(self) -> str:
        public = hashlib.sha256(self.raw).hexdigest() if self.body is None else bodies.public_part(self.body)
        return hashlib.sha256(msgspec.json.encode([self.method, self.path, self.params, public])).hexdigest()


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
