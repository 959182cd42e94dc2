"""Writes: the cost of maintaining the ranking for updates, and the cost of a durable commit for a give."""

import re
import shutil
import subprocess
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from random import Random

from benchmarks import copies, machine, rounds, servers
from benchmarks.altered import ALONE, AS_IT_COMES, NORMAL
from benchmarks.load import Load
from benchmarks.results import Results, Sample, Verdict, ratio
from benchmarks.rounds import Bench, Candidate
from benchmarks.servers import Program, Server
from benchmarks.worlds import DATA, ENGINES, POSTGRES, SMALL, SQLITE, BenchWorld
from gamekeeper.demo.world import COIN, make_numbered_id, make_numbered_name
from gamekeeper.game.lists.ordered_lists import MAINTAIN_SECONDS
from gamekeeper.store.engine.postgres_connection import PLACEHOLDERS
from gamekeeper.store.players import players

UPKEEP, COMMITS = "T7", "T8"
WITH, WITHOUT = "with rank upkeep", "without rank upkeep"
NO_UPKEEP = {SQLITE: "DROP TRIGGER players_ranked", POSTGRES: "DROP TRIGGER players_ranked ON players"}
COPIES = {WITH: "kept", WITHOUT: "bare"}
MANY_WRITES, PER_PLAYER = 100_000, 50
MOST_EXP = 10**9
WRITERS = 16
LEAVE_SECONDS = MAINTAIN_SECONDS + 0.5  # seconds after a load until the server has updated its ordered lists
AS_WE_DO, BARE = "", ", exp alone"

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


# --- cost of maintaining the ranking -------------------------------------------------------------------------------


def exp_lines(count: int, dice: Random) -> Iterable[str]:
    """Yield update requests with random exp, so varied that almost every one is a change."""
    some = [dice.randrange(count) for _ in range(MANY_WRITES // PER_PLAYER)]
    for number in some * PER_PLAYER:
        player = make_numbered_id("player", number)
        yield f'PUT /api/link/v1/players/{player} {{"Exp":{dice.randrange(MOST_EXP)}}}'


def exp_changes(world: BenchWorld) -> Path:
    return world.requests("exp-changes", lambda dice: [*exp_lines(world.players, dice)])


def _through_the_api(bench: Bench, engine: str) -> Results:
    world = bench.worlds.largest(engine, bench.sizes)
    print(f"Changes of exp on {engine}, {world.players:,} players", flush=True)
    load = Load(exp_changes(world), world.tokens)
    with ExitStack() as stack:
        served = _serve_copies(stack, world)
        candidates = [Candidate(f"{name}, {engine}", server, load) for name, (_, server) in served.items()]
        samples = rounds.measure_interleaved(bench, UPKEEP, world.players, candidates)
    cost = ratio(*(rounds.of(samples, f"{name}, {engine}", "cpu_us") for name in (WITH, WITHOUT)))
    what = f"a change of exp through the API, with rank upkeep vs. without, {engine}, {world.players:,} players"
    return Results(samples=samples, verdicts=[Verdict(UPKEEP, what, cost, 1.6, 1.3, at_least=False)])


def _serve_copies(stack: ExitStack, world: BenchWorld) -> dict[str, tuple[BenchWorld, Server]]:
    """Start servers on two copies of a world: one with the triggers that maintain the ranking, one without."""
    copied = {name: stack.enter_context(copies.open_copy(world, copy)) for name, copy in COPIES.items()}
    copies.execute(copied[WITHOUT], NO_UPKEEP[world.engine])
    if world.engine == POSTGRES:
        for copy in copied.values():
            copies.execute(copy, *PREPARED)
    return {
        name: (copy, stack.enter_context(servers.running(_program_of(copy, name)))) for name, copy in copied.items()
    }


def _program_of(world: BenchWorld, name: str) -> Program:
    program = servers.gamekeeper(world)
    return replace(program, name=f"{program.name} {name}")


VACUUM = "VACUUM (ANALYZE)"
LEAST_SECONDS = 3  # seconds of a measurement by pgbench: a checkpoint can stop all its writers for a second
# autovacuum is off in both copies of the benchmark database: it could run in one while the other is measured
PREPARED = (
    "ALTER TABLE players SET (autovacuum_enabled = off, toast.autovacuum_enabled = off)",
    "ALTER TABLE list_changes SET (autovacuum_enabled = off)",
    "CREATE TABLE numbered AS SELECT row_number() OVER (ORDER BY id) AS number, id FROM players",
    "CREATE UNIQUE INDEX numbered_by_number ON numbered (number)",
    VACUUM,
)
NUMBERS = r"""\set number random(1, {players})
\set exp random(0, 1000000000)
"""
ONE = "(SELECT id FROM numbered WHERE number = :number)"
COLUMNS = re.compile(r"(\w+) = \$\d+")
NEW_NAMES_ONLY = "CASE WHEN $13 THEN $4 ELSE fold END"


def update_as_we_do() -> str:
    """Return the write path's UPDATE of a whole player row, with only exp changed."""
    values = {"id": ONE, "exp": ":exp"}
    text = players.SQL.update.render(POSTGRES, PLACEHOLDERS).replace(NEW_NAMES_ONLY, "$4")
    return COLUMNS.sub(lambda found: f"{found[1]} = {values.get(found[1], found[1])}", text)


def _scripts(world: BenchWorld) -> dict[str, Path]:
    updates = {AS_WE_DO: update_as_we_do(), BARE: f"UPDATE players SET exp = :exp WHERE id = {ONE}"}  # noqa: S608 - our own table
    scripts = {way: world.folder / f"update{place}.pgbench" for place, way in enumerate(updates)}
    for way, path in scripts.items():
        path.write_text(f"{NUMBERS.format(players=world.players)}{updates[way]};\n", encoding="utf-8")
    return scripts


def _many_writers(bench: Bench) -> Results:
    """Update players directly in the database with pgbench, so that only the cost of the triggers shows."""
    world = bench.worlds.largest(POSTGRES, bench.sizes)
    pgbench = Path(f"/proc/{world.cluster}/exe").resolve().with_name("pgbench")
    if not pgbench.exists():
        return Results(notes=[NO_PGBENCH])
    print(f"{WRITERS} writers of exp on PostgreSQL, {world.players:,} players", flush=True)
    samples: list[Sample] = []
    with ExitStack() as stack:
        served, scripts = _serve_copies(stack, world), _scripts(world)
        roots = {root for _, server in served.values() for root in server.roots}
        for number in range(bench.rounds):
            for name, way in rounds.order([(name, way) for way in scripts for name in served], number):
                rounds.quiet(roots)
                command = [str(pgbench), "-f", str(scripts[way])]
                samples += [_measure_updates(bench, number, _many(name, way), served[name], command)]
    kept, bare = (
        ratio(*(rounds.of(samples, _many(name, way), "per_second") for name in (WITH, WITHOUT))) for way in scripts
    )
    what = f"{WRITERS} writers of exp in PostgreSQL, {world.players:,} players, per second with rank upkeep vs. without"
    note = f"{UPKEEP}: {WRITERS} writers that write nothing but exp, where Gamekeeper writes the row anew: {bare:.2f}."
    return Results(samples=samples, verdicts=[Verdict(UPKEEP, what, kept, 0.7, 0.7, at_least=True)], notes=[note])


def _many(name: str, way: str) -> str:
    return f"{WRITERS} writers {name}{way}"


def _measure_updates(
    bench: Bench, number: int, name: str, served: tuple[BenchWorld, Server], pgbench: Sequence[str]
) -> Sample:
    world, server = served
    command = ["taskset", "-c", str(machine.cores().generator), *pgbench, "-n", "-M", "prepared", "-j", "1"]
    command += ["-c", str(WRITERS), "-T", str(max(bench.seconds, LEAST_SECONDS)), world.url]
    before = machine.cpu_seconds(server.roots)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    time.sleep(LEAVE_SECONDS)
    used = machine.cpu_seconds(server.roots) - before
    if done.returncode:
        raise machine.Stop(f"pgbench failed:\n{done.stdout}{done.stderr}")
    copies.execute(world, VACUUM)  # now, so that no vacuum runs while the other copy is measured
    updates, per_second, latency = parse_pgbench(done.stdout)
    print(f"  round {number + 1}  {name:34} {used * 1e6 / updates:9.1f} µs {per_second:9,.0f} /s", flush=True)
    return Sample(UPKEEP, name, number, used * 1e6 / updates, per_second, latency, latency, world.players)


def parse_pgbench(said: str) -> tuple[int, float, float]:
    """Parse pgbench's output: number of transactions, transactions per second, and mean latency in milliseconds."""
    patterns = (r"transactions actually processed: (\d+)", r"^tps = ([\d.]+)", r"^latency average = ([\d.]+) ms")
    count, rate, latency = (re.search(each, said, re.MULTILINE) for each in patterns)
    if not (count and rate and latency):
        raise machine.Stop(f"pgbench said something else:\n{said}")
    return int(count[1]), float(rate[1]), float(latency[1])


# --- cost of a commit ----------------------------------------------------------------------------------------------


def give_lines(count: int, dice: Random) -> Iterable[str]:
    body = f'{{"itemid":"{COIN.id}","quantity":1,"bankoverflow":true}}'
    for _ in range(MANY_WRITES):
        yield f"POST /api/v1/players/{make_numbered_name(dice.randrange(count))}/items/give {body}"


def _commits(bench: Bench) -> Results:
    """Measure SQLite's commit modes on the machine's disk and on a slowed-down disk."""
    print(f"Gifts on SQLite, {SMALL:,} players", flush=True)
    slow = slow_disk()
    ways = {FULL: (AS_IT_COMES, None), ON_NORMAL: (NORMAL, None)}
    if slow:
        ways |= {GROUPED: (AS_IT_COMES, slow), EACH: (ALONE, slow)}
    world = bench.worlds.get(SQLITE, SMALL)
    load = Load(world.requests("gives", lambda dice: [*give_lines(world.players, dice)]), world.tokens, keyed=True)
    with ExitStack() as stack:
        candidates: list[Candidate] = []
        for place, (name, (way, library)) in enumerate(ways.items()):
            copy = stack.enter_context(copies.open_copy(world, f"commits{place}"))
            server = stack.enter_context(servers.running(_committing(copy, way, library)))
            candidates.append(Candidate(name, server, load))
        samples = rounds.measure_interleaved(bench, COMMITS, SMALL, candidates)
    return Results(samples=samples, verdicts=[*_verdicts(samples, slow)], notes=[] if slow else [NO_COMPILER])


def _committing(world: BenchWorld, way: str, library: Path | None) -> Program:
    disk = {"LD_PRELOAD": str(library)} if library else {}
    name = f"committing {way}{' slowly' if library else ''}"
    return replace(servers.altered(world, way), name=name, environment=disk)


def slow_disk() -> Path | None:
    """Compile the library that slows down fsync; return None without a compiler."""
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
