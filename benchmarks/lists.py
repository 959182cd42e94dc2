"""Lists: compare the last page with the first in a big world, and the big world with a small one."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from random import Random

from benchmarks import rounds, servers
from benchmarks.load import Load
from benchmarks.pages import FIRST, IN_THE_MIDDLE, LAST, LISTS, RANDOM, BenchPage
from benchmarks.results import Results, Sample, Verdict, ratio
from benchmarks.rounds import Bench, Candidate
from benchmarks.servers import Server
from benchmarks.worlds import ENGINES, POSTGRES, SMALL, SQLITE, BenchWorld
from gamekeeper.demo.world import make_numbered_name

LAST_VS_FIRST, BIG_VS_SMALL = "T5", "T6"
NAMES = {SQLITE: "SQLite", POSTGRES: "PostgreSQL"}
FEW, MANY = 5, 100  # page sizes: numbers of entries
# Page size: most allowed ratio (bar) and desired ratio (goal) of CPU time, last list page to first
LIMITS = {FEW: (2.0, 1.3), MANY: (1.5, 1.1)}
SIDES = [BenchPage(name, place, size) for name, size, place in product(LISTS, LIMITS, (FIRST, LAST))]
BETWEEN = [BenchPage(name, place, FEW) for name, place in product(LISTS, (IN_THE_MIDDLE, RANDOM))]
FIRSTS = [BenchPage(name, FIRST, FEW) for name in LISTS]
AROUND = 5
RANKS = f"rank of a player with {AROUND} on either side"
MANY_RANKS = 20_000


def run(bench: Bench, parts: Collection[str]) -> Results:
    found = Results()
    for engine in ENGINES:
        print(f"Lists on {NAMES[engine]}, {bench.players:,} players", flush=True)
        samples = _measure(bench, engine, parts)
        found.samples += [*under(samples, bench.players, parts)]
        if LAST_VS_FIRST in parts:
            found.verdicts += [last_vs_first(samples, engine, bench.players, *each) for each in product(LISTS, LIMITS)]
        if BIG_VS_SMALL in parts:
            found.verdicts += [big_vs_small(samples, engine, bench.players, page) for page in FIRSTS]
    return found


def name_of(what: object, engine: str, players: int) -> str:
    return f"{what}, {NAMES[engine]}, {players:,}"


def _measure(bench: Bench, engine: str, parts: Collection[str]) -> list[Sample]:
    """Measure all list pages on one engine in the same rounds: the first page is used by T5 and by T6."""
    with ExitStack() as stack:
        candidates = _in_world(stack, bench.worlds.get(engine, bench.players), big=LAST_VS_FIRST in parts)
        if BIG_VS_SMALL in parts and bench.players != SMALL:
            candidates += _in_world(stack, bench.worlds.get(engine, SMALL), big=False)
        return rounds.measure_interleaved(bench, LAST_VS_FIRST, bench.players, candidates)


def _in_world(stack: ExitStack, world: BenchWorld, *, big: bool) -> list[Candidate]:
    program = servers.gamekeeper(world)
    server = stack.enter_context(servers.running(replace(program, name=f"{program.name}-{world.players}")))
    found = [_candidate(page, world, server) for page in (*SIDES, *BETWEEN) if big or page in FIRSTS]
    return [*found, _ranks(world, server)] if big else found


def _candidate(page: BenchPage, world: BenchWorld, server: Server) -> Candidate:
    return Candidate(name_of(page, world.engine, world.players), server, Load(page.requests(world), world.tokens))


def _ranks(world: BenchWorld, server: Server) -> Candidate:
    requests = world.requests("ranks", lambda dice: [*rank_lines(world.players, dice)])
    return Candidate(name_of(RANKS, world.engine, world.players), server, Load(requests, world.tokens))


def rank_lines(players: int, dice: Random) -> Iterable[str]:
    for _ in range(MANY_RANKS):
        yield f"GET /api/v1/players/{make_numbered_name(dice.randrange(players))}/rank?around={AROUND}"


def under(samples: Iterable[Sample], players: int, parts: Collection[str]) -> Iterable[Sample]:
    """Yield each sample once for each benchmark part (T5, T6) that uses it, with its database's number of players."""
    firsts = {name_of(page, engine, size) for page in FIRSTS for engine in ENGINES for size in (players, SMALL)}
    for each in samples:
        small = each.candidate.endswith(f", {SMALL:,}")
        placed = replace(each, players=SMALL if small else players)
        if LAST_VS_FIRST in parts and not (small and players != SMALL):
            yield replace(placed, scenario=LAST_VS_FIRST)
        if BIG_VS_SMALL in parts and each.candidate in firsts:
            yield replace(placed, scenario=BIG_VS_SMALL)


def last_vs_first(samples: Sequence[Sample], engine: str, players: int, name: str, size: int) -> Verdict:
    last, first = (name_of(BenchPage(name, place, size), engine, players) for place in (LAST, FIRST))
    what = f"{name}, last page of {size} vs. first, {NAMES[engine]}, {players:,} players"
    return Verdict(LAST_VS_FIRST, what, _ratio(samples, last, first), *LIMITS[size], at_least=False)


def big_vs_small(samples: Sequence[Sample], engine: str, players: int, page: BenchPage) -> Verdict:
    big, small = (name_of(page, engine, each) for each in (players, SMALL))
    what = f"{page}, {NAMES[engine]}, {players:,} players vs. {SMALL:,}"
    return Verdict(BIG_VS_SMALL, what, _ratio(samples, big, small), 1.5, 1.1, at_least=False)


def _ratio(samples: Sequence[Sample], above: str, below: str) -> float:
    return ratio(*(rounds.of(samples, name, "cpu_us") for name in (above, below)))
