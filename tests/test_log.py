"""The log: access lines go out together and soon, everything else at once and in order."""

import asyncio
import contextlib
import io
import json
import time
from collections.abc import Coroutine
from typing import Any

import pytest

from gamekeeper import log


class Written(io.BytesIO):
    """Standard error that knows each write for itself."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[bytes] = []

    def write(self, part: Any) -> int:
        self.parts.append(bytes(part))
        return len(part)

    @property
    def ids(self) -> list[str]:
        return [json.loads(line)["id"] for line in b"".join(self.parts).splitlines()]


def during(work: Coroutine[Any, Any, None]) -> Written:
    """What was written meanwhile and after it."""
    written = Written()
    with contextlib.redirect_stderr(io.TextIOWrapper(written, line_buffering=True)):
        asyncio.run(work)
        log.flush()
    return written


def out_of_luck(said: str = "no luck") -> None:
    raise RuntimeError(said)


def access(*ids: str, caller: str = "Ann") -> None:
    for each in ids:
        log.access(each, caller, "GET /api/v1/players", 200, time.perf_counter_ns())


def test_access_lines_go_out_together_and_soon() -> None:
    async def ask() -> None:
        access("1", "2", "3")
        await asyncio.sleep(2 * log.KEPT_SECONDS)
        access("4")

    written = during(ask())
    assert [part.count(b"\n") for part in written.parts] == [3, 1]
    assert written.ids == ["1", "2", "3", "4"]


def test_a_problem_goes_out_at_once_after_what_was_before_it() -> None:
    async def ask() -> None:
        access("1", "2")
        log.problem("3", "the database is away")
        access("4")
        try:
            out_of_luck()
        except RuntimeError:
            log.failure("5")
        access("6")

    written = during(ask())
    assert written.ids == ["1", "2", "3", "4", "5", "6"]
    assert [part.count(b"\n") for part in written.parts] == [2, 1, 1, 1, 1]


def test_no_write_is_longer_than_a_pipe_takes_whole() -> None:
    async def ask() -> None:
        access(*map(str, range(200)), caller="Ä" * 100)

    written = during(ask())
    assert written.ids == [str(number) for number in range(200)]
    assert all(part.endswith(b"\n") and len(part) <= log.KEPT_MOST for part in written.parts)
    assert len(written.parts) < 40


def test_a_line_says_who_what_and_how_it_went() -> None:
    async def ask() -> None:
        access("1", caller='A "quoted" näme')

    written = during(ask())
    line = json.loads(written.parts[0])
    assert list(line) == ["at", "id", "caller", "route", "status", "us"]
    assert (line["caller"], line["route"], line["status"]) == ('A "quoted" näme', "GET /api/v1/players", 200)
    assert abs(line["at"] - time.time()) < 60
    assert 0 <= line["us"] < 60_000_000


@pytest.mark.parametrize(
    "name", ["a\r\nb", "\x1b[2J", "\x7f", "\x9b31m", "\u2028", "\u202e", "x" * 10_000, "\x00" * 300]
)
def test_nobody_writes_lines_or_escapes_of_their_own(name: str) -> None:
    async def ask() -> None:
        access("1", caller=name)
        log.access("2", "Ann", f"{name} /", 404, time.perf_counter_ns())
        log.problem("3", name)

    written = during(ask())
    text = b"".join(written.parts).decode()
    assert written.ids == ["1", "2", "3"]
    assert all(line.isprintable() and len(line) < log.KEPT_MOST for line in text.split("\n"))


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    async def ask() -> None:
        log.problem("1", "first " + "Ä" * 50_000 + " last")

    (part,) = during(ask()).parts
    assert len(part) <= log.KEPT_MOST
    said = json.loads(part)["problem"]
    assert (said.startswith("first "), said.endswith(" last"), len(said) > 100) == (True, True, True)
