"""JSON shapes of log-in and tokens."""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from gamekeeper.http.wire.scalars import HIDDEN_SCHEMA, PRINTABLE, PasswordHash, PlainInt32, Secret, encode


class LogIn(Struct):
    grant_type: str = ""
    username: str = ""
    password: Secret = ""
    refresh_token: Secret = ""
    scope: str = ""
    otp: Secret = ""


class PasswordGrant(Struct):
    """A log-in by password, for the OpenAPI documents. Requests are decoded as `LogIn`, which allows OAuth's errors."""

    grant_type: Literal["password"]
    username: Annotated[str, Meta(min_length=1, extra_json_schema=PRINTABLE)]
    password: PasswordHash
    scope: Literal["", "read"] = ""
    otp: Annotated[str, Meta(max_length=255, extra_json_schema=PRINTABLE | HIDDEN_SCHEMA)] = ""


class RefreshGrant(Struct):
    """A log-in by refresh token, for the OpenAPI documents."""

    grant_type: Literal["refresh_token"]
    refresh_token: Annotated[str, Meta(min_length=1, max_length=255, extra_json_schema=PRINTABLE | HIDDEN_SCHEMA)]


GRANT_TYPE = "grant_type"
# grant_type → shape of the log-in body
GRANTS: Mapping[str, type[Struct]] = {"password": PasswordGrant, "refresh_token": RefreshGrant}


class Token(Struct, rename={"issued": ".issued", "expires": ".expires"}):
    access_token: str
    token_type: str
    expires_in: PlainInt32
    refresh_token: str | None
    issued: str
    expires: str


class Revoked(Struct, omit_defaults=True):
    username: str
    tokenId: str | None = None  # noqa: N815 - the wire's spelling


class RevokedAccount(Struct):
    """The answer for an account whose tokens were all revoked: `Revoked` without a token."""

    username: str


class RevokedToken(Struct):
    """The answer for one token that was revoked by its id alone. `encode_revoked_token` encodes it."""

    TokenId: str


def encode_revoked_token(token_id: str) -> bytes:
    """Encode the answer as the engine's 0.7.1 gives it, with `Username` null.

    The documents leave that field out: client generators fail on names that differ only in their case.
    """
    return encode({"TokenId": token_id, "Username": None})


def add_token_id(answer: bytes, token_id: str) -> bytes:
    """Add the id of the revoked token to the answer."""
    return encode({**msgspec.json.decode(answer, type=dict[str, msgspec.Raw]), "tokenId": token_id})
