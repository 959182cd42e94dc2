"""The time up to which a process trusts its database's clock: six hours of serving behind what it shows.

A clock that is wrong for a while must not delete anything, nor close hours that are still to come. So the time is known
only while the database's clock has kept pace with the process's monotonic clock for six hours.
"""

import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from gamekeeper import log
from gamekeeper.store import clock
from gamekeeper.store.engine import Reading, Store

HOUR_MS = 60 * 60 * 1000
# time in ms before a clock is trusted: an operator or NTP can correct a wrong clock meanwhile
PROBATION_MS = 6 * HOUR_MS
# a clock jump in ms that counts as wrong: more than NTP slews in six hours, less than any retention time
JUMP_MS = HOUR_MS
JUMPED = "The database's clock jumped by {} s: nothing old is deleted for the next six hours."


class ClockReading(NamedTuple):
    """One moment on the process's monotonic clock and the database's clock, in milliseconds."""

    monotonic: int  # monotonic clock of this process
    database: int  # database's clock


class ProvenClock:
    """Compares the database's clock with the monotonic clock of one serving process."""

    def __init__(
        self,
        store: Store,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[Reading], Awaitable[int]] = clock.now,
    ) -> None:
        self._store = store
        self._monotonic = monotonic
        self._now = now
        # from this moment on the process's and the database's clock have kept pace
        self._start: ClockReading | None = None

    async def find_time(self) -> int | None:
        """Return the time from which rows' ages are counted, six hours back; None while the clock is not trusted."""
        store, start = self._store, self._start
        here = ClockReading(int(self._monotonic() * 1000), await self._now(store))
        if store.collect_stats().clock_lead_ms > JUMP_MS:
            self._start = None
            return None
        if start is None:
            self._start = here
            return None
        served = here.monotonic - start.monotonic
        jump = here.database - start.database - served
        if abs(jump) > JUMP_MS:
            log.problem("retention", JUMPED.format(jump // 1000))
            self._start = here
            return None
        if served < PROBATION_MS:
            return None
        return start.database + min(0, jump) + served - PROBATION_MS
