"""Tokens: log in with a password, refresh a token, revoke tokens."""

import hashlib
from typing import Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation

TOKEN = "/api/oauth/token"  # noqa: S105 - a path, not a password


class Token(Struct, rename={"issued": ".issued", "expires": ".expires"}):
    access_token: str
    token_type: str
    expires_in: int
    refresh_token: str | None
    issued: str
    expires: str


class Revoked(Struct, rename="camel"):
    username: str
    token_id: str | None = None


def hash_password(password: str) -> str:
    """Hash a password with SHA-256, as the API expects it."""
    return hashlib.sha256(password.encode()).hexdigest()


def _log_in(_: object, username: str, password_hash: str, *, read_only: bool, otp: str = "") -> Payload[Token]:
    more = ({"scope": "read"} if read_only else {}) | ({"otp": otp} if otp else {})
    return Payload(Token, body={"grant_type": "password", "username": username, "password": password_hash, **more})


# Log-in of the client itself, which stores the hash of the password instead of the password.
LOG_IN = operation("POST", TOKEN, needs_token=False)(_log_in)


class Tokens:
    @operation("POST", TOKEN, needs_token=False)
    def issue_token(self, username: str, password: str, *, read_only: bool = False, otp: str = "") -> Payload[Token]:
        """Log in to any account. The client's own token does not change.

        password: the account's password as the person types it; the client sends the SHA-256.
        read_only: whether the token can only read (`scope=read` in the API).
        otp: code of the account's second factor, or a recovery code.
        Returns an access token and a refresh token.
        Raises InvalidGrant, MfaRequired, WrongOtp, AccountBanned, AccountSuspended, UnauthorizedClient, TooManyGuesses.
        """
        return _log_in(self, username, hash_password(password), read_only=read_only, otp=otp)

    @operation("POST", TOKEN, needs_token=False)
    def refresh_token(self, refresh_token: str) -> Payload[Token]:
        """Exchange a refresh token for a new pair of tokens.

        refresh_token: the refresh token; it can be used once.
        Returns an access token and a refresh token.
        Raises InvalidGrant.
        """
        return Payload(Token, body={"grant_type": "refresh_token", "refresh_token": refresh_token})

    @operation("DELETE", TOKEN + "/{username}")
    def revoke_tokens(self, username: str, **options: Unpack[WriteOptions]) -> Payload[Revoked]:
        """Revoke all tokens of an account: of your own, or of any with the role users.manage.

        Returns the name of the account.
        Raises NoSuchUser, RoleMissing.
        """
        return Payload(Revoked)

    @operation("DELETE", TOKEN + "/{username}/{token_id}")
    def revoke_token(self, username: str, token_id: str, **options: Unpack[WriteOptions]) -> Payload[Revoked]:
        """Revoke one token of an account: of your own, or of any with the role users.manage.

        token_id: the public id of the token, or its refresh token.
        Returns the name of the account and the id of the token.
        Raises NoSuchUser, NoSuchToken, RoleMissing.
        """
        return Payload(Revoked)
