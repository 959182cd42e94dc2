"""Admission: so many requests are worked on at once; one more is turned away before it costs anything."""

from collections.abc import Awaitable
from typing import TypeVar

from gamekeeper.game.refusals import Overloaded

T = TypeVar("T")
UNLIMITED_PATHS = frozenset({b"/health/live", b"/health/ready", b"/metrics"})  # who asks these wants to know just then


class Admission:
    """The places of one process. All of it happens on one loop, so a number is enough."""

    __slots__ = ("_most", "in_flight", "total")

    def __init__(self, most: int) -> None:
        self._most = most
        self.in_flight = 0
        self.total = 0  # requests so far

    def enter(self) -> None:
        if self.in_flight >= self._most:
            raise Overloaded
        self.in_flight += 1
        self.total += 1

    def leave(self) -> None:
        self.in_flight -= 1

    async def release_while(self, waiting: Awaitable[T]) -> T:
        """Somebody who is in waits for the caller, or for something to happen: the place is for others meanwhile."""
        self.in_flight -= 1
        try:
            return await waiting
        finally:
            self.in_flight += 1

    def require_slot(self) -> None:
        """After some time aside: others may have taken all places, and nothing was done yet."""
        if self.in_flight > self._most:
            raise Overloaded
