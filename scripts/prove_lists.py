"""Write at random through several processes and compare every page of every list with ORDER BY … OFFSET.

    PYTHONPATH=. .venv/bin/python scripts/prove_lists.py --database postgresql://… --operations 10000

Two servers (one on SQLite) use very small buckets and checkpoints, so that they split, merge, save, trim and reload all
the time. Writers create, level, rename and delete players, let them join and leave, and register accounts, both through
the servers and from a separate process. Readers check meanwhile that each page is in order and as long as its Total
says. Then the writers pause, and every page of every process is compared with the database. In every other round,
beginning with the first, a server is killed with SIGKILL and restarted. Exit code 0: every page was right; 1: a page
was wrong.
"""

import argparse
import asyncio
import contextlib
import multiprocessing
import random
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import httpx

from battery import realm
from battery.realm import Realm
from built_server import BuiltServer
from gamekeeper.game.core import lookup
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.core import ordered_lists as stored
from gamekeeper.store.engine.statements import Statement
from list_writer import API, WriterJob, client_of, open_keeper, write_in_process

WRITERS = 3
ROUND = 40  # number of operations of each writer between two comparisons
READ_SECONDS = 0.15  # seconds between two pages that a reader requests
SHARED = 100  # number of players that all writers change


class List(NamedTuple):
    path: str
    query: dict[str, str]
    key: Callable[[Any], Any]
    descending: bool
    in_order: str  # SQL query of the ids of all entries in the list's order


def _rank(record: Any) -> tuple[int, int, str]:  # noqa: ANN401 - a record out of JSON
    return record["Level"], record["Exp"], record["Id"]


def _name(record: Any) -> str:  # noqa: ANN401 - a record out of JSON
    return lookup.fold(record["Name"])


ONLINE = "SELECT p.id FROM players p JOIN presence o ON o.player_id = p.id ORDER BY p.fold"
UP, DOWN = {"sortDirection": "Ascending"}, {"sortDirection": "Descending"}
LISTS = (
    List(f"{API}/players/rank", UP, _rank, False, "SELECT id FROM players ORDER BY level, exp, id"),
    List(f"{API}/players/rank", DOWN, _rank, True, "SELECT id FROM players ORDER BY level DESC, exp DESC, id DESC"),
    List(f"{API}/players", {}, _name, False, "SELECT id FROM players ORDER BY fold"),
    List(f"{API}/users", {}, _name, False, "SELECT id FROM users ORDER BY fold"),
    List(f"{API}/players/online", {}, _name, False, ONLINE),
)


class Mismatch(Exception):
    """Raised when a page of a list differs from the expected one."""


# --- servers with small buckets ------------------------------------------------------------------------------------


class SmallServer(BuiltServer):
    builder = "list_writer"
    stderr = None


# --- reading and comparing pages -----------------------------------------------------------------------------------


async def page(client: httpx.AsyncClient, of: List, number: int, size: int) -> list[Any]:
    """Read a page of a list and check it: in order, without duplicates, as long as its Total says."""
    answer = await client.get(of.path, params={**of.query, "page": str(number), "pageSize": str(size)})
    answer.raise_for_status()
    told = answer.json()
    keys = [of.key(record) for record in told["Values"]]
    for one, two in pairwise(keys):
        if not (one > two if of.descending else one < two):
            raise Mismatch(f"{answer.url}: {one} is followed by {two}")
    wanted = min(max(told["Total"] - number * size, 0), size)
    if len(keys) != wanted:
        raise Mismatch(f"{answer.url}: Total {told['Total']} leaves {wanted} records for it, and it has {len(keys)}")
    return [told["Total"], *[record["Id"] for record in told["Values"]]]


async def compare(keeper: Keeper, clients: Sequence[httpx.AsyncClient], size: int) -> int:
    """Compare every page of every list with the database while there are no writes; return the number of pages."""
    compared = 0
    for of in LISTS:
        statement = Statement("prove", {"": f"{of.in_order} LIMIT $1 OFFSET $2"})
        total = len(await keeper.store.all(statement, 2**31 - 1, 0))
        for number in range(total // size + 2):
            rows = await keeper.store.all(statement, size, number * size)
            wanted = [total, *[row[0] for row in rows]]
            for client in clients:
                found = await page(client, of, number, size)
                compared += 1
                if found != wanted:
                    at = f"{client.base_url}{of.path} {of.query} page {number} of {size}"
                    raise Mismatch(f"{at} is {found}, not {wanted}")
    return compared


# --- rounds of writing and comparing -------------------------------------------------------------------------------


@dataclass
class ListProof:
    world: Realm
    servers: Sequence[SmallServer]
    clients: Sequence[httpx.AsyncClient]
    seed: int
    chance: random.Random
    mine: list[list[str]] = field(default_factory=lambda: [[] for _ in range(WRITERS)])
    rounds: int = 0
    operations: int = 0
    kills: int = 0
    read: int = 0
    compared: int = 0

    def job(self, number: int) -> WriterJob:
        url = self.servers[number % len(self.servers)].url if number < WRITERS - 1 else None
        seed = f"{self.seed}-{self.rounds}-{number}"
        return WriterJob(number, url, self.world, seed, ROUND, self.mine[number])


async def one_round(run: ListProof, pool: ProcessPoolExecutor) -> None:
    loop = asyncio.get_running_loop()
    writing = [loop.run_in_executor(pool, write_in_process, run.job(number)) for number in range(WRITERS)]
    readers = [asyncio.ensure_future(read_on(run, client)) for client in run.clients]
    try:
        if run.rounds % 2 == 0:
            await crash(run)
        run.mine = await asyncio.gather(*writing)
    finally:
        for each in readers:
            each.cancel()
        read = await asyncio.gather(*readers, return_exceptions=True)
    run.operations += WRITERS * ROUND
    run.rounds += 1
    for found in read:
        if isinstance(found, Exception):
            raise found


async def read_on(run: ListProof, client: httpx.AsyncClient) -> None:
    while True:
        of, size = run.chance.choice(LISTS), run.chance.randint(1, 100)
        with contextlib.suppress(httpx.TransportError):  # ignored: the reader's server was killed
            await page(client, of, run.chance.randrange(400 // size + 1), size)
            run.read += 1
        await asyncio.sleep(READ_SECONDS)


async def crash(run: ListProof) -> None:
    server = run.chance.choice(run.servers)
    await asyncio.sleep(run.chance.uniform(0.05, 0.3))
    server.kill()
    run.kills += 1
    await server.restart()


async def rounds(run: ListProof, keeper: Keeper, operations: int) -> None:
    context = multiprocessing.get_context("forkserver")  # the writers share one import
    with ProcessPoolExecutor(WRITERS, mp_context=context) as pool:
        # start the processes first, so that a kill in the first round hits a server at work
        loop = asyncio.get_running_loop()
        await asyncio.gather(*[loop.run_in_executor(pool, time.sleep, READ_SECONDS) for _ in range(WRITERS)])
        while run.operations < operations:
            await one_round(run, pool)
            run.compared += await compare(keeper, run.clients, run.chance.choice((9, 25, 100)))


async def prove(world: Realm, operations: int, seed: int) -> bool:
    async with contextlib.AsyncExitStack() as stack:
        keeper = await stack.enter_async_context(open_keeper(world.database))
        count = 1 if keeper.store.engine == "sqlite" else 2
        servers = [stack.enter_context(SmallServer("", world.database)) for _ in range(count)]
        asked = (*[each.url for each in servers], keeper)
        clients = [await stack.enter_async_context(client_of(each, world)) for each in asked]
        run = ListProof(world, servers, clients, seed, random.Random(seed))
        wrong = ""
        try:
            await rounds(run, keeper, operations)
        except Mismatch as mismatch:
            wrong = str(mismatch)
        checkpoints = (await stored.read_checkpoint(keeper.store)).number
    said = f"{run.operations} operations by {WRITERS} writers through {count} servers and beside them, "
    said += f"{run.kills} kills, {checkpoints} checkpoints, {run.read} pages read meanwhile, "
    print(f"{said}{run.compared} compared with the database, seed {seed}: ", end="")
    print(f"MISMATCH: {wrong}" if wrong else "every page is exact")
    return not wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", required=True, help="an empty one: sqlite:///path/to/file.db or postgresql://…")
    parser.add_argument("--operations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    given = parser.parse_args()
    prepared = realm.prepare(given.database, SHARED)
    sys.exit(0 if asyncio.run(prove(prepared, given.operations, given.seed)) else 1)
