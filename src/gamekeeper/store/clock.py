"""The database's clock is the only one that decides anything."""

import time

from gamekeeper import log
from gamekeeper.store.engine import Reading
from gamekeeper.store.statements import Statements

SQL = Statements("clock")
REPORT_STEP_SECONDS = 60
DAY_SECONDS = 24 * 60 * 60
EPOCH_JULIAN_DAY = 2440587.5  # 1970 in days, as SQLite counts them
AHEAD_ADVICE = "If the clock is right, restart: the time is taken from it at the start only."
BEHIND_ADVICE = (
    "Time never goes back: it goes on from the newest change. "
    "Nothing old is deleted while the difference is more than an hour."
)


async def now(tx: Reading) -> int:
    """Milliseconds since 1970, UTC."""
    row = await tx.one(SQL.now)
    return row[0] if row else 0


class SteadyClock:
    """For a database without a clock of its own: the machine's at the start, and from there on one that nobody sets.

    A clock put back would let ended tokens live again, one put forward would forget the wrong passwords.
    """

    def __init__(self) -> None:
        self._start = time.time() - _read_boot_clock()
        self._told = 0.0

    def continue_from(self, milliseconds: int) -> None:
        """The machine's clock may have been put back while nobody was here: never earlier than this."""
        self._start = max(self._start, milliseconds / 1000 - _read_boot_clock())

    def julian_day(self, moment: str) -> float:
        """SQLite's own function of that name, for the only moment that our statements ask for."""
        del moment
        self._report_difference(-self.measure_lead())
        return EPOCH_JULIAN_DAY + (self._start + _read_boot_clock()) / DAY_SECONDS

    def measure_lead(self) -> float:
        """Seconds by which this clock is ahead of the machine's; negative when it is behind."""
        return self._start + _read_boot_clock() - time.time()

    def _report_difference(self, ahead: float) -> None:
        if abs(ahead - self._told) < REPORT_STEP_SECONDS:
            return
        self._told = ahead
        side, advice = ("ahead of", AHEAD_ADVICE) if ahead > 0 else ("behind", BEHIND_ADVICE)
        if abs(ahead) >= REPORT_STEP_SECONDS:
            log.problem("clock", f"The machine's clock is {abs(ahead):.0f} s {side} the database's. {advice}")


def _read_boot_clock() -> float:
    """Seconds since some moment, those asleep included where the system counts them."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()
