"""Gate for long reads: they run in pieces and leave most of the event loop to the other requests.

A long read (CSV, history, look-back, search, large body) computes for up to a second. While other requests come in, all
long reads of a process together get SHARE of its time. An account has at most OF_ONE long reads under way; its next
ones wait. So does a read that is known to be long, such as an export, while its account has another, or while AT_ONCE
are under way: each of them keeps a database connection.
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
SHARE = 0.1  # of a process's time for all long reads while others ask: these keep at least 80 % of their throughput
FREE_SECONDS = 0.01  # of computing, after which a read is a long one
CREDIT_SECONDS = 1.0  # an account may be ahead by the work of so long (at SHARE) before its next read waits
ACTIVE_SECONDS = 0.1  # others count as active so long after their last request
# Longest pause between two pieces. On PostgreSQL a snapshot is open meanwhile, and a connection that does nothing for
# watch.PATIENCE_SECONDS (1 s) is taken for dead and ended.
PAUSE_SECONDS = 0.5
AT_ONCE = 3  # most reads known to be long that run at once, over all accounts
OF_ONE = 2  # long reads of one account, of which one may be known to be long: a search goes on beside an export
LOOK_SECONDS = 0.05  # longest sleep before looking whether others are still active
WAITING_OF_ONE, WAITING = 8, 32  # reads of one account, and of all, that may wait
RETRY_SECONDS = 5  # after which an account with too many of them may ask again
REMEMBERED = 1000  # accounts, before those that owe nothing are forgotten


class Gate:
    """Of one process; all methods but `pause_thread` are for its event loop."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._entered = 0  # requests that came to the gate
        self._others_seen, self._others_at = 0, 0.0  # requests that did not, and when one was last noticed
        self._next = 0.0  # when the next piece of a long read may begin
        self._paid: dict[str, float] = {}  # account: when its reads so far are paid for, at SHARE
        self._last: dict[str, float] = {}  # account: when it last came to the gate
        self._long: Counter[str] = Counter()  # account: its long reads under way
        self._waiting: Counter[str] = Counter()

    async def run(self, account: str, work: Callable[[Pause], Coroutine[Any, Any, T]], *, long: bool = False) -> T:
        """Run the work, which rests between its pieces; `long`: it is known to be long."""
        self._entered += 1
        self._last[account] = time.monotonic()
        self._forget()
        await self._wait_for_turn(account, long=long)
        turn = _Turn(self, account)
        if long:
            turn.become_long()
        try:
            return await _Measured(work(turn.rest), turn)
        finally:
            turn.end()

    def charge(self, account: str, seconds: float, *, long: bool) -> None:
        """Long reads pay by the pause before the next piece, all together; the others by a later start of the next."""
        now = time.monotonic()
        if not long:
            self._paid[account] = max(now, self._paid.get(account, 0.0)) + seconds / SHARE
        else:
            self._next = min(max(now, self._next) + seconds / SHARE - seconds, now + PAUSE_SECONDS)

    async def wait_for_next(self, account: str) -> None:
        """Wait until the next piece of a long read may begin; at least let the others have the loop once."""
        await asyncio.sleep(0)
        latest = time.monotonic() + PAUSE_SECONDS  # also when the pieces of others come first again and again
        while (delay := min(self._delay(account), latest - time.monotonic())) > 0:  # noqa: ASYNC110 - time passes without an event
            await asyncio.sleep(min(delay, LOOK_SECONDS))

    def pause_thread(self, account: str, spent: float) -> None:
        """The same for work in a thread, which has computed for so many seconds since its last pause."""
        self.charge(account, spent, long=True)
        while (delay := self._delay(account)) > 0:
            time.sleep(min(delay, LOOK_SECONDS))

    def begin_long(self, account: str) -> None:
        self._long[account] += 1

    def end_long(self, account: str) -> None:
        self._long[account] -= 1
        self._long += Counter[str]()  # drops those at zero

    async def _wait_for_turn(self, account: str, *, long: bool) -> None:
        if not self._must_wait(account, long=long):
            return
        if self._waiting[account] >= WAITING_OF_ONE:
            raise TooManyLongReads(RETRY_SECONDS)
        if self._waiting.total() >= WAITING:
            raise Overloaded
        self._waiting[account] += 1
        try:
            while self._must_wait(account, long=long):  # noqa: ASYNC110 - the same
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            self._waiting[account] -= 1
            self._waiting += Counter[str]()  # drops those at zero

    def _must_wait(self, account: str, *, long: bool) -> bool:
        if self._long[account] >= (1 if long else OF_ONE) or (long and self._long.total() >= AT_ONCE):
            return True
        ahead = self._paid.get(account, 0.0) - time.monotonic()
        return ahead > CREDIT_SECONDS and self._others_active(account)

    def _delay(self, account: str) -> float:
        return self._next - time.monotonic() if self._others_active(account) else 0.0

    def _others_active(self, account: str) -> bool:
        now, others = time.monotonic(), self._admission.total - self._entered
        if others != self._others_seen:
            self._others_seen, self._others_at = others, now
        if now - self._others_at < ACTIVE_SECONDS:
            return True
        return any(each != account and now - at < ACTIVE_SECONDS for each, at in list(self._last.items()))

    def _forget(self) -> None:
        if len(self._last) > REMEMBERED:
            now = time.monotonic()
            self._paid = {each: at for each, at in list(self._paid.items()) if at > now}
            self._last = {each: at for each, at in self._last.items() if each in self._paid}


class _Turn:
    """One read that is under way."""

    def __init__(self, gate: Gate, account: str) -> None:
        self._gate, self._account = gate, account
        self._spent, self._began = 0.0, 0.0  # seconds of computing that are not charged yet, up to the current step
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
        # a long read also pays for its time at the database, which works for the others too
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


class _Measured(Awaitable[T], Generic[T]):
    """Awaits a coroutine and measures how long it computes, without the time in which it waits."""

    def __init__(self, work: Coroutine[Any, Any, T], turn: _Turn) -> None:
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
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is the coroutine's to handle
                step = partial(self._work.throw, error)
