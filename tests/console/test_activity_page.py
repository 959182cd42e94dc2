"""The page Activity: active players by day, week and month, sign-ins, and retention."""

from keepers import Keeper

from gamekeeper.game.calendar_steps import DAY_MS
from people import ANN, BOB
from playing import find_midnight, play, roll_up
from world import World


def test_page_has_weeks_months_sign_ins_and_retention(world: World, root: Keeper) -> None:
    assert "No new players in this time range." in root.page("/console/activity?range=24h").text
    start = find_midnight(world, 10)
    for who in (ANN, BOB):
        world.sql("UPDATE players SET created_at = $1 WHERE id = $2", start, who.id)
    first = [(each.id, start + 1_000, start + 61_000) for each in (ANN, BOB)]
    play(world, [*first, (ANN.id, start + DAY_MS, start + DAY_MS + 60_000)])
    roll_up(world)
    (cohort,) = world.get("/api/keeper/v1/activity/retention").json["Cohorts"]
    assert (cohort["Players"], cohort["Day1"], cohort["Day7"], cohort["Day30"]) == (2, 1, 0, None)
    page = root.page("/console/activity")
    for title in ("Active players by day", "Active players by week", "Active players by month", "Sign-ins"):
        assert title in page.text
    assert f"{cohort['Day']} 2 1 (50 %) 0 (0 %) \u2014" in page.text
    assert "All days 2 1 (50 %) 0 (0 %) \u2014" in page.text
    assert root.page("/console").links["Weeks, months, sign-ins and retention"] == "/console/activity"


def test_long_range_is_shown_by_week_or_month(shared_root: Keeper) -> None:
    years = shared_root.page("/console/activity?from=2020-01-01").text
    assert "Active players by month" in years
    assert "Active players by day" not in years
    assert "Active players by week" not in years
    assert shared_root.get("/console/activity?range=1y").status == 400
