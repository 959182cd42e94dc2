"""Test e: after requests of every kind for a long time, the server process has not grown."""

import asyncio
import itertools
import random
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from battery import realm
from battery.cases import POSTGRES, SQLITE, Case, Figure, Run
from battery.realm import Realm
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
PROC = Path("/proc")
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


async def _churn(visitor: Visitor) -> httpx.Response:
    """Log in, use the token, refresh it, use the new token, and revoke it."""
    fields = {"grant_type": "password", "username": realm.ROOT, "password": realm.PASSWORD}
    pair = (await visitor.post("/api/oauth/token", fields)).json()
    await visitor.get("/api/v1/players/online/count", headers=_bearer(pair))
    renewing = {"grant_type": "refresh_token", "refresh_token": pair["refresh_token"]}
    new = (await visitor.post("/api/oauth/token", renewing)).json()
    await visitor.get("/api/v1/players/online/count", headers=_bearer(new))
    return await visitor.client.delete(f"/api/oauth/token/{realm.ROOT}/{new['refresh_token']}")


async def _hang_up(visitor: Visitor) -> None:
    """Disconnect from the server in the middle of a request or right after it."""
    url = visitor.client.base_url
    request = f"POST {visitor.player}/items/give HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {visitor.world.token}\r\n"
    body = f'{{"itemid": "{realm.ITEM}", "quantity": 1}}'
    request += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    with suppress(OSError), socket.create_connection((url.host, url.port or 80), timeout=5) as line:
        line.sendall(request[: visitor.chance.choice((30, len(request) - 5, len(request)))].encode())


KINDS: tuple[Ask, ...] = (
    _churn,
    _hang_up,
    lambda v: v.post(f"{v.player}/items/give", {"itemid": realm.ITEM, "quantity": 3}),
    lambda v: v.post(f"{v.player}/items/take", {"itemid": realm.ITEM, "quantity": 1}),
    lambda v: v.post(f"{v.player}/items/give", {"itemid": realm.ITEM, "quantity": 1}, headers=_key(v)),
    lambda v: v.post(f"{v.player}/variables/{realm.ITEM}", {"value": v.number}),
    lambda v: v.get(v.player),
    lambda v: v.get(f"{v.player}/items"),
    lambda v: v.get(f"/api/v1/players?page={v.number % 3}&pageSize=20"),
    lambda v: v.get("/api/v1/players/rank?pageSize=20"),
    lambda v: v.get(f"{v.player}/rank"),
    lambda v: v.get("/api/v1/users"),
    lambda v: v.get(f"/api/link/v1/changes?after={v.number}&limit=20"),
    lambda v: v.post("/api/v1/users/Nobody/password/validate", {"password": WRONG}),
    lambda v: v.post(f"/api/v1/users/{realm.ROOT}/password/validate", {"password": WRONG}),
    lambda v: v.post(f"{v.player}/items/give", {"itemid": "no guid", "quantity": 0}),
    lambda v: v.client.post(f"{v.player}/items/give", content=b"{" * 100),
    lambda v: v.get("/api/v1/players", headers={"Authorization": "Bearer gka_nobody"}),
    lambda v: v.get("/no/such/route"),
    lambda v: v.client.delete("/api/v1/players"),
)


def run(run: Run) -> list[Figure]:
    world = realm.prepare(run.database, PLAYERS)
    given = {"connections": CONNECTIONS, "access_minutes": 1}
    failed, held = 0, list[ProcessSize]()
    with Served(LEAK, run.database, **given) if run.fault else Server(run.database, **given) as server:
        for block in _blocks(run):
            failed += asyncio.run(_block(server.url, world, random.Random(f"{run.seed}-{block}")))
            time.sleep(SETTLED_SECONDS)
            held.append(_measure_worker(server.pid))
        open_to_database = _count_connections(run.database) if run.engine == POSTGRES else 0
    return _figures(run, held, failed, open_to_database)


def _blocks(run: Run) -> Iterator[int]:
    if run.seconds is None:
        yield from range(SEEDED_BLOCKS if run.fault else BLOCKS)
        return
    until = time.monotonic() + run.seconds
    for block in itertools.count():
        if block >= BLOCKS and time.monotonic() > until:
            return
        yield block


async def _block(url: str, world: Realm, chance: random.Random) -> int:
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
    children = (PROC / str(parent) / "task" / str(parent) / "children").read_text(encoding="ascii").split()
    return max((_measure_process(PROC / each) for each in children), key=lambda each: each.mib)


def _measure_process(process: Path) -> ProcessSize:
    lines = (process / "status").read_text(encoding="utf-8").splitlines()
    status = dict(line.split(":", 1) for line in lines)
    files = sum(1 for _ in (process / "fd").iterdir())
    return ProcessSize(time.monotonic(), int(status["VmRSS"].split()[0]) / 1024, files, int(status["Threads"]))


def _count_connections(database: str) -> int:
    ours = "application_name = 'gamekeeper' AND datname = current_database()"
    return fetch(database, f"SELECT COUNT(*) FROM pg_stat_activity WHERE {ours}")[0][0]  # noqa: S608 - no value in it


def _bearer(pair: dict[str, str]) -> dict[str, str]:
    return {"Authorization": f"Bearer {pair['access_token']}"}


def _key(visitor: Visitor) -> dict[str, str]:
    return {"Idempotency-Key": f"{visitor.chance.random()}"}


def _figures(run: Run, held: list[ProcessSize], failed: int, open_to_database: int) -> list[Figure]:
    """Compare the worker's last size with its second; in the long form with that at half time, when caches are full."""
    first, last = held[1 if run.seconds is None else len(held) // 2], held[-1]
    grown, hours = last.mib - first.mib, (last.at - first.at) / 3600
    most = max(MOST_MIB, MOST_MIB_PER_HOUR * hours)
    memory = f"{first.mib:.1f} → {last.mib:.1f} MiB in {last.at - first.at:.0f} s"
    requests = len(held) * REQUESTS
    bar = f"≤ {most:.0f} MiB more"
    figures = [
        Figure(f"memory of a worker over {requests:,} requests", memory, bar, grown <= most),
        Figure("open files of the worker", f"{first.files} → {last.files}", "unchanged", first.files == last.files),
        Figure(
            "threads of the worker", f"{first.threads} → {last.threads}", "unchanged", first.threads == last.threads
        ),
        Figure.none("5xx answers", failed),
    ]
    if run.engine == POSTGRES:
        enough = open_to_database <= CONNECTIONS
        figures.append(Figure("connections to PostgreSQL", str(open_to_database), f"≤ {CONNECTIONS}", enough))
    return figures


CASES = (Case("e", "soak", run, faults=(LEAK,), fault_engines=(SQLITE,)),)
