"""The base classes of errors, and the error for a response. errors.py has the classes of all codes."""

import re
from http import HTTPStatus
from typing import Any

import msgspec

from gamekeeper_client.error_shapes import Error

CODES: dict[str, type["Refused"]] = {}  # code of an error → its class
BRANCHES: dict[int, type["Refused"]] = {}  # status → class of errors with an unknown code


class GamekeeperError(Exception):
    """Base class of all errors of the client."""

    idempotency_key: str | None = None  # key of the write that failed; None for a read

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy all attributes. By default, pickle would call __init__ with only the message."""
        return _restore, (type(self), self.args), vars(self)


def _restore(kind: type[GamekeeperError], args: tuple[object, ...]) -> GamekeeperError:
    return kind.__new__(kind, *args)  # create the error without __init__; pickle and copy then restore the attributes


class Unreachable(GamekeeperError):
    """No response from the server. A write may or may not have been applied: repeat it with its key."""

    def __init__(self, message: str, *, permanent: bool) -> None:
        super().__init__(message)
        self.permanent = permanent  # True: a retry of the request would fail in the same way


class NotUnderstood(GamekeeperError):
    """This version of the client cannot read the response."""


class Refused(GamekeeperError):
    """The server rejected the request."""

    def __init_subclass__(cls, *, status: int | None = None) -> None:
        """Register a class by its code; `status`: the class is also that of unknown codes with this status."""
        if not cls.__module__.startswith("gamekeeper_client."):
            return  # a program's own subclass, which the client does not raise
        CODES[re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()] = cls
        if status is not None:
            BRANCHES[status] = cls

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


class Unavailable(Refused, status=HTTPStatus.SERVICE_UNAVAILABLE):
    """The server, its database, or a proxy before it is not available now."""


BRANCHES.update(dict.fromkeys((HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT), Unavailable))


def find_class(status: int, code: str) -> type[Refused]:
    """Find the class of an error code. A code that this version does not know gets the class of its HTTP status."""
    return CODES.get(code) or BRANCHES.get(status, Refused)


def make_refusal(status: int, body: bytes, retry_after: str | None) -> Refused:
    """Make the error for a 4xx or 5xx response, which may come from a proxy and have another body."""
    try:
        error = msgspec.json.decode(body, type=Error)
    except (ValueError, RecursionError):  # the body is no JSON, is no valid UTF-8, or is nested too deeply
        error = Error(f"The server answered with status {status}.")
    seconds = float(retry_after) if retry_after and re.fullmatch("[0-9]{1,9}", retry_after) else None
    return find_class(status, error.code)(status, error, seconds)
