"""Tokens: issued for a password, exchanged, revoked."""

from dataclasses import replace
from typing import Unpack

from gamekeeper_client.call import Call, WriteOptions, path, post, reading, write
from gamekeeper_client.shapes import Revoked, Token
from gamekeeper_client.users import wire_form

TOKEN = "/api/oauth/token"  # noqa: S105 - an address


def issue_token(username: str, password: str, *, read_only: bool = False) -> Call[Token]:
    """A token pair of any account's; the client itself goes on with its own."""
    return log_in(username, wire_form(password), read_only=read_only)


def refresh_token(refresh_token: str) -> Call[Token]:
    """Exchanges a refresh token for a new pair."""
    return _grant(grant_type="refresh_token", refresh_token=refresh_token)


def log_in(username: str, sent: str, *, read_only: bool) -> Call[Token]:
    scope = {"scope": "read"} if read_only else {}
    return _grant(grant_type="password", username=username, password=sent, **scope)


def revoke_tokens(username: str, **options: Unpack[WriteOptions]) -> Call[Revoked]:
    """All of that account's; one's own, or with the role users.manage anybody's."""
    return write("DELETE", path(TOKEN + "/{}", username), reading(Revoked), **options)


def revoke_token(username: str, token_id: str, **options: Unpack[WriteOptions]) -> Call[Revoked]:
    """One, by its public id or its refresh token."""
    return write("DELETE", path(TOKEN + "/{}/{}", username, token_id), reading(Revoked), **options)


def _grant(**fields: str) -> Call[Token]:
    return replace(post(TOKEN, fields, reading(Token)), needs_token=False)
