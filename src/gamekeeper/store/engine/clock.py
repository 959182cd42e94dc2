"""Time for all rules: PostgreSQL's clock, or `SteadyClock` for SQLite."""

import time

from gamekeeper.ground import log
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.statements import Statements

SQL = Statements(__file__)
REPORT_STEP_SECONDS = 60
DAY_SECONDS = 24 * 60 * 60
EPOCH_JULIAN_DAY = 2440587.5  # 1970-01-01 as a Julian day, the unit of SQLite's julianday()
AHEAD_ADVICE = "If the system clock is right, restart: Gamekeeper reads it only at the start."
BEHIND_ADVICE = (
    "Gamekeeper's time never goes back: it continues from the newest change. "
    "While the difference is more than an hour, no old data is deleted."
)


async def now(tx: Reading) -> int:
    """Read the database's time, in milliseconds since 1970 (UTC)."""
    row = await tx.one(SQL.now)
    return row[0] if row else 0


class SteadyClock:
    """Clock for SQLite: the system time at the start, then monotonic time, which no one can set.

    If the system clock were used and set back, expired tokens would be valid again. If it were set forward, the
    limits on wrong passwords would be reset.
    """

    def __init__(self) -> None:
        self._start = time.time() - _read_boot_clock()
        self._told = 0.0

    def continue_from(self, milliseconds: int) -> None:
        """Set SQLite's clock to this time if it is earlier: the system clock may have been set back before a start."""
        self._start = max(self._start, milliseconds / 1000 - _read_boot_clock())

    def compute_julian_day(self, moment: str) -> float:
        """Replace SQLite's function julianday; our statements only ask for 'now'."""
        del moment
        now = self._start + _read_boot_clock()
        self._report_difference(time.time() - now)
        return EPOCH_JULIAN_DAY + now / DAY_SECONDS

    def measure_lead(self) -> float:
        """Return how many seconds Gamekeeper's clock is ahead of the system clock; negative if behind."""
        return self._start + _read_boot_clock() - time.time()

    def _report_difference(self, ahead: float) -> None:
        if abs(ahead - self._told) < REPORT_STEP_SECONDS:
            return
        self._told = ahead
        side, advice = ("ahead of", AHEAD_ADVICE) if ahead > 0 else ("behind", BEHIND_ADVICE)
        if abs(ahead) >= REPORT_STEP_SECONDS:
            log.problem("clock", f"The system clock is {abs(ahead):.0f} s {side} the database's clock. {advice}")


def _read_boot_clock() -> float:
    """Return monotonic seconds, including time in suspend where the system counts it (Linux)."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()
