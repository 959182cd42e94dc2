"""A `Call` describes one request and how its response is decoded. Both clients send the same calls."""

import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar, cast
from urllib.parse import quote

import msgspec

T = TypeVar("T")
A = TypeVar("A")
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
MAX_REASON_CHARACTERS = 500  # longest X-Reason that the server accepts
MAX_WAIT_SECONDS = 60.0  # longest time that the server waits in a long poll: the parameter `wait` of the change feed
ZERO = "00000000-0000-0000-0000-000000000000"  # item id of an empty slot
Value = str | int | float | bool | None  # value of a variable
ANY: Any = Any  # type of such a value; declared as Any, because type checkers do not accept a union as `type`


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    method: str
    path: str
    read: Callable[[bytes], T]
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    needs_token: bool = True
    wait: float = 0.0  # seconds that the server may wait before it answers; added to the client's timeout
    endless: bool = False  # True: retry the request without a limit until the server answers

    @property
    def key(self) -> str | None:
        return self.headers.get("Idempotency-Key")


@dataclass(frozen=True, slots=True)
class Batch(Generic[T]):
    """Some records of a list, and the call that reads the next records (None at the end)."""

    records: list[T]
    then: Call["Batch[T]"] | None


class Payload(Generic[T]):
    """The query and body of an operation, and the type of its result.

    Parameters of the query, and fields in `optional`, that are None are not sent. `optional` has further fields of the
    body. With `field`, the result is the value of that JSON field.
    """

    def __init__(
        self,
        shape: type[T],
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        optional: Mapping[str, object] | None = None,
        field: str | None = None,
    ) -> None:
        self.query = {name: _to_text(value) for name, value in (query or {}).items() if value is not None}
        if optional is not None:
            body = cast("dict[str, object]", body) | {k: value for k, value in optional.items() if value is not None}
        # a sequence of any kind, such as the keys of a dict, is sent as a list
        self.body = None if body is None else msgspec.json.encode(body, enc_hook=list)
        self.read: Callable[[bytes], T] = _make_decoder(shape).decode if field is None else _read_field(field, shape)
        self.wait = min(float(self.query.get("wait", 0)), MAX_WAIT_SECONDS)


def fill_path(path: str, values: Mapping[str, Any]) -> str:
    """Replace each {name} of a URL path. Reject an empty value: the path would match another route."""

    def segment(name: re.Match[str]) -> str:
        if not (value := str(values[name[1]])):
            raise ValueError("A name or an id must not be empty.")
        return quote(value, safe="").replace(".", "%2E")

    return re.sub(r"\{(\w+)\}", segment, path)


def build_write_headers(reason: str, idempotency_key: str | None) -> dict[str, str]:
    """Build the headers of a write request. All retries reuse its idempotency key, so it is applied once."""
    if idempotency_key is not None and not _KEY.fullmatch(idempotency_key):
        raise ValueError("An idempotency_key has 1 to 255 visible ASCII characters.")
    if len(reason) > MAX_REASON_CHARACTERS or not reason.isprintable():
        raise ValueError(f"A reason has at most {MAX_REASON_CHARACTERS} printable characters, on one line.")
    return {"Idempotency-Key": idempotency_key or uuid.uuid4().hex} | ({"X-Reason": reason} if reason else {})


def convert(call: Call[A], change: Callable[[A], T], *, endless: bool = False) -> Call[T]:
    """Make a call that sends the same request and passes its result through `change`."""
    return Call(call.method, call.path, lambda raw: change(call.read(raw)), call.query, wait=call.wait, endless=endless)


def _to_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def _make_decoder(shape: Any) -> msgspec.json.Decoder[Any]:  # noqa: ANN401 - any type that msgspec decodes
    return msgspec.json.Decoder(shape)


def _read_field(field: str, shape: type[T]) -> Callable[[bytes], T]:
    def read(content: bytes) -> T:
        fields = _make_decoder(dict[str, msgspec.Raw]).decode(content)
        if field not in fields:
            raise ValueError(f"it has no field {field!r}")
        return _make_decoder(shape).decode(fields[field])

    return read
