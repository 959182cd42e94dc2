"""Benchmark part T8-counting: what counting adds to a gift: play sessions, rollups, holdings, ranked lists and boards.

A gift does not wait for it: background jobs follow the audit log. So the CPU time of the load is taken together with
that of the seconds after it, until all its changes are counted.
"""

import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from benchmarks import altered, copies, counted, load, machine, rounds, servers
from benchmarks.counted import ENVIRONMENT
from benchmarks.load import Load
from benchmarks.results import Results, Sample, Verdict, ratio
from benchmarks.rounds import Bench
from benchmarks.servers import Program
from benchmarks.worlds import ENGINES, POSTGRES, SMALL, SQLITE, BenchWorld
from benchmarks.writes import give_lines
from gamekeeper.game.insight import activity

PART = "T8-counting"
NAMES = {SQLITE: "SQLite", POSTGRES: "PostgreSQL"}
WITHOUT, HOLDINGS, BOARD = "nothing counted", "holdings counted", "holdings, a ranked list and a board counted"
COPIES = {WITHOUT: "uncounted", HOLDINGS: "held", BOARD: "ranked"}
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
            copied = {name: stack.enter_context(_open_copy(world, name)) for name in COPIES}
            for number in range(bench.rounds):
                found.samples += [_measure(name, copied[name], number) for name in rounds.order([*COPIES], number)]
        found.verdicts += [_compare(found.samples, name, world) for name in (HOLDINGS, BOARD)]
    return found


@contextmanager
def _open_copy(world: BenchWorld, name: str) -> Generator[BenchWorld]:
    with copies.open_copy(world, COPIES[name]) as copy:
        if name != BOARD:
            copies.execute(copy, *NO_BOARD)
        if world.engine == POSTGRES:
            copies.execute(copy, NO_VACUUM)
        yield copy


def _measure(name: str, world: BenchWorld, number: int) -> Sample:
    """Measure one server alone, because others that are idle use the same PostgreSQL server."""
    given = Load(world.requests("gives", lambda dice: [*give_lines(world.players, dice)]), world.tokens, keyed=True)
    is_done = (lambda: True) if name == WITHOUT else (lambda: counted.is_up_to_date(world))
    with servers.running(_program_of(world, name)) as server:
        load.drive(server.port, given, WARM_UP_SECONDS)
        _wait(SETTLE_SECONDS, is_done)
        idle_before, started = machine.cpu_seconds(server.roots), time.monotonic()
        time.sleep(IDLE_SECONDS)
        before, idle = machine.cpu_seconds(server.roots), time.monotonic() - started
        started = time.monotonic()
        outcome = load.drive(server.port, given, LOAD_SECONDS)
        _wait(started + WINDOW_SECONDS - time.monotonic(), is_done)
        used, took = machine.cpu_seconds(server.roots) - before, time.monotonic() - started
    cpu_us = (used - (before - idle_before) * took / idle) * 1e6 / outcome.requests
    candidate = _name(name, world)
    print(f"  round {number + 1}  {candidate:70} {cpu_us:9.1f} µs, {outcome.requests} gifts, {took:.1f} s", flush=True)
    figures = (outcome.per_second, outcome.p50_ms, outcome.p99_ms)
    return Sample(PART, candidate, number, cpu_us, *figures, world.players)


def _program_of(world: BenchWorld, name: str) -> Program:
    program = replace(servers.gamekeeper(world), name=f"counting-{COPIES[name]}-{world.engine}")
    if name == WITHOUT:
        return servers.altered(world, altered.UNCOUNTED)
    return replace(program, environment=ENVIRONMENT) if name == BOARD else program


def _wait(seconds: float, is_done: Callable[[], bool]) -> None:
    """Wait this long, and then until all changes are counted."""
    time.sleep(max(seconds, 0))
    until = time.monotonic() + PATIENCE_SECONDS
    while not is_done():
        if time.monotonic() > until:
            raise machine.Stop(f"The changes were not counted within {PATIENCE_SECONDS} s.")
        time.sleep(LOOK_AGAIN_SECONDS)


def _compare(samples: Sequence[Sample], name: str, world: BenchWorld) -> Verdict:
    sides = (rounds.of(samples, _name(each, world), "cpu_us") for each in (name, WITHOUT))
    what = f"gift, {name} vs. {WITHOUT}, {NAMES[world.engine]}, {world.players:,} players"
    return Verdict(PART, what, ratio(*sides), LIMIT, GOAL, at_least=False)


def _name(name: str, world: BenchWorld) -> str:
    return f"gift, {name}, {NAMES[world.engine]}"
