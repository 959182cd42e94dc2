"""Ticks of the charts' axes: round values from zero, and round times with labels that fit."""

from datetime import UTC, datetime

import pytest

from gamekeeper.console import ticks
from gamekeeper.console.ticks import DAY_MS, HOUR_MS, MINUTE_MS


def at(text: str) -> int:
    return ticks.to_milliseconds(datetime.fromisoformat(text).replace(tzinfo=UTC))


@pytest.mark.parametrize(
    ("maximum", "wanted"),
    [
        (0, [0, 1]),
        (1, [0, 1]),
        (3, [0, 1, 2, 3]),
        (4, [0, 1, 2, 3, 4]),
        (5, [0, 2, 4, 6]),
        (12, [0, 5, 10, 15]),
        (20, [0, 5, 10, 15, 20]),
        (21, [0, 10, 20, 30]),
        (100, [0, 50, 100]),
        (1_234, [0, 500, 1_000, 1_500]),
        (2_000_001, [0, 1_000_000, 2_000_000, 3_000_000]),
    ],
)
def test_values_are_round_and_reach_the_maximum(maximum: float, wanted: list[float]) -> None:
    assert ticks.choose_values(maximum) == wanted


@pytest.mark.parametrize("maximum", [*range(1, 300), 999, 1_001, 65_535, 10**9])
def test_number_of_values_is_limited(maximum: int) -> None:
    found = ticks.choose_values(maximum)
    assert 2 <= len(found) <= ticks.MOST_VALUES
    assert found[-2] < maximum <= found[-1]


def test_hours_of_a_day_are_labelled_with_the_clock_and_midnight_with_the_day() -> None:
    found = ticks.choose_times(at("2026-11-16T10:17"), at("2026-11-17T10:17"))
    assert [each.label for each in found] == ["12:00", "18:00", "17 Nov", "06:00"]


def test_days_of_a_month_are_mondays() -> None:
    found = ticks.choose_times(at("2026-10-18"), at("2026-11-17"))
    assert [each.label for each in found] == ["19 Oct", "26 Oct", "2 Nov", "9 Nov", "16 Nov"]


def test_months_of_a_year_are_every_second_one() -> None:
    found = ticks.choose_times(at("2025-12-15"), at("2026-12-15"))
    assert [each.label for each in found] == ["Jan 2026", "Mar 2026", "May 2026", "Jul 2026", "Sep 2026", "Nov 2026"]


@pytest.mark.parametrize("length", [MINUTE_MS, HOUR_MS, 5 * HOUR_MS, DAY_MS, 6 * DAY_MS, 45 * DAY_MS, 5000 * DAY_MS])
def test_times_lie_in_the_range_and_are_limited(length: int) -> None:
    start = at("2026-02-27T23:59:31")
    found = [each.at for each in ticks.choose_times(start, start + length)]
    assert 1 <= len(found) <= ticks.MOST_TIMES
    assert found == sorted(set(found))
    assert start <= found[0]
    assert found[-1] <= start + length


def test_round_start_is_a_tick() -> None:
    assert ticks.choose_times(at("2026-11-10"), at("2026-11-16"))[0].label == "10 Nov"
    assert ticks.choose_times(at("2026-01-01"), at("2026-12-01"))[0].label == "Jan 2026"


@pytest.mark.parametrize(
    ("value", "wanted"), [(0, "0"), (950, "950"), (1_000, "1k"), (1_250, "1.2k"), (3_000_000, "3M"), (2.5, "2.5")]
)
def test_numbers_of_an_axis_are_short(value: float, wanted: str) -> None:
    assert ticks.format_short(value) == wanted
