"""Error answers."""

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from gamekeeper.http.wire.scalars import encode


class Error(Struct):
    Message: str
    Code: str
    RequestId: str


class LogInError(Error):
    """As `log_in_error` writes it."""

    error: Literal["invalid_request", "invalid_grant", "unsupported_grant_type", "unauthorized_client"]


def error_code(codes: Sequence[str]) -> dict[str, object]:
    """The one field of an error that differs from row to row."""
    return {"Code": {"type": "string", "enum": codes}}


def log_in_error(code: str, error: Error) -> bytes:
    return encode({"error": code, **msgspec.structs.asdict(error)})
