"""A test of the battery: a function that returns figures, and the seeded faults that the figures must show."""

import itertools
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import NamedTuple, Self

ENGINES = SQLITE, POSTGRES = ("sqlite", "postgres")
NEITHER = ("neither",)  # value of `engines` for a test that needs no database
NO_HAPROXY = "HAProxy is missing; Debian has it in the package haproxy."


class NotRun(Exception):
    """Raised by a battery test that cannot run here; the message names the missing tool."""


class Figure(NamedTuple):
    """One line of a battery test's results: the promise and the measured value."""

    what: str
    found: str
    bar: str
    met: bool

    @classmethod
    def none(cls, what: str, found: Sequence[str] | float, said: str = "") -> Self:
        """Make the figure of something that must not happen. `said`: its text, by default the number or the list."""
        listed = "; ".join(found) or "0" if isinstance(found, Sequence) else str(found)
        return cls(what, said or listed, "0", not found)

    @classmethod
    def above(cls, what: str, found: float, least: float, said: str = "{:,.0f}") -> Self:
        """Make the figure of something of which there must be enough. `said`: how both numbers are written."""
        return cls(what, said.format(found), f"≥ {said.format(least)}", found >= least)

    @classmethod
    def equal(cls, what: str, found: object, wanted: object) -> Self:
        return cls(what, str(found), str(wanted), found == wanted)


class Timed(Figure):
    """A timing, which other load on the machine can spoil. It is measured again, or only printed (CLOCK=print).

    Lost, duplicated, leaked or wrong data is a plain Figure, which always decides.
    """

    __slots__ = ()

    @classmethod
    def within(cls, what: str, seconds: float, bar: float) -> Self:
        return cls(what, f"{seconds:.2f} s", f"≤ {bar:g} s", seconds <= bar)


@dataclass(frozen=True)
class Run:
    """Parameters of one run of a battery test; all its randomness comes from the seed."""

    engine: str
    seed: int
    folder: Path  # working folder of the run: empty when the run starts, deleted when it ends
    database: str  # URL of an empty database for the run; "" for tests without a database
    fault: str | None  # name of the seeded fault, which the figures must show; None: no fault
    seconds: int | None  # seconds: duration of the long form of the test; None: short form
    another: Callable[[], str]  # function that returns the URL of one more empty database

    def rounds(self, least: int = 1) -> Iterator[int]:
        """Count rounds: `least` of them, and in the long form more until the time is up."""
        until = time.monotonic() + (self.seconds or 0)
        for number in itertools.count():
            if number >= least and time.monotonic() >= until:
                return
            yield number


@dataclass(frozen=True)
class Case:
    letter: str
    name: str
    run: Callable[[Run], list[Figure]]
    faults: tuple[str, ...] = ()
    engines: tuple[str, ...] = ENGINES
    fault_engines: tuple[str, ...] = ENGINES  # database engines on which the test's faults are seeded
    timed_faults: tuple[str, ...] = ()  # names of seeded faults that only timings show


@contextmanager
def beside(work: Callable[[Event], object]) -> Generator[None]:
    """Run a function in a thread during the block, and raise its exception. It ends soon after its event is set."""
    over = Event()
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work, over)
        try:
            yield
        finally:
            over.set()
        working.result()
