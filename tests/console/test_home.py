"""The home page with its charts and their time ranges, and the page Activity."""

from datetime import UTC, datetime

import pytest
from keepers import Keeper, open_staff

from gamekeeper.console import chart, ticks, time_range
from gamekeeper.console.ticks import DAY_MS, HOUR_MS
from gamekeeper.game.refusals import BadField
from people import ANN, BOB
from playing import find_midnight, play, roll_up
from world import World


def test_past_players_are_shown_with_permission(world: World, root: Keeper) -> None:
    midnight = find_midnight(world, days_ago=1)
    played = [(each.id, midnight + HOUR_MS, midnight + 3 * HOUR_MS) for each in (ANN, BOB)]
    play(world, [(ANN.id, midnight - 20 * DAY_MS, midnight - 20 * DAY_MS + HOUR_MS), *played])
    roll_up(world)
    page = root.page("/console?range=7d")
    page.assert_shown(f"{chart.label_step(midnight + HOUR_MS, HOUR_MS)} 2 2", f"{chart.label_step(midnight, DAY_MS)} 4")
    page = open_staff(world, ["audit.read"], "Reader").page("/console")
    page.assert_hidden("Over time", "New players today")
    assert "Latest changes" in page.text


def test_activity_page_has_retention(world: World, root: Keeper) -> None:
    assert "No new players in this time range." in root.page("/console/activity?range=24h").text
    start = find_midnight(world, 10)
    world.sql("UPDATE players SET created_at = $1 WHERE id IN ($2, $3)", start, ANN.id, BOB.id)
    play(world, [(each.id, start + 1_000, start + 61_000) for each in (ANN, BOB)])
    play(world, [(ANN.id, start + DAY_MS, start + DAY_MS + 60_000)])
    roll_up(world)
    (cohort,) = world.get("/api/keeper/v1/activity/retention").json["Cohorts"]
    page = root.page("/console/activity")
    page.assert_shown("Active players by day", "Sign-ins", f"{cohort['Day']} 2 1 (50 %) 0 (0 %) \u2014")


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
