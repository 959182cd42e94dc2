"""The database's clock is the only one that decides anything."""

import time

from gamekeeper import log
from gamekeeper.store.engine import Reading
from gamekeeper.store.statements import Statements

SQL = Statements("clock")
TOLD_SECONDS = 60
DAY_SECONDS = 24 * 60 * 60
EPOCH = 2440587.5  # 1970 in days, as SQLite counts them
AHEAD = "If the clock is right, restart: the time is taken from it at the start only."
BEHIND = (
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
        self._start = time.time() - _elapsed()
        self._told = 0.0

    def go_on_from(self, milliseconds: int) -> None:
        """The machine's clock may have been put back while nobody was here: never earlier than this."""
        self._start = max(self._start, milliseconds / 1000 - _elapsed())

    def julian_day(self, moment: str) -> float:
        """SQLite's own function of that name, for the only moment that our statements ask for."""
        del moment
        self._tell(-self.lead())
        return EPOCH + (self._start + _elapsed()) / DAY_SECONDS

    def lead(self) -> float:
        """Seconds by which this clock is ahead of the machine's; negative when it is behind."""
        return self._start + _elapsed() - time.time()

    def _tell(self, ahead: float) -> None:
        if abs(ahead - self._told) < TOLD_SECONDS:
            return
        self._told = ahead
        side, advice = ("ahead of", AHEAD) if ahead > 0 else ("behind", BEHIND)
        if abs(ahead) >= TOLD_SECONDS:
            log.problem("clock", f"The machine's clock is {abs(ahead):.0f} s {side} the database's. {advice}")


def _elapsed() -> float:
    """Seconds since some moment, those asleep included where the system counts them."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()
