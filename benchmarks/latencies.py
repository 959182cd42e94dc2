"""Measure the latency of requests sent one after another over one connection."""

import http.client
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks import machine
from benchmarks.results import Sample
from benchmarks.servers import Server

SECONDS = 1  # seconds: length of one measurement; a request that takes longer is sent once
TIMEOUT_SECONDS = 300  # seconds: the last page of a peer that counts all players takes minutes with millions of them
SLOW_MS = 5000  # a request that takes longer is measured in the first round only


@dataclass(frozen=True)
class TimedRequests:
    scenario: str
    candidate: str
    server: Server
    paths: Sequence[str]  # paths that are requested in turn; their times are added
    headers: Mapping[str, str]
    players: int


def measure_rounds(rounds: Iterable[Sequence[TimedRequests]]) -> list[Sample]:
    """Measure all requests in each round, but slow ones only in the first."""
    found: list[Sample] = []
    slow: set[tuple[str, str]] = set()
    for number, asked in enumerate(rounds):
        for each in asked:
            if (each.scenario, each.candidate) in slow:
                continue
            sample = measure(each, number)
            found.append(sample)
            if sample.p50_ms > SLOW_MS:
                slow.add((each.scenario, each.candidate))
    return found


def measure(asked: TimedRequests, number: int) -> Sample:
    before = machine.cpu_seconds(asked.server.roots)
    took = _ask(asked)
    used = machine.cpu_seconds(asked.server.roots) - before
    p50, p99 = median(took), percentile(took, 99)
    print(f"  round {number + 1}  {asked.scenario:13} {asked.candidate:17} p50 {p50:10.2f} ms", flush=True)
    per_second = 1000 * len(took) / sum(took)
    return Sample(asked.scenario, asked.candidate, number, used * 1e6 / len(took), per_second, p50, p99, asked.players)


def _ask(asked: TimedRequests) -> list[float]:
    """Request all paths repeatedly, and return the total milliseconds of each pass over them."""
    connection = http.client.HTTPConnection("127.0.0.1", asked.server.port, timeout=TIMEOUT_SECONDS)
    took: list[float] = []
    try:
        while sum(took) < SECONDS * 1000:
            began = time.perf_counter()
            for path in asked.paths:
                connection.request("GET", path, headers=dict(asked.headers))
                answer = connection.getresponse()
                body = answer.read()
                if answer.status != http.client.OK:
                    raise machine.Stop(f"{asked.candidate} answered {path} with {answer.status}: {body[:200]!r}")
            took.append(1000 * (time.perf_counter() - began))
    finally:
        connection.close()
    return took


def percentile(values: Sequence[float], percent: int) -> float:
    return sorted(values)[(len(values) - 1) * percent // 100]
