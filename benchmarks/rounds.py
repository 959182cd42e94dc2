"""Interleaved measurement: each candidate once per round, in alternating order, each from an idle start."""

import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from benchmarks import load, machine, servers
from benchmarks.load import Load
from benchmarks.results import Sample
from benchmarks.servers import Program, Server
from benchmarks.worlds import Worlds

T = TypeVar("T")
WARM_UP_SECONDS = 1
QUIET_SECONDS = 0.1
QUIET_SHARE = 0.15  # share of a CPU core that an idle server may use: its timers run, but no requests wait
PATIENCE_SECONDS = 60
BESIDE_SECONDS = 1  # seconds by which the background load begins earlier and ends later than the measurement


@dataclass(frozen=True)
class Bench:
    """Options that all benchmark scenarios share."""

    worlds: Worlds
    sizes: tuple[int, ...]  # numbers of players in the benchmark databases for look-ups
    players: int  # number of players in the big benchmark database
    rounds: int
    seconds: int  # seconds: length of one measurement
    before: Path | None = None  # folder of a checkout of another version, with its .venv


@dataclass(frozen=True)
class Candidate:
    name: str
    server: Server
    load: Load
    players: int
    beside: Load | None = None  # background load on the same server, whose answers are not counted


class Contest(ExitStack):
    """Servers of one part of the benchmark that run together and are measured in the same rounds."""

    def __init__(self, bench: Bench, part: str) -> None:
        super().__init__()
        self._bench, self._part = bench, part
        self._candidates: list[Candidate] = []

    def serve(self, program: Program, name: str = "") -> Server:
        """Start a server. `name`: of its log, where several run the same program."""
        return self.enter_context(servers.running(replace(program, name=f"{program.name} {self._part} {name}".strip())))

    def add(self, name: str, server: Server, given: Load, players: int, beside: Load | None = None) -> None:
        self._candidates.append(Candidate(name, server, given, players, beside))

    def measure(self) -> list[Sample]:
        roots = {root for each in self._candidates for root in each.server.roots}
        samples: list[Sample] = []
        for number in range(self._bench.rounds):
            for each in order(self._candidates, number):
                quiet(roots)
                load.drive(each.server.port, each.load, WARM_UP_SECONDS)
                quiet(roots)
                samples.append(self._measure(number, each))
        return samples

    def _measure(self, number: int, candidate: Candidate) -> Sample:
        server, seconds = candidate.server, self._bench.seconds
        beside = candidate.beside and load.start(server.port, candidate.beside, seconds + 2 * BESIDE_SECONDS)
        if beside:
            time.sleep(BESIDE_SECONDS)
        before = machine.cpu_seconds(server.roots)
        found = load.drive(server.port, candidate.load, seconds)
        used = machine.cpu_seconds(server.roots) - before
        if beside and candidate.beside:
            load.outcome(beside, candidate.beside)
        return make_sample(self._part, candidate.name, number, used / found.requests, found, candidate.players)


def make_sample(part: str, name: str, number: int, seconds: float, found: load.Outcome, players: int) -> Sample:
    """Make the sample of a candidate that used so many seconds of CPU time for a request, and print it."""
    sample = Sample(part, name, number, seconds * 1e6, found.per_second, found.p50_ms, found.p99_ms, players)
    latency = f"p50 {sample.p50_ms:.2f} ms, p99 {sample.p99_ms:.2f} ms"
    print(
        f"  round {number + 1}  {name:60} {sample.cpu_us:9.1f} µs {sample.per_second:9,.0f} /s  {latency}", flush=True
    )
    return sample


def order(candidates: Sequence[T], number: int) -> Sequence[T]:
    """Reverse the order of the candidates in every other round, so that none is always last."""
    return candidates[:: -1 if number % 2 else 1]


def quiet(roots: Iterable[int]) -> None:
    """Wait until the previously measured servers are idle."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        before = machine.cpu_seconds(roots)
        time.sleep(QUIET_SECONDS)
        if machine.cpu_seconds(roots) - before <= QUIET_SHARE * QUIET_SECONDS:
            return
    raise machine.Stop("A server is busy with nothing to do; nothing can be measured beside it.")
