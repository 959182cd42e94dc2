"""Uptime of this process, and its requests per second."""

import time
from collections import deque
from itertools import islice
from typing import NamedTuple

SECOND_NS = 10**9
KEPT_SECONDS = 310  # seconds for which request counts are kept: five minutes, plus two more buckets of 5 s


class RequestCounts(NamedTuple):
    requests: int
    faults: int  # number of requests answered with a 5xx, except 501
    refused: int = 0  # number of requests answered with a 4xx, except those to the public side


NO_REQUESTS = RequestCounts(0, 0)


class RequestRates:
    """Counts requests per second, for the last KEPT_SECONDS and the current second."""

    __slots__ = ("_counted", "_ends", "_faults", "_past", "_refused", "_second", "_started", "_unsaved")

    def __init__(self) -> None:
        # start time of the process, by a clock that changes of the system clock do not affect
        self._started = time.monotonic_ns()
        self._second: int = 0
        self._ends = self._started + SECOND_NS  # time.monotonic_ns at which the current second ends
        self._counted = self._faults = self._refused = 0
        self._unsaved = NO_REQUESTS  # request counts of complete seconds that are not in the database yet
        # request counts of complete seconds, oldest first
        self._past = deque([NO_REQUESTS] * KEPT_SECONDS, KEPT_SECONDS)

    def count(self, *, fault: bool = False, refused: bool = False) -> None:
        """Count one request. This is called for every request, so it must be cheap."""
        if time.monotonic_ns() >= self._ends:
            self._advance()
        self._counted += 1
        if fault:
            self._faults += 1
        if refused:
            self._refused += 1

    @property
    def uptime_ms(self) -> int:
        return (time.monotonic_ns() - self._started) // 10**6

    @property
    def last_second(self) -> int:
        self._advance()
        return self._past[-1].requests

    def sum_last(self, seconds: int) -> RequestCounts:
        """Return the request counts of the last `seconds` complete seconds together."""
        self._advance()
        return _add_up(list(islice(reversed(self._past), seconds)))

    def sum_buckets(self, seconds: int, count: int) -> list[RequestCounts]:
        """Return the request counts of the last `count` complete buckets of `seconds` each, oldest first."""
        self._advance()
        past = list(self._past)
        end = len(past) - self._second % seconds
        return [_add_up(past[end - seconds * back : end - seconds * (back - 1)]) for back in range(count, 0, -1)]

    def take_unsaved(self) -> RequestCounts:
        """Return the request counts of complete seconds since the last call, for the rollups in the database."""
        self._advance()
        taken, self._unsaved = self._unsaved, NO_REQUESTS
        return taken

    def put_back(self, counts: RequestCounts) -> None:
        """Add counts that could not be stored to those that the next `take_unsaved` returns."""
        self._unsaved = _add_up([self._unsaved, counts])

    def _advance(self) -> None:
        second = (time.monotonic_ns() - self._started) // SECOND_NS
        if second != self._second:
            self._past.append(RequestCounts(self._counted, self._faults, self._refused))
            self._unsaved = _add_up([self._unsaved, self._past[-1]])
            self._past.extend([NO_REQUESTS] * min(second - self._second - 1, KEPT_SECONDS))
            self._second, self._counted, self._faults, self._refused = second, 0, 0, 0
            self._ends = self._started + (second + 1) * SECOND_NS


def _add_up(served: list[RequestCounts]) -> RequestCounts:
    requests, faults, refused = (sum(column) for column in zip(*served, strict=True)) if served else NO_REQUESTS
    return RequestCounts(requests, faults, refused)
