"""Uptime and request rate of a process, with a clock that the test controls."""

import pytest

from gamekeeper.http import request_rates
from gamekeeper.http.request_rates import RequestRates

SECOND = 10**9


class Clock:
    def __init__(self) -> None:
        self.now = 7 * SECOND + 123

    def monotonic_ns(self) -> int:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(request_rates, "time", clock)
    return clock


def test_rate_is_that_of_the_last_complete_second(clock: Clock) -> None:
    measured = RequestRates()
    for served in (3, 0, 2):
        for _ in range(served):
            measured.count()
        clock.now += SECOND
        assert measured.last_second == served
    measured.count()
    clock.now += 60 * SECOND
    assert measured.last_second == 0


def test_second_stays_in_its_bucket_for_five_minutes(clock: Clock) -> None:
    measured = RequestRates()
    clock.now += 12 * SECOND
    measured.count(fault=True)
    assert measured.sum_last(5) == (0, 0, 0)  # the current second is not counted, because it is incomplete
    seen: list[list[int]] = []
    for _ in range(8):
        clock.now += SECOND
        seen.append([each.requests for each in measured.sum_buckets(5, 3)])
    assert seen == [[0, 0, 0]] * 2 + [[0, 0, 1]] * 5 + [[0, 1, 0]]
    clock.now += 292 * SECOND
    assert measured.sum_last(request_rates.KEPT_SECONDS) == (1, 1, 0)
    clock.now += 300 * SECOND
    assert measured.sum_last(request_rates.KEPT_SECONDS).requests == 0


def test_counts_for_the_database_are_taken_once_and_can_be_put_back(clock: Clock) -> None:
    rates = RequestRates()
    rates.count(refused=True)
    rates.count(fault=True)
    assert rates.take_unsaved() == (0, 0, 0)  # the second is not over
    clock.now += SECOND
    rates.count()
    assert rates.take_unsaved() == (2, 1, 1)
    assert rates.take_unsaved() == (0, 0, 0)
    clock.now += 1000 * SECOND
    taken = rates.take_unsaved()
    assert taken == (1, 0, 0)
    rates.put_back(taken)
    assert rates.take_unsaved() == (1, 0, 0)
