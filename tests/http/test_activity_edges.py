"""Activity over time at its edges: deleted players and sessions, early times, and hours that are not stored."""

from collections.abc import Callable
from typing import Any

import pytest

from expectations import refused
from findings import findings
from gamekeeper.game import erasure_jobs
from gamekeeper.game.calendar_steps import HOUR_MS, MINUTE_MS, STEPS
from gamekeeper.http.instants import format_instant
from gamekeeper.store import clock
from people import ANN, BOB, ZOE
from playing import find_midnight, play, roll_up
from tidying import tidy
from world import World

ACTIVITY = "/api/keeper/v1/activity"


def points(world: World, query: str) -> list[Any]:
    return world.get(f"{ACTIVITY}?{query}").json["Points"]


@pytest.mark.parametrize("path", ["/api/v1/players/Ann", "/api/v1/users/Ann"])
def test_deleted_player_is_not_new(world: World, path: str) -> None:
    """It was created before sessions were recorded, and is deleted or erased before its session is counted."""
    start = find_midnight(world, 2)
    world.compares = False  # the documents of the players have another time
    world.sql("UPDATE players SET created_at = 1")
    play(world, [(ANN.id, start, start + 1000)])
    assert world.call("DELETE", path).status == 200
    world.run(erasure_jobs.run_all_jobs(world.keeper.store))
    roll_up(world)
    [day] = points(world, f"step=day&from={format_instant(start)}&to={format_instant(start)}")
    assert (day["Active"], day["New"]) == (1, 0)
    assert world.get(f"{ACTIVITY}/retention?from={format_instant(start)}").json["Cohorts"] == []
    assert findings(world, "activity") == []


@pytest.mark.parametrize("query", [*(f"?step={step}&" for step in STEPS), "/retention?"])
def test_time_before_1970_is_refused(shared_world: World, query: str) -> None:
    for name in ("from", "to"):
        answer = shared_world.get(f"{ACTIVITY}{query}{name}=0001-01-05T00:00:00Z")
        refused(answer, 400, "bad_field", "must not be before 1970")
        assert name in answer.message
    assert shared_world.get(f"{ACTIVITY}{query}to=1970-01-01T00:00:00Z").status == 200


def test_hour_that_is_neither_stored_nor_open_has_no_numbers_of_players(world: World) -> None:
    hour = find_midnight(world, 3)
    play(world, [(ANN.id, hour, hour + HOUR_MS // 2)], days=4)
    roll_up(world)
    query = f"step=hour&from={format_instant(hour)}&to={format_instant(hour + HOUR_MS)}"
    names = ("Online", "OnlineMax", "Requests", "Errors")
    shown = [tuple(each[name] for name in names) for each in points(world, query)]
    assert shown == [(0.5, 1, 0, 0), (0, 0, 0, 0)]
    world.sql("DELETE FROM activity_hours WHERE hour = $1", hour // HOUR_MS + 1)
    shown = [tuple(each[name] for name in names) for each in points(world, query)]
    assert shown == [(0.5, 1, 0, 0), (None, None, None, None)]


def count_sessions(world: World) -> int:
    return world.sql("SELECT COUNT(*) FROM play_sessions")[0][0]


def test_doctor_accepts_sessions_that_were_deleted_before_their_minutes(make_world: Callable[..., World]) -> None:
    world = make_world(session_days=1)
    now = world.run(clock.now(world.keeper.store))
    hours = [(ANN.id, 100, 30), (BOB.id, 30, 29), (ZOE.id, 30, 2)]  # start and end, in hours before now
    play(world, [(player_id, now - start * HOUR_MS, now - end * HOUR_MS) for player_id, start, end in hours])
    roll_up(world)
    tidy(world)
    assert count_sessions(world) == 1
    assert findings(world, "activity") == []
    world.sql("UPDATE activity_minutes SET ended = ended + 1 WHERE minute = $1", now // MINUTE_MS - 120)
    assert findings(world, "activity") != []
