"""How long this process has been serving, and how fast."""

import time
from collections import deque
from itertools import islice
from typing import NamedTuple

SECOND_NS = 10**9
KEPT_SECONDS = 310  # whole seconds that are remembered: five minutes, and two groups more than are over


class RequestCounts(NamedTuple):
    requests: int
    faults: int  # those of them that failed on our side


NO_REQUESTS = RequestCounts(0, 0)


class RequestRates:
    """Requests by whole seconds: those that are over, and the one that is not."""

    __slots__ = ("_counted", "_faults", "_past", "_second", "_started")

    def __init__(self) -> None:
        self._started = time.monotonic_ns()  # a clock that nobody can set
        self._second: int = 0
        self._counted = self._faults = 0
        self._past = deque([NO_REQUESTS] * KEPT_SECONDS, KEPT_SECONDS)  # the oldest first

    def count(self, *, fault: bool = False) -> None:
        """On every request's way."""
        self._advance()
        self._counted += 1
        self._faults += fault

    @property
    def uptime_ms(self) -> int:
        return (time.monotonic_ns() - self._started) // 10**6

    @property
    def last_second(self) -> int:
        self._advance()
        return self._past[-1].requests

    def sum_last(self, seconds: int) -> RequestCounts:
        """Of the last so many seconds that are over."""
        self._advance()
        return _add_up(list(islice(reversed(self._past), seconds)))

    def sum_buckets(self, seconds: int, count: int) -> list[RequestCounts]:
        """The last so many groups of seconds that are over, the oldest first; a second never changes its group."""
        self._advance()
        past = list(self._past)
        end = len(past) - self._second % seconds
        return [_add_up(past[end - seconds * back : end - seconds * (back - 1)]) for back in range(count, 0, -1)]

    def _advance(self) -> None:
        second = (time.monotonic_ns() - self._started) // SECOND_NS
        if second != self._second:
            self._past.append(RequestCounts(self._counted, self._faults))
            self._past.extend([NO_REQUESTS] * min(second - self._second - 1, KEPT_SECONDS))
            self._second, self._counted, self._faults = second, 0, 0


def _add_up(served: list[RequestCounts]) -> RequestCounts:
    return RequestCounts(sum(each.requests for each in served), sum(each.faults for each in served))
