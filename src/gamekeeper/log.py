"""JSON lines on standard error: never a body, a token, a hash or a code."""

import asyncio
import atexit
import contextlib
import json
import logging
import re
import sys
import threading
import time
import traceback
from collections import deque
from typing import Any

import msgspec

KEPT_SECONDS = 0.2  # a crash loses at most the access lines of this long
KEPT_MOST = 4096  # bytes that a pipe takes whole: the lines of two workers never end up inside each other
QUEUE_BYTES = 1024 * 1024  # waiting for the reader of standard error; what comes beyond that is dropped
FLUSH_SECONDS = 1.0  # that a shutdown waits for the reader
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


class _Writer:
    """Writes to standard error from its own thread, through a bounded queue: a stalled reader blocks nothing else."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._chunks: deque[bytes] = deque()  # the first one stays until it is written
        self._size = 0
        self._thread: threading.Thread | None = None
        self.dropped = 0  # lines

    def put(self, chunk: bytes) -> None:
        with self._changed:
            if self._size + len(chunk) > QUEUE_BYTES or not self.start():
                self.dropped += chunk.count(b"\n")
                return
            self._chunks.append(chunk)
            self._size += len(chunk)
            self._changed.notify_all()

    def start(self) -> bool:
        """Start the thread at its first use; an interpreter that is shutting down may refuse."""
        with self._changed:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="gamekeeper-log", daemon=True)
                with contextlib.suppress(RuntimeError):
                    thread.start()
                    self._thread = thread
            return self._thread is not None

    def drain(self) -> None:
        """Wait until everything is written, but not for long."""
        with self._changed:
            self._changed.wait_for(lambda: not self._chunks, FLUSH_SECONDS)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._chunks)
                chunk = self._chunks[0]
            written = _out(chunk)
            with self._changed:
                self._size -= len(self._chunks.popleft())
                self.dropped += 0 if written else chunk.count(b"\n")
                self._changed.notify_all()


class _Kept:
    """Access lines on their way out: one system call for many of them."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._size = 0

    def add(self, line: bytes) -> None:
        if self._size + len(line) > KEPT_MOST:
            self.flush()
        if not self._lines:
            _writer.start()
            asyncio.get_running_loop().call_later(KEPT_SECONDS, self.flush)
        self._lines.append(line)
        self._size += len(line)

    def flush(self) -> None:
        lines, self._lines, self._size = self._lines, [], 0
        if lines:
            _writer.put(b"".join(lines))


_writer = _Writer()
_kept = _Kept()


def access(request_id: str, caller: str, route: str, status: int, started_ns: int) -> None:
    microseconds = (time.perf_counter_ns() - started_ns) // 1000
    line = _Access(round(time.time(), 3), request_id, _plain(caller), _plain(route), status, microseconds)
    _kept.add(_encode(line) + b"\n")


@atexit.register
def flush() -> None:
    """Write all lines that wait; give up after FLUSH_SECONDS if the reader takes none."""
    _kept.flush()
    _writer.drain()


def dropped() -> int:
    """Lines of this process that could not be written."""
    return _writer.dropped


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
    _kept.flush()
    at, side, text = round(time.time(), 3), KEPT_MOST, redacted(text)
    line = json.dumps({"at": at, "id": request_id, kind: text})
    while len(line) >= KEPT_MOST:
        side //= 2
        line = json.dumps({"at": at, "id": request_id, kind: f"{text[:side]} … {text[-side:]}"})
    _writer.put(f"{line}\n".encode())


def _out(lines: bytes) -> bool:
    """Write without Python's own buffer: its lock, held by a blocked thread, would abort the interpreter at its end."""
    try:
        raw: Any = getattr(sys.stderr.buffer, "raw", sys.stderr.buffer)
        while lines and (count := raw.write(lines)):
            lines = lines[count:]
    except (OSError, ValueError, AttributeError):  # a full disk, a reader that has gone, a closed or missing stream
        return False
    return not lines


def _plain(text: str) -> str:
    """Short, and without what moves a cursor or ends a line."""
    return text if len(text) <= LONGEST and text.isprintable() else ascii(text[:LONGEST])[1:-1]
