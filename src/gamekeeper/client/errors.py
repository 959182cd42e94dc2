"""Everything that can go wrong, as one tree: catch as much or as little of it as you need.

GamekeeperError
├── Unreachable              no answer, after all retries; `idempotency_key` repeats the call safely later
├── NotUnderstood            an answer of another shape than this version of the client knows
└── Refused                  an answer that says no: `status`, `code`, `message`, `request_id`, `retry_after`
    ├── Malformed            the request itself is wrong
    │   ├── BadField  MissingField  RepeatedField  MalformedBody
    │   ├── BadPassword  ReservedName
    │   ├── WrongPassword  WrongCode
    │   └── WrongVariableType
    ├── LogInRefusal         no token for this user name and password
    │   ├── InvalidRequest  InvalidGrant
    │   └── UnsupportedGrantType  UnauthorizedClient
    ├── Denied               no token, or one that is not good any more
    ├── Forbidden
    │   └── RoleMissing  ReadOnlyToken
    ├── NotFound
    │   ├── NoSuchPlayer  NoSuchUser  NoSuchItem  NoSuchSpell  NoSuchVariable
    │   ├── NoSuchBag  NoSuchToken  NoSuchServer  NoSuchKind
    │   └── NoSuchRoute
    ├── MethodNotAllowed
    ├── Conflict             a rule says no
    │   ├── UsernameTaken  EmailTaken  NameTaken
    │   ├── InventoryFull  NotEnoughItems  BagNotEmpty  StackTooLarge  SlotOutOfRange
    │   ├── SpellAlreadyKnown  NoFreeSpellSlot  SpellNotKnown
    │   ├── PlayerOnline
    │   ├── UnappliedChanges    `changes` has them
    │   ├── EpochChanged  CursorAhead
    │   └── IdempotencyInProgress
    ├── BodyTooLarge
    ├── UnsupportedMediaType
    ├── IdempotencyKeyReused
    ├── TooManyRequests
    │   └── TooManyGuesses  TooManyMails
    ├── InternalError
    └── Unavailable          the server, or its database, cannot answer now
        └── Overloaded  DatabaseAway
"""

import re
from collections.abc import Mapping
from http import HTTPStatus

import msgspec

from gamekeeper.client.shapes import Change, Error


class GamekeeperError(Exception):
    """Something went wrong between this program and Gamekeeper."""


class Unreachable(GamekeeperError):
    """No answer came. Whether a write was carried out is open until it is repeated with its key."""

    def __init__(self, message: str, idempotency_key: str | None) -> None:
        super().__init__(message)
        self.idempotency_key = idempotency_key


class NotUnderstood(GamekeeperError):
    """The answer has another shape than this version of the client knows."""


class Refused(GamekeeperError):
    """An answer that says no."""

    def __init__(self, status: int, error: Error, retry_after: float | None = None) -> None:
        super().__init__(error.message)
        self.status = status
        self.code = error.code
        self.message = error.message
        self.request_id = error.request_id
        self.retry_after = retry_after

    def __str__(self) -> str:
        known = ", ".join(filter(None, (str(self.status), self.code, self.request_id and f"request {self.request_id}")))
        return f"{self.message} ({known})"


# fmt: off
class Malformed(Refused): ...
class BadField(Malformed): ...
class MissingField(Malformed): ...
class RepeatedField(Malformed): ...
class MalformedBody(Malformed): ...
class BadPassword(Malformed): ...
class ReservedName(Malformed): ...
class WrongPassword(Malformed): ...
class WrongCode(Malformed): ...
class WrongVariableType(Malformed): ...
class LogInRefusal(Refused): ...
class InvalidRequest(LogInRefusal): ...
class InvalidGrant(LogInRefusal): ...
class UnsupportedGrantType(LogInRefusal): ...
class UnauthorizedClient(LogInRefusal): ...
class Denied(Refused): ...
class Forbidden(Refused): ...
class RoleMissing(Forbidden): ...
class ReadOnlyToken(Forbidden): ...
class NotFound(Refused): ...
class NoSuchPlayer(NotFound): ...
class NoSuchUser(NotFound): ...
class NoSuchItem(NotFound): ...
class NoSuchSpell(NotFound): ...
class NoSuchVariable(NotFound): ...
class NoSuchBag(NotFound): ...
class NoSuchToken(NotFound): ...
class NoSuchServer(NotFound): ...
class NoSuchKind(NotFound): ...
class NoSuchRoute(NotFound): ...
class MethodNotAllowed(Refused): ...
class Conflict(Refused): ...
class UsernameTaken(Conflict): ...
class EmailTaken(Conflict): ...
class NameTaken(Conflict): ...
class InventoryFull(Conflict): ...
class NotEnoughItems(Conflict): ...
class BagNotEmpty(Conflict): ...
class StackTooLarge(Conflict): ...
class SlotOutOfRange(Conflict): ...
class SpellAlreadyKnown(Conflict): ...
class NoFreeSpellSlot(Conflict): ...
class SpellNotKnown(Conflict): ...
class PlayerOnline(Conflict): ...
class EpochChanged(Conflict): ...
class CursorAhead(Conflict): ...
class IdempotencyInProgress(Conflict): ...
class BodyTooLarge(Refused): ...
class UnsupportedMediaType(Refused): ...
class IdempotencyKeyReused(Refused): ...
class TooManyRequests(Refused): ...
class TooManyGuesses(TooManyRequests): ...
class TooManyMails(TooManyRequests): ...
class InternalError(Refused): ...
class Unavailable(Refused): ...
class Overloaded(Unavailable): ...
class DatabaseAway(Unavailable): ...
# fmt: on


class UnappliedChanges(Conflict):
    """The game has not applied these changes to the character yet."""

    def __init__(self, status: int, error: Error, retry_after: float | None = None) -> None:
        super().__init__(status, error, retry_after)
        self.changes: list[Change] = error.changes


BRANCHES: Mapping[int, type[Refused]] = {
    HTTPStatus.BAD_REQUEST: Malformed,
    HTTPStatus.UNAUTHORIZED: Denied,
    HTTPStatus.FORBIDDEN: Forbidden,
    HTTPStatus.NOT_FOUND: NotFound,
    HTTPStatus.METHOD_NOT_ALLOWED: MethodNotAllowed,
    HTTPStatus.CONFLICT: Conflict,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: BodyTooLarge,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: UnsupportedMediaType,
    HTTPStatus.UNPROCESSABLE_ENTITY: IdempotencyKeyReused,
    HTTPStatus.TOO_MANY_REQUESTS: TooManyRequests,
    HTTPStatus.INTERNAL_SERVER_ERROR: InternalError,
    HTTPStatus.BAD_GATEWAY: Unavailable,
    HTTPStatus.SERVICE_UNAVAILABLE: Unavailable,
    HTTPStatus.GATEWAY_TIMEOUT: Unavailable,
}


def _branch(kind: type[Refused]) -> dict[str, type[Refused]]:
    found = {re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower(): kind}
    for each in kind.__subclasses__():
        found |= _branch(each)
    return found


CODES = _branch(Refused)


def kind_of(status: int, code: str) -> type[Refused]:
    """By its code; a code that this version does not know falls on the branch of its status."""
    return CODES.get(code) or BRANCHES.get(status, Refused)


def refused(status: int, body: bytes, retry_after: str | None) -> Refused:
    """An answer that is not ours, such as a proxy's, is as good a no."""
    try:
        error = msgspec.json.decode(body, type=Error)
    except msgspec.DecodeError:
        error = Error(f"The server answered with status {status}.")
    seconds = float(retry_after) if retry_after and re.fullmatch("[0-9]{1,9}", retry_after) else None
    return kind_of(status, error.code)(status, error, seconds)
