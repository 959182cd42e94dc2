"""Latency of the first, middle and last page by number of players, for Gamekeeper and the peers."""

from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks import installs, lookups, rounds, servers
from benchmarks.latencies import TimedRequests, measure_rounds
from benchmarks.results import Results
from benchmarks.rounds import Bench
from benchmarks.worlds import MIDDLE, SMALL, BenchWorld

FIRST, IN_THE_MIDDLE, LAST, RANDOM = "first", "middle", "last", "random"
PARTS = tuple(f"pages {place}" for place in (FIRST, IN_THE_MIDDLE, LAST))
LISTS = {"rank": "/api/v1/players/rank", "names": "/api/v1/players", "users": "/api/v1/users"}
CONTENDERS = {
    "ours sqlite": lookups.CONTENDERS[lookups.ON_SQLITE],
    "ours postgres": lookups.CONTENDERS[lookups.ON_POSTGRES],
    "fastapi sqlite": lookups.CONTENDERS[lookups.ORM_ON_SQLITE],
    "fastapi postgres": lookups.CONTENDERS[lookups.ORM_ON_POSTGRES],
    "fastify sqlite": lookups.CONTENDERS[lookups.FASTIFY],
}
SIZE = 5
MANY_PAGES = 20_000


@dataclass(frozen=True)
class BenchPage:
    of: str  # name of the page's list, one of LISTS
    place: str
    size: int

    def __str__(self) -> str:
        return f"{self.of}, {self.place} page of {self.size}"

    def requests(self, world: BenchWorld) -> Path:
        name = f"{self.of}-{self.place}-{self.size}"
        return world.requests(name, lambda dice: [self.line(each) for each in self.numbers(world.players, dice)])

    def line(self, number: int) -> str:
        return f"GET {LISTS[self.of]}?page={number}&pageSize={self.size}"

    def numbers(self, players: int, dice: Random) -> list[int]:
        """Choose page numbers of a list; the last page is the last full one, because a shorter one would be cheaper."""
        last = players // self.size - 1
        if self.place == RANDOM:
            return [dice.randint(0, last) for _ in range(MANY_PAGES)]
        return [{FIRST: 0, IN_THE_MIDDLE: last // 2, LAST: last}[self.place]]


def run(bench: Bench, parts: Collection[str]) -> Results:
    """Request one page at a time, like a person; wrk would drop answers that take longer than its run."""
    note = f"{PARTS[0]}: the rank list, pages of {SIZE}; one request at a time, so that nobody waits for another."
    found = Results(notes=[note])
    for players in sizes(bench.players):
        print(f"Pages, {players:,} players", flush=True)
        with ExitStack() as stack:
            asked = [each for name in _candidates() for each in _list_requests(bench, stack, name, players, parts)]
            found.samples += measure_rounds(rounds.order(asked, number) for number in range(bench.rounds))
    return found


def sizes(largest: int) -> list[int]:
    return [*(each for each in (SMALL, MIDDLE) if each < largest), largest]


def _candidates() -> list[str]:
    there = installs.has_node()
    return [name for name, who in CONTENDERS.items() if there or who is not lookups.CONTENDERS[lookups.FASTIFY]]


def _list_requests(
    bench: Bench, stack: ExitStack, name: str, players: int, parts: Collection[str]
) -> list[TimedRequests]:
    who = CONTENDERS[name]
    world = bench.worlds.get(who.engine, players)
    server = stack.enter_context(servers.running(who.program(world)))
    bearer = {"Authorization": f"Bearer {world.tokens.read_text(encoding='utf-8').split()[0]}"}
    places = [part.partition(" ")[2] for part in parts]
    pages = [BenchPage("rank", place, SIZE) for place in places]
    paths = [page.requests(world).read_text(encoding="utf-8").split()[1] for page in pages]
    return [
        TimedRequests(part, name, server, (path,), bearer, players) for part, path in zip(parts, paths, strict=True)
    ]
