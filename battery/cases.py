"""What a test of the battery is: a run that comes back with figures, and the faults that must spoil them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ENGINES = SQLITE, POSTGRES = ("sqlite", "postgres")
NEITHER = ("neither",)  # of a test that no engine has a part in
NO_HAPROXY = "HAProxy is missing; Debian has it in the package haproxy."


class NotRun(Exception):
    """Something is missing here that cannot be installed: the message says what."""


class Figure(NamedTuple):
    """One line of the table: what was promised, what was found."""

    what: str
    found: str
    bar: str
    met: bool


class Timed(Figure):
    """A figure by the clock: other work on the machine may spoil it. It is taken again, or only printed (CLOCK=print).

    What is lost, doubled, leaked or wrong is a plain Figure: it decides everywhere.
    """

    __slots__ = ()


@dataclass(frozen=True)
class Run:
    """One run of a test: everything random in it comes from the seed."""

    engine: str
    seed: int
    folder: Path  # empty, and thrown away afterwards
    database: str  # the URL of an empty one; "" where there is no engine
    fault: str | None  # seeded: the figures must show it
    seconds: int | None  # of the long form; None: the short one
    another: Callable[[], str]  # the URL of one more empty database


@dataclass(frozen=True)
class Case:
    letter: str
    name: str
    run: Callable[[Run], list[Figure]]
    faults: tuple[str, ...] = ()
    engines: tuple[str, ...] = ENGINES
    fault_engines: tuple[str, ...] = ENGINES  # those on which the faults are seeded
    optional: bool = False  # whether all that can be run has been run without it
    timed_faults: tuple[str, ...] = ()  # those that only the clock shows; others are not caught by it
