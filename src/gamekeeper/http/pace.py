"""How long this process has been serving, and how fast."""

import time

SECOND_NS = 10**9


class Pace:
    """Requests by whole seconds: two numbers are enough to tell of the last one that is over."""

    __slots__ = ("_before", "_counted", "_second", "_started")

    def __init__(self) -> None:
        self._started = time.monotonic_ns()  # a clock that nobody can set
        self._second: int = 0
        self._before = self._counted = 0

    def count(self) -> None:
        """On every request's way."""
        self._turn()
        self._counted += 1

    @property
    def uptime_ms(self) -> int:
        return (time.monotonic_ns() - self._started) // 10**6

    @property
    def last_second(self) -> int:
        self._turn()
        return self._before

    def _turn(self) -> None:
        second = (time.monotonic_ns() - self._started) // SECOND_NS
        if second != self._second:
            self._before = self._counted if second == self._second + 1 else 0
            self._second, self._counted = second, 0
