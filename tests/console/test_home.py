"""The home page: players of each game server, charts, the latest changes, and the page Activity."""

from typing import Any

import pytest
from keepers import Keeper, MakeWorld, open_session, open_staff

import bulking
import people
from game_server import heartbeat, join
from gamekeeper.console import activity, chart, latest, monitor
from gamekeeper.console.activity import ActivityReader
from gamekeeper.console.differences import TIMES_SIGN
from gamekeeper.console.ticks import DAY_MS, HOUR_MS
from gamekeeper.game import activity_series, history
from gamekeeper.game.calendar_steps import find_start
from gamekeeper.store.engine import DatabaseUnavailable
from people import ANN, BOB, COIN, ZOE
from playing import find_midnight, play, roll_up
from world import World


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, make_world: MakeWorld) -> World:
    """A world whose home page always has new numbers."""
    monkeypatch.setattr(monitor, "CHECKS_SECONDS", 0.0)
    return make_world()


def test_home_shows_the_players_of_each_game_server_with_permission(fresh: World) -> None:
    root = open_session(fresh, "Root")
    assert "Players by game server" not in root.page("/console").text
    for name in ("two", "one"):
        heartbeat(fresh, name)
    join(fresh, people.ANN.id, people.BOB.id, server="two")
    page = root.page("/console")
    assert "Players by game server one 0 two 2 " in page.text
    assert page.links["two"] == "/console/online?server=two"
    assert "All game servers" not in page.links
    heartbeat(fresh, "one")
    assert "Players by game server" not in open_staff(fresh, ["audit.read"], "Auditor").page("/console").text


def test_past_players_are_shown_with_permission(world: World, root: Keeper) -> None:
    midnight = find_midnight(world, days_ago=1)
    played = [(each.id, midnight + HOUR_MS, midnight + 3 * HOUR_MS) for each in (ANN, BOB)]
    play(world, [(ANN.id, midnight - 20 * DAY_MS, midnight - 20 * DAY_MS + HOUR_MS), *played])
    roll_up(world)
    page = root.page("/console?range=7d")
    assert "Returning players today 0 Yesterday: 1" in page.text
    week = world.run(ActivityReader(world.keeper).read_days(midnight + 4 * HOUR_MS)).week
    assert week
    assert (week.at, week.returning) == (find_start("week", midnight), 1)
    number = int(find_start("week", find_midnight(world, days_ago=0)) == week.at)
    page.assert_shown(
        f"This week since Monday: {number}. Each was away", f"{chart.label_step(midnight + HOUR_MS, HOUR_MS)} 2 2"
    )
    assert f"{chart.label_step(midnight, DAY_MS)} 4" in page.text  # hours played
    assert 'href="/console?range=7d" aria-current="true"' in page.html
    page = open_staff(world, ["audit.read"], "Reader").page("/console")
    page.assert_hidden("Over time", "New players today")
    assert "Latest changes" in page.text


def test_series_are_shared_and_left_out_without_a_database(root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, load = list[Any](), activity_series.load

    async def counted(*given: Any) -> Any:
        asked.append(given[1:])
        return await load(*given)

    monkeypatch.setattr(activity.activity_series, "load", counted)
    for _ in range(4):
        root.page("/console?from=2026-01-05&to=2026-01-07")
    assert len({repr(each) for each in asked}) == len(asked)
    assert len(asked) <= 3 * 2  # two series of the range, and one of today, which a new minute may read again

    async def fail(*_: Any) -> Any:
        raise DatabaseUnavailable("gone")

    monkeypatch.setattr(activity.activity_series, "load", fail)
    page = root.page("/console")
    assert "Over time" not in page.text
    assert "Players online" in page.text


REASON = "A lamp for each"
PLAYERS = (ANN, BOB, ZOE)


def give(
    world: World, quantity: int = 5, reason: str = REASON, players: tuple[str, ...] = ("Ann", "Bob", "Zoe")
) -> None:
    for name in players:
        body = {"itemid": COIN.id, "quantity": quantity}
        answer = world.post(f"/api/v1/players/{name}/items/give", body, headers={"x-reason": reason})
        assert answer.status == 200, answer.raw


def read_lines(world: World) -> list[latest.LatestLine]:
    return world.run(latest.load(world.keeper, accounts=True)).lines


def test_gifts_are_one_line_and_marked_when_undone(world: World, root: Keeper) -> None:
    job = bulking.run(world, "Ann", "Bob", "Zoe")
    changes = world.get(f"/api/keeper/v1/changes?request={job['RequestId']}").json["Changes"]
    page = root.page("/console")
    gift = f"Give 5 {TIMES_SIGN} Gold Coin: 3 players"
    assert f"{changes[0]['Seq']} Bulk job {gift} prize by Root" in page.text
    assert page.links[gift] == f"/console/bulk/{job['Id']}"
    assert "Bulk job changed" not in page.text
    give(world)
    seqs = [each.seq for each in world.ledger()[-3:]]
    for seq in seqs:
        assert world.post(f"/api/keeper/v1/changes/{seq}/undo").status == 200
    undos, gifts = read_lines(world)[:2]
    assert (undos.size, undos.is_undone, gifts.size, gifts.is_undone) == (3, False, 3, True)


def test_large_job_has_its_number_of_players_and_leaves_room_for_other_changes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latest, "LINES", 4)
    monkeypatch.setattr(latest, "MOST_READ", 6)
    monkeypatch.setattr(latest, "SCANNED_ROWS", 30)
    give(world, players=("Ann",), reason="before the job")
    players = ["Ann", "Bob", "Zoe", *bulking.add_players(world, 40)]
    give(world, players=("Bob",), reason="after the players")
    job = bulking.run(world, *players)
    give(world, players=("Zoe",), reason="after the job")
    undo = bulking.act(world, job["Id"], "undo").json["Id"]
    bulking.start(world, undo)
    bulking.work(world)
    hidden = world.run(latest.load(world.keeper, accounts=False)).lines
    assert [each.told.actor for each in hidden if each.told.reason == "after the players"] == [history.HIDDEN_NAME]
    newest, after, gifts, before = read_lines(world)
    assert (newest.summary, gifts.summary) == (
        f"Undo of: Give 5 {TIMES_SIGN} Gold Coin: 43 players",
        f"Give 5 {TIMES_SIGN} Gold Coin: 43 players",
    )
    assert [each.told.reason for each in (after, before)] == ["after the job", "after the players"]


def test_single_change_has_an_undo_button_for_those_who_may(world: World, root: Keeper) -> None:
    give(world, players=("Ann",))
    page = open_staff(world, ["players.read", "audit.read"], "Reader").page("/console")
    assert "Gold Coin" in page.text
    assert "/undo" not in page.html
    give(world, players=("Ann",))
    seq = read_lines(world)[0].told.seq
    form = root.page("/console").form("/console/act", "Undo")
    undo = f"/api/keeper/v1/changes/{seq}/undo"
    assert f'value="{undo}"' in root.page("/console").html
    shown = root.post("/console/act", {**form.fields, "path": undo})
    assert root.confirm(shown, "a mistake").status == 303
    assert [each.can_undo for each in read_lines(world)[:2]] == [True, False]


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
    page.assert_shown("Active players by day", "Active players by week", "Active players by month", "Sign-ins")
    page.assert_shown(f"{cohort['Day']} 2 1 (50 %) 0 (0 %) \u2014", "All days 2 1 (50 %) 0 (0 %) \u2014")
    assert root.page("/console").links["Weeks, months, sign-ins and retention"] == "/console/activity"
