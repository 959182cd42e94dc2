"""Log in with a password, and refresh a token. tokens.py has the other operations of tokens."""

import hashlib

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import operation
from gamekeeper_client.tokens import Token

TOKEN = "/api/oauth/token"  # noqa: S105 - a path, not a password


def hash_password(password: str) -> str:
    """Hash a password with SHA-256, as the API expects it."""
    return hashlib.sha256(password.encode()).hexdigest()


def _log_in(_: object, username: str, password_hash: str, *, read_only: bool, otp: str = "") -> Payload[Token]:
    more = ({"scope": "read"} if read_only else {}) | ({"otp": otp} if otp else {})
    return Payload(Token, body={"grant_type": "password", "username": username, "password": password_hash, **more})


# Log-in of the client itself, which stores the hash of the password instead of the password.
LOG_IN = operation("POST", TOKEN, needs_token=False)(_log_in)


class LogIn:
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
