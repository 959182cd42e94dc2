"""A client that changes the ordered lists at random, through a server or with the application in its own process.

It creates, levels, renames and deletes players, lets them join and leave, and registers accounts. `build` makes a
server with small buckets and checkpoints of these lists.
"""

import asyncio
import contextlib
import random
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import httpx
from msgspec.structs import replace

from battery.realm import Realm
from gamekeeper import app
from gamekeeper.cli import worker
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lists import list_index, ordered_lists
from gamekeeper.ground import settings
from gamekeeper.ground.settings import Settings
from gamekeeper.http.server.asgi import Asgi
from server import READY_SECONDS

LINK, API = "/api/link/v1", "/api/v1"
OWN = 0.8  # share of a writer's changes that affect players that it created
PAUSE = 0.02
REFUSED, BUSY = (404, 409), 503
PATIENCE = httpx.Timeout(READY_SECONDS)
SENT = hash_for_wire("of a throw-away account")
SMALL = (
    (list_index, "BUCKET_ROWS", 8),
    (list_index, "SPLIT_ROWS", 16),
    (list_index, "BLOCK_BUCKETS", 4),
    (ordered_lists, "BUCKET_ROWS", 8),
    (ordered_lists, "CHECKPOINT_ENTRIES", 60),
    (ordered_lists, "JOBS", tuple(replace(each, seconds=0.05) for each in ordered_lists.JOBS)),
)


@contextlib.asynccontextmanager
async def open_keeper(database: str) -> AsyncGenerator[Keeper]:
    keeper = app.build_keeper(settings.load({}, database=database, access_log=False))
    await keeper.store.open()
    try:
        yield keeper
    finally:
        await keeper.store.close()
        keeper.passwords.close()


def client_of(asked: str | Keeper, world: Realm) -> httpx.AsyncClient:
    """Return a client of a server, or of the application in this process, without a network."""
    if isinstance(asked, Keeper):
        inside: Any = app.build(asked)
        return httpx.AsyncClient(transport=httpx.ASGITransport(inside), base_url="http://inside", headers=world.headers)
    return httpx.AsyncClient(base_url=asked, headers=world.headers, timeout=PATIENCE)


def build(loaded: Settings) -> Asgi:
    """Build a server whose lists split, merge, save, trim and reload all the time: see built_server.py."""
    for module, name, value in SMALL:
        setattr(module, name, value)
    return worker.build_app(loaded)


@dataclass(frozen=True)
class WriterJob:
    """The work of one writer process in one round."""

    number: int
    url: str | None  # URL of the writer's server; None: it runs the application in its own process
    world: Realm  # its players are those that all writers change; any other player is changed only by its creator
    seed: str
    operations: int
    mine: list[str]  # ids of the players that only this writer changes


class ListWriter:
    def __init__(self, job: WriterJob, client: httpx.AsyncClient) -> None:
        self.job = job
        self.mine = list(job.mine)
        self._client = client
        self._chance = random.Random(job.seed)
        self._realm = f"{LINK}/servers/realm{job.number}"

    async def work(self) -> None:
        kinds = (self._create, self._progress, self._rename, self._delete, self._move, self._shut, self._register)
        await self._shut()
        for _ in range(self.job.operations):
            (kind,) = self._chance.choices(kinds, weights=(26, 36, 12, 10, 13, 1, 2))
            await kind()

    async def _create(self) -> None:
        player_id = str(uuid.UUID(int=self._chance.getrandbits(128), version=4))
        if await self._put(player_id, {"Name": self._new_name(), "UserId": self.job.world.user_id, **self._rank()}):
            self.mine.append(player_id)

    async def _progress(self) -> None:
        await self._put(self._anyone(), self._rank())

    async def _rename(self) -> None:
        await self._put(self._anyone(), {"Name": self._new_name()})

    async def _delete(self) -> None:
        if self.mine:
            player_id = self._chance.choice(self.mine)
            if await self._send("DELETE", f"{LINK}/players/{player_id}"):
                self.mine.remove(player_id)

    async def _move(self) -> None:
        where = self._chance.choice(("joined", "joined", "left"))
        ids = [self._anyone() for _ in range(self._chance.randint(1, 4))]
        await self._send("POST", f"{self._realm}/{where}", {"Players": ids})

    async def _shut(self) -> None:
        await self._send("DELETE", self._realm)
        await self._send("PUT", self._realm, {"Lease": 3600})

    async def _register(self) -> None:
        name = self._new_name()
        body = {"username": name, "password": SENT, "email": f"{name}@example.test"}
        await self._send("POST", f"{API}/users/register", body)

    async def _put(self, player_id: str, body: object) -> bool:
        return await self._send("PUT", f"{LINK}/players/{player_id}", body)

    def _anyone(self) -> str:
        if self.mine and self._chance.random() < OWN:
            return self._chance.choice(self.mine)
        return self._chance.choice(self.job.world.players)

    def _rank(self) -> dict[str, int]:
        """Return a random level and exp for a player, with many ties, so that ids decide the order."""
        return {"Level": self._chance.randint(1, 4), "Exp": self._chance.randint(0, 20)}

    def _new_name(self) -> str:
        return "".join(self._chance.choices("abAB", k=6)) + str(self._chance.randrange(10**6))

    async def _send(self, method: str, path: str, body: object = None) -> bool:
        """Retry a request until its answer is not a 503; all operations of this writer may be applied twice."""
        while True:
            try:
                answer = await self._client.request(method, path, json=body)
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.status_code != BUSY:
                if not answer.is_success and answer.status_code not in REFUSED:
                    raise RuntimeError(f"unexpected answer {answer.status_code}: {answer.text}")
                return answer.is_success
            await asyncio.sleep(PAUSE)


async def write(job: WriterJob) -> list[str]:
    async with contextlib.AsyncExitStack() as stack:
        asked = job.url or await stack.enter_async_context(open_keeper(job.world.database))
        writer = ListWriter(job, await stack.enter_async_context(client_of(asked, job.world)))
        await writer.work()
    return writer.mine


def write_in_process(job: WriterJob) -> list[str]:
    return asyncio.run(write(job))
