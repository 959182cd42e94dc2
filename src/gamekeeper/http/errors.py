"""Refusals as HTTP: the only file with 4xx and 5xx numbers."""

from collections.abc import Mapping

from gamekeeper import log
from gamekeeper.game import refusals
from gamekeeper.game.refusals import Refusal
from gamekeeper.http import codec, wire
from gamekeeper.store.engine import CommitUnknown, DatabaseUnavailable

LOG_IN = "/api/oauth/token"  # its errors have OAuth's fields too

Headers = list[tuple[bytes, bytes]]


class NoSuchRoute(refusals.NotFound):
    """There is nothing at this address."""


class MethodNotAllowed(Refusal):
    """This address takes {allowed}."""

    def __init__(self, allowed: str) -> None:
        super().__init__(allowed=allowed)
        self.allowed = allowed


class BodyTooLarge(Refusal):
    """The body is larger than {limit} bytes."""


class BodyTooSlow(Refusal):
    """The body did not come within {seconds} seconds."""


class UnsupportedMediaType(Refusal):
    """Send the body as {types}."""


class UnknownParameter(refusals.Malformed):
    """The query parameter '{parameter}' is not known here. {hint}"""


class UnknownField(refusals.Malformed):
    """The field '{field}' is not known here. {hint}"""


class MalformedBody(refusals.Malformed):
    """{problem}"""


class DatabaseAway(Refusal):
    """The database cannot be reached, or cannot take this now; ask again in a moment."""

    retry_after = 1


class OutcomeUnknown(Refusal):
    """The database went away half-way: the change was made, or not. Ask again with the same Idempotency-Key."""

    retry_after = 1


class InternalError(Refusal):
    """Something went wrong on our side; the log has it under this RequestId."""


STATUS: Mapping[type[Refusal], int] = {
    refusals.Malformed: 400,
    refusals.LogInRefusal: 400,
    refusals.Denied: 401,
    refusals.Forbidden: 403,
    refusals.NotFound: 404,
    MethodNotAllowed: 405,
    BodyTooSlow: 408,
    refusals.Conflict: 409,
    BodyTooLarge: 413,
    UnsupportedMediaType: 415,
    refusals.IdempotencyKeyReused: 422,
    refusals.TooManyRequests: 429,
    InternalError: 500,
    refusals.Overloaded: 503,
    refusals.SearchNotReady: 503,
    DatabaseAway: 503,
    OutcomeUnknown: 503,
}

SERVER_ERRORS = frozenset(
    number for number in STATUS.values() if number >= STATUS[InternalError]
)  # ours, not the caller's


# Real clients take a 403 of these operations for a token that has expired and log in again without end.
MODERATION = "/admin/"  # part of the route's path
BAD_REQUEST_IN_MODERATION = frozenset({refusals.RoleMissing, refusals.PowerMissing, refusals.Outranked})


def find_status(kind: type[Refusal], path: str = "") -> int:
    """Return the status of a refusal on the route with this path: its own, or that of the branch it is on."""
    if kind in BAD_REQUEST_IN_MODERATION and MODERATION in path:
        return STATUS[refusals.Malformed]
    return next(STATUS[each] for each in kind.__mro__ if each in STATUS)


def to_refusal(error: Exception, request_id: str) -> Refusal:
    """Return the refusal to answer a failure with; one that is no refusal is logged. Call it in the `except` block."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, DatabaseUnavailable):
        log.problem(request_id, f"the database is away: {error}")
        return OutcomeUnknown() if isinstance(error, CommitUnknown) else DatabaseAway()
    log.failure(request_id)
    return InternalError()


def encode_body(refusal: Refusal, request_id: str, *, log_in: bool) -> bytes:
    error = wire.errors.Error(Message=refusal.message, Code=refusal.code, RequestId=request_id)
    if log_in and isinstance(refusal, refusals.Malformed):
        return wire.errors.log_in_error("invalid_request", error)
    if isinstance(refusal, refusals.UnappliedChanges):
        return wire.feed.unapplied_error(codec.feed_changes(refusal.changes), error)
    if isinstance(refusal, refusals.LogInRefusal):
        return wire.errors.log_in_error(refusal.error or refusal.code, error)
    return wire.encode(error)


def make_headers(refusal: Refusal) -> Headers:
    found: Headers = []
    if isinstance(refusal, refusals.Denied):
        found.append((b"www-authenticate", b"Bearer"))
    if isinstance(refusal, MethodNotAllowed):
        found.append((b"allow", refusal.allowed.encode()))
    if isinstance(refusal, BodyTooSlow):
        found.append((b"connection", b"close"))  # the rest of it must not be taken for the next request
    if refusal.retry_after is not None:
        found.append((b"retry-after", str(refusal.retry_after).encode()))
    return found
