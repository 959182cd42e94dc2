"""JSON shapes of error answers."""

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from gamekeeper.http.wire.scalars import Instant, encode


class Error(Struct):
    Message: str
    Code: str
    RequestId: str


class LogInError(Error):
    """The error of a log-in, with the field that OAuth asks for. `encode_log_in_error` encodes it."""

    error: Literal["invalid_request", "invalid_grant", "unsupported_grant_type", "unauthorized_client", "mfa_required"]


class QuotaError(Error):
    """The refusal of a gift beyond a quota, with the end of the day. `encode_quota_error` encodes it."""

    EndsAt: Instant


class HeldError(Error):
    """The refusal of a change that waits for approval. `encode_held_error` encodes it."""

    ApprovalId: str


def describe_code(codes: Sequence[str]) -> dict[str, object]:
    """Return the schema of `Code`, with the codes that an operation can answer with."""
    return {"Code": {"type": "string", "enum": codes}}


def encode_log_in_error(code: str, error: Error) -> bytes:
    return encode({"error": code, **msgspec.structs.asdict(error)})


def encode_quota_error(ends_at: str, error: Error) -> bytes:
    return encode({**msgspec.structs.asdict(error), "EndsAt": ends_at})


def encode_held_error(approval_id: str, error: Error) -> bytes:
    return encode({**msgspec.structs.asdict(error), "ApprovalId": approval_id})
