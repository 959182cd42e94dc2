"""Test f: ten times the load that one instance can carry, directly and behind HAProxy.

The load is password checks: each takes about 40 ms of a core, and a rejection 0.06 ms. Gives would not work: one takes
0.25 ms on SQLite, and rejecting ten times their peak, 40,000 a second, is more than one process can do.
"""

import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from threading import Event

import httpx

from battery import realm, storm
from battery.cases import NO_HAPROXY, SQLITE, Case, Figure, NotRun, Run, Timed, beside
from battery.storm import BUSY, CHECKED, StormAnswer
from run_cluster import Proxy, haproxy
from server import Server

NO_QUEUE_CAP = "no-queue-cap"
PEAK_SECONDS, STORM_SECONDS, WINDOW_SECONDS, BACK_SECONDS = 3, 4, 2, 5
CLIENTS, TIMES = 8, 10
MANY = 10**6
UNGUARDED = {"guesses_per_address": MANY}  # no limit on password guesses: only overload may reject in this test
LOOK_SECONDS, LIVE_SECONDS, REFUSED_SECONDS = 0.1, 1.0, 0.25
GOODPUT, BACK = 0.5, 0.9  # least password checks per second, as shares of the peak rate: during overload, and after it
WRONG_PEAK = 1.15  # a rate during or after overload above this multiple of the peak: the peak was measured too low
PROXY_PLACES = 8  # connections that HAProxy opens per backend; here both backends are the same instance


@dataclass(frozen=True)
class OverloadResult:
    """Answers during ten times the peak load, and during normal load after it."""

    peak: float
    answers: list[StormAnswer]
    after: list[StormAnswer]
    seconds: float
    slowest_live: float

    @property
    def goodput(self) -> float:
        ends = self.answers[0].sent + self.seconds
        checked = sum(each.status == CHECKED and each.came <= ends for each in self.answers)
        return checked / self.seconds / self.peak

    @property
    def back(self) -> float:
        return _best(self.after) / self.peak


def run(run: Run) -> list[Figure]:
    if not haproxy():
        raise NotRun(NO_HAPROXY)
    realm.prepare(run.database, 1)
    more = {"hash_queue": MANY} if run.fault else {}
    with Server(run.database, **UNGUARDED, **more) as server:
        peak = _peak(server.url, run.seed)
        found = figures("direct", _weather(run, server.url, peak))
        # the long form tests HAProxy on both engines, the short form only on SQLite: HAProxy behaves the same
        fronted = run.engine == SQLITE or run.seconds
        if not run.fault and fronted and all(each.met or isinstance(each, Timed) for each in found):
            with Proxy(run.folder, [server.port] * 2, places=PROXY_PLACES) as proxy:
                found += figures("behind HAProxy", _weather(run, proxy.url, peak))
    return found


def _peak(url: str, seed: int) -> float:
    """Measure the peak rate like the recovery, so that both leave out the same share of unfinished requests."""
    return _best(storm.ask(url, seed, PEAK_SECONDS, "clients", CLIENTS))


def _weather(run: Run, url: str, peak: float) -> OverloadResult:
    seconds = run.seconds or STORM_SECONDS
    looks: list[float] = []
    with beside(partial(_watch_liveness, url, looks)):
        answers = storm.ask(url, run.seed + 1, seconds, "rate", max(1, round(TIMES * peak)))
        over = max(each.sent for each in answers)
        after = storm.ask(url, run.seed + 2, max(1.0, over + BACK_SECONDS - time.monotonic()), "clients", CLIENTS)
    found = OverloadResult(peak, answers, after, seconds, max(looks))
    if not run.fault and (found.goodput < GOODPUT or found.back < BACK):
        found = replace(found, peak=min(peak, _fresh_peak(run)))
    return found


def _fresh_peak(run: Run) -> float:
    """Measure the peak rate of a new server: if that is lower too, the machine has become slow."""
    with Server(run.database, **UNGUARDED) as server:
        return _peak(server.url, run.seed + 3)


def _watch_liveness(url: str, looks: list[float], over: Event) -> None:
    """Measure the latency of /health/live repeatedly; a timeout counts with its length."""
    with httpx.Client(base_url=url, timeout=2 * LIVE_SECONDS) as client:
        while not over.wait(LOOK_SECONDS):
            began = time.monotonic()
            try:
                good = client.get("/health/live").is_success
            except httpx.TransportError:
                good = False
            looks.append(time.monotonic() - began if good else 2 * LIVE_SECONDS)


def _best(answers: Sequence[StormAnswer]) -> float:
    """Return password checks per second in the best window of WINDOW_SECONDS."""
    came = sorted(each.came for each in answers if each.status == CHECKED)
    counts = [sum(begin <= each < begin + WINDOW_SECONDS for each in came) for begin in came]
    return max(counts, default=0) / WINDOW_SECONDS


def percentile(values: Sequence[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)] if values else 0.0


def figures(way: str, found: OverloadResult) -> list[Figure]:
    checked = [each for each in found.answers if each.status == CHECKED]
    busy = [each.seconds for each in found.answers if each.status == BUSY and each.retry_after]
    # number of other answers by status; 0 is no answer
    other = Counter(each.status for each in found.answers) - Counter({CHECKED: len(checked), BUSY: len(busy)})
    slow = percentile([each.seconds for each in checked], 99)
    offered = f"{len(found.answers) / found.seconds:.0f}/s where {found.peak:.0f}/s is the peak"
    most = max(found.goodput, found.back)
    return [
        Timed.above(f"{way}: goodput at {offered}, of the peak", found.goodput, GOODPUT, "{:.0%}"),
        Timed.within(f"{way}: rejected, median time", statistics.median(busy or [inf]), REFUSED_SECONDS),
        Figure.none(f"{way}: neither answered nor rejected with Retry-After", other.total(), str(dict(other) or 0)),
        Timed.within(f"{way}: accepted, p99 time", slow, 2),
        Timed.within(f"{way}: /health/live, slowest answer", found.slowest_live, LIVE_SECONDS),
        Timed.above(f"{way}: throughput within 5 s after the overload, of the peak", found.back, BACK, "{:.0%}"),
        Timed(f"{way}: highest throughput", f"{most:.0%}", "≤ 115 %", most <= WRONG_PEAK),
    ]


FAULTS = (NO_QUEUE_CAP,)
CASES = (Case("f", "overload", run, FAULTS, fault_engines=(SQLITE,), timed_faults=FAULTS),)
