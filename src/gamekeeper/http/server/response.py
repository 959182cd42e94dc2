"""The HTTP response that a handler returns: status, headers, and a body or a stream."""

from collections.abc import AsyncGenerator, Mapping, Sequence

import msgspec

from gamekeeper.game.audit.refusals import ApprovalRequired
from gamekeeper.game.core.writes import ApplyResult
from gamekeeper.http.contract.shapes import Held, encode
from gamekeeper.http.server.static_files import Encoded
from gamekeeper.store.core.ledger import LedgerEntry

Header = tuple[bytes, bytes]
PRIVATE = b"private, no-cache"  # Cache-Control: the client keeps the response, and revalidates it at each use
JSON = b"application/json; charset=utf-8"
# Content-Security-Policy of JSON responses: a browser must load and run nothing
POLICY = b"default-src 'none'; frame-ancestors 'none'"
SPEC_ROOT = "/api/v1/"  # operations that the engine's clients call
ACCEPTED = 202  # the change waits for approval
APPROVAL_HEADER: Header = (b"x-approval-required", b"true")  # of a dry run: the change would be held
REPLAY_HEADER: Header = (b"idempotent-replay", b"true")


class Response(msgspec.Struct):
    """The response to one request. A handler may return plain bytes instead of `Response(content)`."""

    content: bytes = b""
    status: int = 200
    headers: Sequence[Header] = ()
    content_type: bytes = JSON
    policy: bytes = POLICY  # value of the response's header Content-Security-Policy
    tag: bytes = b""  # ETag of the response; if empty, the dispatcher sets it if the client may cache the response
    coding: bytes | None = None  # Content-Encoding of a response that depends on Accept-Encoding; empty: the plain form
    cache_control: bytes = (
        b""  # value of the header Cache-Control, if not the usual one of responses with or without a tag
    )
    # streamed part of the response, sent after `content` until it ends or the client disconnects
    stream: AsyncGenerator[bytes] | None = None
    entries: Sequence[LedgerEntry] = ()  # audit log entries that the change wrote; in a dry run: would have written
    held: str | None = None  # id of the approval for which the change waits
    state_fingerprint: str = ""  # fingerprint of the player's or account's state before the change

    @property
    def replayed(self) -> bool:
        """True if an earlier request with the same Idempotency-Key made the change."""
        return REPLAY_HEADER in self.headers


def make_encoded_response(
    encoded: Encoded, headers: Mapping[bytes, bytes], content_type: bytes = JSON, policy: bytes = POLICY
) -> Response:
    """Make the response with a content that does not change, in the form that the request's headers accept."""
    form = encoded.choose(headers.get(b"accept-encoding", b""))
    return Response(
        form.content,
        content_type=content_type,
        policy=policy,
        tag=form.tag,
        coding=form.coding,
        cache_control=PRIVATE,
    )


def make_change_response(done: ApplyResult, path: str = SPEC_ROOT) -> Response:
    """Make the response to a change. One that is held is refused under /api/v1: its clients take any 2xx for done."""
    if done.held is not None:
        refusal = ApprovalRequired(done.held)
        if path.startswith(SPEC_ROOT):
            raise refusal
        return Response(encode(Held(refusal.message, refusal.code, done.held)), ACCEPTED, held=done.held)
    notes = (REPLAY_HEADER,) if done.replayed else (APPROVAL_HEADER,) if done.needs_approval else ()
    return Response(
        done.answer,
        headers=notes,
        entries=done.entries,
        state_fingerprint=done.state_fingerprint,
    )
