"""Benchmark part T8-counting: what counting adds to a gift: play sessions, rollups, holdings, ranked lists and boards.

A gift does not wait for it: background jobs follow the audit log. So the CPU time of the load is taken together with
that of the seconds after it, until all its changes are counted.
"""

import time
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import replace

from benchmarks import altered, copies, counted, load, machine, rounds, servers
from benchmarks.counted import ENVIRONMENT
from benchmarks.lists import NAMES
from benchmarks.results import Results, Sample, Verdict, compare
from benchmarks.rounds import Bench
from benchmarks.worlds import ENGINES, POSTGRES, SMALL, BenchWorld
from gamekeeper.game.insight import activity

PART = "T8-counting"
WITHOUT, HOLDINGS, BOARD = "nothing counted", "holdings counted", "holdings, a ranked list and a board counted"
WAYS = (WITHOUT, HOLDINGS, BOARD)
LIMIT, GOAL = 1.15, 1.1
WARM_UP_SECONDS = 3
SETTLE_SECONDS = 4  # twice the interval of the jobs that count
LOAD_SECONDS = 5
IDLE_SECONDS = 6  # three times the interval of the jobs that count
# seconds from the start of the load to the end of a measurement: each job runs at least once
WINDOW_SECONDS = activity.ROLLUP_SECONDS + 2
LOOK_AGAIN_SECONDS = 0.5
PATIENCE_SECONDS = 120
NO_BOARD = (
    "DELETE FROM ranked_lists",
    "DELETE FROM ranked_buckets",
    "DELETE FROM bucket_blocks WHERE kind <> 'season'",
    "UPDATE seasons SET final = TRUE",
)
# autovacuum is off in all copies: it could run in one while another is measured
NO_VACUUM = """DO $$ DECLARE r regclass; BEGIN
FOR r IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = CAST('public' AS regnamespace)
LOOP EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', r); END LOOP; END $$"""
ABOUT = (
    f"{LOAD_SECONDS} s of gifts of one item to random players, each with an Idempotency-Key, and the time until "
    f"all are counted, at least {WINDOW_SECONDS:.0f} s in all. The server without counting runs the same program with "
    "the jobs of the economy, the boards and the rollups replaced by nothing. What the idle server used before, in "
    "the same time, is taken off."
)


def run(bench: Bench, _: Collection[str]) -> Results:
    found = Results(notes=[f"{PART}: {ABOUT}"])
    for engine in ENGINES:
        world = bench.worlds.get(engine, SMALL)
        print(f"Gifts with and without counting on {NAMES[engine]}, {world.players:,} players", flush=True)
        counted.count(world)
        with ExitStack() as stack:
            copied = {
                way: stack.enter_context(copies.open_copy(world, f"way{place}")) for place, way in enumerate(WAYS)
            }
            for way, copy in copied.items():
                copies.execute(copy, *(NO_BOARD if way != BOARD else ()), *([NO_VACUUM] * (engine == POSTGRES)))
            for number in range(bench.rounds):
                found.samples += [_measure(way, copied[way], number) for way in rounds.order(WAYS, number)]
        for way in (HOLDINGS, BOARD):
            what = f"gift, {way} vs. {WITHOUT}, {NAMES[engine]}, {world.players:,} players"
            added = compare(found.samples, _name(way, world), _name(WITHOUT, world))
            found.verdicts.append(Verdict(PART, what, added, LIMIT, GOAL, at_least=False))
    return found


def _measure(way: str, world: BenchWorld, number: int) -> Sample:
    """Measure one server alone, because others that are idle use the same PostgreSQL server."""
    program = servers.altered(world, altered.UNCOUNTED) if way == WITHOUT else servers.gamekeeper(world)
    if way == BOARD:
        program = replace(program, environment=ENVIRONMENT)
    is_done = (lambda: True) if way == WITHOUT else (lambda: counted.is_up_to_date(world))
    with servers.running(program) as server:
        load.drive(server.port, world.gives(), WARM_UP_SECONDS)
        _wait(SETTLE_SECONDS, is_done)
        idle_before, started = machine.cpu_seconds(server.roots), time.monotonic()
        time.sleep(IDLE_SECONDS)
        before, idle = machine.cpu_seconds(server.roots), time.monotonic() - started
        started = time.monotonic()
        outcome = load.drive(server.port, world.gives(), LOAD_SECONDS)
        _wait(started + WINDOW_SECONDS - time.monotonic(), is_done)
        used, took = machine.cpu_seconds(server.roots) - before, time.monotonic() - started
    seconds = (used - (before - idle_before) * took / idle) / outcome.requests
    return rounds.make_sample(PART, _name(way, world), number, seconds, outcome, world.players)


def _wait(seconds: float, is_done: Callable[[], bool]) -> None:
    """Wait this long, and then until all changes are counted."""
    time.sleep(max(seconds, 0))
    until = time.monotonic() + PATIENCE_SECONDS
    while not is_done():
        if time.monotonic() > until:
            raise machine.Stop(f"The changes were not counted within {PATIENCE_SECONDS} s.")
        time.sleep(LOOK_AGAIN_SECONDS)


def _name(way: str, world: BenchWorld) -> str:
    return f"gift, {way}, {NAMES[world.engine]}"
