"""JSON lines on standard error: never a body, a token, a hash or a code."""

import asyncio
import atexit
import contextlib
import json
import logging
import re
import sys
import time
import traceback

import msgspec

KEPT_SECONDS = 0.2  # a crash loses at most the access lines of this long
KEPT_MOST = 4096  # bytes that a pipe takes whole: the lines of two workers never end up inside each other
LONGEST = 200  # characters of a name or a route: a method can be anything that a caller makes up
SECRETS = (  # what others' sentences may carry, and what is written instead
    (re.compile(r"(://[^\s:/@]*:)\S*@"), r"\1…@"),  # a URL's password
    (re.compile(r"\bgka_[\w-]+"), "gka_…"),
    (re.compile(r"\$argon2[^\s'\")]+"), "$argon2…"),
    (re.compile(r"\b[0-9A-Fa-f]{64}\b"), "…"),  # a password as it is sent, or a token's digest
    (re.compile(r"(query argument \$\d+: ).*"), r"\1…"),  # asyncpg, about a value that it cannot send
    (re.compile(r"DETAIL:.*?(?=\n\n|\nHINT:|\Z)", re.DOTALL), "DETAIL: …"),  # PostgreSQL shows whole rows there
)
_encode = msgspec.json.Encoder().encode


class _Access(msgspec.Struct):
    at: float
    id: str
    caller: str
    route: str
    status: int
    us: int


class _Kept:
    """Access lines on their way out: one system call for many of them."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._size = 0

    def add(self, line: bytes) -> None:
        if self._size + len(line) > KEPT_MOST:
            self.flush()
        if not self._lines:
            asyncio.get_running_loop().call_later(KEPT_SECONDS, self.flush)
        self._lines.append(line)
        self._size += len(line)

    def flush(self) -> None:
        lines, self._lines, self._size = self._lines, [], 0
        if lines:
            _out(b"".join(lines))


_kept = _Kept()


def access(request_id: str, caller: str, route: str, status: int, started_ns: int) -> None:
    microseconds = (time.perf_counter_ns() - started_ns) // 1000
    line = _Access(round(time.time(), 3), request_id, _plain(caller), _plain(route), status, microseconds)
    _kept.add(_encode(line) + b"\n")


@atexit.register
def flush() -> None:
    """Writes the access lines that wait."""
    _kept.flush()


def problem(request_id: str, what: str) -> None:
    _write(request_id, "problem", what)


def failure(request_id: str) -> None:
    """The exception being handled, with where it came from."""
    _write(request_id, "failure", traceback.format_exc())


class _Records(logging.Handler):
    """What libraries say, and asyncio of tasks that nobody waited for."""

    def emit(self, record: logging.LogRecord) -> None:
        _write(record.name, "failure" if record.exc_info else "problem", self.format(record))


def adopt() -> None:
    """From now on, warnings of Python's own logging become lines of this log."""
    logging.basicConfig(handlers=[_Records()], format="%(message)s", level=logging.WARNING, force=True)


def redacted(text: str) -> str:
    for secret, instead in SECRETS:
        text = secret.sub(instead, text)
    return text


def _write(request_id: str, kind: str, text: str) -> None:
    """At once, after the access lines of the requests before; in one piece, with its middle left out if need be."""
    flush()
    at, side, text = round(time.time(), 3), KEPT_MOST, redacted(text)
    line = json.dumps({"at": at, "id": request_id, kind: text})
    while len(line) >= KEPT_MOST:
        side //= 2
        line = json.dumps({"at": at, "id": request_id, kind: f"{text[:side]} … {text[-side:]}"})
    _out(f"{line}\n".encode())


def _out(lines: bytes) -> None:
    """A full disk, or a reader that has gone, costs lines and nothing else."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.buffer.write(lines)
        sys.stderr.buffer.flush()


def _plain(text: str) -> str:
    """Short, and without what moves a cursor or ends a line."""
    return text if len(text) <= LONGEST and text.isprintable() else ascii(text[:LONGEST])[1:-1]
