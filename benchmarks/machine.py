"""The machine of the benchmark: its cores, and CPU time and memory of processes, read from /proc."""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import apsw

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")


class Stop(Exception):
    """Raised to stop the benchmark; the message says what to do."""


class Process(NamedTuple):
    parent: int
    ticks: int  # CPU time of the process and of its ended children, in clock ticks


class Cores(NamedTuple):
    server: int
    generator: int


def cores() -> Cores:
    """Choose one core for the server with its database and another for the load generator."""
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < len(Cores._fields):
        raise Stop("The benchmark needs two cores: one for the server, one for the load.")
    return Cores(usable[0], usable[-1])


def parse_stat(text: str) -> Process:
    """Parse /proc/PID/stat, where a command's name may contain spaces and brackets."""
    values = text.rpartition(")")[2].split()
    return Process(int(values[1]), sum(int(each) for each in values[11:15]))


def parse_resident(text: str) -> int:
    """Parse the resident KiB from /proc/PID/status; an ending process has none."""
    found = re.search(r"^VmRSS:\s+(\d+) kB$", text, re.MULTILINE)
    return int(found[1]) if found else 0


def descendants(processes: dict[int, Process], roots: Iterable[int]) -> set[int]:
    """Return the existing root processes and all their descendants."""
    found: set[int] = set()
    waiting = [each for each in roots if each in processes]
    while waiting:
        found.add(one := waiting.pop())
        waiting += [pid for pid, process in processes.items() if process.parent == one and pid not in found]
    return found


def cpu_seconds(roots: Iterable[int]) -> float:
    """Return user and system CPU time of whole process trees, in seconds."""
    processes = _processes()
    return sum(processes[pid].ticks for pid in descendants(processes, roots)) / TICKS


def memory_mib(roots: Iterable[int]) -> float:
    trees = descendants(_processes(), roots)
    return sum(parse_resident(_text(PROC / str(pid) / "status")) for pid in trees) / 1024


def pin(root: int, allowed: Iterable[int]) -> None:
    """Pin a process tree to CPU cores; processes that it starts later inherit this."""
    on = set(allowed)
    for pid in descendants(_processes(), [root]):
        for thread in (PROC / str(pid) / "task").iterdir():
            os.sched_setaffinity(int(thread.name), on)


def describe() -> dict[str, str]:
    """Describe the machine and the versions of the software."""
    model = re.search(r"^model name\s*:\s*(.+)$", _text(PROC / "cpuinfo"), re.MULTILINE)
    return {
        "cpu": model[1] if model else platform.machine(),
        "cores": str(os.cpu_count()),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
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


def _processes() -> dict[int, Process]:
    texts = {int(each.name): _text(each / "stat") for each in PROC.iterdir() if each.name.isdigit()}
    return {pid: parse_stat(text) for pid, text in texts.items() if text}


def _text(path: Path) -> str:
    """Read a file of /proc; empty if the process has just ended."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
