"""Bodies of requests that wait for an approval. Those with a password are stored encrypted with the key file."""

import base64
from collections.abc import Collection
from urllib.parse import unquote

from gamekeeper.game.approval_refusals import RequesterLostAccess
from gamekeeper.game.key_file import KeyFile
from gamekeeper.game.refusals import Refusal
from gamekeeper.http import bodies, fingerprints
from gamekeeper.http.operation import Route
from gamekeeper.http.wire.invitations import Invite
from gamekeeper.store.approvals import WAITING, Approval

INVITATIONS = "/api/keeper/v1/invitations"
SEALED = b"sealed:"  # prefix of an encrypted body; no JSON begins so


def seal(keys: KeyFile, route: Route, path: bytes, body: bytes) -> bytes:
    """Encrypt a body whose shape has a secret field; return others as they are."""
    if route.body in {None, bytes} or fingerprints.is_encoded_whole(route.body):
        return body
    return SEALED + keys.seal(body, _name_purpose(path)).encode()


def unseal(keys: KeyFile, path: bytes, body: bytes) -> bytes:
    if not body.startswith(SEALED):
        return body
    found = keys.unseal(body.removeprefix(SEALED).decode(), _name_purpose(path))
    if found is None:
        raise RequesterLostAccess  # encrypted with another key file: it must be asked for again
    return found


def find_invited(approval: Approval, permissions: Collection[str]) -> str | None:
    """Find the address to which the mail of a waiting invitation would go. It is masked without `users.query`.

    The preview does not have it, because the audit log of an invitation does not.
    """
    # the router takes a path in any letter case, with percent-encoded letters and with a slash at its end
    path = unquote(approval.path).partition("?")[0].rstrip("/").lower()
    if approval.state != WAITING or (approval.method, path) != ("POST", INVITATIONS):
        return None
    try:
        email = bodies.decode(base64.b64decode(approval.body), approval.content_type, Invite).email
    except Refusal:  # stored by another version, which reads bodies in another way
        return None
    return email if "users.query" in permissions else mask_email(email)


def mask_email(email: str) -> str:
    """Mask an email address: keep its first letter and its domain."""
    local, _, domain = email.rpartition("@")
    return f"{local[:1]}…@{domain}"


def _name_purpose(path: bytes) -> str:
    return f"approval {path.decode('latin-1')}"
