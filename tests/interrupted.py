"""Commands with a Ctrl-C when they are so far, one after the other; a program, so that it is a real one.

It reads `[[how far, the command's words], …]` and writes an outcome for each, as JSON.
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

from gamekeeper.cli import progress
from gamekeeper.cli.commands import gamekeeper

NOTICED_SECONDS = 0.2  # that another thread has to notice it
SECONDS = 60
Moved = Callable[[str, int, int | None], None]
_bars = progress.bars


@dataclass
class Outcome:
    code: int = -1
    said: str = ""
    went_through: list[str] = field(default_factory=list[str])


def outcomes(commands: Sequence[tuple[str, Sequence[str]]]) -> list[Outcome]:
    done = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(commands),
        check=True,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    return [Outcome(**each) for each in json.loads(done.stdout)]


def outcome(point: str, words: Sequence[str]) -> Outcome:
    found = Outcome()

    @contextlib.contextmanager
    def bars() -> Generator[Moved]:
        with _bars() as moved:

            def pressed(what: str, done: int, total: int | None) -> None:
                found.went_through.append(what)
                if what == point and found.went_through.count(what) == 1:
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(NOTICED_SECONDS)
                moved(what, done, total)

            yield pressed

    progress.bars = bars
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            gamekeeper(words, prog_name="gamekeeper")
        except SystemExit as ended:
            found.code = int(ended.code or 0)
    found.said = out.getvalue() + err.getvalue()
    return found


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever was started in the background hears none
    found = [asdict(outcome(point, words)) for point, words in json.load(sys.stdin)]
    print(json.dumps(found))  # noqa: T201 - what it is run for
