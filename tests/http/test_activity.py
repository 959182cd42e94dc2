"""Activity over time: play sessions, series of numbers, and retention."""

from itertools import product
from typing import Any

import pytest

from expectations import refused
from findings import findings
from game_server import heartbeat, join, leave
from gamekeeper.game import activity
from gamekeeper.game.activity import MINUTES_KEPT
from gamekeeper.game.calendar_steps import DAY_MS, HOUR_MS, MINUTE_MS, find_first_day
from gamekeeper.http.instants import format_instant, parse_instant
from people import ANN, BOB, USER_IDS, ZOE, guid
from playing import find_midnight, invent_sessions, play, play_rows, read_sessions, roll_up
from tidying import tidy
from world import World

ACTIVITY = "/api/keeper/v1/activity"
ONE_HOUR, HALF_HOUR = HOUR_MS, HOUR_MS // 2


def points(world: World, query: str) -> dict[int, Any]:
    return {parse_instant(each["At"]): each for each in world.get(f"{ACTIVITY}?{query}").json["Points"]}


# --- series -----------------------------------------------------------------------------------------------------------


def test_days_have_active_new_and_returning_players_and_play_time(world: World) -> None:
    world.sql("UPDATE players SET created_at = 1 WHERE id = $1", BOB.id)
    world.sql("UPDATE players SET created_at = $1 WHERE id <> $2", find_midnight(world, 20), BOB.id)
    day = [find_midnight(world, 20 - number) for number in range(21)]
    play(
        world,
        [
            (ANN.id, day[0] + ONE_HOUR, day[0] + 2 * ONE_HOUR),
            (ANN.id, day[0] + 3 * ONE_HOUR, day[0] + 4 * ONE_HOUR),
            (ANN.id, day[1], day[1] + HALF_HOUR),
            (BOB.id, day[1] - HALF_HOUR, day[1] + HALF_HOUR),  # over midnight
            (ZOE.id, day[1] + ONE_HOUR, day[1] + ONE_HOUR),  # no time at all
            (ANN.id, day[9], day[9] + 1000),  # after 8 days
            (ZOE.id, day[8], day[8] + 1000),  # after 7 days
        ],
        days=20,
    )
    roll_up(world)
    found = points(world, f"step=day&from={format_instant(day[0])}&to={format_instant(day[10])}")
    assert list(found) == day[:11]
    shown = [tuple(found[each][name] for name in ("Active", "New", "Returning", "PlaySeconds")) for each in day[:11]]
    assert shown == [
        (2, 1, 0, 2 * 3600 + 1800),
        (3, 1, 0, 3600),
        *[(0, 0, 0, 0)] * 6,
        (1, 0, 0, 1),
        (1, 0, 1, 1),
        (0, 0, 0, 0),
    ]
    assert findings(world, "activity") == []
    cohorts = world.get(f"{ACTIVITY}/retention?from={format_instant(day[0])}").json["Cohorts"]
    assert [tuple(each.values())[1:] for each in cohorts] == [(1, 1, 0, None), (1, 0, 1, None)]


def test_weeks_and_months_count_each_player_once(world: World) -> None:
    today = find_midnight(world) // DAY_MS
    monday = find_first_day("week", today) - 21
    world.sql("UPDATE players SET created_at = 1")
    at = [(monday + days) * DAY_MS for days in (0, 2, 14)]
    play(world, [(ANN.id, each, each + 1000) for each in at] + [(BOB.id, at[1], at[1] + 1)], days=40)
    roll_up(world)
    weeks = points(world, f"step=week&from={format_instant(at[0])}")
    assert [each["Active"] for each in weeks.values()] == [2, 0, 1, 0]
    assert [each["Returning"] for each in weeks.values()] == [0, 0, 1, 0]
    assert {each["New"] for each in weeks.values()} == {0}
    months = points(world, "step=month")
    assert len(months) == 12
    assert max(each["Active"] or 0 for each in months.values()) == 2
    assert findings(world, "activity") == []


def test_players_online_are_counted_per_minute_and_hour(world: World) -> None:
    now = find_midnight(world, 1) + 12 * ONE_HOUR
    play(
        world,
        [(ANN.id, now + 30_000, now + 150_000), (BOB.id, now + 90_000, now + 91_000), (ZOE.id, now, now + HALF_HOUR)],
    )
    roll_up(world)
    minutes = points(
        world, f"step=minute&from={format_instant(now - MINUTE_MS)}&to={format_instant(now + 4 * MINUTE_MS)}"
    )
    assert [each["Online"] for each in minutes.values()] == [0, 2, 2, 1, 1, 1]
    [hour] = points(world, f"step=hour&from={format_instant(now)}&to={format_instant(now + 1)}").values()
    assert (hour["Online"], hour["OnlineMax"]) == (round(32 / 60, 2), 2)
    assert hour["Active"] is None
    [day] = points(world, f"step=day&from={format_instant(now)}&to={format_instant(now + 1)}").values()
    assert (day["Online"], day["OnlineMax"]) == (round(32 / 1440, 2), 2)


def test_old_minutes_become_hours_with_the_same_numbers(world: World) -> None:
    midnight = find_midnight(world)
    players = [ANN.id, BOB.id, ZOE.id]
    world.run(play_rows(world.keeper, invent_sessions(players, midnight - 3 * HOUR_MS, 12, 5), 14))
    roll_up(world)
    position = world.sql("SELECT position FROM rollups WHERE name = 'online'")[0][0]
    assert position * MINUTE_MS > midnight - MINUTES_KEPT * MINUTE_MS - HOUR_MS
    assert world.sql("SELECT COUNT(*) FROM activity_hours")[0][0] > 24
    assert world.sql("SELECT COUNT(*) FROM activity_minutes WHERE minute < $1", position) == [(0,)]
    assert findings(world, "activity") == []
    hours = points(world, f"step=hour&from={format_instant(midnight - 10 * DAY_MS)}")
    days = points(world, f"step=day&from={format_instant(midnight - 10 * DAY_MS)}")
    for day, point in list(days.items())[:-1]:
        own = [each for at, each in hours.items() if day <= at < day + DAY_MS]
        assert point["OnlineMax"] == max(each["OnlineMax"] for each in own)
        assert point["Online"] == pytest.approx(sum(each["Online"] for each in own) / 24, abs=0.01)


def test_open_session_is_counted_as_active_after_midnight_and_once(world: World) -> None:
    heartbeat(world, lease=3600)
    join(world, ANN.id)
    midnight = find_midnight(world, 2)
    world.run(play_rows(world.keeper, [], 5))
    world.sql("UPDATE play_sessions SET started_at = $1", midnight + 23 * HOUR_MS)
    roll_up(world)
    roll_up(world)
    shown = points(world, f"step=day&from={format_instant(midnight)}")
    passed = [each["Active"] for each in shown.values()]
    assert passed[:2] == [1, 1]
    assert shown[midnight]["PlaySeconds"] == 3600
    leave(world, ANN.id)
    roll_up(world)
    assert [each["Active"] for each in points(world, f"step=day&from={format_instant(midnight)}").values()] == [1, 1, 1]
    assert findings(world, "activity") == []


def test_sign_ins_are_counted_by_hour(world: World) -> None:
    hour = find_midnight(world, 1) + 5 * HOUR_MS
    play(world, [], days=3)
    events = [("sign_in", hour), ("sign_in", hour + HOUR_MS - 1), ("sign_in", hour + HOUR_MS), ("token_issued", hour)]
    insert = "INSERT INTO security_events (id, at, kind) VALUES ($1, $2, $3)"
    for number, (kind, at) in enumerate(events):
        world.sql(insert, guid(0x3000 + number), at, kind)
    roll_up(world)
    found = points(world, f"step=hour&from={format_instant(hour - HOUR_MS)}&to={format_instant(hour + HOUR_MS)}")
    assert [each["SignIns"] for each in found.values()] == [0, 2, 1]
    [day] = points(world, f"step=day&from={format_instant(hour)}&to={format_instant(hour)}").values()
    assert day["SignIns"] == 3
    for counted, shown in ((0, None), (1, 3)):  # hours of that day that are counted
        position = find_midnight(world, 1) // HOUR_MS + counted
        world.sql("UPDATE rollups SET position = $1 WHERE name = 'sign_ins'", position)
        [day] = points(world, f"step=day&from={format_instant(hour)}&to={format_instant(hour)}").values()
        assert day["SignIns"] == shown


def test_requests_and_errors_are_counted(world: World) -> None:
    play(world, [], days=1)
    world.run(activity.save_requests(world.keeper.store, 30, 2))
    world.run(activity.save_requests(world.keeper.store, 4, 0))
    for step in ("minute", "hour", "day", "week", "month"):
        found = [each for each in points(world, f"step={step}").values() if each["Requests"]]
        assert sum(each["Requests"] for each in found) == 34
        assert sum(each["Errors"] for each in found) == 2


def test_time_before_the_record_has_no_numbers(shared_world: World) -> None:
    [*_, before, _] = points(shared_world, "step=day").values()
    assert {name for name, value in before.items() if value is not None} == {"At"}


def test_too_long_range_and_unknown_step_are_refused(shared_world: World) -> None:
    refused(shared_world.get(f"{ACTIVITY}?step=minute&from=2020-01-01"), 400, "bad_field", "more than 3,000 points")
    refused(shared_world.get(f"{ACTIVITY}?step=year"), 400, "bad_field", "step")
    refused(shared_world.get(f"{ACTIVITY}/retention?from=1990-01-01"), 400, "bad_field", "more than 3,000 points")


# --- retention of the rows --------------------------------------------------------------------------------------------


def test_old_sessions_are_deleted_after_they_were_counted_and_numbers_stay(world: World) -> None:
    start = find_midnight(world, 100)
    play(world, [(ANN.id, start, start + ONE_HOUR), (BOB.id, start + 99 * DAY_MS, start + 99 * DAY_MS + 1)], days=110)
    tidy(world)
    assert len(read_sessions(world)) == 2  # not counted yet
    roll_up(world)
    tidy(world)
    assert [each[0] for each in read_sessions(world)] == [BOB.id]
    [day] = points(world, f"step=day&from={format_instant(start)}&to={format_instant(start)}").values()
    assert (day["Active"], day["PlaySeconds"]) == (1, 3600)
    assert world.sql("SELECT play_ms FROM player_activity WHERE player_id = $1", ANN.id) == [(ONE_HOUR,)]
    assert findings(world, "activity") == []


@pytest.mark.parametrize(
    "fault",
    [
        "UPDATE activity_periods SET active = active + 1 WHERE step = 'week'",
        "UPDATE activity_periods SET play_ms = play_ms - 1 WHERE step = 'day'",
        "UPDATE activity_cohorts SET day1 = day1 + 1",
        "UPDATE activity_hours SET online_sum = online_sum + 1",
        "UPDATE activity_minutes SET started = started + 1",
        "UPDATE player_activity SET play_ms = play_ms + 1",
        "UPDATE rollups SET value = value + 1 WHERE name = 'online'",
        "DELETE FROM play_sessions WHERE counted",
    ],
)
def test_doctor_finds_wrong_rollups(world: World, fault: str) -> None:
    midnight = find_midnight(world)
    world.sql("UPDATE players SET created_at = $1", midnight)
    world.run(play_rows(world.keeper, invent_sessions([ANN.id, BOB.id], midnight, 10, 3), 10))
    roll_up(world)
    assert findings(world, "activity") == []
    world.sql(fault)
    assert findings(world, "activity") != []


@pytest.mark.parametrize(
    "fault",
    [
        "DELETE FROM play_sessions WHERE player_id = $1 AND ended_at IS NULL",
        "UPDATE play_sessions SET server = 'other' WHERE player_id = $1 AND ended_at IS NULL",
        "INSERT INTO play_sessions (player_id, server, started_at) VALUES ($1, 'one', 5)",
    ],
)
def test_player_who_joins_again_repairs_a_wrong_session(world: World, fault: str) -> None:
    heartbeat(world)
    if "INSERT" not in fault:
        join(world, ANN.id)
    world.sql(fault, ANN.id)
    found = findings(world, "activity")
    assert found
    assert all(each.message.endswith("Let the player join the game and leave it.") for each in found)
    join(world, ANN.id)
    leave(world, ANN.id)
    assert findings(world, "activity") == []
    join(world, ANN.id)
    assert findings(world, "activity") == []


def test_doctor_compares_periods_with_hours_and_sign_ins_with_events(world: World) -> None:
    midnight = find_midnight(world)
    world.run(play_rows(world.keeper, invent_sessions([ANN.id, BOB.id], midnight, 10, 3), 10))
    world.sql("DELETE FROM security_events")
    insert = "INSERT INTO security_events (id, at, kind) VALUES ($1, $2, 'sign_in')"
    for number in range(5):
        world.sql(insert, guid(0x3000 + number), midnight - (9 - number) * DAY_MS)
    requests = "INSERT INTO activity_minutes (minute, requests, errors) VALUES ($1, 9, 2)"
    world.sql(requests, midnight // MINUTE_MS - 5 * 24 * 60 + 1)
    roll_up(world)
    assert findings(world, "activity") == []
    hour = midnight // HOUR_MS - 7 * 24
    names = ("sign_ins", "online_sum", "online_max", "requests", "errors")
    faults = [
        f"UPDATE activity_hours SET sign_ins = sign_ins + 9 WHERE hour = {hour}",  # noqa: S608 - names of the test's own
        *(
            f"UPDATE activity_periods SET {name} = {name} + 9 WHERE step = '{step}'"  # noqa: S608 - names of the test's own
            for step, name in product(("day", "week", "month"), names)
        ),
    ]
    for fault in faults:
        world.sql(fault)
        assert findings(world, "activity") != [], fault
        world.sql(fault.replace("+ 9", "- 9"))
    assert findings(world, "activity") == []
    event = "DELETE FROM security_events WHERE id = $1"
    world.sql(event, guid(0x3002))
    assert findings(world, "activity") != []
    assert world.call("DELETE", f"/api/v1/users/{USER_IDS['Bob']}", by="Root").status == 200
    assert findings(world, "activity") == []  # it may have been an event of the account that was erased
