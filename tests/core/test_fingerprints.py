"""The fingerprint of a request is made from the same bytes as in earlier versions: it is stored with the answer."""

import hashlib
from typing import cast

import msgspec
from msgspec import UNSET, Struct

from gamekeeper.http.contract.operation import Operation
from gamekeeper.http.contract.shapes import encode
from gamekeeper.http.routes import ROUTES
from gamekeeper.http.server import request
from loops import over

WITH_BODY = [each for each in ROUTES if isinstance(each.example_body, Struct)]


def list_fields(body: Struct) -> dict[str, object]:
    """List all fields that are set and not secret."""
    given = {name: getattr(body, name) for name in request.list_public_names(type(body))}
    return {name: value for name, value in given.items() if value is not UNSET}


@over("operation", *WITH_BODY)
def test_body_is_encoded_like_its_public_fields(operation: Operation) -> None:
    body = cast("Struct", operation.example_body)
    assert encode(request.drop_secrets(body)) == msgspec.json.encode(list_fields(body))
    made = request.make_fingerprint("POST", operation, ("Ann",), body, b"")
    whole = msgspec.json.encode(["POST", operation.path, ("Ann",), list_fields(body)])
    assert made == hashlib.sha256(whole).hexdigest()
