"""Writes: what the upkeep of the ranks costs whoever changes them, and what a commit that lasts costs a gift."""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from random import Random

from benchmarks import copies, machine, rounds, servers
from benchmarks.committing import ALONE, AS_IT_COMES, NORMAL
from benchmarks.load import Load
from benchmarks.results import Results, Sample, Verdict, ratio
from benchmarks.rounds import Bench, Candidate
from benchmarks.servers import PORT, Program
from benchmarks.worlds import DATA, ENGINES, POSTGRES, SMALL, SQLITE, World
from gamekeeper.demo.names import numbered_id, numbered_name
from gamekeeper.demo.world import COIN

UPKEEP, COMMITS = "T7", "T8"
WITH, WITHOUT = "with rank upkeep", "without rank upkeep"
NO_UPKEEP = {SQLITE: "DROP TRIGGER players_ranked", POSTGRES: "DROP TRIGGER players_ranked ON players"}
MANY_WRITES, PER_PLAYER = 100_000, 50
MOST_EXP = 10**9
WRITERS = 16
LEAVE_SECONDS = 0.5  # until the processes of connections that were closed are over, and counted with their parent

FULL, ON_NORMAL = "give, FULL and group commit", "give, NORMAL and group commit"
GROUPED, EACH = "give, group commit, fsync of 4 ms", "give, one commit per request, fsync of 4 ms"
SLOW_DISK = Path(__file__).with_name("slow_fsync.c")
NO_COMPILER = (
    f"{COMMITS}: the slow fsync was not run: cc is missing, which makes it. Debian and Ubuntu: apt install gcc"
)
NO_PGBENCH = f"{UPKEEP}: {WRITERS} writers were not run: this PostgreSQL has no pgbench beside it."


def run(bench: Bench, parts: Collection[str]) -> Results:
    found = Results()
    if UPKEEP in parts:
        for engine in ENGINES:
            found.add(_through_the_api(bench, engine))
        found.add(_many_writers(bench))
    if COMMITS in parts:
        found.add(_commits(bench))
    return found


# --- the upkeep of the ranks ---------------------------------------------------------------------------------------


def exp_lines(players: int, dice: Random) -> Iterable[str]:
    """So many for each of them that hardly any changes nothing."""
    some = [dice.randrange(players) for _ in range(MANY_WRITES // PER_PLAYER)]
    for number in some * PER_PLAYER:
        player = numbered_id("player", number)
        yield f'PUT /api/link/v1/players/{player} {{"Exp":{dice.randrange(MOST_EXP)}}}'


def exp_changes(world: World) -> Path:
    return world.requests("exp-changes", lambda dice: [*exp_lines(world.players, dice)])


def _through_the_api(bench: Bench, engine: str) -> Results:
    print(f"Changes of exp on {engine}, {SMALL:,} players", flush=True)
    world = bench.worlds.get(engine, SMALL)
    with ExitStack() as stack:
        candidates: list[Candidate] = []
        for name, copy in zip((WITH, WITHOUT), _copies(stack, world), strict=True):
            program = servers.gamekeeper(copy)
            server = stack.enter_context(servers.running(replace(program, name=f"{program.name} {name}")))
            candidates.append(Candidate(f"{name}, {engine}", server, Load(exp_changes(world), world.tokens)))
        samples = rounds.interleaved(bench, UPKEEP, SMALL, candidates)
    cost = ratio(*(rounds.of(samples, f"{name}, {engine}", "cpu_us") for name in (WITH, WITHOUT)))
    what = f"a change of exp through the API, with rank upkeep vs. without, {engine}"
    return Results(samples=samples, verdicts=[Verdict(UPKEEP, what, cost, 1.6, 1.3, at_least=False)])


def _copies(stack: ExitStack, world: World) -> tuple[World, World]:
    """One that looks after its ranks, and one that does not."""
    kept, bare = (stack.enter_context(copies.copied(world, name)) for name in ("kept", "bare"))
    copies.execute(bare, NO_UPKEEP[world.engine])
    return kept, bare


def _many_writers(bench: Bench) -> Results:
    """Straight to the database: nothing but the update itself, so that nothing hides what the upkeep costs it."""
    world = bench.worlds.get(POSTGRES, SMALL)
    pgbench = Path(f"/proc/{world.cluster}/exe").resolve().with_name("pgbench")
    if not pgbench.exists():
        return Results(notes=[NO_PGBENCH])
    print(f"{WRITERS} writers of exp on PostgreSQL, {SMALL:,} players", flush=True)
    script = world.requests("update.pgbench", lambda _: UPDATE.format(players=world.players).splitlines())
    samples: list[Sample] = []
    with ExitStack() as stack:
        worlds = dict(zip((WITH, WITHOUT), _copies(stack, world), strict=True))
        for copy in worlds.values():
            copies.execute(copy, *NUMBERED)
        for number in range(bench.rounds):
            for name, copy in rounds.order([*worlds.items()], number):
                samples += [_updated(bench, number, name, copy, [str(pgbench), "-f", str(script)])]
    kept = ratio(*(rounds.of(samples, _many(name), "per_second") for name in (WITH, WITHOUT)))
    what = f"{WRITERS} writers change exp in PostgreSQL, updates per second with rank upkeep vs. without"
    return Results(samples=samples, verdicts=[Verdict(UPKEEP, what, kept, 0.7, 0.7, at_least=True)])


UPDATE = r"""\set number random(1, {players})
\set exp random(0, 1000000000)
UPDATE players SET exp = :exp WHERE id = (SELECT id FROM numbered WHERE number = :number);"""
NUMBERED = (
    "CREATE TABLE numbered AS SELECT row_number() OVER (ORDER BY id) AS number, id FROM players",
    "CREATE UNIQUE INDEX numbered_by_number ON numbered (number)",
    "VACUUM (ANALYZE)",
)


def _many(name: str) -> str:
    return f"{WRITERS} writers {name}"


def _updated(bench: Bench, number: int, name: str, world: World, pgbench: Sequence[str]) -> Sample:
    command = ["taskset", "-c", str(machine.cores().generator), *pgbench, "-n", "-M", "prepared", "-j", "1"]
    command += ["-c", str(WRITERS), "-T", str(bench.seconds), world.url]
    before = machine.cpu_seconds([world.cluster])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    time.sleep(LEAVE_SECONDS)
    used = machine.cpu_seconds([world.cluster]) - before
    if done.returncode:
        raise machine.Stop(f"pgbench failed:\n{done.stdout}{done.stderr}")
    updates, per_second, latency = parse_pgbench(done.stdout)
    print(f"  round {number + 1}  {_many(name):34} {used * 1e6 / updates:9.1f} µs {per_second:9,.0f} /s", flush=True)
    return Sample(UPKEEP, _many(name), number, used * 1e6 / updates, per_second, latency, latency, SMALL)


def parse_pgbench(said: str) -> tuple[int, float, float]:
    """How many there were, how many in a second, and milliseconds of one: the mean, it tells no percentiles."""
    patterns = (r"transactions actually processed: (\d+)", r"^tps = ([\d.]+)", r"^latency average = ([\d.]+) ms")
    count, rate, latency = (re.search(each, said, re.MULTILINE) for each in patterns)
    if not (count and rate and latency):
        raise machine.Stop(f"pgbench said something else:\n{said}")
    return int(count[1]), float(rate[1]), float(latency[1])


# --- what a commit costs -------------------------------------------------------------------------------------------


def give_lines(players: int, dice: Random) -> Iterable[str]:
    body = f'{{"itemid":"{COIN.id}","quantity":1,"bankoverflow":true}}'
    for _ in range(MANY_WRITES):
        yield f"POST /api/v1/players/{numbered_name(dice.randrange(players))}/items/give {body}"


def _commits(bench: Bench) -> Results:
    """All on one core with the load on another; the disk, when it is not the slow one, is the machine's own."""
    print(f"Gifts on SQLite, {SMALL:,} players", flush=True)
    slow = slow_disk()
    ways = {FULL: (AS_IT_COMES, None), ON_NORMAL: (NORMAL, None)}
    if slow:
        ways |= {GROUPED: (AS_IT_COMES, slow), EACH: (ALONE, slow)}
    world = bench.worlds.get(SQLITE, SMALL)
    load = Load(world.requests("gives", lambda dice: [*give_lines(world.players, dice)]), world.tokens)
    with ExitStack() as stack:
        candidates: list[Candidate] = []
        for place, (name, (way, library)) in enumerate(ways.items()):
            copy = stack.enter_context(copies.copied(world, f"commits{place}"))
            server = stack.enter_context(servers.running(_committing(copy, way, library)))
            candidates.append(Candidate(name, server, load))
        samples = rounds.interleaved(bench, COMMITS, SMALL, candidates)
    return Results(samples=samples, verdicts=[*_verdicts(samples, slow)], notes=[] if slow else [NO_COMPILER])


def _committing(world: World, way: str, library: Path | None) -> Program:
    command = (sys.executable, "-m", "benchmarks.committing", world.url, PORT, way)
    disk = {"LD_PRELOAD": str(library)} if library else {}
    return Program(f"committing {way}{' slowly' if library else ''}", command, disk)


def slow_disk() -> Path | None:
    """The library that makes it; None where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    library = DATA / "slow_fsync.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(SLOW_DISK)], check=True)
    return library


def _verdicts(samples: Sequence[Sample], slow: Path | None) -> Iterable[Verdict]:
    def of(name: str, figure: str) -> dict[int, float]:
        return rounds.of(samples, name, figure)

    rate = ratio(of(FULL, "per_second"), of(ON_NORMAL, "per_second"))
    yield Verdict(COMMITS, "give, gifts per second, FULL vs. NORMAL, SQLite", rate, 0.8, 0.95, at_least=True)
    cpu = ratio(of(ON_NORMAL, "cpu_us"), of(FULL, "cpu_us"))
    yield Verdict(COMMITS, "give, FULL vs. NORMAL, SQLite", cpu, 0.8, 0.95, at_least=True)
    if slow:
        rate = ratio(of(GROUPED, "per_second"), of(EACH, "per_second"))
        what = "give, gifts per second, group commit vs. one commit per request, fsync of 4 ms, SQLite"
        yield Verdict(COMMITS, what, rate, 8, 12, at_least=True)
