"""Look-ups of a player by name or id, compared with a bare server and with peers, and beside password checks."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from benchmarks import load, servers
from benchmarks.results import Results, Sample, Verdict, compare
from benchmarks.rounds import Bench, Contest
from benchmarks.servers import Program
from benchmarks.worlds import MIDDLE, POSTGRES, SMALL, SQLITE, BenchWorld
from gamekeeper.demo.world import make_numbered_name
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.core.refusals import WrongPassword
from gamekeeper.http.server import errors

HELLO = "hello JSON"
ON_SQLITE, ON_POSTGRES = "Gamekeeper on SQLite", "Gamekeeper on PostgreSQL"
FASTIFY = "fastify + better-sqlite3"
FLAT_ON_SQLITE, FLAT_ON_POSTGRES = "flat function on SQLite", "flat function on PostgreSQL"


@dataclass(frozen=True)
class Contender:
    engine: str  # engine of its benchmark database, of which "hello" uses only request paths and tokens
    program: Callable[[BenchWorld], Program]


CONTENDERS = {
    HELLO: Contender(SQLITE, servers.hello),
    ON_SQLITE: Contender(SQLITE, servers.gamekeeper),
    ON_POSTGRES: Contender(POSTGRES, servers.gamekeeper),
    FASTIFY: Contender(SQLITE, servers.fastify),
    FLAT_ON_SQLITE: Contender(SQLITE, servers.flat),
    FLAT_ON_POSTGRES: Contender(POSTGRES, servers.flat),
}
# By candidate: the flat function that does the same work, and most allowed (bar) and desired (goal) CPU time against it
FLATS = {ON_SQLITE: (FLAT_ON_SQLITE, 1.35, 1.15), ON_POSTGRES: (FLAT_ON_POSTGRES, 1.5, 1.25)}
# part, number of players, Gamekeeper and another server; the bar is what the flat function reaches there, divided
COMPARISONS = (
    ("T0", SMALL, ON_SQLITE, FLAT_ON_SQLITE),
    ("T0", SMALL, ON_POSTGRES, FLAT_ON_POSTGRES),
    ("T1", SMALL, ON_SQLITE, HELLO),
    ("T1", MIDDLE, ON_SQLITE, HELLO),
    ("T2", SMALL, ON_POSTGRES, HELLO),
    ("T2", MIDDLE, ON_POSTGRES, HELLO),
    ("T4", SMALL, ON_SQLITE, FASTIFY),
)
NOT_RUN = "T4: not run: node or npm is missing. Debian and Ubuntu have them: apt install nodejs npm"
NOTES = (
    "T0: the flat function does all of the work under granian, with the same bytes: benchmarks/peers/flat.py.",
    "T1: hello JSON is granian as `gamekeeper serve` starts it, with a plain ASGI app that logs nothing.",
)


def run(bench: Bench, parts: Collection[str]) -> Results:
    """Measure look-ups by all compared servers, those with the same number of players in the same rounds."""
    found = Results(notes=[each for each in NOTES if each.partition(":")[0] in parts])
    wanted = [each for each in COMPARISONS if each[0] in parts]
    if "T4" in parts and not servers.has_node():
        wanted = [each for each in wanted if each[3] != FASTIFY]
        found.notes.append(NOT_RUN)
    for players in bench.sizes:
        used = {part: set[str]() for part in parts}
        for part, size, ours, other in wanted:
            used[part] |= {ours, other, FLATS[ours][0]} if size == players else set[str]()
        samples = _measure(bench, players, set[str]().union(*used.values()))
        # each sample stands under all parts that use it, so that each part can be repeated alone
        found.samples += [
            replace(each, scenario=part) for part in used for each in samples if each.candidate in used[part]
        ]
        found.verdicts += [_judge(samples, *each) for each in wanted if each[1] == players]
    return found


def _measure(bench: Bench, players: int, names: Collection[str]) -> list[Sample]:
    print(f"Lookups, {players:,} players", flush=True)
    with Contest(bench, "lookups") as contest:
        for name, who in CONTENDERS.items():
            if name in names:
                world = bench.worlds.get(who.engine, players)
                contest.add(name, contest.serve(who.program(world), name), world.lookups(), players)
        return contest.measure()


def _judge(samples: Sequence[Sample], part: str, players: int, ours: str, other: str) -> Verdict:
    what = f"lookup, {ours} vs. {other}, {players:,} players"
    flat, limit, goal = FLATS[ours]
    if other == flat:
        return Verdict(part, what, compare(samples, ours, other), limit, goal, at_least=False)
    best = compare(samples, other, flat)
    what += f"; the flat function: {best:.3g}, divided by {limit:g} and {goal:g}"
    return Verdict(part, what, compare(samples, other, ours), best / limit, best / goal, at_least=True)


def beside_validates(bench: Bench, parts: Collection[str]) -> Results:
    """Measure look-ups per second with and without continuous password checks."""
    (part,) = parts
    world = bench.worlds.get(SQLITE, SMALL)
    idle, busy, wrong = "lookups alone", "lookups beside validates", hash_for_wire("wrong")

    def validate(number: int) -> str:
        return f'POST /api/v1/users/{make_numbered_name(number)}/password/validate {{"password":"{wrong}"}}'

    validates = world.load("validates", validate, load.FEW, errors.find_status(WrongPassword))
    with Contest(bench, part) as contest:
        server = contest.serve(servers.gamekeeper(world))
        contest.add(idle, server, world.lookups(), SMALL)
        contest.add(busy, server, world.lookups(), SMALL, validates)
        samples = contest.measure()
    kept, what = (
        compare(samples, busy, idle, "per_second"),
        "lookups per second beside password validates vs. alone, SQLite",
    )
    note = (
        f"{part}: {load.FEW} connections validate wrong passwords of random accounts, so that each is hashed. Server "
        "and hashing thread share the one core, where the thread's niceness decides who runs."
    )
    return Results(samples=samples, verdicts=[Verdict(part, what, kept, 0.8, 0.95, at_least=True)], notes=[note])


def compare_versions(bench: Bench, parts: Collection[str]) -> Results:
    """Measure lookups of this version and of the checkout `before` in the same rounds, on the same data."""
    (part,) = parts
    found = Results()
    for engine, name in ((SQLITE, ON_SQLITE), (POSTGRES, ON_POSTGRES)):
        world, other = bench.worlds.get(engine, SMALL), f"{name}, before"
        with Contest(bench, part) as contest:
            contest.add(name, contest.serve(servers.gamekeeper(world)), world.lookups(), SMALL)
            contest.add(
                other, contest.serve(servers.gamekeeper(world, bench.before or servers.ROOT)), world.lookups(), SMALL
            )
            samples = contest.measure()
        what, change = f"lookup, {name}, CPU before vs. now", compare(samples, other, name)
        found.add(Results(samples=samples, verdicts=[Verdict(part, what, change, 0.97, 1.0, at_least=True)]))
    return found
