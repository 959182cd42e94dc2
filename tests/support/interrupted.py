"""Run commands one after the other and interrupt each with Ctrl-C (SIGINT) at a given point.

Reads `[[point, the command's words], …]` and writes an outcome for each, as JSON. A point is a step that the command's
progress names; CLOSING: the first time that it closes a database; WRITTEN: all rows are written but not committed; or
INDEXES: before it creates the indexes. It is a separate program, so that the signal is a real one.
"""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from gamekeeper.cli import progress
from gamekeeper.cli.commands import gamekeeper
from gamekeeper.store.engine import copies, database_checks
from gamekeeper.store.engine.postgres import PostgresStore
from gamekeeper.store.engine.sqlite import SqliteStore

SECONDS = 120
CLOSING, WRITTEN, INDEXES = "closing", "written", "indexes"
Moved = Callable[[str, int, int | None], None]
_bars = progress.show_bars
_steps = [
    (SqliteStore, "close", CLOSING),
    (PostgresStore, "close", CLOSING),
    (copies, "continue_ledger", WRITTEN),
    (database_checks, "create_missing_indexes", INDEXES),
]


@dataclass
class InterruptOutcome:
    code: int = -1
    said: str = ""
    went_through: list[str] = field(default_factory=list[str])


def outcomes(commands: Sequence[tuple[str, Sequence[str]]]) -> list[InterruptOutcome]:
    done = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(commands),
        check=True,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    return [InterruptOutcome(**each) for each in json.loads(done.stdout)]


def outcome(point: str, words: Sequence[str]) -> InterruptOutcome:
    found = InterruptOutcome()

    @contextlib.contextmanager
    def bars() -> Generator[Moved]:
        with _bars() as moved:

            def pressed(what: str, done: int, total: int | None) -> None:
                found.went_through.append(what)
                if what == point and found.went_through.count(what) == 1:
                    press()
                moved(what, done, total)

            yield pressed

    progress.show_bars = bars
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        err = stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        for owner, name, step in _steps:
            if step == point:
                stack.enter_context(press_before(owner, name, found, step))
        try:
            gamekeeper(words, prog_name="gamekeeper")
        except SystemExit as ended:
            found.code = int(ended.code or 0)
    found.said = out.getvalue() + err.getvalue()
    return found


@contextlib.contextmanager
def press_before(owner: object, name: str, found: InterruptOutcome, step: str) -> Generator[None]:
    does = getattr(owner, name)

    async def pressed(*given: Any) -> Any:
        if step not in found.went_through:
            found.went_through.append(step)
            press()
        return await does(*given)

    setattr(owner, name, pressed)
    yield
    setattr(owner, name, does)


def press() -> None:
    """Raise SIGINT from any thread, and wait until the event loop has cancelled its task."""
    handler: Any = signal.getsignal(signal.SIGINT)  # asyncio's handler of SIGINT
    os.kill(os.getpid(), signal.SIGINT)
    while not handler.keywords["main_task"].cancelling():
        time.sleep(0.001)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process ignores SIGINT by default
    found = [asdict(outcome(point, words)) for point, words in json.load(sys.stdin)]
    print(json.dumps(found))  # noqa: T201 - what it is run for
