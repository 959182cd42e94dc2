"""A test of the battery: a function that returns figures, and the seeded faults that the figures must show."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ENGINES = SQLITE, POSTGRES = ("sqlite", "postgres")
NEITHER = ("neither",)  # engines of a test that needs no database
NO_HAPROXY = "HAProxy is missing; Debian has it in the package haproxy."


class NotRun(Exception):
    """The test cannot run here; the message names the missing tool."""


class Figure(NamedTuple):
    """One line of the results: the promise and the measured value."""

    what: str
    found: str
    bar: str
    met: bool


class Timed(Figure):
    """A timing, which other load on the machine can spoil. It is measured again, or only printed (CLOCK=print).

    Lost, duplicated, leaked or wrong data is a plain Figure, which always decides.
    """

    __slots__ = ()


@dataclass(frozen=True)
class Run:
    """One run of a test; all its randomness comes from the seed."""

    engine: str
    seed: int
    folder: Path  # empty at the start, deleted afterwards
    database: str  # URL of an empty database; "" for tests without one
    fault: str | None  # seeded fault, which the figures must show
    seconds: int | None  # duration of the long form; None: short form
    another: Callable[[], str]  # returns the URL of one more empty database


@dataclass(frozen=True)
class Case:
    letter: str
    name: str
    run: Callable[[Run], list[Figure]]
    faults: tuple[str, ...] = ()
    engines: tuple[str, ...] = ENGINES
    fault_engines: tuple[str, ...] = ENGINES  # engines on which the faults are seeded
    optional: bool = False  # whether a run without this test counts as complete
    timed_faults: tuple[str, ...] = ()  # faults that only timings show
