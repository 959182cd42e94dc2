"""Holders of an item and a board of it: compare the last page with the first, where every player has the item."""

from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from pathlib import Path

from benchmarks import counted, rounds, servers
from benchmarks.lists import LIMITS, NAMES, name_of
from benchmarks.load import Load
from benchmarks.pages import FIRST, LAST
from benchmarks.results import Results, Sample, Verdict, ratio
from benchmarks.rounds import Bench, Candidate
from benchmarks.worlds import ENGINES, BenchWorld
from gamekeeper.demo.world import COIN

PART = "T5-holders"
PATHS = {  # what is listed → path of its operation
    "holders": f"/api/keeper/v1/economy/items/{COIN.id}/holders",
    "standings": f"/api/keeper/v1/boards/{counted.BOARD.name}/standings",
}


def run(bench: Bench, _: Collection[str]) -> Results:
    found = Results()
    for engine in ENGINES:
        print(f"Holders of an item on {NAMES[engine]}, {bench.players:,} players", flush=True)
        world = bench.worlds.get(engine, bench.players)
        counted.count(world)
        with ExitStack() as stack:
            program = replace(servers.gamekeeper(world), environment=counted.ENVIRONMENT)
            server = stack.enter_context(servers.running(program))
            asked = [
                Candidate(
                    _name(what, place, size, world),
                    server,
                    Load(write_requests(what, place, size, world), world.tokens),
                )
                for what, place, size in product(PATHS, (FIRST, LAST), LIMITS)
            ]
            measured = rounds.measure_interleaved(bench, PART, bench.players, asked)
        found.samples += measured
        found.verdicts += [_compare(measured, what, world, size) for what, size in product(PATHS, LIMITS)]
    return found


def _name(what: str, place: str, size: int, world: BenchWorld) -> str:
    return name_of(f"{what}, {place} page of {size}", world.engine, world.players)


def write_requests(what: str, place: str, size: int, world: BenchWorld) -> Path:
    number = 0 if place == FIRST else world.players // size - 1
    line = f"GET {PATHS[what]}?page={number}&pageSize={size}"
    return world.requests(f"{what}-{place}-{size}", lambda _: [line])


def _compare(measured: list[Sample], what: str, world: BenchWorld, size: int) -> Verdict:
    last, first = (rounds.of(measured, _name(what, place, size, world), "cpu_us") for place in (LAST, FIRST))
    about = f"{what}, last page of {size} vs. first, {NAMES[world.engine]}, {world.players:,} players"
    return Verdict(PART, about, ratio(last, first), *LIMITS[size], at_least=False)
