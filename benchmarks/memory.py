"""Measure the memory of a worker process after look-ups, lists and writes in a big world, with all of it counted."""

import re
import time
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

from benchmarks import counted, holders, load, machine, servers, writes
from benchmarks.load import Load
from benchmarks.machine import PROC
from benchmarks.pages import LAST, LISTS, RANDOM, BenchPage
from benchmarks.results import Results, Verdict
from benchmarks.rounds import Bench
from benchmarks.worlds import ENGINES, BenchWorld

LARGEST_PAGE = 100
COUNT_SECONDS = 5  # seconds after the writes, in which some of them are counted
FIGURE = "VmRSS"
SHOWN = (FIGURE, "RssAnon", "RssFile", "Pss", "Private_Clean", "Private_Dirty")
ABOUT = (
    "the resident memory of the worker that answers, all of it: its own (RssAnon) and what it maps (RssFile), which is "
    "Python and its libraries. It maps no database; the pages of one that it has read are the system's, and "
    "PostgreSQL's processes are not counted. The worker has listed holders and standings, and counts holdings, a "
    "ranked list and a board."
)


def run(bench: Bench, parts: Collection[str]) -> Results:
    (part,) = parts
    found = Results(notes=[f"{part}: {ABOUT}"])
    for engine in ENGINES:
        print(f"Memory on {engine}, {bench.players:,} players", flush=True)
        world = bench.worlds.get(engine, bench.players)
        counted.count(world)
        program = replace(servers.gamekeeper(world), environment=counted.ENVIRONMENT)
        with servers.running(program) as server:
            for each in _loads(world):
                load.drive(server.port, each, bench.seconds)
            time.sleep(COUNT_SECONDS)
            held = _measure_worker(server.roots[0])
        said = ", ".join(f"{name} {held[name]:.0f}" for name in SHOWN)
        print(f"  MiB: {said}", flush=True)
        found.notes.append(f"{part}: {engine}, {bench.players:,} players, in MiB: {said}")
        what = f"a worker's memory, {engine}, {bench.players:,} players"
        found.verdicts.append(Verdict(part, what, held[FIGURE], 150, 80, at_least=False, unit=" MiB"))
    return found


def parse(text: str) -> dict[str, float]:
    """Parse sizes in MiB by name from /proc/PID/status or smaps_rollup."""
    return {name: int(kib) / 1024 for name, kib in re.findall(r"^(\w+):\s+(\d+) kB$", text, re.MULTILINE)}


def _loads(world: BenchWorld) -> Iterable[Load]:
    """Yield look-ups, lists and writes; the writes change the benchmark database, since copying it takes too long.

    Background jobs count the writes: holdings, a ranked list and a board.
    """
    yield Load(world.lookups(), world.tokens)
    for name in LISTS:
        yield Load(BenchPage(name, RANDOM, LARGEST_PAGE).requests(world), world.tokens)
    for what in holders.PATHS:
        yield Load(holders.write_requests(what, LAST, LARGEST_PAGE, world), world.tokens)
    yield Load(writes.exp_changes(world), world.tokens)
    yield Load(world.requests("gives", lambda dice: [*writes.give_lines(world.players, dice)]), world.tokens)


def _measure_worker(parent: int) -> dict[str, float]:
    """Measure the server's largest child, the worker; the other child is the resource tracker."""
    return max(map(_measure_process, _children(parent)), key=lambda each: each[FIGURE])


def _children(parent: int) -> list[Path]:
    found = (PROC / str(parent) / "task" / str(parent) / "children").read_text(encoding="utf-8").split()
    if not found:
        raise machine.Stop("The server has no worker.")
    return [PROC / each for each in found]


def _measure_process(process: Path) -> dict[str, float]:
    return parse("".join((process / name).read_text(encoding="utf-8") for name in ("status", "smaps_rollup")))
