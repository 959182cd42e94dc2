"""Holders of an item and a board of it, where every player has the item.

Compares the last page with the first, and the first page with that of a small game.
"""

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
from benchmarks.worlds import ENGINES, SMALL, BenchWorld
from gamekeeper.demo.world import COIN

PART = "T5-holders"
GROWTH_LIMIT, GROWTH_GOAL = 1.5, 1.25  # first page of a large game against that of a small one
PATHS = {  # what is listed → path of its operation
    "holders": f"/api/keeper/v1/economy/items/{COIN.id}/holders",
    "standings": f"/api/keeper/v1/boards/{counted.BOARD.Name}/standings",
}


def run(bench: Bench, _: Collection[str]) -> Results:
    found = Results()
    for engine in ENGINES:
        print(f"Holders of an item on {NAMES[engine]}, {bench.players:,} players", flush=True)
        world, small = (bench.worlds.get(engine, players) for players in (bench.players, SMALL))
        with ExitStack() as stack:
            asked = [*_ask(stack, world, (FIRST, LAST)), *(_ask(stack, small, (FIRST,)) if small != world else ())]
            measured = rounds.measure_interleaved(bench, PART, bench.players, asked)
            of_small = {_name(what, FIRST, size, small) for what, size in product(PATHS, LIMITS)}
            measured = [replace(each, players=SMALL) if each.candidate in of_small else each for each in measured]
        found.samples += measured
        found.verdicts += [_compare(measured, what, world, size) for what, size in product(PATHS, LIMITS)]
        if small != world:
            found.verdicts += [
                _compare_growth(measured, what, (world, small), size) for what, size in product(PATHS, LIMITS)
            ]
    return found


def _ask(stack: ExitStack, world: BenchWorld, places: Collection[str]) -> list[Candidate]:
    """Start a server of a counted world, and return what it is asked for."""
    counted.count(world)
    program = replace(servers.gamekeeper(world), environment=counted.ENVIRONMENT)
    program = replace(program, name=f"{program.name}-{world.players}")
    server = stack.enter_context(servers.running(program))
    return [
        Candidate(_name(what, place, size, world), server, Load(write_requests(what, place, size, world), world.tokens))
        for what, place, size in product(PATHS, places, LIMITS)
    ]


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


def _compare_growth(measured: list[Sample], what: str, worlds: tuple[BenchWorld, BenchWorld], size: int) -> Verdict:
    large, small = (rounds.of(measured, _name(what, FIRST, size, each), "cpu_us") for each in worlds)
    players = " vs. ".join(f"{each.players:,}" for each in worlds)
    about = f"{what}, first page of {size}, {NAMES[worlds[0].engine]}, {players} players"
    return Verdict(PART, about, ratio(large, small), GROWTH_LIMIT, GROWTH_GOAL, at_least=False)
