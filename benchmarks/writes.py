"""Writes: the cost of maintaining the ranking for updates, and the cost of a durable commit for a give."""

import shutil
import subprocess
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from benchmarks import copies, servers
from benchmarks.altered import ALONE, AS_IT_COMES, NORMAL
from benchmarks.load import Load
from benchmarks.results import Results, Sample, Verdict, compare
from benchmarks.rounds import Bench, Contest
from benchmarks.worlds import DATA, ENGINES, POSTGRES, SMALL, SQLITE, BenchWorld
from gamekeeper.demo.world import make_numbered_id

UPKEEP, COMMITS = "T7", "T8"
WITH, WITHOUT = "with rank upkeep", "without rank upkeep"
NO_UPKEEP = {SQLITE: "DROP TRIGGER players_ranked", POSTGRES: "DROP TRIGGER players_ranked ON players"}
MOST_EXP = 10**9
# autovacuum is off in both copies of the benchmark database: it could run in one while the other is measured
NO_VACUUM = (
    "ALTER TABLE players SET (autovacuum_enabled = off, toast.autovacuum_enabled = off)",
    "ALTER TABLE list_changes SET (autovacuum_enabled = off)",
)
FULL, ON_NORMAL = "give, FULL and group commit", "give, NORMAL and group commit"
GROUPED, EACH = "give, group commit, fsync of 4 ms", "give, one commit per request, fsync of 4 ms"
SLOW_DISK = Path(__file__).with_name("slow_fsync.c")
NO_COMPILER = (
    f"{COMMITS}: the slow fsync was not run: cc is missing, which makes it. Debian and Ubuntu: apt install gcc"
)


def run(bench: Bench, parts: Collection[str]) -> Results:
    found = Results()
    if UPKEEP in parts:
        for engine in ENGINES:
            found.add(_measure_upkeep(bench, bench.worlds.largest(engine, bench.sizes)))
    if COMMITS in parts:
        found.add(_measure_commits(bench))
    return found


def change_exp(world: BenchWorld) -> Load:
    """Update players with random exp, so varied that almost every request is a change."""
    dice = Random("exp")

    def line(number: int) -> str:
        player = make_numbered_id("player", number)
        return f'PUT /api/link/v1/players/{player} {{"Exp":{dice.randrange(MOST_EXP)}}}'

    return world.load("exp-changes", line)


def _measure_upkeep(bench: Bench, world: BenchWorld) -> Results:
    """Compare two copies of a world: one with the triggers that maintain the ranking, one without."""
    print(f"Changes of exp on {world.engine}, {world.players:,} players", flush=True)
    names = {name: f"{name}, {world.engine}" for name in (WITH, WITHOUT)}
    with Contest(bench, UPKEEP) as contest:
        for place, name in enumerate(names):
            copy = contest.enter_context(copies.open_copy(world, f"upkeep{place}"))
            copies.execute(copy, *(NO_VACUUM if world.engine == POSTGRES else ()))
            copies.execute(copy, *([NO_UPKEEP[world.engine]] if name == WITHOUT else []))
            contest.add(names[name], contest.serve(servers.gamekeeper(copy), name), change_exp(world), world.players)
        samples = contest.measure()
    what = f"a change of exp through the API, with rank upkeep vs. without, {world.engine}, {world.players:,} players"
    cost = compare(samples, names[WITH], names[WITHOUT])
    return Results(samples=samples, verdicts=[Verdict(UPKEEP, what, cost, 1.6, 1.3, at_least=False)])


def _measure_commits(bench: Bench) -> Results:
    """Measure SQLite's commit modes on the machine's disk and on a slowed-down disk."""
    print(f"Gifts on SQLite, {SMALL:,} players", flush=True)
    slow = slow_disk()
    ways = {FULL: (AS_IT_COMES, None), ON_NORMAL: (NORMAL, None)}
    ways |= {GROUPED: (AS_IT_COMES, slow), EACH: (ALONE, slow)} if slow else {}
    world = bench.worlds.get(SQLITE, SMALL)
    with Contest(bench, COMMITS) as contest:
        for place, (name, (way, library)) in enumerate(ways.items()):
            copy = contest.enter_context(copies.open_copy(world, f"commits{place}"))
            disk = {"LD_PRELOAD": str(library)} if library else {}
            server = contest.serve(replace(servers.altered(copy, way), environment=disk), name)
            contest.add(name, server, world.gives(), SMALL)
        samples = contest.measure()
    return Results(samples=samples, verdicts=[*_judge(samples, slow)], notes=[] if slow else [NO_COMPILER])


def slow_disk() -> Path | None:
    """Compile the library that slows down fsync; return None without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    library = DATA / "slow_fsync.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(SLOW_DISK)], check=True)
    return library


def _judge(samples: Sequence[Sample], slow: Path | None) -> Iterable[Verdict]:
    rate = compare(samples, FULL, ON_NORMAL, "per_second")
    yield Verdict(COMMITS, "give, gifts per second, FULL vs. NORMAL, SQLite", rate, 0.8, 0.95, at_least=True)
    cpu = compare(samples, ON_NORMAL, FULL)
    yield Verdict(COMMITS, "give, FULL vs. NORMAL, SQLite", cpu, 0.8, 0.95, at_least=True)
    if slow:
        rate = compare(samples, GROUPED, EACH, "per_second")
        what = "give, gifts per second, group commit vs. one commit per request, fsync of 4 ms, SQLite"
        yield Verdict(COMMITS, what, rate, 8, 12, at_least=True)
