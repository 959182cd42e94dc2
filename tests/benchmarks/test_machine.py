import os
import subprocess
import sys

from benchmarks import machine
from benchmarks.machine import Process

STAT = (
    "4711 (a (b) c) S 42 4711 4711 0 -1 4194560 900 0 0 0 150 50 30 20 20 0 5 0 12345 1000000 2500 18446744073709551615"
)
STATUS = "Name:\tpython\nVmPeak:\t  90000 kB\nVmRSS:\t   20480 kB\nThreads:\t5\n"


def test_a_process_in_proc_has_its_parent_and_its_time() -> None:
    assert machine.parse_stat(STAT) == Process(42, 150 + 50 + 30 + 20)


def test_what_is_in_memory_is_read() -> None:
    assert machine.parse_resident(STATUS) == 20_480
    assert machine.parse_resident("Name:\tgone\n") == 0


def test_a_tree_has_all_generations_and_nobody_else() -> None:
    processes = {1: Process(0, 0), 10: Process(1, 0), 11: Process(10, 0), 12: Process(11, 0), 20: Process(1, 0)}
    assert machine.descendants(processes, [10]) == {10, 11, 12}
    assert machine.descendants(processes, [11, 20]) == {11, 12, 20}
    assert machine.descendants(processes, [99]) == set()


def test_the_time_of_children_counts_while_they_run_and_when_they_are_over() -> None:
    """A process that does nothing itself but start another, which works, ends, and is waited for."""
    work = "import time\nwhile time.process_time() < 0.3: pass"
    parent = (
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}]); print('over', flush=True); input()"
    )
    with subprocess.Popen([sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"over\n"
        assert machine.cpu_seconds([process.pid]) >= 0.3
        assert machine.memory_mib([process.pid]) > 1
        process.communicate(b"\n")


def test_a_pinned_process_and_what_it_starts_stay_on_their_core() -> None:
    core = min(os.sched_getaffinity(0))
    show = "import os; print(sorted(os.sched_getaffinity(0)), flush=True)"
    parent = f"import subprocess, sys; input(); subprocess.run([sys.executable, '-c', {show!r}])"
    with subprocess.Popen([sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        machine.pin(process.pid, [core])
        said, _ = process.communicate(b"\n")
    assert said.decode().strip() == f"[{core}]"
