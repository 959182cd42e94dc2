"""Write at random through several processes and compare every page of every list with ORDER BY … OFFSET.

    .venv/bin/python scripts/prove_lists.py
    .venv/bin/python scripts/prove_lists.py --database postgresql://… --seconds 600
    .venv/bin/python scripts/prove_lists.py --database postgresql://… --drop-one

Two servers (one on SQLite) use very small buckets and checkpoints, so that they split, merge, save, trim and reload all
the time. Writers create, level, rename and delete players, let them join and leave, and register accounts, both through
the servers and from a separate process. Readers check meanwhile that each page is in order and as long as its Total
says. Then the writers pause, and every page of every process is compared with the database. In every other round,
beginning with the first, a server is killed with SIGKILL and restarted. With --drop-one a row of list_changes is
deleted on purpose, which must be noticed. Exit code 0: every page was right; 1: a page was wrong.
"""

import argparse
import asyncio
import contextlib
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import httpx

from built_server import BuiltServer
from gamekeeper.game.access import tokens
from gamekeeper.game.access.passwords import NO_PASSWORD
from gamekeeper.game.accounts import accounts
from gamekeeper.game.core import lookup
from gamekeeper.game.core.player import Player
from gamekeeper.game.core.writes import Decision, Intent
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.players.changes import PlayerCreated, PlayerState
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.core import ordered_lists as stored
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.migrate import migrate
from gamekeeper.store.engine.statements import Statement
from list_writer import API, SHARED, WriterJob, client_of, open_keeper, shared_player_id, write_in_process

WRITERS = 3
ROUND = 40  # number of operations of each writer between two comparisons
READ_SECONDS = 0.15  # seconds between two pages that a reader requests
LOST_EXP = 987_654_321  # exp that no other player has: it marks the row of list_changes that --drop-one deletes


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


UP, DOWN = {"sortDirection": "Ascending"}, {"sortDirection": "Descending"}
LISTS = (
    List(f"{API}/players/rank", UP, _rank, False, "SELECT id FROM players ORDER BY level, exp, id"),
    List(f"{API}/players/rank", DOWN, _rank, True, "SELECT id FROM players ORDER BY level DESC, exp DESC, id DESC"),
    List(f"{API}/players", {}, _name, False, "SELECT id FROM players ORDER BY fold"),
    List(f"{API}/users", {}, _name, False, "SELECT id FROM users ORDER BY fold"),
    List(
        f"{API}/players/online",
        {},
        _name,
        False,
        "SELECT p.id FROM players p JOIN presence o ON o.player_id = p.id ORDER BY p.fold",
    ),
)


class Mismatch(Exception):
    """Raised when a page of a list differs from the expected one."""


# --- servers with small buckets ------------------------------------------------------------------------------------


class SmallServer(BuiltServer):
    builder = "small_list_server"
    stderr = None


async def prepare(keeper: Keeper) -> tuple[str, str]:
    """Create the shared players and an account with all permissions; return its id and its token."""
    await migrate(keeper.store)
    name = f"prove{lookup.new_guid()[:8]}"

    async def create(tx: Reading) -> Decision[None]:
        powers = Powers(api=True, users_query=True, game_link=True)
        registered = await accounts.register(tx, name, f"{name}@example.test", NO_PASSWORD, powers)
        made = [Player(shared_player_id(each), registered.result.id, f"shared{each}") for each in range(SHARED)]
        return Decision([*registered.changes, *[PlayerCreated(each, PlayerState()) for each in made]], None)

    await keeper.changes.apply(Intent("prove"), create, lambda _: b"null")
    user = await lookup.find_user(keeper.store, name)
    return user.id, (await tokens.issue_for_service(keeper, user, 24, read_only=False)).access


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
    database: str
    servers: Sequence[SmallServer]
    clients: Sequence[httpx.AsyncClient]
    user_id: str
    token: str
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
        return WriterJob(number, url, self.database, self.token, self.user_id, seed, ROUND, self.mine[number])


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


async def drop_one(keeper: Keeper) -> None:
    """Change a row and delete its list change in one transaction, so that no process can have read it."""
    player_id = shared_player_id(0)

    async def lose(tx: Writing) -> None:
        await tx.returning(Statement("move", {"": "UPDATE players SET exp = $2 WHERE id = $1"}), player_id, LOST_EXP)
        lost = "DELETE FROM list_changes WHERE word = $1 AND exp = $2 AND step = 1 RETURNING step"
        if len(await tx.returning(Statement("lose", {"": lost}), player_id, LOST_EXP)) != 1:
            raise RuntimeError("there was no change to lose")

    await keeper.store.write(lose)


async def rounds(run: ListProof, keeper: Keeper, *, operations: int, seconds: float, drop: bool) -> None:
    deadline = time.monotonic() + seconds
    context = multiprocessing.get_context("forkserver")  # the writers share one import
    with ProcessPoolExecutor(WRITERS, mp_context=context) as pool:
        # start the processes first, so that a kill in the first round hits a server at work
        loop = asyncio.get_running_loop()
        await asyncio.gather(*[loop.run_in_executor(pool, time.sleep, READ_SECONDS) for _ in range(WRITERS)])
        while run.operations < operations and time.monotonic() < deadline:
            await one_round(run, pool)
            if drop:
                await drop_one(keeper)
            run.compared += await compare(keeper, run.clients, run.chance.choice((9, 25, 100)))


async def prove(database: str, *, operations: int, seconds: float, seed: int, drop: bool) -> bool:
    async with contextlib.AsyncExitStack() as stack:
        keeper = await stack.enter_async_context(open_keeper(database))
        user_id, token = await prepare(keeper)
        count = 1 if keeper.store.engine == "sqlite" else 2
        servers = [stack.enter_context(SmallServer("", database)) for _ in range(count)]
        asked = (*[each.url for each in servers], keeper)
        clients = [await stack.enter_async_context(client_of(each, token)) for each in asked]
        run = ListProof(database, servers, clients, user_id, token, seed, random.Random(seed))
        wrong = ""
        try:
            await rounds(run, keeper, operations=operations, seconds=seconds, drop=drop)
        except Mismatch as mismatch:
            wrong = str(mismatch)
        checkpoints = (await stored.read_checkpoint(keeper.store)).number
    said = f"{run.operations} operations by {WRITERS} writers through {count} servers and beside them, "
    said += f"{run.kills} kills, {checkpoints} checkpoints, {run.read} pages read meanwhile, "
    print(f"{said}{run.compared} compared with the database, seed {seed}: ", end="")
    print(f"MISMATCH: {wrong}" if wrong else "every page is exact")
    drops = " --drop-one" if drop else ""
    print(f"again: scripts/prove_lists.py --database … --seed {seed} --operations {max(run.operations, 1)}{drops}")
    return not wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", help="sqlite:///path/to/file.db or postgresql://…; a temporary file if not given")
    parser.add_argument("--operations", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no round after so many")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--drop-one", action="store_true", help="lose a change on purpose: must end with a mismatch")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = given.database or f"sqlite:///{folder}/lists.db"
        proving = prove(
            database, operations=given.operations, seconds=given.seconds, seed=given.seed, drop=given.drop_one
        )
        return 0 if asyncio.run(proving) else 1


if __name__ == "__main__":
    sys.exit(main())
