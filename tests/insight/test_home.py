"""The home page with its charts, and the page Activity."""

from gamekeeper.console.insight import charts
from gamekeeper.console.insight.charts import DAY_MS, HOUR_MS
from keepers import Keeper, open_staff
from people import ANN, BOB
from playing import find_midnight, play, roll_up
from world import World


def test_past_players_are_shown_with_permission(world: World, root: Keeper) -> None:
    midnight = find_midnight(world, days_ago=1)
    played = [(each.id, midnight + HOUR_MS, midnight + 3 * HOUR_MS) for each in (ANN, BOB)]
    play(world, [(ANN.id, midnight - 20 * DAY_MS, midnight - 20 * DAY_MS + HOUR_MS), *played])
    roll_up(world)
    page = root.page("/console?range=7d")
    page.assert_shown(
        f"{charts.label_step(midnight + HOUR_MS, HOUR_MS)} 2 2", f"{charts.label_step(midnight, DAY_MS)} 4"
    )
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
