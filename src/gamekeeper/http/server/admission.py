"""Limits on the work that a process does at once.

Admission control limits the number of concurrent requests and rejects more with 503. Long reads go through a gate: they
run in pieces and leave most of the event loop to the other requests; large bodies are decoded in one thread, with
pauses, as long reads of their account. Concurrent callers of a `SharedQuery` share one database query, which has a
timeout.
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Generic, TypeVar

from gamekeeper.game.audit.history import Pause
from gamekeeper.game.core.refusals import Overloaded, TooManyLongReads
from gamekeeper.game.world import loads
from gamekeeper.store.engine.interface import DatabaseUnavailable

T = TypeVar("T")
# paths that are never rejected for overload: monitoring must work then too
UNLIMITED_PATHS = frozenset({b"/health/live", b"/health/ready", b"/metrics"})


class Admission:
    """The slots for concurrent requests of a process. All calls are on one event loop, so a counter is enough.

    `Dispatcher.handle` changes the counters directly, which saves two function calls per request.
    """

    __slots__ = ("in_flight", "most", "total")

    def __init__(self, most: int) -> None:
        self.most = most
        self.in_flight = 0
        self.total = 0  # requests since the start of the process

    async def release_while(self, waiting: Awaitable[T]) -> T:
        """Release the request's slot while waiting for the client or for an event, then take it again."""
        self.in_flight -= 1
        try:
            return await waiting
        finally:
            self.in_flight += 1

    def require_slot(self) -> None:
        """Reject a request if others filled all slots while it waited for its body. It had no effect yet."""
        if self.in_flight > self.most:
            raise Overloaded


W = TypeVar("W")
# share of a process's time for all long reads under load: other requests keep at least 80 % of their throughput
LONG_READ_SHARE = 0.1
FREE_SECONDS = 0.01  # seconds of computing after which a read counts as long
# seconds of debt (computing time of short reads / LONG_READ_SHARE) above which an account's next read must wait
CREDIT_SECONDS = 1.0
ACTIVE_SECONDS = 0.1  # seconds for which other clients count as active after their last request
# Longest pause between two pieces of a long read. On PostgreSQL its snapshot stays open, and a connection that is idle
# for postgres_pool.SLOW_SECONDS (1 s) is closed as dead.
PAUSE_SECONDS = 0.5
MAX_LONG_READS = 3  # concurrent reads that are certainly long, such as an export, over all accounts
# concurrent long reads of an account; at most one of them is certainly long, so a search can run beside an export
MAX_READS_PER_ACCOUNT = 2
POLL_SECONDS = 0.05  # seconds between two checks whether a waiting read may continue
MAX_WAITING_PER_ACCOUNT, MAX_WAITING = 8, 32  # largest number of waiting long reads: per account, and in total
RETRY_SECONDS = 5  # Retry-After in seconds of the 429 for an account with too many waiting long reads
MAX_ACCOUNTS = 1000  # accounts whose long reads are remembered; beyond that, accounts without debt are dropped


class Gate:
    """Limits the long reads of one process. All methods except `pause_thread` must be called on its event loop.

    Computing time is charged to accounts and not to tokens, because some clients log in before every call.
    """

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._entered = 0  # number of reads that have used this gate
        # number of requests that have not used this gate, and when (time.monotonic) a new one was last noticed
        self._others_seen, self._others_at = 0, 0.0
        self._next_piece_at = 0.0  # earliest start (time.monotonic) of the next piece of any long read
        self._paid_until: dict[str, float] = {}  # account → time at which its debt of computing time is paid off
        self._last_seen: dict[str, float] = {}  # account → time of its last read through this gate
        self._long: Counter[str] = Counter()  # account → number of running long reads
        self._waiting: Counter[str] = Counter()

    async def run(self, account: str, work: Callable[[Pause], Coroutine[Any, Any, W]], *, long: bool = False) -> W:
        """Run a long read, which calls its argument to pause between pieces. `long`: it is certainly long."""
        self._entered += 1
        self._last_seen[account] = time.monotonic()
        self._drop_idle_accounts()
        await self._wait_for_turn(account, long=long)
        turn = _RunningRead(self, account)
        if long:
            turn.become_long()
        try:
            return await _MeasuredAwaitable(work(turn.rest), turn)
        finally:
            turn.end()

    def charge(self, account: str, seconds: float, *, long: bool) -> None:
        """Charge computing time: of a long read by delaying all long reads, of a short one as debt of its account."""
        now = time.monotonic()
        if not long:
            self._paid_until[account] = max(now, self._paid_until.get(account, 0.0)) + seconds / LONG_READ_SHARE
        else:
            self._next_piece_at = min(
                max(now, self._next_piece_at) + seconds / LONG_READ_SHARE - seconds, now + PAUSE_SECONDS
            )

    async def wait_for_next(self, account: str) -> None:
        """Wait until the next piece of a long read may start. Yields to the event loop at least once."""
        await asyncio.sleep(0)
        # time at which this read's pause ends at the latest, even if pieces of other long reads are served first
        latest = time.monotonic() + PAUSE_SECONDS
        while (delay := min(self._find_delay(account), latest - time.monotonic())) > 0:  # noqa: ASYNC110 - the delay depends on time, not on an event
            await asyncio.sleep(min(delay, POLL_SECONDS))

    def pause_thread(self, account: str, spent: float) -> None:
        """Charge and pause a long read in a thread. `spent`: seconds of computing since its last pause."""
        self.charge(account, spent, long=True)
        while (delay := self._find_delay(account)) > 0:
            time.sleep(min(delay, POLL_SECONDS))

    def begin_long(self, account: str) -> None:
        self._long[account] += 1

    def end_long(self, account: str) -> None:
        self._long[account] -= 1
        self._long += Counter[str]()  # adding an empty Counter removes accounts with a zero count

    async def _wait_for_turn(self, account: str, *, long: bool) -> None:
        if not self._must_wait(account, long=long):
            return
        if self._waiting[account] >= MAX_WAITING_PER_ACCOUNT:
            raise TooManyLongReads(RETRY_SECONDS)
        if self._waiting.total() >= MAX_WAITING:
            raise Overloaded
        self._waiting[account] += 1
        try:
            while self._must_wait(account, long=long):  # noqa: ASYNC110 - as above
                await asyncio.sleep(POLL_SECONDS)
        finally:
            self._waiting[account] -= 1
            self._waiting += Counter[str]()  # adding an empty Counter removes accounts with a zero count

    def _must_wait(self, account: str, *, long: bool) -> bool:
        if self._long[account] >= (1 if long else MAX_READS_PER_ACCOUNT) or (
            long and self._long.total() >= MAX_LONG_READS
        ):
            return True
        ahead = self._paid_until.get(account, 0.0) - time.monotonic()
        return ahead > CREDIT_SECONDS and self._are_others_active(account)

    def _find_delay(self, account: str) -> float:
        return self._next_piece_at - time.monotonic() if self._are_others_active(account) else 0.0

    def _are_others_active(self, account: str) -> bool:
        now, others = time.monotonic(), self._admission.total - self._entered
        if others != self._others_seen:
            self._others_seen, self._others_at = others, now
        if now - self._others_at < ACTIVE_SECONDS:
            return True
        return any(each != account and now - at < ACTIVE_SECONDS for each, at in list(self._last_seen.items()))

    def _drop_idle_accounts(self) -> None:
        if len(self._last_seen) > MAX_ACCOUNTS:
            now = time.monotonic()
            self._paid_until = {each: at for each, at in list(self._paid_until.items()) if at > now}
            self._last_seen = {each: at for each, at in self._last_seen.items() if each in self._paid_until}


class _RunningRead:
    """One running long read, with the computing time that it has not been charged for yet."""

    def __init__(self, gate: Gate, account: str) -> None:
        self._gate, self._account = gate, account
        # seconds of computing not charged yet; thread time at which the coroutine's current step began
        self._spent, self._began = 0.0, 0.0
        self._is_long = False
        self._piece_began = time.monotonic()

    def begin_step(self) -> None:
        self._began = time.thread_time()

    def end_step(self) -> None:
        now = time.thread_time()
        self._spent, self._began = self._spent + now - self._began, now

    def become_long(self) -> None:
        self._is_long = True
        self._gate.begin_long(self._account)

    async def rest(self) -> None:
        self.end_step()
        if not self._is_long:
            if self._spent < FREE_SECONDS:
                return
            self.become_long()
        # a long read is also charged for its database time: the database is shared
        self._spent = max(self._spent, time.monotonic() - self._piece_began)
        self._charge()
        await self._gate.wait_for_next(self._account)
        self._piece_began = time.monotonic()

    def end(self) -> None:
        if self._is_long:
            self._gate.end_long(self._account)
        self._is_long |= self._spent > FREE_SECONDS
        self._charge()

    def _charge(self) -> None:
        self._gate.charge(self._account, self._spent, long=self._is_long)
        self._spent = 0.0


class _MeasuredAwaitable(Awaitable[W], Generic[W]):
    """Await a coroutine and measure its computing time, without the time it waits."""

    def __init__(self, work: Coroutine[Any, Any, W], turn: _RunningRead) -> None:
        self._work, self._turn = work, turn

    def __await__(self) -> Generator[Any, Any, W]:
        step = partial(self._work.send, None)
        while True:
            self._turn.begin_step()
            try:
                awaited = step()
            except StopIteration as done:
                return done.value
            finally:
                self._turn.end_step()
            try:
                step = partial(self._work.send, (yield awaited))
            except BaseException as error:  # noqa: BLE001 - any exception is passed into the coroutine
                step = partial(self._work.throw, error)


V = TypeVar("V")
TIMEOUT_SECONDS = 2.0


class SharedQuery(Generic[V]):
    def __init__(self, put: Callable[[], Coroutine[Any, Any, V]], fresh_seconds: float) -> None:
        self._put = put
        self._fresh_seconds = fresh_seconds  # seconds for which the query's result is reused
        self._good_until = 0.0
        self._task: asyncio.Task[V] | None = None

    async def get(self) -> V:
        """Return the query's result, or raise after TIMEOUT_SECONDS. While the database hangs, only one query waits."""
        task = self._task
        if task is None or (task.done() and time.monotonic() > self._good_until):
            task = self._task = asyncio.create_task(self._run())
            task.add_done_callback(_consume_error)
        await asyncio.wait({task}, timeout=TIMEOUT_SECONDS)
        if not task.done():
            raise DatabaseUnavailable(f"no answer within {TIMEOUT_SECONDS:g} seconds")
        return task.result()

    async def _run(self) -> V:
        found = await self._put()
        self._good_until = time.monotonic() + self._fresh_seconds
        return found


def _consume_error(task: asyncio.Task[Any]) -> None:
    """Fetch a failed query's exception: if all callers have timed out, asyncio would log it as never retrieved."""
    if not task.cancelled():
        task.exception()


R = TypeVar("R")
# size in bytes from which a request body is decoded in a thread; smaller ones are decoded on the event loop
LARGE_BYTES = 256 * 1024
PIECE_SECONDS = 0.003  # seconds of computing between two pauses of the thread that decodes large bodies
CALLS_PER_CHECK = 16  # JSON objects that are decoded between two checks of the clock
# the thread that decodes large bodies: a second one would double the memory and save no time
_executor = ThreadPoolExecutor(1, "bodies")


class _Pauses(threading.local):
    """Pauses of the thread that decodes large bodies, thread-local: other threads never pause."""

    pause: Callable[[float], None] | None = None
    began = 0.0
    calls = 0

    def pause_if_due(self) -> None:
        """Pause the decoding of a large body if its time is up. The decoder calls this for each JSON object."""
        if self.pause is None:
            return
        self.calls += 1
        if self.calls % CALLS_PER_CHECK == 0 and (spent := time.thread_time() - self.began) >= PIECE_SECONDS:
            self.pause(spent)
            self.began = time.thread_time()


pauses = _Pauses()


async def decode_body(raw: bytes, decode: Callable[[], R], gate: Gate, account: str) -> R:
    """Decode a request body: a small one at once, a large one in a thread, through the gate for long reads."""
    if len(raw) <= LARGE_BYTES:
        return decode()

    async def decode_in_thread(_: Pause) -> R:
        work = partial(_decode_in_pieces, decode, partial(gate.pause_thread, account))
        return await asyncio.get_running_loop().run_in_executor(_executor, work)

    return await gate.run(account, decode_in_thread, long=True)


def _decode_in_pieces(decode: Callable[[], R], pause: Callable[[float], None]) -> R:
    """Decode a large body with pauses. Garbage collection is off: it would block all threads to scan the new lists."""
    pauses.pause, pauses.began = pause, time.thread_time()
    try:
        with loads.pause_gc():
            return decode()
    finally:
        pauses.pause = None
