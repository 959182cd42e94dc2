"""Admission: so many requests are worked on at once; one more is turned away before it costs anything."""

from collections.abc import Awaitable
from typing import TypeVar

from gamekeeper.game.refusals import Overloaded

T = TypeVar("T")
ALWAYS = frozenset({b"/health/live", b"/health/ready", b"/metrics"})  # who asks these wants to know just then


class Admission:
    """The places of one process. All of it happens on one loop, so a number is enough."""

    __slots__ = ("_most", "entered", "taken")

    def __init__(self, most: int) -> None:
        self._most = most
        self.taken = 0
        self.entered = 0  # requests so far

    def enter(self) -> None:
        if self.taken >= self._most:
            raise Overloaded
        self.taken += 1
        self.entered += 1

    def leave(self) -> None:
        self.taken -= 1

    async def aside(self, waiting: Awaitable[T]) -> T:
        """Somebody who is in waits for the caller, or for something to happen: the place is for others meanwhile."""
        self.taken -= 1
        try:
            return await waiting
        finally:
            self.taken += 1

    def require_place(self) -> None:
        """After some time aside: others may have taken all places, and nothing was done yet."""
        if self.taken > self._most:
            raise Overloaded
