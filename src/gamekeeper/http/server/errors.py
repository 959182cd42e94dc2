"""Map refusals to HTTP statuses, headers and bodies. No other module has 4xx and 5xx numbers."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import asdict

from gamekeeper.game.access.refusals import AddressNotAllowed, PermissionMissing, QuotaReached
from gamekeeper.game.audit.refusals import ApprovalRequired
from gamekeeper.game.core import refusals
from gamekeeper.game.core.refusals import Refusal
from gamekeeper.ground import log
from gamekeeper.ground.instants import format_instant
from gamekeeper.http.contract import shapes
from gamekeeper.store.engine.interface import CommitUnknown, DatabaseUnavailable

LOG_IN = "/api/oauth/token"  # path of the log-in, whose errors also have OAuth's fields

Headers = list[tuple[bytes, bytes]]
F = TypeVar("F", bound=Refusal)


class NoSuchRoute(refusals.NotFound):
    """There is nothing at this address."""


class MethodNotAllowed(Refusal):
    """The method is not allowed here. Allowed: {allowed}."""

    def __init__(self, allowed: str) -> None:
        super().__init__(allowed=allowed)
        self.allowed = allowed


class BodyTooLarge(Refusal):
    """The body is larger than {limit} bytes."""


class BodyTooSlow(Refusal):
    """The body did not arrive within {seconds} seconds."""


class UnsupportedMediaType(Refusal):
    """Send the body as {types}."""


class UnknownParameter(refusals.Malformed):
    """Unknown query parameter '{parameter}'. {hint}"""


class UnknownField(refusals.Malformed):
    """Unknown field '{field}'. {hint}"""


class InvalidObjectType(refusals.Malformed):
    """Invalid object type."""


class InvalidAction(refusals.Malformed):
    """Invalid action."""


class ActNotSupported(refusals.Malformed):
    """'{act}' not supported by the API."""


class ActNotImplemented(Refusal):
    """{act}"""


class MalformedBody(refusals.Malformed):
    """{problem}"""


class DatabaseAway(Refusal):
    """The database is not available at the moment. Try again in a few seconds."""

    retry_after = 1


class OutcomeUnknown(Refusal):
    """The database connection was lost: the change may have been made. Retry with the same Idempotency-Key."""

    retry_after = 1


class InternalError(Refusal):
    """Internal server error. The server's log has the details under this RequestId."""


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
    ActNotImplemented: 501,
    refusals.Overloaded: 503,
    refusals.SearchNotReady: 503,
    DatabaseAway: 503,
    OutcomeUnknown: 503,
}

# 4xx: requests that were refused
REFUSED_STATUSES = frozenset(number for number in STATUS.values() if number < STATUS[InternalError])
# 5xx: failures of the server; an act that no version implements is not one
SERVER_ERRORS = frozenset(number for number in STATUS.values() if number >= STATUS[InternalError]) - {
    STATUS[ActNotImplemented]
}


# Moderation answers 400 instead of 403: real clients take its 403 for an expired token and log in again in a loop.
MODERATION = "/admin/"  # a path that contains this is of a moderation operation
BAD_REQUEST_IN_MODERATION = frozenset({refusals.RoleMissing, refusals.PowerMissing, refusals.Outranked})
SPEC_ROOT = "/api/v1/"  # below this path these refusals are a 400 for the same reason, but not below our own paths
BAD_REQUEST_IN_SPEC = frozenset({PermissionMissing, AddressNotAllowed})


def find_status(kind: type[Refusal], path: str = "") -> int:
    """Return the status of a refusal on this path: that of its class, or of the nearest base class with one."""
    if kind in BAD_REQUEST_IN_MODERATION and MODERATION in path:
        return STATUS[refusals.Malformed]
    if kind in BAD_REQUEST_IN_SPEC and path.startswith(SPEC_ROOT):
        return STATUS[refusals.Malformed]
    return next(STATUS[each] for each in kind.__mro__ if each in STATUS)


def to_refusal(error: Exception, request_id: str) -> Refusal:
    """Convert an exception to a refusal, and log it unless it is one already. Call it in the `except` block."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, DatabaseUnavailable):
        log.problem(request_id, f"the database is away: {error}")
        return OutcomeUnknown() if isinstance(error, CommitUnknown) else DatabaseAway()
    log.failure(request_id)
    return InternalError()


class FurtherFields(NamedTuple):
    """Fields of a refusal's body that other bodies do not have."""

    shape: type[shapes.Error]
    make: Callable[[Any], Mapping[str, object]]  # argument: the refusal


FURTHER_FIELDS: dict[type[Refusal], FurtherFields] = {}


def add_fields(kind: type[F], shape: type[shapes.Error], make: Callable[[F], Mapping[str, object]]) -> None:
    """Add fields to the body of a refusal. Modules of rooms call this for their refusals."""
    FURTHER_FIELDS[kind] = FurtherFields(shape, make)


add_fields(ApprovalRequired, shapes.HeldError, lambda no: {"ApprovalId": no.approval})
add_fields(QuotaReached, shapes.QuotaError, lambda no: {"EndsAt": format_instant(no.ends_at)})


def encode_body(refusal: Refusal, request_id: str, *, log_in: bool) -> bytes:
    error = shapes.Error(Message=refusal.message, Code=refusal.code, RequestId=request_id)
    if log_in and isinstance(refusal, refusals.Malformed):
        return shapes.encode_log_in_error("invalid_request", error)
    if further := FURTHER_FIELDS.get(type(refusal)):
        return shapes.encode({**asdict(error), **further.make(refusal)})
    if isinstance(refusal, refusals.LogInRefusal):
        return shapes.encode_log_in_error(refusal.error or refusal.code, error)
    return shapes.encode(error)


def make_headers(refusal: Refusal) -> Headers:
    found: Headers = []
    if isinstance(refusal, refusals.Denied):
        found.append((b"www-authenticate", _make_challenge(refusal.reason)))
    if isinstance(refusal, MethodNotAllowed):
        found.append((b"allow", refusal.allowed.encode()))
    if isinstance(refusal, BodyTooSlow):
        # close the connection: otherwise the rest of the slow body would be read as the next request
        found.append((b"connection", b"close"))
    if refusal.retry_after is not None:
        found.append((b"retry-after", str(refusal.retry_after).encode()))
    return found


def _make_challenge(reason: str) -> bytes:
    """Make the value of WWW-Authenticate (RFC 6750): a request without a token gets no error code."""
    return f'Bearer error="invalid_token", error_description="{reason}"'.encode() if reason else b"Bearer"
