"""A hostile request and its expected answer: a refusal that names the fault and changes nothing."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from good_requests import Example

import people

JSON = {b"content-type": b"application/json"}
LIMIT = 65_536
LINK_LIMIT = 8_388_608
SWORD = people.SWORD.id


@dataclass(frozen=True)
class Hostile:
    group: str
    about: str
    method: str
    path: bytes  # path of the request, including the query
    status: tuple[int, ...]
    body: bytes = b""
    headers: Mapping[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    names: str | None = None  # text that the error message must contain
    secrets: tuple[str, ...] = ()  # texts that the answer must not contain
    chunked: bool = False  # whether to send the body in chunks, without a Content-Length

    @property
    def identity(self) -> tuple[object, ...]:
        return self.method, self.path, self.body, tuple(sorted(self.headers.items())), self.chunked


def variant(group: str, example: Example, about: str, path: str = "", status: int = 400, **more: Any) -> Hostile:
    """Return the example's valid request with another path or other given parts."""
    body = b"" if example.body is None else json.dumps(example.body).encode()
    given: dict[str, Any] = {"body": body, "headers": JSON if body else {}, **more}
    about, path = f"{example.name}: {about}", path or example.path
    return Hostile(group, about, example.route.method, path.encode(), (status,), **given)


def pad_body(body: bytes, size: int) -> bytes:
    return body[:-1] + b" " * (size - len(body)) + body[-1:]
