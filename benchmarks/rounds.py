"""Interleaved measurement: each candidate once per round, in alternating order, each from an idle start."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from benchmarks import load, machine
from benchmarks.load import Load, Outcome
from benchmarks.results import Sample
from benchmarks.servers import Server
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
    beside: Load | None = None  # background load on the same server, whose answers are not counted


def measure_interleaved(bench: Bench, scenario: str, players: int, candidates: Sequence[Candidate]) -> list[Sample]:
    roots = {root for each in candidates for root in each.server.roots}
    samples: list[Sample] = []
    for number in range(bench.rounds):
        for candidate in order(candidates, number):
            quiet(roots)
            load.drive(candidate.server.port, candidate.load, WARM_UP_SECONDS)
            quiet(roots)
            sample = _measure(bench, scenario, players, number, candidate)
            print(f"  round {number + 1}  {sample.candidate:34} {_figures(sample)}", flush=True)
            samples.append(sample)
    return samples


def order(candidates: Sequence[T], number: int) -> Sequence[T]:
    """Reverse the order of the candidates in every other round, so that none is always last."""
    return candidates[:: -1 if number % 2 else 1]


def of(samples: Sequence[Sample], candidate: str, figure: str) -> dict[int, float]:
    """Return a candidate's measured figure by round."""
    return {each.round: getattr(each, figure) for each in samples if each.candidate == candidate}


def _measure(bench: Bench, scenario: str, players: int, number: int, candidate: Candidate) -> Sample:
    server = candidate.server
    beside = candidate.beside and load.start(server.port, candidate.beside, bench.seconds + 2 * BESIDE_SECONDS)
    if beside:
        time.sleep(BESIDE_SECONDS)
    before = machine.cpu_seconds(server.roots)
    found = load.drive(server.port, candidate.load, bench.seconds)
    used = machine.cpu_seconds(server.roots) - before
    if beside and candidate.beside:
        _say_beside(load.outcome(beside, candidate.beside))
    cpu_us = used * 1e6 / found.requests
    return Sample(scenario, candidate.name, number, cpu_us, found.per_second, found.p50_ms, found.p99_ms, players)


def _say_beside(found: Outcome) -> None:
    print(f"           beside it {found.per_second:.1f} /s, p50 {found.p50_ms:.0f} ms", flush=True)


def quiet(roots: Iterable[int]) -> None:
    """Wait until the previously measured servers are idle."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        before = machine.cpu_seconds(roots)
        time.sleep(QUIET_SECONDS)
        if machine.cpu_seconds(roots) - before <= QUIET_SHARE * QUIET_SECONDS:
            return
    raise machine.Stop("A server is busy with nothing to do; nothing can be measured beside it.")


def _figures(sample: Sample) -> str:
    rate, latency = f"{sample.per_second:9,.0f} /s", f"p50 {sample.p50_ms:.2f} ms, p99 {sample.p99_ms:.2f} ms"
    return f"{sample.cpu_us:9.1f} µs {rate}  {latency}"
