"""A clock that is ahead for a while closes no hours, and its sessions do not keep players from being active later."""

import pytest

from findings import findings
from gamekeeper.game.audit.retention import PROBATION_MS, RetentionJob
from gamekeeper.game.insight import activity
from gamekeeper.game.insight.activity import run_rollups
from gamekeeper.ground.instants import DAY_MS, HOUR_MS, format_instant
from people import ANN, BOB, ZOE
from playing import find_midnight, play, roll_up
from tidying import Clocks
from world import World

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
