"""Commands of `gamekeeper`, each in a process that is forked from one which has imported everything already.

A command then takes some hundredths of a second instead of one second, so that it can be killed many times.
"""

import multiprocessing
import os
import signal
import sys
from contextlib import closing
from pathlib import Path

import apsw

from battery.held import SQLITE_URL
from gamekeeper.cli.commands import gamekeeper

BUSY_MS = 10_000  # longest wait of the check for a lock
SECONDS = 60  # timeout of a process
CHECK = "check"
IMPORTED = ("battery.commands", "gamekeeper.cli.database", "gamekeeper.cli.access", "gamekeeper.cli.users")
FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload([*IMPORTED])


class Forked:
    """A process with a command, or with the check of a database file; what it prints goes to a file."""

    def __init__(self, said: Path, *arguments: str) -> None:
        self._said = said
        self._process = FORKING.Process(target=_run, args=(str(said), arguments))
        self._process.start()

    def wait(self) -> bool:
        """Return whether the process ended with exit code 0."""
        self._process.join(SECONDS)
        return self._process.exitcode == 0

    def kill(self) -> bool:
        """Kill the process with SIGKILL, and return whether it had not ended before."""
        self._process.kill()
        self._process.join(SECONDS)
        return self._process.exitcode == -signal.SIGKILL

    def describe(self) -> str:
        """Return the exit code and what the process has printed."""
        return f"{self._process.exitcode} {self._said.read_text(encoding='utf-8').strip()}"


def check(said: Path, database: str) -> Forked:
    """Begin `PRAGMA integrity_check` in a process of its own. Its exit code is 0 if that finds nothing."""
    return Forked(said, CHECK, database)


def _run(said: str, arguments: tuple[str, ...]) -> None:
    output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(output, sys.stdout.fileno())
    os.dup2(output, sys.stderr.fileno())
    if arguments[0] == CHECK:
        sys.exit(_find_damage(arguments[1]))
    gamekeeper(arguments, prog_name="gamekeeper")


def _find_damage(database: str) -> str | None:
    with closing(apsw.Connection(database.removeprefix(SQLITE_URL), apsw.SQLITE_OPEN_READWRITE)) as db:
        db.set_busy_timeout(BUSY_MS)
        found = [row[0] for row in db.execute("PRAGMA integrity_check")]
    return None if found == ["ok"] else "; ".join(found)
