"""Gate for long reads: they run in pieces and leave most of the event loop to the other requests.

A long read (CSV, history, past state, search, large body) computes for up to a second. While other requests arrive, all
long reads of a process together get LONG_READ_SHARE of its time. An account can run at most MAX_READS_PER_ACCOUNT long
reads at once; further ones wait. A read that is known to be long, such as an export, also waits while its account runs
another long read, or while MAX_LONG_READS reads run: each of them holds a database connection.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from typing import Any, Generic, TypeVar

from gamekeeper.game.history import Pause
from gamekeeper.game.refusals import Overloaded, TooManyLongReads
from gamekeeper.http.admission import Admission

T = TypeVar("T")
# share of a process's time for all long reads under load: other requests keep at least 80 % of their throughput
LONG_READ_SHARE = 0.1
FREE_SECONDS = 0.01  # seconds of computing after which a read counts as long
# seconds of debt (computing time of short reads / LONG_READ_SHARE) above which an account's next read must wait
CREDIT_SECONDS = 1.0
ACTIVE_SECONDS = 0.1  # seconds for which other clients count as active after their last request
# Longest pause between two pieces of a long read. On PostgreSQL its snapshot stays open, and a connection that is idle
# for watch.SLOW_SECONDS (1 s) is closed as dead.
PAUSE_SECONDS = 0.5
MAX_LONG_READS = 3  # concurrent reads that are certainly long, such as an export, over all accounts
# concurrent long reads of an account; at most one of them is certainly long, so a search can run beside an export
MAX_READS_PER_ACCOUNT = 2
POLL_SECONDS = 0.05  # seconds between two checks whether a waiting read may continue
MAX_WAITING_PER_ACCOUNT, MAX_WAITING = 8, 32  # largest number of waiting long reads: per account, and in total
RETRY_SECONDS = 5  # Retry-After in seconds of the 429 for an account with too many waiting long reads
MAX_ACCOUNTS = 1000  # accounts whose long reads are remembered; beyond that, accounts without debt are dropped


class Gate:
    """Limits the long reads of one process. All methods except `pause_thread` must be called on its event loop."""

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

    async def run(self, account: str, work: Callable[[Pause], Coroutine[Any, Any, T]], *, long: bool = False) -> T:
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


class _MeasuredAwaitable(Awaitable[T], Generic[T]):
    """Await a coroutine and measure its computing time, without the time it waits."""

    def __init__(self, work: Coroutine[Any, Any, T], turn: _RunningRead) -> None:
        self._work, self._turn = work, turn

    def __await__(self) -> Generator[Any, Any, T]:
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
