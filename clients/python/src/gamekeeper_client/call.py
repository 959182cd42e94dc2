"""One request as a value: how it is sent, and how its answer is read. Both clients carry out the same calls."""

import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypedDict, TypeVar, Unpack
from urllib.parse import quote

import msgspec

from gamekeeper_client.shapes import Page

T = TypeVar("T")
A = TypeVar("A")
Query = Mapping[str, str]
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
LONGEST_REASON = 500


class WriteOptions(TypedDict, total=False):
    """What every write takes.

    `dry_run` answers what would happen and changes nothing; `reason` is kept with the change; `idempotency_key` is
    yours instead of a random one, so that the call can be repeated by another process, too.
    """

    dry_run: bool
    reason: str
    idempotency_key: str


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    method: str
    path: str
    read: Callable[[bytes], T]
    query: Query = field(default_factory=dict[str, str])
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    needs_token: bool = True
    wait: float = 0.0  # seconds that the server may take its time for
    patient: bool = False  # repeated for as long as the server is away

    @property
    def key(self) -> str | None:
        return self.headers.get("Idempotency-Key")


@dataclass(frozen=True, slots=True)
class Batch(Generic[T]):
    """Some of many: a list is read by carrying out its first call, then those that follow."""

    records: list[T]
    then: Call["Batch[T]"] | None


def path(template: str, *segments: str) -> str:
    """Fills the {} of a path. An empty segment would address something else: all tokens instead of one."""
    for segment in segments:
        if not segment:
            raise ValueError("A name or an id must not be empty.")
    return template.format(*(quote(segment, safe="").replace(".", "%2E") for segment in segments))


def query(**given: object) -> Query:
    """Without what is None; true and false as the wire has them."""
    found = {name: value for name, value in given.items() if value is not None}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in found.items()}


def reading(shape: type[T]) -> Callable[[bytes], T]:
    return msgspec.json.Decoder(shape).decode


def get(path: str, read: Callable[[bytes], T], query: Query | None = None) -> Call[T]:
    return Call("GET", path, read, query or {})


def post(path: str, body: object, read: Callable[[bytes], T]) -> Call[T]:
    return Call("POST", path, read, body=msgspec.json.encode(body))


def write(
    method: str, path: str, read: Callable[[bytes], T], body: object = None, **options: Unpack[WriteOptions]
) -> Call[T]:
    """With a key that is made once, so that all repetitions of the call are one change."""
    headers = {"Idempotency-Key": _key(options.get("idempotency_key"))}
    if options.get("reason"):
        headers["X-Reason"] = _reason(options.get("reason", ""))
    sent = None if body is None else msgspec.json.encode(body)
    return Call(method, path, read, {"dryRun": "true"} if options.get("dry_run") else {}, sent, headers)


def then(read: Callable[[bytes], A], change: Callable[[A], T]) -> Callable[[bytes], T]:
    return lambda raw: change(read(raw))


def every_page(page_call: Callable[[int], Call[Page[T]]], number: int = 0) -> Call[Batch[T]]:
    """A list from one of its pages on."""
    call = page_call(number)

    def batch(page: Page[T]) -> Batch[T]:
        more = page.values and (number + 1) * page.page_size < page.total
        return Batch(page.values, every_page(page_call, number + 1) if more else None)

    return Call(call.method, call.path, then(call.read, batch), call.query)


def _key(given: str | None) -> str:
    if given is None:
        return uuid.uuid4().hex
    if not _KEY.fullmatch(given):
        raise ValueError("An idempotency_key has 1 to 255 visible ASCII characters.")
    return given


def _reason(given: str) -> str:
    if len(given) > LONGEST_REASON or not given.isprintable():
        raise ValueError(f"A reason has at most {LONGEST_REASON} printable characters, on one line.")
    return given
