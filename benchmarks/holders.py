"""Holders of a ranked item: compare the last page with the first in a big world, where every player has it."""

import asyncio
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from pathlib import Path

from benchmarks import rounds, servers
from benchmarks.lists import LIMITS, NAMES, name_of
from benchmarks.load import Load
from benchmarks.pages import FIRST, LAST
from benchmarks.results import Results, Sample, Verdict, ratio
from benchmarks.rounds import Bench, Candidate
from benchmarks.worlds import ENGINES, BenchWorld
from gamekeeper import opening, settings
from gamekeeper.game.keeper import Keeper
from gamekeeper.http import samples

PART = "T5-holders"
RANKED = f"item:{samples.COIN}"  # an item that every player of the demo's loader has


def run(bench: Bench, _: Collection[str]) -> Results:
    found = Results()
    for engine in ENGINES:
        print(f"Holders of an item on {NAMES[engine]}, {bench.players:,} players", flush=True)
        world = bench.worlds.get(engine, bench.players)
        asyncio.run(_count(world))
        with ExitStack() as stack:
            program = replace(servers.gamekeeper(world), environment={"GAMEKEEPER_RANKED": RANKED})
            server = stack.enter_context(servers.running(program))
            asked = [
                Candidate(_name(place, size, world), server, Load(_write_requests(world, place, size), world.tokens))
                for size, place in product(LIMITS, (FIRST, LAST))
            ]
            measured = rounds.measure_interleaved(bench, PART, bench.players, asked)
        found.samples += measured
        found.verdicts += [_compare(measured, world, size) for size in LIMITS]
    return found


async def _count(world: BenchWorld) -> None:
    """Count the economy of a world once; it is kept with the world."""

    async def catch_up(keeper: Keeper) -> None:
        await keeper.economy.catch_up()

    await opening.run_with_keeper(settings.load({}, database=world.url, ranked=RANKED), catch_up)


def _name(place: str, size: int, world: BenchWorld) -> str:
    return name_of(f"holders, {place} page of {size}", world.engine, world.players)


def _write_requests(world: BenchWorld, place: str, size: int) -> Path:
    number = 0 if place == FIRST else world.players // size - 1
    line = f"GET /api/keeper/v1/economy/items/{samples.COIN}/holders?page={number}&pageSize={size}"
    return world.requests(f"holders-{place}-{size}", lambda _: [line])


def _compare(measured: list[Sample], world: BenchWorld, size: int) -> Verdict:
    last, first = (rounds.of(measured, _name(place, size, world), "cpu_us") for place in (LAST, FIRST))
    what = f"holders, last page of {size} vs. first, {NAMES[world.engine]}, {world.players:,} players"
    return Verdict(PART, what, ratio(last, first), *LIMITS[size], at_least=False)
