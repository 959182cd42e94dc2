"""What a handler returns: the status, the headers, and a body or a stream."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from gamekeeper.game.changes import ApplyResult
from gamekeeper.store.ledger import LedgerEntry

Header = tuple[bytes, bytes]
JSON = b"application/json; charset=utf-8"
POLICY = b"default-src 'none'; frame-ancestors 'none'"  # of JSON: a browser has nothing to load or to run
REPLAY_HEADER: Header = (b"idempotent-replay", b"true")


@dataclass(slots=True)
class Response:
    """An answer to one request. Plain bytes from a handler stand for `Response(content)`."""

    content: bytes = b""
    status: int = 200
    headers: Sequence[Header] = ()
    content_type: bytes = JSON
    policy: bytes = POLICY  # Content-Security-Policy
    tag: bytes = b""  # the dispatcher sets it, where the caller may cache the answer
    stream: AsyncGenerator[bytes] | None = None  # sent after `content`, until it ends or the caller hangs up
    entries: Sequence[LedgerEntry] = ()  # what a change wrote into the ledger, or would have written
    state_fingerprint: str = ""  # fingerprint of the state that a change started from

    @property
    def replayed(self) -> bool:
        """Tell whether an earlier request with the same key made the change."""
        return REPLAY_HEADER in self.headers


def make_change_response(done: ApplyResult) -> Response:
    return Response(
        done.answer,
        headers=(REPLAY_HEADER,) if done.replayed else (),
        entries=done.entries,
        state_fingerprint=done.state_fingerprint,
    )
