"""Test e: after requests of every kind for a long time, the server process has not grown."""

import asyncio
import random
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import httpx
import psutil

from battery import realm
from battery.cases import POSTGRES, SQLITE, Case, Figure, Run
from battery.realm import COIN, Realm
from battery.served import LEAK, Served
from pair import fetch
from server import Server

PLAYERS = 40
BLOCKS, REQUESTS = 6, 500
SEEDED_BLOCKS = 4
CLIENTS = 12
CONNECTIONS = 4  # the server's most connections to PostgreSQL; fewer than clients, so that all are opened early
MOST_MIB, MOST_MIB_PER_HOUR = 2.0, 1.0
SETTLED_SECONDS = 0.5
WRONG = "0" * 64
COUNT = "/api/v1/players/online/count"
Ask = Callable[["Visitor"], Any]


class ProcessSize(NamedTuple):
    """Memory, open files and threads of the idle worker process."""

    at: float
    mib: float
    files: int
    threads: int


@dataclass
class Visitor:
    """A client that sends random requests, drawn from the seed."""

    world: Realm
    client: httpx.AsyncClient
    chance: random.Random
    number: int

    @property
    def player(self) -> str:
        return f"/api/v1/players/{self.chance.choice(self.world.players)}"

    async def get(self, path: str, **more: Any) -> httpx.Response:  # noqa: ANN401 - httpx's own
        try:
            return await self.client.get(path, **more)
        except httpx.RemoteProtocolError:  # the server closed an idle connection just before
            return await self.client.get(path, **more)

    async def post(self, path: str, body: object, **more: Any) -> httpx.Response:  # noqa: ANN401 - httpx's own
        return await self.client.post(path, json=body, **more)

    async def churn(self) -> httpx.Response:
        """Log in, use the token, refresh it, use the new token, and revoke it."""
        fields = {"grant_type": "password", "username": realm.ROOT, "password": realm.PASSWORD}
        refresh = ""
        for _ in range(2):
            pair = (await self.post("/api/oauth/token", fields)).json()
            await self.get(COUNT, headers={"Authorization": f"Bearer {pair['access_token']}"})
            refresh = pair["refresh_token"]
            fields = {"grant_type": "refresh_token", "refresh_token": refresh}
        return await self.client.delete(f"/api/oauth/token/{realm.ROOT}/{refresh}")

    async def hang_up(self) -> None:
        """Disconnect from the server in the middle of a request or right after it."""
        url = self.client.base_url
        body = f'{{"itemid": "{COIN.id}", "quantity": 1}}'
        request = f"POST {self.player}/items/give HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.world.token}\r\n"
        request += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        with suppress(OSError), socket.create_connection((url.host, url.port or 80), timeout=5) as line:
            line.sendall(request[: self.chance.choice((30, len(request) - 5, len(request)))].encode())

    def change(self, verb: str, quantity: int, item_id: str = COIN.id, **more: Any) -> Any:  # noqa: ANN401 - httpx's own
        return self.post(f"{self.player}/items/{verb}", {"itemid": item_id, "quantity": quantity}, **more)


KINDS: tuple[Ask, ...] = (
    Visitor.churn,
    Visitor.hang_up,
    lambda v: v.change("give", 3),
    lambda v: v.change("take", 1),
    lambda v: v.change("give", 1, headers={"Idempotency-Key": f"{v.chance.random()}"}),
    lambda v: v.post(f"{v.player}/variables/{COIN.id}", {"value": v.number}),
    lambda v: v.get(v.player),
    lambda v: v.get(f"{v.player}/items"),
    lambda v: v.get(f"/api/v1/players?page={v.number % 3}&pageSize=20"),
    lambda v: v.get("/api/v1/players/rank?pageSize=20"),
    lambda v: v.get(f"{v.player}/rank"),
    lambda v: v.get("/api/v1/users"),
    lambda v: v.get(f"/api/link/v1/changes?after={v.number}&limit=20"),
    lambda v: v.post("/api/v1/users/Nobody/password/validate", {"password": WRONG}),
    lambda v: v.post(f"/api/v1/users/{realm.ROOT}/password/validate", {"password": WRONG}),
    lambda v: v.change("give", 0, "no guid"),
    lambda v: v.client.post(f"{v.player}/items/give", content=b"{" * 100),
    lambda v: v.get("/api/v1/players", headers={"Authorization": "Bearer gka_nobody"}),
    lambda v: v.get("/no/such/route"),
    lambda v: v.client.delete("/api/v1/players"),
)


def soak(run: Run) -> list[Figure]:
    world = realm.prepare(run.database, PLAYERS)
    given: dict[str, Any] = {"connections": CONNECTIONS, "access_minutes": 1}
    failed, held = 0, list[ProcessSize]()
    with Served(LEAK, run.database, **given) if run.fault else Server(run.database, **given) as server:
        for block in run.rounds(SEEDED_BLOCKS if run.fault else BLOCKS):
            failed += asyncio.run(_send_block(server.url, world, random.Random(f"{run.seed}-{block}")))
            time.sleep(SETTLED_SECONDS)
            held.append(_measure_worker(server.pid))
        figures = [*_compare(run, held), Figure.none("5xx answers", failed)]
        if run.engine == POSTGRES:
            ours = "application_name = 'gamekeeper' AND datname = current_database()"
            query = f"SELECT COUNT(*) FROM pg_stat_activity WHERE {ours}"  # noqa: S608 - no value in it
            opened = fetch(run.database, query)[0][0]
            figures.append(Figure("connections to PostgreSQL", str(opened), f"≤ {CONNECTIONS}", opened <= CONNECTIONS))
    return figures


async def _send_block(url: str, world: Realm, chance: random.Random) -> int:
    """Send REQUESTS random requests; return how many failed with a 5xx or no answer."""
    left, failed = list(range(REQUESTS)), 0
    async with httpx.AsyncClient(base_url=url, headers=world.headers, timeout=30) as client:

        async def visit() -> None:
            nonlocal failed
            while left:
                number = left.pop()
                visitor = Visitor(world, client, random.Random(chance.random()), number)
                answer = await KINDS[number % len(KINDS)](visitor)
                failed += answer is not None and answer.is_server_error

        await asyncio.gather(*[visit() for _ in range(CLIENTS)])
    return failed


def _measure_worker(parent: int) -> ProcessSize:
    """Measure the worker process: the server's largest child; the other child is the resource tracker."""
    worker = max(psutil.Process(parent).children(), key=lambda each: each.memory_info().rss)
    return ProcessSize(time.monotonic(), worker.memory_info().rss / 2**20, worker.num_fds(), worker.num_threads())


def _compare(run: Run, held: list[ProcessSize]) -> list[Figure]:
    """Compare the worker's last size with its second; in the long form with that at half time, when caches are full."""
    first, last = held[1 if run.seconds is None else len(held) // 2], held[-1]
    most = max(MOST_MIB, MOST_MIB_PER_HOUR * (last.at - first.at) / 3600)
    memory = f"{first.mib:.1f} → {last.mib:.1f} MiB in {last.at - first.at:.0f} s"
    what = f"memory of a worker over {len(held) * REQUESTS:,} requests"
    return [
        Figure(what, memory, f"≤ {most:.0f} MiB more", last.mib - first.mib <= most),
        Figure.equal("open files of the worker", last.files, first.files),
        Figure.equal("threads of the worker", last.threads, first.threads),
    ]


CASES = (Case("e", "soak", soak, faults=(LEAK,), fault_engines=(SQLITE,)),)
