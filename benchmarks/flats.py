"""First pages and gifts, compared with the flat functions on both engines and with the fastify peer on SQLite."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from itertools import product

import httpx

from benchmarks import copies, installs, lookups, machine, round_trips, rounds, servers
from benchmarks.load import Load
from benchmarks.lookups import FASTIFY, FLAT_ON_POSTGRES, FLAT_ON_SQLITE, ON_POSTGRES, ON_SQLITE
from benchmarks.pages import FIRST, BenchPage
from benchmarks.peers import same_answers
from benchmarks.peers.same_answers import Ask, Question
from benchmarks.results import Results, Sample, Verdict, ratio
from benchmarks.rounds import Bench, Candidate
from benchmarks.servers import Server
from benchmarks.worlds import POSTGRES, SMALL, SQLITE, BenchWorld
from benchmarks.writes import give_lines
from gamekeeper.demo.world import COIN

FLAT_PAGES, FLAT_GIFT, FASTIFY_PAGES, FASTIFY_GIFT = "T0-pages", "T0-gift", "T4-pages", "T4-gift"
PARTS = (FLAT_PAGES, FLAT_GIFT, FASTIFY_PAGES, FASTIFY_GIFT)
PAGES = [BenchPage("rank", FIRST, size) for size in (5, 100)]
# Most allowed (bar) and desired (goal) CPU time against the flat function; least and desired speed against fastify
OVER_FLAT, OVER_FASTIFY = (1.5, 1.25), (1.0, 1.5)
ROUND_TRIPS = (4, 4)  # most allowed (bar) and desired (goal) round trips of a gift
GIFTS = 10  # number of gifts of which the round trips are counted
NOT_RUN = f"{FASTIFY_PAGES}: not run: node or npm is missing, as for T4."
ABOUT = (
    f"{FLAT_GIFT}: each server gives in a copy of the database of its own, with an Idempotency-Key in every request. "
    "Before the measurement some gifts are compared, with the rows that they wrote."
)


@dataclass(frozen=True)
class Contest:
    """Servers on one engine that are measured in the same rounds, and the parts that their comparisons belong to."""

    engine: str
    ours: str
    flat: str | None
    fastify: str | None

    @property
    def names(self) -> list[str]:
        return [each for each in (self.ours, self.flat, self.fastify) if each]


def run(bench: Bench, parts: Collection[str]) -> Results:
    found = Results(notes=[ABOUT] if FLAT_GIFT in parts else [])
    if {FASTIFY_PAGES, FASTIFY_GIFT} & set(parts) and not installs.has_node():
        found.notes.append(NOT_RUN)
    for contest in _contests(parts, FLAT_PAGES, FASTIFY_PAGES):
        found.add(_measure_pages(bench, contest))
    for contest in _contests(parts, FLAT_GIFT, FASTIFY_GIFT):
        found.add(_measure_gifts(bench, contest))
    return found


def _contests(parts: Collection[str], flat: str, fastify: str) -> Iterator[Contest]:
    beside = FASTIFY if fastify in parts and installs.has_node() else None
    for engine, ours, bare in ((SQLITE, ON_SQLITE, FLAT_ON_SQLITE), (POSTGRES, ON_POSTGRES, FLAT_ON_POSTGRES)):
        contest = Contest(engine, ours, bare if flat in parts else None, beside if engine == SQLITE else None)
        if len(contest.names) > 1:
            yield contest


def _measure_pages(bench: Bench, contest: Contest) -> Results:
    print(f"First pages on {contest.engine}, {SMALL:,} players", flush=True)
    world = bench.worlds.get(contest.engine, SMALL)
    with ExitStack() as stack:
        running = {name: stack.enter_context(_serve(name, world)) for name in contest.names}
        candidates = [
            Candidate(f"{name}, {page}", server, Load(page.requests(world), world.tokens))
            for page, (name, server) in product(PAGES, running.items())
        ]
        paths = [page.line(0).split()[1] for page in PAGES]
        _require_same(
            {name: [_ask(server, world)(Question(path)).content for path in paths] for name, server in running.items()}
        )
        samples = rounds.measure_interleaved(bench, FLAT_PAGES, SMALL, candidates)
    found = [_compare(contest, samples, str(page), (FLAT_PAGES, FASTIFY_PAGES)) for page in PAGES]
    return Results(
        samples=[*_under(samples, contest, (FLAT_PAGES, FASTIFY_PAGES))],
        verdicts=[each for some in found for each in some],
    )


def _measure_gifts(bench: Bench, contest: Contest) -> Results:
    """Measure gifts, each server on its own copy of the world."""
    print(f"Gifts on {contest.engine}, {SMALL:,} players", flush=True)
    world = bench.worlds.get(contest.engine, SMALL)
    lines = world.requests("gives", lambda dice: [*give_lines(world.players, dice)])
    with ExitStack() as stack:
        given = {
            name: stack.enter_context(copies.open_copy(world, f"gifts{place}"))
            for place, name in enumerate(contest.names)
        }
        running = {name: stack.enter_context(_serve(name, copy)) for name, copy in given.items()}
        _require_same_gifts(given, running)
        candidates = [
            Candidate(f"{name}, gift", server, Load(lines, world.tokens, keyed=True))
            for name, server in running.items()
        ]
        samples = rounds.measure_interleaved(bench, FLAT_GIFT, SMALL, candidates)
        trips = [_count_round_trips(given[contest.ours])] if contest.engine == POSTGRES else []
    return Results(
        samples=[*_under(samples, contest, (FLAT_GIFT, FASTIFY_GIFT))],
        verdicts=[*_compare(contest, samples, "gift", (FLAT_GIFT, FASTIFY_GIFT)), *trips],
    )


def _count_round_trips(world: BenchWorld) -> Verdict:
    """Count the round trips of a gift: the fewest of some, because background jobs use the database too."""
    with round_trips.counting(world.url) as counter, _serve(ON_POSTGRES, replace(world, url=counter.url)) as server:
        ask = _ask(server, world)
        path = f"/api/v1/players/{next(same_answers.some_players(ask, 1))['Id']}/items/give"
        body = f'{{"itemid":"{COIN.id}","quantity":1}}'
        fewest: list[int] = []
        for keyed in (False, True):
            counts: list[int] = []
            for number in range(GIFTS):
                before = counter.count
                ask(Question(path, {"Idempotency-Key": f"trip-{number}"} if keyed else {}, body))
                counts.append(counter.count - before)
            fewest.append(min(counts))
    what = f"gift, {ON_POSTGRES}: round trips to the database; with an Idempotency-Key: {fewest[1]}"
    return Verdict(FLAT_GIFT, what, fewest[0], *ROUND_TRIPS, at_least=False, unit="trips")


def _serve(name: str, world: BenchWorld) -> AbstractContextManager[Server]:
    program = lookups.CONTENDERS[name].program(world)
    return servers.running(replace(program, name=f"{program.name}-flats"))


def _ask(server: Server, world: BenchWorld) -> Ask:
    bearer = {"Authorization": f"Bearer {world.tokens.read_text(encoding='utf-8').split()[0]}"}
    return same_answers.asking(httpx.Client(base_url=f"http://127.0.0.1:{server.port}", headers=bearer))


def _require_same(answers: dict[str, list[bytes]]) -> None:
    (ours, expected), *others = answers.items()
    for name, found in others:
        if found != expected:
            raise machine.Stop(f"Not a comparison: {name} answers other than {ours}.")


def _require_same_gifts(given: dict[str, BenchWorld], running: dict[str, Server]) -> None:
    """Stop the benchmark if a peer answers a gift otherwise, or writes other rows."""
    asks = {name: _ask(server, given[name]) for name, server in running.items()}
    questions = list(same_answers.gifts(next(iter(asks.values())), COIN.id))
    _require_same({name: [ask(each).content for each in questions] for name, ask in asks.items()})
    (ours, mine), *others = given.items()
    for name, world in others:
        if same_answers.row_differences(mine.url, world.url):
            raise machine.Stop(f"Not a comparison: {name} writes other rows for a gift than {ours}.")


def _compare(contest: Contest, samples: Sequence[Sample], what: str, bars: tuple[str, str]) -> Iterable[Verdict]:
    def of(name: str) -> dict[int, float]:
        return rounds.of(samples, f"{name}, {what}", "cpu_us")

    ours = of(contest.ours)
    said = f"{what}, {contest.ours} vs. {{}}, {SMALL:,} players"
    if contest.flat:
        yield Verdict(bars[0], said.format(contest.flat), ratio(ours, of(contest.flat)), *OVER_FLAT, at_least=False)
    if contest.fastify:
        measured = ratio(of(contest.fastify), ours)
        yield Verdict(bars[1], said.format(contest.fastify), measured, *OVER_FASTIFY, at_least=True)


def _under(samples: Iterable[Sample], contest: Contest, bars: tuple[str, str]) -> Iterator[Sample]:
    """Yield each sample once for each part that uses it."""
    for each in samples:
        for bar, other in zip(bars, (contest.flat, contest.fastify), strict=True):
            if other and each.candidate.startswith((f"{contest.ours},", f"{other},")):
                yield replace(each, scenario=bar)
