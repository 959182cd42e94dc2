"""The time range of the charts, as the address says it."""

from datetime import UTC, datetime

import pytest

from gamekeeper.console import ticks, time_range
from gamekeeper.console.ticks import DAY_MS, HOUR_MS
from gamekeeper.game.refusals import BadField

NOW = ticks.to_milliseconds(datetime(2026, 11, 17, 17, 5, tzinfo=UTC))


@pytest.mark.parametrize(
    ("query", "length", "steps"),
    [
        ({}, 7 * DAY_MS, ("hour", "day")),
        ({"range": "24h"}, 24 * HOUR_MS, ("hour", "day")),
        ({"range": "30d"}, 30 * DAY_MS, ("day", "day")),
        ({"range": "90d"}, 90 * DAY_MS, ("day", "day")),
        ({"range": "90d", "from": "", "to": " "}, 90 * DAY_MS, ("day", "day")),
    ],
)
def test_preset_ends_now(query: dict[str, str], length: int, steps: tuple[str, str]) -> None:
    found = time_range.read_range(query, NOW)
    assert (found.end, found.end - found.start) == (NOW, length)
    assert (found.fine_step, found.day_step) == steps


def test_own_days_are_whole_days() -> None:
    found = time_range.read_range({"from": "2026-11-01", "to": "2026-11-03", "range": "24h"}, NOW)
    assert found.end - found.start == 3 * DAY_MS
    assert found.days == ("2026-11-01", "2026-11-03")
    assert (found.preset, found.fine_step) == ("", "hour")


def test_range_ends_now_at_the_latest() -> None:
    assert time_range.read_range({"from": "2026-11-10", "to": "2027-01-01"}, NOW).end == NOW
    assert time_range.read_range({"from": "2026-11-10"}, NOW).end == NOW


def test_only_the_last_day_means_seven_days() -> None:
    found = time_range.read_range({"to": "2026-11-10"}, NOW)
    assert found.days == ("2026-11-04", "2026-11-10")


def test_old_days_have_no_hours() -> None:
    assert time_range.read_range({"from": "2026-01-01", "to": "2026-01-02"}, NOW).fine_step == "day"


def test_number_of_points_is_limited() -> None:
    """A series may have at most 3,000 points; a chart of the page has far fewer."""
    for days, least in (
        (13, HOUR_MS),
        (14, HOUR_MS),
        (15, DAY_MS),
        (200, DAY_MS),
        (1500, 7 * DAY_MS),
        (9000, 28 * DAY_MS),
    ):
        first = f"{ticks.to_datetime(NOW - days * DAY_MS):%Y-%m-%d}"
        found = time_range.read_range({"from": first, "to": "2026-11-17"}, NOW)
        length = {"hour": HOUR_MS, "day": DAY_MS, "week": 7 * DAY_MS, "month": 28 * DAY_MS}[found.fine_step]
        assert (found.end - found.start) // length <= 400, days
        assert length >= least - DAY_MS


@pytest.mark.parametrize(
    "query",
    [
        {"range": "8d"},
        {"range": "24H"},
        {"from": "yesterday"},
        {"from": "2026-02-30"},
        {"to": "0001-01-01"},
        {"from": "1999-12-31"},
        {"from": "2026-11-18"},
        {"from": "2026-11-10", "to": "2026-11-09"},
        {"from": "2026-11-18", "to": "2026-11-20"},
    ],
)
def test_wrong_range_is_refused(query: dict[str, str]) -> None:
    with pytest.raises(BadField):
        time_range.read_range(query, NOW)
