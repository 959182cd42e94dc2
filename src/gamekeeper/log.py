"""JSON lines on standard error: never a body, a token, a hash or a code."""

import asyncio
import atexit
import json
import sys
import time
import traceback

import msgspec

KEPT_SECONDS = 0.2  # a crash loses at most the access lines of this long
KEPT_MOST = 4096  # bytes that a pipe takes whole: the lines of two workers never end up inside each other
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
            sys.stderr.buffer.write(b"".join(lines))
            sys.stderr.buffer.flush()


_kept = _Kept()


def access(request_id: str, caller: str, route: str, status: int, started_ns: int) -> None:
    microseconds = (time.perf_counter_ns() - started_ns) // 1000
    line = _Access(round(time.time(), 3), request_id, caller, route, status, microseconds)
    _kept.add(_encode(line) + b"\n")


@atexit.register
def flush() -> None:
    """Writes the access lines that wait."""
    _kept.flush()


def problem(request_id: str, what: str) -> None:
    _write(id=request_id, problem=what)


def failure(request_id: str) -> None:
    """The exception being handled, with where it came from."""
    _write(id=request_id, failure=traceback.format_exc())


def _write(**fields: object) -> None:
    """At once, after the access lines of the requests before."""
    flush()
    sys.stderr.write(json.dumps({"at": round(time.time(), 3), **fields}) + "\n")
