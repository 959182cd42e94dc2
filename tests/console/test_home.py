"""The home page: players of each game server, charts, the latest changes; and the page Activity."""

from keepers import Keeper, MakeWorld, open_session, open_staff

from game_server import heartbeat, join
from gamekeeper.console import chart, latest
from gamekeeper.console.ticks import DAY_MS, HOUR_MS
from people import ANN, BOB, COIN
from playing import find_midnight, play, roll_up
from world import World


def test_players_of_each_game_server_need_permission(make_world: MakeWorld) -> None:
    world = make_world()
    for name in ("two", "one"):
        heartbeat(world, name)
    join(world, ANN.id, BOB.id, server="two")
    page = open_session(world, "Root").page("/console")
    assert "Players by game server one 0 two 2 " in page.text
    assert page.links["two"] == "/console/online?server=two"
    assert "Players by game server" not in open_staff(world, ["audit.read"], "Auditor").page("/console").text


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


def give(world: World) -> int:
    answer = world.post("/api/v1/players/Ann/items/give", {"itemid": COIN.id, "quantity": 5})
    assert answer.status == 200, answer.raw
    return world.ledger()[-1].seq


def test_single_change_has_an_undo_button_for_those_who_may(world: World, root: Keeper) -> None:
    undo = f"/api/keeper/v1/changes/{give(world)}/undo"
    page = open_staff(world, ["players.read", "audit.read"], "Reader").page("/console")
    assert "Gold Coin" in page.text
    assert "/undo" not in page.html
    form = root.page("/console").form("/console/act", "Undo")
    assert f'value="{undo}"' in root.page("/console").html
    shown = root.post("/console/act", {**form.fields, "path": undo})
    assert root.confirm(shown, "a mistake").status == 303
    lines = world.run(latest.load(world.keeper, accounts=True)).lines
    assert [each.can_undo for each in lines[:2]] == [True, False]


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
