"""The machine of the benchmark: its cores, and CPU time and memory of processes."""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import apsw
import psutil


class Stop(Exception):
    """Raised to stop the benchmark; the message says what to do."""


class Cores(NamedTuple):
    server: int
    generator: int


def cores() -> Cores:
    """Choose one core for the server with its database and another for the load generator."""
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < len(Cores._fields):
        raise Stop("The benchmark needs two cores: one for the server, one for the load.")
    return Cores(usable[0], usable[-1])


def list_processes(roots: Iterable[int]) -> list[psutil.Process]:
    """List the existing root processes and all their descendants."""
    found: list[psutil.Process] = []
    for root in roots:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(root)
            found += [process, *process.children(recursive=True)]
    return found


def cpu_seconds(roots: Iterable[int]) -> float:
    """Return user and system CPU time of whole process trees and of their ended processes, in seconds."""
    seconds = 0.0
    for each in list_processes(roots):
        with suppress(psutil.NoSuchProcess):
            seconds += sum(each.cpu_times()[:4])
    return seconds


def pin(root: int, core: int) -> None:
    """Pin a process tree to a CPU core; processes that it starts later inherit this."""
    for each in list_processes([root]):
        with suppress(psutil.NoSuchProcess):
            each.cpu_affinity([core])


def describe() -> dict[str, str]:
    """Describe the machine and the versions of the software."""
    model = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    return {
        "cpu": model[1] if model else platform.machine(),
        "cores": str(os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "kernel": platform.release(),
        "python": platform.python_version(),
        "granian": metadata.version("granian"),
        "sqlite": apsw.sqlite_lib_version(),
        "node": _read_version("node", "--version"),
        "wrk": _read_version("wrk", "-v"),
        "date": datetime.now(UTC).date().isoformat(),
    }


def _read_version(program: str, option: str) -> str:
    """Return the version that a program prints; wrk prints it with exit code 1."""
    if not shutil.which(program):
        return "not there"
    done = subprocess.run([program, option], capture_output=True, text=True, check=False)
    found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
    return found[0] if found else "unknown"
