"""First pages and gifts, compared with the flat functions on both engines and with the fastify peer on SQLite."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import product

import httpx

from benchmarks import copies, lists, lookups, machine, servers
from benchmarks.lookups import FASTIFY, FLAT_ON_POSTGRES, FLAT_ON_SQLITE, ON_POSTGRES, ON_SQLITE
from benchmarks.peers import same_answers
from benchmarks.peers.same_answers import Ask, Question, Reply
from benchmarks.results import Results, Sample, Verdict, compare
from benchmarks.rounds import Bench, Contest
from benchmarks.servers import Server
from benchmarks.worlds import POSTGRES, SMALL, SQLITE, BenchWorld
from gamekeeper.demo.world import COIN
from postgres_wire import PostgresWire

FLAT_PAGES, FLAT_GIFT, FASTIFY_PAGES, FASTIFY_GIFT = "T0-pages", "T0-gift", "T4-pages", "T4-gift"
PARTS = (FLAT_PAGES, FLAT_GIFT, FASTIFY_PAGES, FASTIFY_GIFT)
ENGINES = {SQLITE: (ON_SQLITE, FLAT_ON_SQLITE, FASTIFY), POSTGRES: (ON_POSTGRES, FLAT_ON_POSTGRES)}
# Most allowed (bar) and desired (goal) CPU time against the flat function; least and desired speed against fastify
OVER_FLAT, OVER_FASTIFY = (1.5, 1.25), (1.0, 1.5)
ROUND_TRIPS = (4, 4)  # most allowed (bar) and desired (goal) round trips of a gift
GIFTS = 10  # number of gifts of which the round trips are counted
NOT_RUN = f"{FASTIFY_PAGES}: not run: node or npm is missing, as for T4."
ABOUT = (
    f"{FLAT_GIFT}: each server gives in a copy of the database of its own, with an Idempotency-Key in every request. "
    "Before the measurement some gifts are compared, with the rows that they wrote."
)


def run(bench: Bench, parts: Collection[str]) -> Results:
    found = Results(notes=[ABOUT] if FLAT_GIFT in parts else [])
    beside = {FLAT_PAGES: FLAT_PAGES in parts, FLAT_GIFT: FLAT_GIFT in parts}
    if {FASTIFY_PAGES, FASTIFY_GIFT} & set(parts) and not servers.has_node():
        found.notes.append(NOT_RUN)
    for engine, names in ENGINES.items():
        for flat, fastify, measure in (
            (FLAT_PAGES, FASTIFY_PAGES, _measure_pages),
            (FLAT_GIFT, FASTIFY_GIFT, _measure_gifts),
        ):
            wanted = [name for name in names if name != FASTIFY and (name == names[0] or beside[flat])]
            wanted += [FASTIFY] if FASTIFY in names and fastify in parts and servers.has_node() else []
            if len(wanted) > 1:
                found.add(measure(bench, bench.worlds.get(engine, SMALL), wanted))
    return found


def _measure_pages(bench: Bench, world: BenchWorld, names: Sequence[str]) -> Results:
    print(f"First pages on {world.engine}, {SMALL:,} players", flush=True)
    paths = {size: lists.write_path("rank", lists.FIRST, size, SMALL) for size in lists.LIMITS}
    with Contest(bench, FLAT_PAGES) as contest:
        running = {name: contest.serve(lookups.CONTENDERS[name].program(world)) for name in names}
        _require_same({name: _ask(server, world) for name, server in running.items()}, _compare_pages)
        for size, (name, server) in product(paths, running.items()):
            requests = lists.load_page(world, "rank", lists.FIRST, size)
            contest.add(f"{name}, {_name_page(size)}", server, requests, SMALL)
        samples = contest.measure()
    return _judge(samples, names, [_name_page(size) for size in paths], (FLAT_PAGES, FASTIFY_PAGES))


def _name_page(size: int) -> str:
    return f"rank, first page of {size}"


def _measure_gifts(bench: Bench, world: BenchWorld, names: Sequence[str]) -> Results:
    """Measure gifts, each server on its own copy of the world."""
    print(f"Gifts on {world.engine}, {SMALL:,} players", flush=True)
    with Contest(bench, FLAT_GIFT) as contest:
        given = {
            name: contest.enter_context(copies.open_copy(world, f"gifts{place}")) for place, name in enumerate(names)
        }
        running = {name: contest.serve(lookups.CONTENDERS[name].program(copy)) for name, copy in given.items()}
        questions = list(same_answers.gifts(_ask(running[names[0]], world), COIN.id))
        asks = {name: _ask(server, world) for name, server in running.items()}
        first = [asks[names[0]](each) for each in questions]
        for name in names[1:]:
            _require_same_gifts(name, first, [asks[name](each) for each in questions])
            if same_answers.row_differences(given[names[0]].url, given[name].url):
                raise machine.Stop(f"Not a comparison: {name} writes other rows for a gift than {names[0]}.")
        for name, server in running.items():
            contest.add(f"{name}, gift", server, world.gives(), SMALL)
        found = _judge(contest.measure(), names, ["gift"], (FLAT_GIFT, FASTIFY_GIFT))
    if world.engine == POSTGRES:
        found.verdicts.append(_count_round_trips(bench, world))
    return found


def _count_round_trips(bench: Bench, world: BenchWorld) -> Verdict:
    """Count the round trips of a gift: the fewest of some, because background jobs use the database too."""
    with Contest(bench, "trips") as contest:
        copy = contest.enter_context(copies.open_copy(world, "trips"))
        wire = contest.enter_context(PostgresWire(copy.url))
        ask = _ask(contest.serve(servers.gamekeeper(replace(copy, url=wire.database))), world)
        path = f"/api/v1/players/{next(same_answers.some_players(ask, 1))['Id']}/items/give"
        fewest: list[int] = []
        for keyed in (False, True):
            counts: list[int] = []
            for number in range(GIFTS):
                before = wire.round_trips
                headers = {"Idempotency-Key": f"trip-{number}"} if keyed else {}
                ask(Question(path, headers, f'{{"itemid":"{COIN.id}","quantity":1}}'))
                counts.append(wire.round_trips - before)
            fewest.append(min(counts))
    what = f"gift, {ON_POSTGRES}: round trips to the database; with an Idempotency-Key: {fewest[1]}"
    return Verdict(FLAT_GIFT, what, fewest[0], *ROUND_TRIPS, at_least=False, unit="trips")


def _ask(server: Server, world: BenchWorld) -> Ask:
    return same_answers.asking(httpx.Client(base_url=f"http://127.0.0.1:{server.port}", headers=world.bearer))


def _require_same(asks: dict[str, Ask], find: Callable[[str, Ask, Ask], list[str]]) -> None:
    """Stop the benchmark if a peer does not answer like Gamekeeper."""
    (ours, ask), *others = asks.items()
    for name, other in others:
        if different := find(name, ask, other):
            raise machine.Stop(f"Not a comparison: {name} answers other than {ours}: {different[0]}")


def _require_same_gifts(name: str, ours: Sequence[Reply], peers: Sequence[Reply]) -> None:
    for mine, other in zip(ours, peers, strict=True):
        if (mine.status, mine.content) != (other.status, other.content) or (name != FASTIFY and mine != other):
            raise machine.Stop(f"Not a comparison: {name} answers {other}, and Gamekeeper {mine}.")


def _compare_pages(name: str, ours: Ask, peer: Ask) -> list[str]:
    """Compare bytes and headers with the flat function, which has those of Gamekeeper, and JSON with fastify."""
    return (same_answers.differences if name == FASTIFY else same_answers.exact_differences)(ours, peer)


def _judge(samples: Sequence[Sample], names: Sequence[str], kinds: Sequence[str], parts: tuple[str, str]) -> Results:
    """Compare Gamekeeper with each of the others. Each sample stands under each part that uses it."""
    found, ours = Results(), names[0]
    for name in names[1:]:
        part, bars = (parts[1], OVER_FASTIFY) if name == FASTIFY else (parts[0], OVER_FLAT)
        found.samples += [*_under(samples, part, (ours, name))]
        for kind in kinds:
            what, sides = f"{kind}, {ours} vs. {name}, {SMALL:,} players", [f"{each}, {kind}" for each in (ours, name)]
            measured = compare(samples, *(sides[::-1] if name == FASTIFY else sides))
            found.verdicts.append(Verdict(part, what, measured, *bars, at_least=name == FASTIFY))
    return found


def _under(samples: Sequence[Sample], part: str, names: tuple[str, str]) -> Iterator[Sample]:
    return (
        replace(each, scenario=part) for each in samples if each.candidate.startswith(tuple(f"{n}," for n in names))
    )
