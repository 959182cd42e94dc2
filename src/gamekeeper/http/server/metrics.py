"""Metrics in the text format of Prometheus: counts of all workers, and values from the database.

The workers of one service share their metrics: each writes its samples to a file that the others read. `RequestRates`
has the uptime of this process and its requests per second.
"""

import asyncio
import atexit
import hashlib
import multiprocessing
import os
import tempfile
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, islice
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from gamekeeper import __version__
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground import log, rooms
from gamekeeper.http.server.admission import Admission, SharedQuery
from gamekeeper.http.server.caller import Callers
from gamekeeper.store.engine import database_checks
from gamekeeper.store.engine.interface import DatabaseUnavailable, UnusableDatabase

SECOND_NS = 10**9
KEPT_SECONDS = 310  # seconds for which request counts are kept: five minutes, plus two more buckets of 5 s


class RequestCounts(NamedTuple):
    requests: int
    faults: int  # number of requests answered with a 5xx, except 501
    refused: int = 0  # number of requests answered with a 4xx, except those to the public side


NO_REQUESTS = RequestCounts(0, 0)


class RequestRates:
    """Counts requests per second, for the last KEPT_SECONDS and the current second."""

    __slots__ = ("_counted", "_ends", "_faults", "_past", "_refused", "_second", "_started", "_unsaved")

    def __init__(self) -> None:
        # start time of the process, by a clock that changes of the system clock do not affect
        self._started = time.monotonic_ns()
        self._second: int = 0
        self._ends = self._started + SECOND_NS  # time.monotonic_ns at which the current second ends
        self._counted = self._faults = self._refused = 0
        self._unsaved = NO_REQUESTS  # request counts of complete seconds that are not in the database yet
        # request counts of complete seconds, oldest first
        self._past = deque([NO_REQUESTS] * KEPT_SECONDS, KEPT_SECONDS)

    def count(self, *, fault: bool = False, refused: bool = False) -> None:
        """Count one request. This is called for every request, so it must be cheap."""
        if time.monotonic_ns() >= self._ends:
            self._advance()
        self._counted += 1
        if fault:
            self._faults += 1
        if refused:
            self._refused += 1

    @property
    def uptime_ms(self) -> int:
        return (time.monotonic_ns() - self._started) // 10**6

    @property
    def last_second(self) -> int:
        self._advance()
        return self._past[-1].requests

    def sum_last(self, seconds: int) -> RequestCounts:
        """Return the request counts of the last `seconds` complete seconds together."""
        self._advance()
        return _add_up(list(islice(reversed(self._past), seconds)))

    def sum_buckets(self, seconds: int, count: int) -> list[RequestCounts]:
        """Return the request counts of the last `count` complete buckets of `seconds` each, oldest first."""
        self._advance()
        past = list(self._past)
        end = len(past) - self._second % seconds
        return [_add_up(past[end - seconds * back : end - seconds * (back - 1)]) for back in range(count, 0, -1)]

    def take_unsaved(self) -> RequestCounts:
        """Return the request counts of complete seconds since the last call, for the rollups in the database."""
        self._advance()
        taken, self._unsaved = self._unsaved, NO_REQUESTS
        return taken

    def put_back(self, counts: RequestCounts) -> None:
        """Add counts that could not be stored to those that the next `take_unsaved` returns."""
        self._unsaved = _add_up([self._unsaved, counts])

    def _advance(self) -> None:
        second = (time.monotonic_ns() - self._started) // SECOND_NS
        if second != self._second:
            self._past.append(RequestCounts(self._counted, self._faults, self._refused))
            self._unsaved = _add_up([self._unsaved, self._past[-1]])
            self._past.extend([NO_REQUESTS] * min(second - self._second - 1, KEPT_SECONDS))
            self._second, self._counted, self._faults, self._refused = second, 0, 0, 0
            self._ends = self._started + (second + 1) * SECOND_NS


def _add_up(served: list[RequestCounts]) -> RequestCounts:
    requests, faults, refused = (sum(column) for column in zip(*served, strict=True)) if served else NO_REQUESTS
    return RequestCounts(requests, faults, refused)


PUBLISH_SECONDS = 1.0
Sample = tuple[str, str]  # a metric's value: name of the metric family, text line
_encode, _decode = msgspec.json.encode, msgspec.json.Decoder(list[Sample]).decode


class WorkerSamples:
    """Metrics of all workers. A single worker uses no files. A restarted worker reuses the number of the dead one."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.number = 1
        self._own: Sequence[Sample] = ()
        self._folder: Path | None = None

    def claim_number(self) -> None:
        """Claim a worker number; call it before the first metrics, which contain the number."""
        if self._count > 1 and self._folder is None:
            self._folder = _make_folder()
            self.number = _claim_number(self._folder)
            atexit.register(self._remove_files, self._folder)

    def publish(self, figures: Sequence[Sample]) -> None:
        """Write this worker's metrics. If the shared folder was deleted, the other workers just do not see them."""
        self._own = figures
        if self._folder is not None:
            draft = self._folder / f"{self.number}.draft"
            with suppress(OSError):
                draft.write_bytes(_encode(figures))
                draft.replace(self._folder / f"{self.number}.figures")

    def read_all(self) -> Sequence[Sample]:
        """Return the metrics of all workers: ours are current, those of the others up to a second old."""
        if self._folder is None:
            return self._own
        others = [file for file in sorted(self._folder.glob("*.figures")) if file.stem != str(self.number)]
        return [*self._own, *(figure for file in others for figure in _read_file(file))]

    def _remove_files(self, folder: Path) -> None:
        for file in folder.glob(f"{self.number}.*"):
            file.unlink()
        with suppress(OSError):  # rmdir fails while the shared folder has files of other workers
            folder.rmdir()


def _read_file(file: Path) -> Sequence[Sample]:
    """Read the metrics of another worker; empty if it has just stopped."""
    try:
        return _decode(file.read_bytes())
    except FileNotFoundError:
        return []


def _make_folder() -> Path:
    """Make the workers' shared folder. Its name comes from a secret of the parent process: others cannot guess it."""
    name = hashlib.sha256(multiprocessing.current_process().authkey).hexdigest()[:32]
    folder = Path(tempfile.gettempdir(), f"gamekeeper-{name}")
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _claim_number(folder: Path) -> int:
    """Claim the lowest free worker number by a file lock, which ends with the process."""
    import fcntl  # noqa: PLC0415 - missing on Windows, which has only one worker

    number = 0
    while True:
        number += 1
        file = os.open(folder / f"{number}.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
        else:
            return number


T = TypeVar("T")
# Bounds of the request duration buckets in microseconds, up to ten times the threshold of the slow-request alert.
BOUNDS_US = (250, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000)
NO_ROUTE = "none"
PROC = Path("/proc/self")
PROCESS_START = time.time()
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
}


class RoomMetrics(NamedTuple):
    """Metrics with values from the database. A room registers them in the tuple `METRICS` of a module."""

    families: Mapping[str, MetricFamily]
    read: Callable[[Keeper], Awaitable[Iterable[Sample]]]


def list_room_metrics() -> list[RoomMetrics]:
    return rooms.collect("http", "METRICS")


class Metrics:
    def __init__(self, keeper: Keeper, callers: Callers, admission: Admission, readiness: SharedQuery[None]) -> None:
        self._keeper, self._callers, self._admission, self._readiness = keeper, callers, admission, readiness
        self._rooms = list_room_metrics()
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
            for each in (FAMILIES, *(room.families for room in self._rooms))
            for name, family in each.items()
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
        yield from (format_sample(name, worker, value) for name, value in gauges.items() if value is not None)
        for state, number in figures.pool.items():
            yield format_sample("gamekeeper_pool", {"state": state, **worker}, number)
        if figures.batches:
            bounds = [str(2**power) for power in range(len(figures.batches))]
            yield from _format_histogram("gamekeeper_writer_batch", worker, bounds, figures.batches, figures.batched)

    def _list_request_samples(self, worker: Labels) -> Iterable[Sample]:
        by_route: dict[str, list[int]] = {}
        for (method, path, status), series in self._series.items():
            route = f"{method} {path}" if path else NO_ROUTE
            labels = {"route": route, "status": str(status), **worker}
            yield format_sample("gamekeeper_requests_total", labels, sum(series[:-1]))
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
            format_sample("gamekeeper_info", {"version": __version__, "engine": self._keeper.store.engine}, 1),
            *(figure for figures in read for figure in figures),
            format_sample("gamekeeper_database_up", {}, len(read)),
            format_sample("gamekeeper_database_writable", {}, len(written)),
        ]

    async def _query_database(self) -> list[Sample]:
        store = self._keeper.store
        standbys = {
            "present": await database_checks.count_synchronous_standbys(store),
            "expected": self._keeper.settings.synchronous_standbys,
        }
        samples = [
            format_sample("gamekeeper_synchronous_standbys", {"state": each}, count) for each, count in standbys.items()
        ]
        for room in self._rooms:
            samples += await room.read(self._keeper)
        return samples


async def _get_if_available(question: SharedQuery[T]) -> list[T]:
    """Return a list with the result of a database query; an empty list while the database is not available."""
    try:
        return [await question.get()]
    except (DatabaseUnavailable, UnusableDatabase):
        return []


def format_sample(family: str, labels: Labels, value: float, suffix: str = "") -> Sample:
    pairs = ",".join(f'{name}="{text}"' for name, text in labels.items())
    return family, f"{family}{suffix}{{{pairs}}} {value}\n" if pairs else f"{family}{suffix} {value}\n"


def _format_histogram(
    family: str, labels: Labels, bounds: Sequence[str], counts: Sequence[int], total: float
) -> Iterable[Sample]:
    """Format a Prometheus histogram. Buckets are cumulative: each counts all values up to its bound."""
    sums = list(accumulate(counts))
    for bound, number in zip([*bounds, "+Inf"], [*sums, sums[-1]], strict=False):
        yield format_sample(family, {**labels, "le": bound}, number, "_bucket")
    yield format_sample(family, labels, total, "_sum")
    yield format_sample(family, labels, sums[-1], "_count")


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
