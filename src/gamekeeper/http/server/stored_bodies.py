"""What is stored of a request's body: a fingerprint for retries, or all of it until the request is approved.

A retry with an Idempotency-Key must have the fingerprint of the first request. Held bodies with a password are
encrypted with the key file.
"""

import base64
import hashlib
from collections.abc import Collection, Sequence
from functools import cache
from typing import Annotated, Any, cast, get_args, get_origin
from urllib.parse import unquote

import msgspec
from msgspec import Meta, Struct

from gamekeeper.game.access.key_file import KeyFile
from gamekeeper.game.audit.refusals import RequesterLostAccess
from gamekeeper.game.core.refusals import Refusal
from gamekeeper.http.access.role_shapes import Invite
from gamekeeper.http.contract.operation import Route
from gamekeeper.http.contract.shapes import encode
from gamekeeper.http.server import bodies
from gamekeeper.store.audit.approvals import WAITING, Approval
from gamekeeper.store.core.ledger import LedgerEntry


def make_fingerprint(method: str, route: Route, params: Sequence[str], body: Struct | None, raw_body: bytes) -> str:
    public = hashlib.sha256(raw_body).hexdigest() if body is None else drop_secrets(body)
    return hashlib.sha256(encode((method, route.path, params, public))).hexdigest()


def drop_secrets(body: Struct) -> Struct | dict[str, object]:
    """Return a request body without its secrets. One that has none, as most, is encoded as it is."""
    shape = type(body)
    if is_encoded_whole(shape):
        return body
    given = {name: getattr(body, name) for name in list_public_names(shape)}
    return {name: value for name, value in given.items() if value is not msgspec.UNSET}


@cache
def is_encoded_whole(shape: type[Struct]) -> bool:
    """Check that a body's shape is encoded with all its fields under their own names, and that none is secret."""
    config, names = shape.__struct_config__, shape.__struct_fields__
    plain = not config.omit_defaults and not config.array_like and config.tag is None
    return plain and shape.__struct_encode_fields__ == names and len(list_public_names(shape)) == len(names)


@cache
def list_public_names(shape: type[Struct]) -> list[str]:
    """List the fields of a body's shape that are not secret."""
    return [each.name for each in msgspec.structs.fields(shape) if not _is_secret(each.type)]


def _is_secret(kind: Any) -> bool:  # noqa: ANN401 - a type annotation of any form
    if get_origin(kind) is not Annotated:
        return False
    metas = [each for each in get_args(kind)[1:] if isinstance(each, Meta)]
    return any((each.extra or {}).get("is") in {"password", "secret"} for each in metas)


INVITATIONS = "/api/keeper/v1/invitations"
SEES_EMAILS = "users.query"  # permission
SEALED = b"sealed:"  # prefix of an encrypted body; no JSON begins so


def compact(body: bytes) -> bytes:
    """Remove spaces between the values of a JSON body, which may be most of it; return other bodies as they are."""
    try:
        return msgspec.json.format(body, indent=-1)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return body


def seal(keys: KeyFile, route: Route, path: bytes, body: bytes) -> bytes:
    """Encrypt a body whose shape has a secret field; return others as they are."""
    if route.body in {None, bytes} or is_encoded_whole(route.body):
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
    return email if SEES_EMAILS in permissions else mask_email(email)


def hide_emails(given: bytes | str, permissions: Collection[str]) -> str:
    """Mask the addresses in the JSON text of a held change, or of its answer, without `users.query`."""
    text = given if isinstance(given, str) else given.decode()
    if SEES_EMAILS in permissions or 'email"' not in text.lower():
        return text
    return msgspec.json.encode(_mask_fields(msgspec.json.decode(text))).decode()


def hide_entry_emails(entries: Sequence[LedgerEntry], permissions: Collection[str]) -> list[LedgerEntry]:
    """Mask the addresses in the changes of an approved request, without `users.query`."""
    return [
        each._replace(
            before=each.before and hide_emails(each.before, permissions),
            after=each.after and hide_emails(each.after, permissions),
        )
        for each in entries
    ]


def _mask_fields(value: object, name: str = "") -> object:
    match value:
        case dict():
            return {field: _mask_fields(each, field) for field, each in cast("dict[str, object]", value).items()}
        case list():
            return [_mask_fields(each) for each in cast("list[object]", value)]
        case str() if name.lower() == "email" and "@" in value:
            return mask_email(value)
        case _:
            return value


def mask_email(email: str) -> str:
    """Mask an email address: keep its first letter and its domain."""
    local, _, domain = email.rpartition("@")
    return f"{local[:1]}…@{domain}"


def _name_purpose(path: bytes) -> str:
    return f"approval {path.decode('latin-1')}"
