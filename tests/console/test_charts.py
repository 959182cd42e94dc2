"""Charts: the time range of the address, and the number of their points."""

from datetime import UTC, datetime

import pytest

from gamekeeper.console import ticks, time_range
from gamekeeper.console.ticks import DAY_MS
from gamekeeper.game.refusals import BadField

NOW = ticks.to_milliseconds(datetime(2026, 11, 17, 17, 5, tzinfo=UTC))


def test_range_is_a_preset_or_whole_days_until_now() -> None:
    for query, days, step in (
        ({}, 7, "hour"),
        ({"range": "24h"}, 1, "hour"),
        ({"range": "90d", "from": ""}, 90, "day"),
    ):
        found = time_range.read_range(query, NOW)
        assert (found.end, found.end - found.start, found.fine_step) == (NOW, days * DAY_MS, step)
    found = time_range.read_range({"from": "2026-11-01", "to": "2026-11-03", "range": "24h"}, NOW)
    assert (found.end - found.start, found.days) == (3 * DAY_MS, ("2026-11-01", "2026-11-03"))
    assert time_range.read_range({"from": "2026-11-10", "to": "2027-01-01"}, NOW).end == NOW
    assert time_range.read_range({"to": "2026-11-10"}, NOW).days == ("2026-11-04", "2026-11-10")
    for name, value in (("range", "8d"), ("from", "2026-02-30"), ("to", "0001-01-01"), ("from", "2026-11-18")):
        with pytest.raises(BadField):
            time_range.read_range({name: value}, NOW)
