"""Rollups: killed after every step and repeated, they count everything once; two instances do not count twice."""

import asyncio
import itertools
import multiprocessing
import signal
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from findings import findings
from gamekeeper import app
from gamekeeper.game.insight import activity
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground import crash, settings
from gamekeeper.ground.instants import MINUTE_MS
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.players import presence
from people import ANN, BOB, ZOE
from playing import NUMBERS, find_midnight, invent_sessions, play_rows, roll_up
from world import World

pytestmark = pytest.mark.both_engines

PLAYERS = [ANN.id, BOB.id, ZOE.id]
TABLES = NUMBERS[:-1]
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["gamekeeper.app"])  # importing takes longer than most of the processes run


async def count(keeper: Keeper) -> None:
    """Count in small steps: the process is killed at a crash point, or ends when all is counted."""
    activity.BATCH_SESSIONS, activity.BATCH_HOURS = 8, 72
    await activity.run_rollups(keeper.store, activity.ROLLUPS[:2], await clock.now(keeper.store), rest_factor=0)


async def bring_on_and_off(keeper: Keeper) -> None:
    async def begin(tx: Writing) -> None:
        presence.save_server(tx, "one", 60000)
        await tx.flush()
        await presence.join(tx, "one", [ANN.id, BOB.id])

    async def end(tx: Writing) -> None:
        await presence.leave(tx, "one", [ANN.id, BOB.id])

    for _ in range(3):
        await keeper.store.write(begin)
        await keeper.store.write(end)


def work(point: str, url: str, act: Callable[[Keeper], Coroutine[Any, Any, None]]) -> None:
    armed, _, times = point.partition(":")
    for name, value in (("_armed", armed), ("_times", times), ("_passed", itertools.count(1))):
        setattr(crash, name, value)
    asyncio.run(app.run_with_keeper(settings.load({}, database=url, access_log=False), act))


def run(point: str, url: str, act: Callable[[Keeper], Coroutine[Any, Any, None]]) -> int | None:
    """Work in a process of its own until it ends or is killed at a crash point; return its exit code."""
    process = FORKS.Process(target=work, args=(point, url, act))
    process.start()
    process.join()
    return process.exitcode


# where a process is killed: after its first step is committed, or before its second one is
POINTS = ("after_commit:1", "before_commit:2")


def invent(world: World) -> None:
    """Invent sessions of the last 12 days, of players who are new."""
    midnight = find_midnight(world)
    world.sql("UPDATE players SET created_at = $1", midnight)
    world.run(play_rows(world.keeper, invent_sessions(PLAYERS, midnight, 12, 8), 12))


@pytest.mark.parametrize("point", POINTS)
def test_killed_rollup_counts_everything_once(world: World, point: str) -> None:
    invent(world)
    kills = 0
    while (status := run(point, world.url, count)) != 0:
        kills += 1
        assert status == -signal.SIGKILL
        assert findings(world, "activity") == []
    assert kills > 4
    assert world.sql("SELECT COUNT(*) FROM play_sessions WHERE NOT counted") == [(0,)]
    counted_in_steps = world.read_tables(TABLES)
    start_over(world)
    roll_up(world)
    assert world.read_tables(TABLES) == counted_in_steps


def start_over(world: World) -> None:
    """Forget everything that was counted."""
    for table in TABLES:
        world.sql(f"DELETE FROM {table}")  # noqa: S608 - names of the test's own
    world.sql("UPDATE play_sessions SET counted_to = NULL, counted = (1 = 0)")
    start = find_midnight(world, 12)
    world.sql("UPDATE rollups SET position = $1 WHERE name = 'activity'", start)
    world.sql("UPDATE rollups SET position = $1, value = 0 WHERE name = 'online'", start // MINUTE_MS)


def test_instances_that_count_together_count_nothing_twice(world: World) -> None:
    invent(world)
    store, now = world.keeper.store, world.now()
    world.at_once(activity.run_rollups(store, activity.ROLLUPS, now, rest_factor=0) for _ in range(4))
    roll_up(world)
    assert findings(world, "activity") == []
    assert world.sql("SELECT COUNT(*) FROM play_sessions WHERE NOT counted") == [(0,)]


@pytest.mark.parametrize("point", ["before_commit", "after_commit"])
def test_killed_process_loses_and_doubles_no_session(world: World, point: str) -> None:
    """Presence and sessions agree after each kill: a session is begun or ended with its presence, or neither."""
    expected = 0
    for number in range(1, 5):
        assert run(f"{point}:{number}", world.url, bring_on_and_off) == -signal.SIGKILL
        committed = number if point == "after_commit" else number - 1
        # a player that was still online after the kill before is not online anew
        online = world.sql("SELECT COUNT(*) FROM presence")[0][0]
        assert online == (2 if committed % 2 else 0)
        assert findings(world, "activity") == []
        world.sql("DELETE FROM presence")
        expected += 2 * ((committed + 1) // 2)
        assert world.sql("SELECT COUNT(*) FROM play_sessions WHERE ended_at IS NOT NULL") == [(expected,)]
