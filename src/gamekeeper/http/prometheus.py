"""Metrics in the text format of Prometheus: counts of all workers, and values from the database."""

import asyncio
import os
import time
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, TypeVar

from gamekeeper import __version__, log
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.list_definitions import ONLINE
from gamekeeper.game.signal_rules import RULES
from gamekeeper.http.admission import Admission
from gamekeeper.http.caller import Callers
from gamekeeper.http.request_rates import RequestRates
from gamekeeper.http.shared_query import SharedQuery
from gamekeeper.http.workers import Sample, WorkerSamples
from gamekeeper.store import deliveries, ledger, mails, replication, signals
from gamekeeper.store.engine import DatabaseUnavailable, UnusableDatabase
from gamekeeper.store.signals import SignalCount

T = TypeVar("T")
# Bounds of the request duration buckets in microseconds, up to ten times the threshold of the slow-request alert.
BOUNDS_US = (250, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000)
NO_ROUTE = "none"
PROC = Path("/proc/self")
PROCESS_START = time.time()
DAY_MS = 24 * 60 * 60 * 1000
Labels = Mapping[str, str]


class MetricFamily(NamedTuple):
    kind: str
    help: str


COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"
FAMILIES: Mapping[str, MetricFamily] = {
    "gamekeeper_requests_total": MetricFamily(COUNTER, "Requests answered, by route and status."),
    "gamekeeper_request_seconds": MetricFamily(
        HISTOGRAM, "Time from a request's head to the end of its answer, by route."
    ),
    "gamekeeper_requests_in_flight": MetricFamily(GAUGE, "Requests in flight."),
    "gamekeeper_writer_queue": MetricFamily(GAUGE, "Changes waiting for SQLite's one writer."),
    "gamekeeper_writer_batch": MetricFamily(HISTOGRAM, "Changes that one SQLite transaction committed together."),
    "gamekeeper_pool": MetricFamily(GAUGE, "PostgreSQL connections free and busy, and requests waiting for one."),
    "gamekeeper_token_cache": MetricFamily(GAUGE, "Tokens in the cache."),
    "gamekeeper_hash_queue": MetricFamily(GAUGE, "Passwords being hashed or waiting for it."),
    "gamekeeper_log_dropped_total": MetricFamily(COUNTER, "Log lines that could not be written."),
    "gamekeeper_process_resident_bytes": MetricFamily(GAUGE, "Memory of the process."),
    "gamekeeper_process_open_files": MetricFamily(GAUGE, "Open files and sockets of the process."),
    "gamekeeper_process_start_seconds": MetricFamily(GAUGE, "When the process started, in seconds since 1970."),
    "gamekeeper_info": MetricFamily(GAUGE, "Always 1; the version and the engine are its labels."),
    "gamekeeper_database_up": MetricFamily(GAUGE, "1 when the database answered this scrape, else 0."),
    "gamekeeper_database_writable": MetricFamily(
        GAUGE, "1 when the database accepted a write for this scrape, else 0."
    ),
    "gamekeeper_synchronous_standbys": MetricFamily(GAUGE, "Synchronous standbys: connected, and expected."),
    "gamekeeper_outbox": MetricFamily(GAUGE, "Mails waiting to be sent, and failed permanently in the last day."),
    "gamekeeper_deliveries": MetricFamily(GAUGE, "Commands that no game server has acknowledged in time."),
    "gamekeeper_signals_open": MetricFamily(GAUGE, "Signals that nobody has acknowledged, by rule."),
    "gamekeeper_signals_raised_total": MetricFamily(COUNTER, "Signals raised, by rule."),
    "gamekeeper_players_online": MetricFamily(GAUGE, "Players online."),
    "gamekeeper_ledger_position": MetricFamily(GAUGE, "Number of the newest change in the audit log."),
}


class Metrics:
    def __init__(self, keeper: Keeper, callers: Callers, admission: Admission, readiness: SharedQuery[None]) -> None:
        self._keeper, self._callers, self._admission, self._readiness = keeper, callers, admission, readiness
        self.request_rates = RequestRates()
        self._workers = WorkerSamples(keeper.settings.workers)
        self._database = SharedQuery(self._query_database, 0)
        # (method, path, status) → number of requests per duration bucket, then the sum of their microseconds
        self._series: dict[tuple[str, str, int], list[int]] = {}

    def count_request(self, method: str, path: str, status: int, started_ns: int) -> None:
        """Count a request for the metrics. Without a route the method is dropped: clients can send any method."""
        microseconds = (time.perf_counter_ns() - started_ns) // 1000
        key = (method if path else "", path, status)
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = [0] * (len(BOUNDS_US) + 2)
        series[bisect_left(BOUNDS_US, microseconds)] += 1
        series[-1] += microseconds

    async def publish(self) -> None:
        """Publish this worker's metrics for the other workers: each worker can answer a scrape for all."""
        self._workers.claim_number()
        self._workers.publish(list(self._list_own_samples()))

    async def render(self) -> str:
        await self.publish()
        lines = [*self._workers.read_all(), *await self._list_shared_samples()]
        samples: dict[str, list[str]] = {}
        for family, line in lines:
            samples.setdefault(family, []).append(line)
        text = [
            f"# HELP {name} {family.help}\n# TYPE {name} {family.kind}\n" + "".join(samples[name])
            for name, family in FAMILIES.items()
            if name in samples
        ]
        return "".join(text)

    def _list_own_samples(self) -> Iterable[Sample]:
        """List the metrics of this process. The label `worker` keeps counters monotonic."""
        worker = {"worker": str(self._workers.number)}
        yield from self._list_request_samples(worker)
        figures = self._keeper.store.collect_stats()
        gauges = {
            "gamekeeper_requests_in_flight": self._admission.in_flight,
            "gamekeeper_writer_queue": figures.writer_queue,
            "gamekeeper_token_cache": self._callers.cached_tokens,
            "gamekeeper_hash_queue": self._keeper.passwords.queue_length,
            "gamekeeper_log_dropped_total": log.count_dropped(),
            "gamekeeper_process_start_seconds": round(PROCESS_START),
            **_read_process_figures(),
        }
        yield from (_format_sample(name, worker, value) for name, value in gauges.items() if value is not None)
        for state, number in figures.pool.items():
            yield _format_sample("gamekeeper_pool", {"state": state, **worker}, number)
        if figures.batches:
            bounds = [str(2**power) for power in range(len(figures.batches))]
            yield from _format_histogram("gamekeeper_writer_batch", worker, bounds, figures.batches, figures.batched)

    def _list_request_samples(self, worker: Labels) -> Iterable[Sample]:
        by_route: dict[str, list[int]] = {}
        for (method, path, status), series in self._series.items():
            route = f"{method} {path}" if path else NO_ROUTE
            labels = {"route": route, "status": str(status), **worker}
            yield _format_sample("gamekeeper_requests_total", labels, sum(series[:-1]))
            sums = by_route.get(route, [0] * len(series))
            by_route[route] = [one + other for one, other in zip(sums, series, strict=True)]
        bounds = [f"{bound / 1e6:g}" for bound in BOUNDS_US]
        for route, (*counts, microseconds) in by_route.items():
            labels = {"route": route, **worker}
            yield from _format_histogram("gamekeeper_request_seconds", labels, bounds, counts, microseconds / 1e6)

    async def _list_shared_samples(self) -> list[Sample]:
        """List the metrics that all processes share. Without a database most are missing, and database_up is 0."""
        read, written = await asyncio.gather(_get_if_available(self._database), _get_if_available(self._readiness))
        return [
            _format_sample("gamekeeper_info", {"version": __version__, "engine": self._keeper.store.engine}, 1),
            *(figure for figures in read for figure in figures),
            _format_sample("gamekeeper_database_up", {}, len(read)),
            _format_sample("gamekeeper_database_writable", {}, len(written)),
        ]

    async def _query_database(self) -> list[Sample]:
        store = self._keeper.store
        waiting, failed = await mails.count_open(store, DAY_MS)
        warning_ms = self._keeper.settings.delivery_warning_seconds * 1000
        overdue = len(await deliveries.read_overdue(store, warning_ms, deliveries.MAX_EXAMINED))
        counts = {each.rule: each for each in await signals.read_counts(store)}
        standbys = {
            "present": await replication.count_synchronous_standbys(store),
            "expected": self._keeper.settings.synchronous_standbys,
        }
        return [
            *(
                _format_sample("gamekeeper_synchronous_standbys", {"state": each}, count)
                for each, count in standbys.items()
            ),
            _format_sample("gamekeeper_outbox", {"state": "waiting"}, waiting),
            _format_sample("gamekeeper_outbox", {"state": "failed"}, failed),
            _format_sample("gamekeeper_deliveries", {"state": "overdue"}, overdue),
            *(sample for rule in RULES for sample in _format_signals(rule, counts.get(rule))),
            _format_sample("gamekeeper_players_online", {}, await self._keeper.lists.count(ONLINE)),
            _format_sample("gamekeeper_ledger_position", {}, await ledger.read_last(store)),
        ]


async def _get_if_available(question: SharedQuery[T]) -> list[T]:
    """Return a list with the result of a database query; an empty list while the database is not available."""
    try:
        return [await question.get()]
    except (DatabaseUnavailable, UnusableDatabase):
        return []


def _format_signals(rule: str, count: SignalCount | None) -> Sequence[Sample]:
    """Format the numbers of signals of a rule, zeros included: an increase from nothing would not be noticed."""
    labels = {"rule": rule}
    return (
        _format_sample("gamekeeper_signals_open", labels, count.opened if count else 0),
        _format_sample("gamekeeper_signals_raised_total", labels, count.raised if count else 0),
    )


def _format_sample(family: str, labels: Labels, value: float, suffix: str = "") -> Sample:
    pairs = ",".join(f'{name}="{text}"' for name, text in labels.items())
    return family, f"{family}{suffix}{{{pairs}}} {value}\n" if pairs else f"{family}{suffix} {value}\n"


def _format_histogram(
    family: str, labels: Labels, bounds: Sequence[str], counts: Sequence[int], total: float
) -> Iterable[Sample]:
    """Format a Prometheus histogram. Buckets are cumulative: each counts all values up to its bound."""
    sums = list(accumulate(counts))
    for bound, number in zip([*bounds, "+Inf"], [*sums, sums[-1]], strict=False):
        yield _format_sample(family, {**labels, "le": bound}, number, "_bucket")
    yield _format_sample(family, labels, total, "_sum")
    yield _format_sample(family, labels, sums[-1], "_count")


def read_resident_bytes() -> int:
    """Read the process's memory from /proc; 0 on systems without /proc."""
    if not PROC.exists():
        return 0
    pages = int((PROC / "statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _read_process_figures() -> dict[str, int]:
    """Read the process's memory and open files from /proc; empty on systems without /proc."""
    if not PROC.exists():
        return {}
    files = sum(1 for _ in (PROC / "fd").iterdir())
    return {
        "gamekeeper_process_resident_bytes": read_resident_bytes(),
        "gamekeeper_process_open_files": files,
    }
