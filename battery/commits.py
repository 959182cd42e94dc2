"""Test a: PostgreSQL is killed while `synchronous_commit` is off by default; no acknowledged give is lost."""

import asyncio
import shutil
import tempfile
import time
from pathlib import Path

import crash_gives
from battery.cases import POSTGRES, Case, Figure, Run
from battery.givers import Givers
from battery.served import AS_IT_IS, UNRAISED_COMMIT, Served
from pair import USER, Node, programs

KILLS = 3
GIVE_SECONDS = 1.0  # seconds between two kills of PostgreSQL
# Longest WAL writer delay: until then an asynchronous commit is on disk only if a later commit writes it.
SLOW_WAL_WRITER = "ALTER SYSTEM SET wal_writer_delay = '10s'"
ASYNCHRONOUS = f"ALTER DATABASE {USER} SET synchronous_commit = off"


def run(run: Run) -> list[Figure]:
    where, user = programs()
    folder = Path(tempfile.mkdtemp(prefix="gk-commit-"))
    if user:
        shutil.chown(folder, user)
    node = Node(folder / "one", where, user)
    try:
        node.create()
        node.start()
        for command in (SLOW_WAL_WRITER, "SELECT pg_reload_conf()", ASYNCHRONOUS):
            node.fetch(command)
        return _kill_under_load(run, node)
    finally:
        node.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _kill_under_load(run: Run, node: Node) -> list[Figure]:
    token, players = asyncio.run(crash_gives.prepare(node.url, run.seed))
    node.fetch("CHECKPOINT")  # write a checkpoint: otherwise a crash would lose the test's players
    until = time.monotonic() + (run.seconds or 0)
    kills = 0
    with Served(run.fault or AS_IT_IS, node.url) as server:
        givers = Givers(server.url, token, players, run.seed)
        with givers.at_work():
            while kills < KILLS or time.monotonic() < until:
                time.sleep(GIVE_SECONDS)
                node.kill()
                node.start()
                kills += 1
        wrong, given = givers.wrong(), sum(each.good for each in givers.answers)
    what = f"synchronous_commit off, PostgreSQL killed {kills} times"
    return [
        Figure(f"{what}: items lost or duplicated", f"{wrong} after {given} acknowledged gives", "0", wrong == 0),
        Figure(f"{what}: keys without an outcome", str(givers.unresolved), "0", givers.unresolved == 0),
    ]


CASES = (Case("a", "synchronous_commit", run, (UNRAISED_COMMIT,), (POSTGRES,)),)
