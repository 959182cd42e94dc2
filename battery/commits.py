"""Test a: commits on PostgreSQL. It is killed while `synchronous_commit` is off; answers to COMMIT are lost."""

import asyncio
import time

import httpx

import crash_gives
from battery import realm
from battery.cases import POSTGRES, Case, Figure, Run
from battery.givers import Givers
from battery.served import AS_IT_IS, MERGED_COMMIT, UNRAISED_COMMIT, Served
from pair import USER, Node, open_node
from postgres_wire import PostgresWire

KILLS = 3
UNANSWERED = 10  # gives whose COMMIT gets no answer
MOST_GIVES = 4 * UNANSWERED  # a background job may commit at the same time, and then loses its answer instead of a give
GIVE_SECONDS = 1.0  # seconds between two kills of PostgreSQL
# Longest WAL writer delay: until then an asynchronous commit is on disk only if a later commit writes it.
SLOW_WAL_WRITER = "ALTER SYSTEM SET wal_writer_delay = '10s'"
ASYNCHRONOUS = f"ALTER DATABASE {USER} SET synchronous_commit = off"


def run(run: Run) -> list[Figure]:
    with open_node() as node:
        node.start()
        for command in (SLOW_WAL_WRITER, "SELECT pg_reload_conf()", ASYNCHRONOUS):
            node.fetch(command)
        return _kill_under_load(run, node)


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
        return givers.figures(f"synchronous_commit off, PostgreSQL killed {kills} times: ")


def lose_answers(run: Run) -> list[Figure]:
    """Lose the answer to every second COMMIT, of gives without a key: each is applied once, or its outcome unknown."""
    world = realm.prepare(run.database, 1)
    statuses: list[int] = []
    with PostgresWire(run.database) as wire, Served(run.fault or AS_IT_IS, wire.database) as server:
        path = f"/api/v1/players/{world.players[0]}/items"
        with httpx.Client(base_url=server.url, headers=world.headers, timeout=30) as client:
            client.get(path)
            while statuses.count(httpx.codes.SERVICE_UNAVAILABLE) < UNANSWERED and len(statuses) < MOST_GIVES:
                wire.lost_commits = len(statuses) % 2
                statuses.append(client.post(f"{path}/give", json={"itemid": realm.ITEM, "quantity": 1}).status_code)
            held = sum(slot["Quantity"] for slot in client.get(path).json()["inventory"])
    good, unknown = statuses.count(httpx.codes.OK), statuses.count(httpx.codes.SERVICE_UNAVAILABLE)
    others = len(statuses) - UNANSWERED
    what = f"answers to {UNANSWERED} of {len(statuses)} COMMITs lost"
    return [
        Figure.equal(f"{what}: requests with an unknown outcome", unknown, UNANSWERED),
        Figure(f"{what}: items of the player", str(held), f"{len(statuses)}, one each", held == len(statuses)),
        Figure.equal(f"{what}: acknowledged gives", good, others),
    ]


CASES = (
    Case("a", "synchronous_commit", run, (UNRAISED_COMMIT,), (POSTGRES,)),
    Case("a", "lost answers to COMMIT", lose_answers, (MERGED_COMMIT,), (POSTGRES,)),
)
