"""Run small programs that are killed at a crash point of gamekeeper/crash.py, and tell how they ended.

The programs are forked from one process that has imported Gamekeeper: importing takes longer than most of them run.
Reads `[program, crash point, arguments]` and writes the exit status of each, as lines of JSON.
"""

import itertools
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager

from gamekeeper import app, crash

LIMIT_SECONDS = 300
LOADED = app  # what the programs import


class Programs:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, program: str, point: str, *arguments: str) -> int:
        """Run a program with `sys.argv[1:]` until it ends or is killed at a crash point; return its exit status."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([program, point, arguments]) + "\n")
        self._process.stdin.flush()
        status = self._process.stdout.readline()
        assert status, "the process that forks the programs has ended; standard error tells why"
        return int(status)


@contextmanager
def start() -> Generator[Programs]:
    command = [sys.executable, __file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Programs(process)
        process.communicate()


def _run(program: str, point: str, arguments: list[str]) -> None:
    """Run a program in this forked process, and end the process."""
    os.dup2(2, 1)  # standard output is for exit statuses
    signal.alarm(LIMIT_SECONDS)  # a program that hangs is killed by this signal
    armed, _, times = point.partition(":")
    for name, value in (("_armed", armed), ("_times", times), ("_passed", itertools.count(1))):
        setattr(crash, name, value)
    sys.argv[1:] = arguments
    try:
        exec(compile(program, "program", "exec"), {"__name__": "__main__"})  # noqa: S102 - a program of the tests
    except BaseException:  # noqa: BLE001 - a forked process must end here, whatever happened
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _run(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)  # noqa: T201 - the other process reads it
