"""Lists: compare the last page with the first in a big world, and the big world with a small one.

T5 and T6 have the ordered lists, T5-holders the holders of an item and a board of it, where every player has the item.
"""

from collections.abc import Collection
from dataclasses import replace
from itertools import product

from benchmarks import counted, servers
from benchmarks.load import Load
from benchmarks.results import Results, Verdict, compare
from benchmarks.rounds import Bench, Contest
from benchmarks.worlds import ENGINES, POSTGRES, SMALL, SQLITE, BenchWorld
from gamekeeper.demo.world import COIN

LAST_VS_FIRST, BIG_VS_SMALL, HOLDERS = "T5", "T6", "T5-holders"
NAMES = {SQLITE: "SQLite", POSTGRES: "PostgreSQL"}
FIRST, LAST = "first", "last"
FEW, MANY = 5, 100  # page sizes: numbers of entries
# Page size: most allowed ratio (bar) and desired ratio (goal) of CPU time, last list page to first
LIMITS = {FEW: (2.0, 1.3), MANY: (1.5, 1.1)}
ORDERED = {"rank": "/api/v1/players/rank", "names": "/api/v1/players", "users": "/api/v1/users"}
COUNTED = {
    "holders": f"/api/keeper/v1/economy/items/{COIN.id}/holders",
    "standings": f"/api/keeper/v1/boards/{counted.BOARD.Name}/standings",
}
PATHS = ORDERED | COUNTED
# part → its lists, their page sizes, and most allowed and desired ratio of the first page in a big game to a small one
GROWTH = {BIG_VS_SMALL: (ORDERED, (FEW,), (1.5, 1.1)), HOLDERS: (COUNTED, (*LIMITS,), (1.5, 1.25))}


def write_path(name: str, place: str, size: int, players: int) -> str:
    """Write the path of a page; the last page is the last full one, because a shorter one would be cheaper."""
    return f"{PATHS[name]}?page={0 if place == FIRST else players // size - 1}&pageSize={size}"


def load_page(world: BenchWorld, name: str, place: str, size: int) -> Load:
    return world.load(f"{name}-{place}-{size}", lambda _: f"GET {write_path(name, place, size, world.players)}")


def run(bench: Bench, parts: Collection[str]) -> Results:
    found = Results()
    for engine in ENGINES:
        print(f"Lists on {NAMES[engine]}, {bench.players:,} players", flush=True)
        worlds = [bench.worlds.get(engine, players) for players in dict.fromkeys((bench.players, SMALL))]
        for part in parts:
            found.add(_measure(bench, part, worlds))
    return found


def _measure(bench: Bench, part: str, worlds: list[BenchWorld]) -> Results:
    """Measure first and last pages in the big world, and first pages in the small one."""
    big, small = worlds[0], worlds[-1]
    names, sizes, growth = GROWTH.get(part, (ORDERED, (*LIMITS,), None))
    with Contest(bench, part) as contest:
        for world in worlds if growth else worlds[:1]:
            program = servers.gamekeeper(world)
            if names is COUNTED:
                counted.count(world)
                program = replace(program, environment=counted.ENVIRONMENT)
            server = contest.serve(program, str(world.players))
            places = (FIRST,) if world is not big or part == BIG_VS_SMALL else (FIRST, LAST)
            for name, size, place in product(names, sizes, places):
                requests = load_page(world, name, place, size)
                contest.add(_name(name, place, size, world), server, requests, world.players)
        samples = contest.measure()
    found = Results(samples=samples)
    for name, size in product(names, sizes):
        first, last = (_name(name, place, size, big) for place in (FIRST, LAST))
        if part != BIG_VS_SMALL:
            what = f"{name}, last page of {size} vs. first, {NAMES[big.engine]}, {big.players:,} players"
            found.verdicts.append(Verdict(part, what, compare(samples, last, first), *LIMITS[size], at_least=False))
        if growth and small is not big:
            grown = compare(samples, first, _name(name, FIRST, size, small))
            what = f"{name}, first page of {size}, {NAMES[big.engine]}, {big.players:,} vs. {small.players:,} players"
            found.verdicts.append(Verdict(part, what, grown, *growth, at_least=False))
    return found


def _name(name: str, place: str, size: int, world: BenchWorld) -> str:
    return f"{name}, {place} page of {size}, {NAMES[world.engine]}, {world.players:,}"
