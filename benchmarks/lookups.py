"""Look-ups of a player by name or id, compared with a bare server and with peers, and beside password checks."""

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from benchmarks import installs, rounds, servers
from benchmarks.load import Load
from benchmarks.results import LAYERS, Results, Sample, Verdict, ratio
from benchmarks.rounds import Bench, Candidate
from benchmarks.servers import Program
from benchmarks.worlds import MIDDLE, POSTGRES, SMALL, SQLITE, BenchWorld
from gamekeeper.game.core.refusals import WrongPassword
from gamekeeper.http.server import errors

LOOKUPS = "lookups"
HELLO, LIVE = "hello JSON", "Gamekeeper, /health/live"
ON_SQLITE, ON_POSTGRES = "Gamekeeper on SQLite", "Gamekeeper on PostgreSQL"
ORM_ON_SQLITE, ORM_ON_POSTGRES = "FastAPI + ORM on SQLite", "FastAPI + ORM on PostgreSQL"
FASTIFY = "fastify + better-sqlite3"
FLAT_ON_SQLITE, FLAT_ON_POSTGRES = "flat function on SQLite", "flat function on PostgreSQL"
MANY, FEW = 32, 8  # numbers of connections; fewer for slow peers, whose queue would only add waiting time


@dataclass(frozen=True)
class Contender:
    engine: str  # engine of its benchmark database, of which "hello" uses only request paths and tokens
    program: Callable[[BenchWorld], Program]
    connections: int = MANY
    requests: Callable[[BenchWorld], Path] = BenchWorld.lookups


CONTENDERS = {
    HELLO: Contender(SQLITE, lambda _: servers.hello()),
    LIVE: Contender(SQLITE, servers.gamekeeper, requests=BenchWorld.lives),
    ON_SQLITE: Contender(SQLITE, servers.gamekeeper),
    ON_POSTGRES: Contender(POSTGRES, servers.gamekeeper),
    ORM_ON_SQLITE: Contender(SQLITE, servers.fastapi_orm, FEW),
    ORM_ON_POSTGRES: Contender(POSTGRES, servers.fastapi_orm, FEW),
    FASTIFY: Contender(SQLITE, servers.fastify),
    FLAT_ON_SQLITE: Contender(SQLITE, servers.flat),
    FLAT_ON_POSTGRES: Contender(POSTGRES, servers.flat),
}
# By candidate: the flat function that does the same work, and most allowed (bar) and desired (goal) CPU time against it
FLATS = {ON_SQLITE: (FLAT_ON_SQLITE, 1.35, 1.15), ON_POSTGRES: (FLAT_ON_POSTGRES, 1.5, 1.25)}


@dataclass(frozen=True)
class Comparison:
    """A comparison with another server. The bar is what the flat function reaches in the same run, divided."""

    bar: str
    players: int
    ours: str
    other: str

    @property
    def names(self) -> set[str]:
        """Names of the candidates that must be measured."""
        return {self.ours, self.other, FLATS[self.ours][0]}


COMPARISONS = (
    Comparison("T0", SMALL, ON_SQLITE, FLAT_ON_SQLITE),
    Comparison("T0", SMALL, ON_POSTGRES, FLAT_ON_POSTGRES),
    Comparison("T1", SMALL, ON_SQLITE, HELLO),
    Comparison("T1", MIDDLE, ON_SQLITE, HELLO),
    Comparison("T2", SMALL, ON_POSTGRES, HELLO),
    Comparison("T2", MIDDLE, ON_POSTGRES, HELLO),
    Comparison("T3", SMALL, ON_SQLITE, ORM_ON_SQLITE),
    Comparison("T3", SMALL, ON_POSTGRES, ORM_ON_POSTGRES),
    Comparison("T4", SMALL, ON_SQLITE, FASTIFY),
)
IN_LAYERS = (HELLO, LIVE, ON_SQLITE, ON_POSTGRES)
NOT_RUN = "T4: not run: node or npm is missing. Debian and Ubuntu have them: apt install nodejs npm"
ABOUT_FLAT = (
    "T0: the flat function is the same server with one function that does all of the work and gives the same bytes, "
    "headers and access log: benchmarks/peers/flat."
)
ABOUT_HELLO = "T1: hello JSON is granian as `gamekeeper serve` starts it, with a plain ASGI app that logs nothing."
ABOUT_PEERS = "T3: the FastAPI peer writes no access log; Gamekeeper writes a line for each request."


def run(bench: Bench, parts: Collection[str]) -> Results:
    """Measure look-ups by all compared servers, those with the same number of players in the same rounds."""
    found = Results()
    wanted = [each for each in COMPARISONS if each.bar in parts]
    if "T4" in parts and not installs.has_node():
        wanted = [each for each in wanted if each.other != FASTIFY]
        found.notes.append(NOT_RUN)
    for players in bench.sizes:
        here = [each for each in wanted if each.players == players]
        found.add(_compare(bench, players, here, layers=LAYERS in parts and players == SMALL))
    found.notes += [each for each in (ABOUT_FLAT, ABOUT_HELLO, ABOUT_PEERS) if each.partition(":")[0] in parts]
    return found


def beside_validates(bench: Bench, parts: Collection[str]) -> Results:
    """Measure look-ups per second with and without continuous password checks."""
    (part,) = parts
    world = bench.worlds.get(SQLITE, SMALL)
    idle, busy = "lookups alone", "lookups beside validates"
    load = Load(world.lookups(), world.tokens, MANY)
    validates = Load(world.validates(), world.tokens, FEW, errors.find_status(WrongPassword))
    with servers.running(servers.gamekeeper(world)) as server:
        candidates = [Candidate(idle, server, load), Candidate(busy, server, load, validates)]
        samples = rounds.measure_interleaved(bench, part, SMALL, candidates)
    kept = ratio(*(rounds.of(samples, name, "per_second") for name in (busy, idle)))
    verdict = Verdict(part, "lookups per second beside password validates vs. alone, SQLite", kept, 0.8, 0.95, True)
    note = (
        f"{part}: {FEW} connections validate wrong passwords of random accounts, so that each is hashed; server and "
        "hashing thread share the one core, where the thread's niceness decides who runs."
    )
    return Results(samples=samples, verdicts=[verdict], notes=[note])


def compare_versions(bench: Bench, parts: Collection[str]) -> Results:
    """Measure lookups of this version and of the checkout `before` in the same rounds, on the same data."""
    (part,) = parts
    if bench.before is None:
        return Results()
    samples: list[Sample] = []
    verdicts: list[Verdict] = []
    for engine, name in ((SQLITE, ON_SQLITE), (POSTGRES, ON_POSTGRES)):
        world = bench.worlds.get(engine, SMALL)
        load, other = Load(world.lookups(), world.tokens, MANY), f"{name}, before"
        with (
            servers.running(servers.gamekeeper(world)) as now,
            servers.running(servers.gamekeeper(world, bench.before)) as before,
        ):
            candidates = [Candidate(name, now, load), Candidate(other, before, load)]
            samples += rounds.measure_interleaved(bench, part, SMALL, candidates)
        change = ratio(*(rounds.of(samples, each, "cpu_us") for each in (other, name)))
        verdicts.append(Verdict(part, f"lookup, {name}, CPU before vs. now", change, 0.97, 1.0, True))
    return Results(samples=samples, verdicts=verdicts)


def _compare(bench: Bench, players: int, comparisons: Sequence[Comparison], *, layers: bool) -> Results:
    """Measure look-ups; save each sample under all benchmark parts that use it, so that each can be repeated alone."""
    parts = {each.bar: set[str]() for each in comparisons} | ({LAYERS: set(IN_LAYERS)} if layers else {})
    for each in comparisons:
        parts[each.bar] |= each.names
    names = [name for name in CONTENDERS if any(name in part for part in parts.values())]
    if not names:
        return Results()
    samples = _measure(bench, players, names)
    return Results(
        samples=[replace(each, scenario=part) for part in parts for each in samples if each.candidate in parts[part]],
        verdicts=[_verdict(each, samples) for each in comparisons],
        layers=_layers(samples) if layers else [],
    )


def _measure(bench: Bench, players: int, names: Sequence[str]) -> list[Sample]:
    print(f"Lookups, {players:,} players", flush=True)
    with ExitStack() as stack:
        candidates: list[Candidate] = []
        for name in names:
            who = CONTENDERS[name]
            world = bench.worlds.get(who.engine, players)
            server = stack.enter_context(servers.running(who.program(world)))
            candidates.append(Candidate(name, server, Load(who.requests(world), world.tokens, who.connections)))
        return rounds.measure_interleaved(bench, LOOKUPS, players, candidates)


def _verdict(compared: Comparison, samples: Sequence[Sample]) -> Verdict:
    other, ours = (rounds.of(samples, name, "cpu_us") for name in (compared.other, compared.ours))
    what = f"lookup, {compared.ours} vs. {compared.other}, {compared.players:,} players"
    flat, limit, goal = FLATS[compared.ours]
    if compared.other == flat:
        return Verdict(compared.bar, what, ratio(ours, other), limit, goal, False)
    best = ratio(other, rounds.of(samples, flat, "cpu_us"))
    what += f"; the flat function: {best:.3g}, divided by {limit:g} and {goal:g}"
    return Verdict(compared.bar, what, ratio(other, ours), best / limit, best / goal, True)


def _layers(samples: Sequence[Sample]) -> list[tuple[str, float]]:
    """Return the CPU microseconds that each layer adds to a request; both database engines are on top of the app."""
    hello, live, sqlite, postgres = (median(rounds.of(samples, name, "cpu_us").values()) for name in IN_LAYERS)
    return [
        ("granian, event loop, kernel (hello JSON)", hello),
        ("routing, request, headers, access log", live - hello),
        ("token check, point read and record, SQLite", sqlite - live),
        ("token check, point read and record, PostgreSQL", postgres - live),
    ]
