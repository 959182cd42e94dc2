"""The machine under the benchmark: its cores, and what processes take of it, read from /proc."""

import os
import platform
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")


class Stop(Exception):
    """The benchmark cannot go on; the message says what to do."""


class Process(NamedTuple):
    parent: int
    ticks: int  # of its own, and of its children that are over


class Cores(NamedTuple):
    server: int
    generator: int


def cores() -> Cores:
    """The server with its database has one, the generator of the load another."""
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < len(Cores._fields):
        raise Stop("The benchmark needs two cores: one for the server, one for the load.")
    return Cores(usable[0], usable[-1])


def parse_stat(text: str) -> Process:
    """Of /proc/PID/stat; a command's name may have spaces and brackets in it."""
    values = text.rpartition(")")[2].split()
    return Process(int(values[1]), sum(int(each) for each in values[11:15]))


def parse_resident(text: str) -> int:
    """KiB in memory, of /proc/PID/status; a process that is ending has none."""
    found = re.search(r"^VmRSS:\s+(\d+) kB$", text, re.MULTILINE)
    return int(found[1]) if found else 0


def descendants(processes: dict[int, Process], roots: Iterable[int]) -> set[int]:
    """The roots that are there, and all that they started."""
    found: set[int] = set()
    waiting = [each for each in roots if each in processes]
    while waiting:
        found.add(one := waiting.pop())
        waiting += [pid for pid, process in processes.items() if process.parent == one and pid not in found]
    return found


def cpu_seconds(roots: Iterable[int]) -> float:
    """User and system time of whole process trees."""
    processes = _processes()
    return sum(processes[pid].ticks for pid in descendants(processes, roots)) / TICKS


def memory_mib(roots: Iterable[int]) -> float:
    trees = descendants(_processes(), roots)
    return sum(parse_resident(_text(PROC / str(pid) / "status")) for pid in trees) / 1024


def pin(root: int, allowed: Iterable[int]) -> None:
    """A whole process tree; what it starts later follows."""
    on = set(allowed)
    for pid in descendants(_processes(), [root]):
        for thread in (PROC / str(pid) / "task").iterdir():
            os.sched_setaffinity(int(thread.name), on)


def describe() -> dict[str, str]:
    """What was measured on, and with which versions."""
    model = re.search(r"^model name\s*:\s*(.+)$", _text(PROC / "cpuinfo"), re.MULTILINE)
    return {
        "cpu": model[1] if model else platform.machine(),
        "cores": str(os.cpu_count()),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "kernel": platform.release(),
        "python": platform.python_version(),
        "granian": metadata.version("granian"),
        "sqlite": sqlite3.sqlite_version,
        "node": _said("node", "--version"),
        "wrk": _said("wrk", "-v"),
        "date": datetime.now(UTC).date().isoformat(),
    }


def _said(program: str, option: str) -> str:
    """The version in what a program says of itself; wrk says it with an exit code of 1."""
    if not shutil.which(program):
        return "not there"
    done = subprocess.run([program, option], capture_output=True, text=True, check=False)
    found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
    return found[0] if found else "unknown"


def _processes() -> dict[int, Process]:
    texts = {int(each.name): _text(each / "stat") for each in PROC.iterdir() if each.name.isdigit()}
    return {pid: parse_stat(text) for pid, text in texts.items() if text}


def _text(path: Path) -> str:
    """Empty for a process that just ended."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
