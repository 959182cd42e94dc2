"""Measure the memory of a worker process after look-ups, lists and writes in a big world, with all of it counted."""

import time
from collections.abc import Collection
from dataclasses import replace

from benchmarks import counted, lists, load, machine, servers, writes
from benchmarks.results import Results, Verdict
from benchmarks.rounds import Bench, Contest
from benchmarks.worlds import ENGINES

COUNT_SECONDS = 5  # seconds after the writes, in which some of them are counted
ABOUT = (
    "the resident memory of the worker that answers, all of it: its own and what it maps, which is Python and its "
    "libraries. It maps no database; the pages of one that it has read are the system's, and PostgreSQL's processes "
    "are not counted. The worker has listed holders and standings, and counts holdings, a ranked list and a board."
)


def run(bench: Bench, parts: Collection[str]) -> Results:
    """Send look-ups, lists and writes. The writes change the benchmark database, since copying it takes too long."""
    (part,) = parts
    found = Results(notes=[f"{part}: {ABOUT}"])
    for engine in ENGINES:
        print(f"Memory on {engine}, {bench.players:,} players", flush=True)
        world = bench.worlds.get(engine, bench.players)
        counted.count(world)
        pages = [lists.load_page(world, name, lists.LAST, lists.MANY) for name in lists.PATHS]
        with Contest(bench, part) as contest:
            server = contest.serve(replace(servers.gamekeeper(world), environment=counted.ENVIRONMENT))
            for each in (world.lookups(), *pages, writes.change_exp(world), world.gives()):
                load.drive(server.port, each, bench.seconds)
            time.sleep(COUNT_SECONDS)
            # the largest child is the worker; the other child is the resource tracker
            held = max(each.memory_full_info() for each in machine.list_processes(server.roots[:1])[1:])
        said = f"RSS {held.rss / 2**20:.0f}, PSS {held.pss / 2**20:.0f}, USS {held.uss / 2**20:.0f}"
        print(f"  MiB: {said}", flush=True)
        found.notes.append(f"{part}: {engine}, {bench.players:,} players, in MiB: {said}")
        what = f"a worker's memory, {engine}, {bench.players:,} players"
        found.verdicts.append(Verdict(part, what, held.rss / 2**20, 150, 80, at_least=False, unit=" MiB"))
    return found
