"""Activity over time: play sessions, series of numbers, retention, and clocks that are ahead."""

from typing import Any

import pytest

from expectations import refused
from findings import findings
from game_server import heartbeat, join, leave
from gamekeeper.game.audit.retention import PROBATION_MS, RetentionJob
from gamekeeper.game.insight import activity
from gamekeeper.game.insight.activity import run_rollups
from gamekeeper.ground.instants import DAY_MS, HOUR_MS, MINUTE_MS, format_instant, parse_instant
from people import ANN, BOB, ZOE, guid
from playing import find_midnight, invent_sessions, play, play_rows, read_sessions, roll_up
from tidying import Clocks, tidy
from world import MakeWorld, World

ACTIVITY = "/api/keeper/v1/activity"
ONE_HOUR, HALF_HOUR = HOUR_MS, HOUR_MS // 2


def points(world: World, step: str, since: int | None = None, to: int | None = None) -> dict[int, Any]:
    given = (("from", since), ("to", to))
    query = "".join(f"&{name}={format_instant(at)}" for name, at in given if at is not None)
    found = world.get(f"{ACTIVITY}?step={step}{query}").json["Points"]
    return {parse_instant(each["At"]): each for each in found}


def columns(found: dict[int, Any], *names: str) -> list[Any]:
    rows = [tuple(each[name] for name in names) for each in found.values()]
    return rows if len(names) > 1 else [row[0] for row in rows]


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
    found = points(world, "day", day[0], day[10])
    assert list(found) == day[:11]
    assert columns(found, "Active", "New", "Returning", "PlaySeconds") == [
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


def test_players_online_are_counted_per_minute_and_hour(world: World) -> None:
    old, now = find_midnight(world, 3), find_midnight(world, 1) + 12 * ONE_HOUR
    play(
        world,
        [
            (BOB.id, old, old + HALF_HOUR),
            (ANN.id, now + 30_000, now + 150_000),
            (BOB.id, now + 90_000, now + 91_000),
            (ZOE.id, now, now + HALF_HOUR),
        ],
    )
    roll_up(world)
    minutes = points(world, "minute", now - MINUTE_MS, now + 4 * MINUTE_MS)
    assert columns(minutes, "Online") == [0, 2, 2, 1, 1, 1]
    hours = ("Online", "OnlineMax", "Active", "Requests", "Errors")
    assert columns(points(world, "hour", now, now + 1), *hours) == [(round(32 / 60, 2), 2, None, 0, 0)]
    [day] = points(world, "day", now, now + 1).values()
    assert (day["Online"], day["OnlineMax"]) == (round(32 / 1440, 2), 2)
    assert columns(points(world, "hour", old, old + HOUR_MS), *hours) == [(0.5, 1, None, 0, 0), (0, 0, None, 0, 0)]


def test_open_session_is_counted_as_active_after_midnight_and_once(world: World) -> None:
    heartbeat(world, lease=3600)
    join(world, ANN.id)
    midnight = find_midnight(world, 2)
    world.run(play_rows(world.keeper, [], 5))
    world.sql("UPDATE play_sessions SET started_at = $1", midnight + 23 * HOUR_MS)
    roll_up(world)
    roll_up(world)
    shown = points(world, "day", midnight)
    assert columns(shown, "Active")[:2] == [1, 1]
    assert shown[midnight]["PlaySeconds"] == 3600
    leave(world, ANN.id)
    roll_up(world)
    assert columns(points(world, "day", midnight), "Active") == [1, 1, 1]
    assert findings(world, "activity") == []


def test_sign_ins_requests_and_errors_are_counted(world: World) -> None:
    hour = find_midnight(world, 1) + 5 * HOUR_MS
    play(world, [], days=3)
    world.run(activity.save_requests(world.keeper.store, 30, 2, 3))
    world.run(activity.save_requests(world.keeper.store, 4, 0, 4))
    assert world.sql("SELECT SUM(refused) FROM activity_minutes") == [(7,)]
    for step in ("minute", "hour", "day", "week", "month"):
        found = columns(points(world, step), "Requests", "Errors")
        assert [sum(each[number] or 0 for each in found) for number in (0, 1)] == [34, 2], step
    events = [("sign_in", hour), ("sign_in", hour + HOUR_MS - 1), ("sign_in", hour + HOUR_MS), ("token_issued", hour)]
    for number, (kind, at) in enumerate(events):
        world.insert("security_events", id=guid(0x3000 + number), at=at, kind=kind)
    roll_up(world)
    assert columns(points(world, "hour", hour - HOUR_MS, hour + HOUR_MS), "SignIns") == [0, 2, 1]
    assert columns(points(world, "day", hour, hour), "SignIns") == [3]


def test_range_is_limited_and_has_no_numbers_before_the_record(shared_world: World) -> None:
    [*_, before, _] = points(shared_world, "day").values()
    assert {name for name, value in before.items() if value is not None} == {"At"}
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
    assert columns(points(world, "day", start, start), "Active", "PlaySeconds") == [(1, 3600)]
    assert world.sql("SELECT play_ms FROM player_activity WHERE player_id = $1", ANN.id) == [(ONE_HOUR,)]
    assert findings(world, "activity") == []


def test_doctor_accepts_sessions_that_were_deleted_before_their_minutes(make_world: MakeWorld) -> None:
    world = make_world(session_days=1)
    now = world.now()
    hours = [(ANN.id, 100, 30), (BOB.id, 30, 29), (ZOE.id, 30, 2)]  # start and end, in hours before now
    play(world, [(player_id, now - start * HOUR_MS, now - end * HOUR_MS) for player_id, start, end in hours])
    roll_up(world)
    tidy(world)
    assert len(read_sessions(world)) == 1
    assert findings(world, "activity") == []
    world.sql("UPDATE activity_minutes SET ended = ended + 1 WHERE minute = $1", now // MINUTE_MS - 120)
    assert findings(world, "activity") != []


def test_player_who_joins_again_repairs_a_wrong_session(world: World) -> None:
    heartbeat(world)
    for fault in (
        "INSERT INTO play_sessions (player_id, server, started_at) VALUES ($1, 'one', 5)",
        "DELETE FROM play_sessions WHERE player_id = $1 AND ended_at IS NULL",
        "UPDATE play_sessions SET server = 'other' WHERE player_id = $1 AND ended_at IS NULL",
    ):
        world.sql(fault, ANN.id)
        assert findings(world, "activity") != []
        join(world, ANN.id)
        leave(world, ANN.id)
        assert findings(world, "activity") == []
        join(world, ANN.id)


def test_doctor_finds_wrong_rollups(world: World) -> None:
    midnight = find_midnight(world)
    world.compares = False  # the documents of the players have another time
    world.sql("UPDATE players SET created_at = $1", midnight)
    world.run(play_rows(world.keeper, invent_sessions([ANN.id, BOB.id], midnight, 10, 3), 10))
    world.sql("DELETE FROM security_events")
    for number in range(5):
        world.insert("security_events", id=guid(0x3000 + number), at=midnight - (9 - number) * DAY_MS, kind="sign_in")
    roll_up(world)
    assert findings(world, "activity") == []
    hour = midnight // HOUR_MS - 7 * 24
    faults = [
        ("activity_hours", "sign_ins", f"hour = {hour}"),
        ("activity_minutes", "started", f"minute >= {midnight // MINUTE_MS - 24 * 60}"),
        ("player_activity", "play_ms", "1 = 1"),
        ("rollups", "value", "name = 'online'"),
        ("activity_cohorts", "day1", "1 = 1"),
        ("activity_periods", "active", "step = 'week'"),
        ("activity_periods", "play_ms", "step = 'day'"),
        *(("activity_periods", name, "step = 'day'") for name in ("sign_ins", "online_max")),
    ]
    for table, column, where in faults:
        world.sql(f"UPDATE {table} SET {column} = {column} + 9 WHERE {where}")  # noqa: S608 - names from above
        assert findings(world, "activity") != [], (table, column)
        world.sql(f"UPDATE {table} SET {column} = {column} - 9 WHERE {where}")  # noqa: S608 - names from above
    assert findings(world, "activity") == []


AHEAD_MS = 400 * DAY_MS


def roll_up_by(world: World, retention: RetentionJob) -> None:
    """Run the rollups like the job of a serving process."""

    async def work() -> None:
        await run_rollups(world.keeper.store, activity.ROLLUPS, await retention.clock.find_time(), rest_factor=0)

    world.run(work())


def read_positions(world: World) -> list[int]:
    """Return the positions of the rollups that close hours, in hours."""
    found = dict(world.sql("SELECT name, position FROM rollups"))
    return [found["online"] // 60, found["sign_ins"]]


def read_active(world: World, day: int) -> int:
    at = format_instant(day)
    [point] = world.get(f"/api/keeper/v1/activity?step=day&from={at}&to={at}").json["Points"]
    return point["Active"]


@pytest.mark.parametrize("served", [0, PROBATION_MS])
def test_hours_are_not_closed_by_a_clock_that_jumped_ahead(world: World, served: int) -> None:
    midnight = find_midnight(world)
    play(world, [(ANN.id, midnight - 4 * DAY_MS, midnight - 4 * DAY_MS + HOUR_MS)], days=5)
    before = read_positions(world)
    clocks = Clocks()
    retention = clocks.of(world)
    roll_up_by(world, retention)
    clocks.advance(served, served + AHEAD_MS)
    roll_up_by(world, retention)
    assert read_positions(world) == before
    assert read_active(world, midnight - 4 * DAY_MS) == 1  # sessions are counted at once
    clocks.advance(0, -AHEAD_MS)
    roll_up_by(world, retention)
    clocks.advance(PROBATION_MS)
    roll_up_by(world, retention)
    online, sign_ins = read_positions(world)
    # near the present, whatever the time of day: the clock was 400 days ahead
    assert before[0] < online <= midnight // HOUR_MS
    assert before[1] < sign_ins <= midnight // HOUR_MS + 48
    assert findings(world, "activity") == []


def test_session_in_the_future_is_not_counted_and_stops_no_rollup(world: World) -> None:
    midnight = find_midnight(world)
    future = midnight + AHEAD_MS
    play(world, [(ANN.id, future, future), (BOB.id, midnight - DAY_MS, future), (ZOE.id, midnight - DAY_MS, midnight)])
    before = read_positions(world)
    roll_up(world)
    assert [each[0] for each in world.sql("SELECT player_id FROM play_sessions WHERE counted")] == [ZOE.id]
    assert all(new > old for old, new in zip(before, read_positions(world), strict=True))
    assert findings(world, "activity") == []
