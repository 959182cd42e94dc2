"""The log: an unread pipe blocks nothing, and no entry has a control character or a secret."""

import asyncio
import contextlib
import io
import json
import logging
import os
import re
import time
from collections.abc import Coroutine
from typing import Any

import pytest

from gamekeeper.ground import log
from loops import over


class Written(io.BytesIO):
    """Stand-in for standard error that records each write separately."""

    def __init__(self, *, terminal: bool = False) -> None:
        super().__init__()
        self.parts: list[bytes] = []
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def write(self, part: Any) -> int:
        self.parts.append(bytes(part))
        return len(part)

    @property
    def ids(self) -> list[str]:
        return [json.loads(line)["id"] for line in b"".join(self.parts).splitlines()]


def during(work: Coroutine[Any, Any, None], *, terminal: bool = False) -> Written:
    """Return the log text that was written during and after the block."""
    written = Written(terminal=terminal)
    with contextlib.redirect_stderr(io.TextIOWrapper(written, line_buffering=True)):
        asyncio.run(work)
        log.flush()
    return written


def fail(request_id: str, said: str = "no luck") -> None:
    """Log an exception of a request."""
    try:
        raise RuntimeError(said)  # noqa: TRY301 - the log reads the exception that is handled
    except RuntimeError:
        log.failure(request_id)


def access(*ids: str, caller: str = "Ann") -> None:
    for each in ids:
        log.access(each, caller, "GET /api/v1/players", 200, time.perf_counter_ns())


def test_unread_pipe_blocks_nothing_and_drops_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "FLUSH_SECONDS", 0.1)
    count, before = 20_000, log.count_dropped()
    reader, writer = os.pipe()

    async def ask() -> None:
        access(*map(str, range(count)))

    with os.fdopen(writer, "w") as stderr, contextlib.redirect_stderr(stderr):
        asyncio.run(ask())
        log.flush()
        lost = log.count_dropped() - before
        with os.fdopen(reader, "rb") as pipe:
            lines = [pipe.readline() for _ in range(count - lost)]
        log.flush()
    assert 0 < lost < count
    numbers = [int(json.loads(line)["id"]) for line in lines]
    assert numbers == sorted(set(numbers))


def test_log_on_a_terminal_is_for_people_unless_json_is_chosen() -> None:
    async def ask() -> None:
        access("1")
        log.access("2", "", "GET ", 404, time.perf_counter_ns())
        log.problem("upkeep", "the database is away\x1b[2J")
        fail("5")

    lines = b"".join(during(ask(), terminal=True).parts).decode().splitlines()
    clock = r"\d\d:\d\d:\d\d"
    assert re.fullmatch(rf"{clock}  GET    /api/v1/players {{30,}}200 +\d+\.\d ms  Ann", lines[0])
    assert re.fullmatch(rf"{clock}  GET    \(no such path\) +404 +\d+\.\d ms", lines[1])
    assert re.fullmatch(rf"{clock}  PROBLEM in upkeep: the database is away\\x1b\[2J", lines[2])
    assert re.fullmatch(rf"{clock}  FAILURE in 5: Traceback .*", lines[3])
    assert lines[-1] == "RuntimeError: no luck"
    assert during(ask()).ids == ["1", "2", "upkeep", "5"]
    log.write_json(always=True)
    try:
        assert during(ask(), terminal=True).ids == ["1", "2", "upkeep", "5"]
    finally:
        log.write_json(always=False)


@over("name", "a\r\nb", "\x1b[2J", "\x7f", "\x9b31m", "\u2028", "\u202e", "x" * 10_000, "\x00" * 300)
def test_control_characters_are_escaped_in_log(name: str) -> None:
    async def ask() -> None:
        access("1", caller=name)
        log.access("2", "Ann", f"{name} /", 404, time.perf_counter_ns())
        log.problem("3", name)

    written = during(ask())
    lines = b"".join(written.parts).decode().split("\n")
    assert written.ids == ["1", "2", "3"]
    assert all(line.isprintable() and len(line) < log.PIPE_BYTES for line in lines)
    for_people = b"".join(during(ask(), terminal=True).parts).decode().split("\n")
    assert all(line.isprintable() for line in for_people)


SENT, DIGEST = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8", "ab" * 32
SECRETS = {
    "a database's password": ("cannot reach postgresql://keeper:hunter2@db:5432/game", "hunter2"),
    "with an @ in it": ("cannot reach postgresql://keeper:hun@ter2@db/game now", "ter2"),
    "a mail server's": ("smtps://keeper:hunter2@mail.test:465 says no", "hunter2"),
    "a token": ("Bearer gka_x7Zq-Ab_12345678901234567890 is not good", "x7Zq"),
    "a password as it is sent": (f"unexpected {SENT}", SENT),
    "in capitals": (f"unexpected '{SENT.upper()}'", SENT.upper()),
    "a token's digest": (f"duplicate {DIGEST}", DIGEST),
    "a stored hash": ("row ('Ann', '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA')", "c2FsdA"),
    "a row": ('new row violates check "x"\nDETAIL:  Failing row contains (1, Ann, c0de-c0de).\nHINT: x', "c0de"),
    "a value": ("invalid input for query argument $3: 'c0de-c0de' (expected int)", "c0de"),
}


@over("name", *SECRETS)
def test_secrets_are_redacted(name: str) -> None:
    said, secret = SECRETS[name]

    async def ask() -> None:
        log.problem("1", said)
        fail("3", said)
        before = logging.getLogger().handlers[:]
        log.capture_logging()
        logging.getLogger("asyncio").error("a task failed: %s", said)
        logging.getLogger().handlers[:] = before

    written = during(ask())
    assert written.ids == ["1", "3", "asyncio"]
    whole = b"".join(written.parts).decode()
    assert secret not in whole
    assert json.loads(whole.splitlines()[0])["problem"] == log.redact(said)
