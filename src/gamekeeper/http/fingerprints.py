"""Fingerprints of requests with an Idempotency-Key: a retry must have the fingerprint of the first request."""

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

from gamekeeper.http.operation import Route
from gamekeeper.http.wire.scalars import encode


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
