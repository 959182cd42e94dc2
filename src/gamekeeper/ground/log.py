"""Structured log on standard error: JSON lines, or lines for people if standard error is a terminal.

Never log a request body, a token, a hash or a reset code.
"""

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

BUFFER_SECONDS = 0.2  # seconds for which entries of the access log are buffered; a crash loses at most these
MAX_BUFFERED = 100  # most buffered entries of the access log, which a crash can lose: a few writes to a pipe
PIPE_BYTES = 4096  # largest atomic write to a pipe: entries of two workers never mix
QUEUE_BYTES = 1024 * 1024  # limit of the queue of log entries to standard error; entries beyond it are dropped
FLUSH_SECONDS = 1.0  # at shutdown, longest wait for a slow reader of standard error
# longest caller or route (HTTP method and path) in the log, in characters; clients can send methods of any length
NAME_LENGTH = 200
PATH_WIDTH = 45  # column width of a path on a terminal, in characters; most paths are shorter
SECRETS = (  # patterns of secrets in messages of libraries, and their replacements
    (re.compile(r"(://[^\s:/@]*:)\S*@"), r"\1…@"),  # password in a URL
    (re.compile(r"\bgka_[\w-]+"), "gka_…"),
    (re.compile(r"\$argon2[^\s'\")]+"), "$argon2…"),
    (re.compile(r"\b[0-9A-Fa-f]{64}\b"), "…"),  # a password hash sent by a client, or a token's digest
    # value of an SQL argument in an error message: asyncpg's messages contain values that it cannot encode
    (re.compile(r"(query argument \$\d+: ).*"), r"\1…"),
    # whole rows, which PostgreSQL quotes in DETAIL
    (re.compile(r"DETAIL:.*?(?=\n\n|\nHINT:|\Z)", re.DOTALL), "DETAIL: …"),
)
_encode = msgspec.json.Encoder().encode


class _AccessEntry(msgspec.Struct):
    at: float
    id: str
    caller: str
    route: str
    status: int
    us: int


class _Writer:
    """Writes log entries to standard error in a thread, with a bounded queue: a stalled reader blocks nothing else."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._chunks: deque[bytes] = deque()  # queue of text to write; the first chunk stays in it until it is written
        self._size = 0
        self._thread: threading.Thread | None = None
        self.dropped = 0  # number of dropped log entries

    def put(self, chunk: bytes) -> None:
        with self._changed:
            if self._size + len(chunk) > QUEUE_BYTES or not self.start():
                self.dropped += chunk.count(b"\n")
                return
            self._chunks.append(chunk)
            self._size += len(chunk)
            self._changed.notify_all()

    def start(self) -> bool:
        """Start the log's thread at its first use; an interpreter that is shutting down may refuse."""
        with self._changed:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="gamekeeper-log", daemon=True)
                with contextlib.suppress(RuntimeError):
                    thread.start()
                    self._thread = thread
            return self._thread is not None

    def drain(self) -> None:
        """Wait until all log entries are written, at most for a short time."""
        with self._changed:
            self._changed.wait_for(lambda: not self._chunks, FLUSH_SECONDS)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._chunks)
                chunk = self._chunks[0]
            written = _write_bytes(chunk)
            with self._changed:
                self._size -= len(self._chunks.popleft())
                self.dropped += 0 if written else chunk.count(b"\n")
                self._changed.notify_all()


class _Format:
    """Choice between JSON lines and lines for people."""

    always_json = False


class _AccessBuffer:
    """Buffer of access log entries: many entries are encoded together and written with few system calls."""

    def __init__(self) -> None:
        # seconds since 1970, request id, caller, route, status, microseconds
        self._entries: list[tuple[float, str, str, str, int, int]] = []

    def add(self, request_id: str, caller: str, route: str, status: int, started_ns: int) -> None:
        entry = (time.time(), request_id, caller, route, status, (time.perf_counter_ns() - started_ns) // 1000)
        self._entries.append(entry)  # the list is read last: another thread that logs may have flushed and replaced it
        if len(self._entries) == 1:
            _writer.start()
            asyncio.get_running_loop().call_later(BUFFER_SECONDS, self.flush)
        elif len(self._entries) >= MAX_BUFFERED:
            self.flush()

    def flush(self) -> None:
        entries, self._entries = self._entries, []
        chunk, encode = b"", _encode_for_people if is_for_people() else _encode
        for at, request_id, caller, route, status, microseconds in entries:
            entry = _AccessEntry(round(at, 3), request_id, _escape(caller), _escape(route), status, microseconds)
            line = encode(entry) + b"\n"
            if chunk and len(chunk) + len(line) > PIPE_BYTES:
                _writer.put(chunk)
                chunk = b""
            chunk += line
        if chunk:
            _writer.put(chunk)


_format = _Format()
_writer = _Writer()
_buffer = _AccessBuffer()


access = _buffer.add  # log a request; the last argument is its start, by time.perf_counter_ns


@atexit.register
def flush() -> None:
    """Write all buffered log entries; give up after FLUSH_SECONDS if standard error is not read."""
    _buffer.flush()
    _writer.drain()


def write_json(*, always: bool) -> None:
    """Choose JSON lines also on a terminal. Everywhere else the log always consists of JSON lines."""
    _format.always_json = always


def is_for_people() -> bool:
    """Tell whether log lines are for people: standard error is a terminal, and JSON was not chosen."""
    try:
        return not _format.always_json and sys.stderr.isatty()
    except (AttributeError, ValueError):  # missing or closed standard error
        return False


def count_dropped() -> int:
    """Return how many log entries of this process were dropped."""
    return _writer.dropped


def problem(request_id: str, what: str) -> None:
    _write(request_id, "problem", what)


def failure(request_id: str) -> None:
    """Log the current exception with its traceback."""
    _write(request_id, "failure", traceback.format_exc())


class _LoggingHandler(logging.Handler):
    """Send records of Python's logging, such as asyncio's unretrieved task exceptions, to this log."""

    def emit(self, record: logging.LogRecord) -> None:
        _write(record.name, "failure" if record.exc_info else "problem", self.format(record))


def capture_logging() -> None:
    """Redirect warnings and errors of Python's logging to this log."""
    logging.basicConfig(handlers=[_LoggingHandler()], format="%(message)s", level=logging.WARNING, force=True)


def redact(text: str) -> str:
    for secret, instead in SECRETS:
        text = secret.sub(instead, text)
    return text


def _write(request_id: str, kind: str, text: str) -> None:
    """Write a log entry at once, after the buffered access entries. Cut its middle if it exceeds PIPE_BYTES."""
    _buffer.flush()
    at, side, text = round(time.time(), 3), PIPE_BYTES, redact(text)
    if is_for_people():
        said = "\n".join(_escape_all(line) for line in text.rstrip().split("\n"))
        _writer.put(f"{_format_local_time(at)}  {kind.upper()} in {_escape_all(request_id)}: {said}\n".encode())
        return
    line = json.dumps({"at": at, "id": request_id, kind: text})
    while len(line) >= PIPE_BYTES:
        side //= 2
        line = json.dumps({"at": at, "id": request_id, kind: f"{text[:side]} … {text[-side:]}"})
    _writer.put(f"{line}\n".encode())


def _write_bytes(lines: bytes) -> bool:
    """Write log entries to standard error without Python's buffer; False if it failed.

    A thread blocked in that buffer would hold its lock, and the interpreter would abort at exit.
    """
    try:
        raw: Any = getattr(sys.stderr.buffer, "raw", sys.stderr.buffer)
        while lines and (count := raw.write(lines)):
            lines = lines[count:]
    except (OSError, ValueError, AttributeError):  # full disk, closed pipe, closed or missing standard error
        return False
    return not lines


def _escape(text: str) -> str:
    """Shorten a text for the log, and escape control characters and line breaks."""
    return text if len(text) <= NAME_LENGTH and text.isprintable() else ascii(text[:NAME_LENGTH])[1:-1]


def _escape_all(line: str) -> str:
    """Escape control characters, which could send commands to a terminal, without shortening the line."""
    return line if line.isprintable() else ascii(line)[1:-1]


def _format_local_time(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))


def _encode_for_people(entry: _AccessEntry) -> bytes:
    """Write a request as a line with local time, method, path, status, duration in ms and caller."""
    method, _, path = entry.route.partition(" ")
    path = path or "(no such path)"
    figures = f"{entry.status}  {entry.us / 1000:7.1f} ms"
    return (
        f"{_format_local_time(entry.at)}  {method:6} {path:{PATH_WIDTH}}  {figures}  {entry.caller}".rstrip().encode()
    )
