"""The charts of the home page: their numbers, the time range in the address, and who sees them."""

from typing import Any

import pytest
from keepers import Keeper, open_session

import staff
from gamekeeper.console import activity, chart
from gamekeeper.console.activity import ActivityReader, make_charts
from gamekeeper.console.ticks import DAY_MS, HOUR_MS
from gamekeeper.console.time_range import TimeRange
from gamekeeper.game import activity_series
from gamekeeper.game.activity_series import Point
from gamekeeper.game.calendar_steps import find_start
from gamekeeper.store import users
from gamekeeper.store.engine import DatabaseUnavailable
from people import ANN, BOB
from playing import find_midnight, play, roll_up
from world import World

MIDNIGHT = 20_000 * DAY_MS
WEEK = TimeRange(MIDNIGHT, MIDNIGHT + 2 * DAY_MS, "7d")


def test_each_chart_has_its_numbers() -> None:
    fine = [Point(MIDNIGHT + hour * HOUR_MS, 1.5, 3, requests=20, errors=hour) for hour in range(48)]
    daily = [Point(MIDNIGHT + day * DAY_MS, active=7, new=day, returning=2, play_seconds=5400) for day in range(2)]
    charts = {each.name: each for each in make_charts(WEEK, fine, daily)}
    assert charts["online"].rows[0].texts == ["3", "1.5"]
    assert [each.texts for each in charts["new"].rows] == [["0", "2", "5"], ["1", "2", "4"]]
    assert charts["played"].rows[0].texts == ["1.5"]
    assert charts["played"].title == "Time played in hours"  # the axis has numbers only
    assert charts["requests"].rows[47].texts == ["20", "47"]
    assert [len(each.rows) for each in charts.values()] == [48, 2, 2, 48]
    assert [each.tone for each in charts["requests"].series] == ["1", "bad"]


def test_series_without_points_makes_empty_charts() -> None:
    assert all(each.is_empty for each in make_charts(WEEK, [], []))


def test_page_shows_players_of_the_past(world: World, root: Keeper) -> None:
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
    assert f"This week since Monday: {number}. Each was away" in page.text
    assert f"{chart.label_step(midnight + HOUR_MS, HOUR_MS)} 2 2" in page.text
    assert f"{chart.label_step(midnight, DAY_MS)} 4" in page.text  # hours played
    assert 'href="/console?range=7d" aria-current="true"' in page.html


def test_own_days_stay_in_the_form(shared_root: Keeper) -> None:
    page = shared_root.page("/console?from=2026-01-05&to=2026-01-07")
    assert 'name="from" value="2026-01-05"' in page.html
    assert 'name="to" value="2026-01-07"' in page.html
    assert 'aria-current="true"' not in page.html


@pytest.mark.parametrize("query", ["range=1y", "from=x", "from=2026-02-01&to=2026-01-01"])
def test_wrong_range_is_refused_with_a_link_back(shared_root: Keeper, query: str) -> None:
    answer = shared_root.get(f"/console?{query}")
    assert answer.status == 400
    assert 'href="/console"' in answer.raw.decode()


def test_charts_need_the_permission_to_see_players(world: World) -> None:
    staff.add_account(world, "Reader", staff.save_role(world, "reader", ["audit.read"]))
    user = world.run(users.find_by_fold(world.keeper.store, "reader"))
    assert user
    page = open_session(world, user.name, user.id).page("/console")
    assert "Over time" not in page.text
    assert "New players today" not in page.text
    assert "Latest changes" in page.text


def test_viewers_share_the_series(root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, load = list[Any](), activity_series.load

    async def counted(*given: Any) -> Any:
        asked.append(given[1:])
        return await load(*given)

    monkeypatch.setattr(activity.activity_series, "load", counted)
    for _ in range(4):
        root.page("/console?from=2026-01-05&to=2026-01-07")
    assert len({repr(each) for each in asked}) == len(asked)
    assert len(asked) <= 3 * 2  # two series of the range, and one of today, which a new minute may read again


def test_number_of_kept_series_is_limited(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity, "MOST_KEPT", 3)
    reader = activity.ActivityReader(world.keeper)
    for day in range(5):
        world.run(reader.read("day", MIDNIGHT, MIDNIGHT + day * DAY_MS))
    assert reader.kept == 3


def test_unreachable_database_leaves_out_the_charts(root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: Any) -> Any:
        raise DatabaseUnavailable("gone")

    monkeypatch.setattr(activity.activity_series, "load", fail)
    page = root.page("/console")
    assert "Over time" not in page.text
    assert "Players online" in page.text
