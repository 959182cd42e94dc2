"""A hostile request, and which answers are right for it: a refusal that names what is at fault, and nothing changed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

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
    path: bytes  # with its query
    status: tuple[int, ...]
    body: bytes = b""
    headers: Mapping[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    names: str | None = None  # what the message must name
    secrets: tuple[str, ...] = ()  # what no answer may repeat
    chunked: bool = False  # sent without saying how long it is

    @property
    def identity(self) -> tuple[object, ...]:
        return self.method, self.path, self.body, tuple(sorted(self.headers.items())), self.chunked


def variant(example: Example, path: str, **more: object) -> Hostile:
    """A good request, but for its path and what else is given."""
    body = b"" if example.body is None else json.dumps(example.body).encode()
    given: dict[str, object] = {"status": (404,), "body": body, "headers": JSON if body else {}, **more}
    return Hostile(method=example.route.method, path=path.encode(), **given)  # pyright: ignore[reportArgumentType] - fields of Hostile, checked by the dataclass


def padded(body: bytes, size: int) -> bytes:
    return body[:-1] + b" " * (size - len(body)) + body[-1:]
