"""Test f: a player's row is locked and many changes of that player wait; requests for other players are served.

The session that holds the lock changes the player's items: the waiting changes must see that.
"""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import httpx

from battery import realm
from battery.cases import POSTGRES, Case, Figure, Run, Timed
from battery.realm import Realm
from battery.served import AS_IT_IS, MERGED_LOCK, UNQUEUED, Served

GIVES = 40  # number of concurrent gives to the locked player
ADDED = 7  # items that the session with the lock gives to the player
ADD = """INSERT INTO slots (player_id, place, slot, item_id, quantity, buffs)
         VALUES ($1, 'inventory', 0, $2, $3, '[0, 0, 0, 0, 0]')"""
HELD_SECONDS = 4.0  # seconds for which the player's row is locked; shorter than the lock timeout of a change
LEAST = 20  # least number of requests for other players that must be answered meanwhile
SLOWEST_SECONDS = 1.0
OK = 200


@dataclass
class LockResult:
    given: list[int] = field(default_factory=list[int])  # HTTP statuses of the gives to the locked player
    others: list[int] = field(default_factory=list[int])  # HTTP statuses of other requests during the lock
    slowest: float = 0.0


def run(run: Run) -> list[Figure]:
    world = realm.prepare(run.database, 2)
    with Served(run.fault or AS_IT_IS, run.database) as server:
        seen = asyncio.run(_ask_beside_lock(server.url, world))
        with httpx.Client(base_url=server.url, headers=world.headers, timeout=30) as client:
            held = _coins(client, world.players[0])
    failed = len([status for status in seen.others if status != OK])
    acknowledged = seen.given.count(OK)
    said = f"one player's row locked, {GIVES} changes of it waiting"
    answered = len(seen.others)
    return [
        Figure(f"{said}: other requests answered meanwhile", str(answered), f"≥ {LEAST}", answered >= LEAST),
        Figure.none(f"{said}: other requests without a 200", failed),
        Timed.within(f"{said}: slowest other request", seen.slowest, SLOWEST_SECONDS),
        Figure(
            f"{said}: items of the player afterwards",
            str(held),
            f"{acknowledged + ADDED}, as acknowledged",
            held == acknowledged + ADDED,
        ),
    ]


async def _ask_beside_lock(url: str, world: Realm) -> LockResult:
    driver: Any = asyncpg
    seen, limits = LockResult(), httpx.Limits(max_connections=None)
    db = await driver.connect(world.database)
    async with httpx.AsyncClient(base_url=url, headers=world.headers, timeout=60, limits=limits) as client:
        await client.get(f"/api/v1/players/{world.players[0]}")  # this request warms up the connection
        await db.execute(f"BEGIN; SELECT FROM players WHERE id = '{world.players[0]}' FOR UPDATE")
        gives = [asyncio.create_task(_give(client, world.players[0])) for _ in range(GIVES)]
        asking = asyncio.create_task(_ask_for_others(client, world.players[1], seen))
        await asyncio.sleep(HELD_SECONDS)
        asking.cancel()
        await asyncio.wait({asking})
        await db.execute(ADD, world.players[0], realm.ITEM, ADDED)
        await db.execute("COMMIT")
        await db.close()
        seen.given = await asyncio.gather(*gives)
    return seen


async def _ask_for_others(client: httpx.AsyncClient, player: str, seen: LockResult) -> None:
    await asyncio.sleep(0.5)  # after half a second the gives to the locked player are waiting
    while True:
        for ask in (_read, _check_readiness, _give):
            asked = time.monotonic()
            status = await ask(client, player)
            seen.slowest = max(seen.slowest, time.monotonic() - asked)
            seen.others.append(status)


async def _read(client: httpx.AsyncClient, player: str) -> int:
    return (await client.get(f"/api/v1/players/{player}")).status_code


async def _check_readiness(client: httpx.AsyncClient, _: str) -> int:
    return (await client.get("/health/ready")).status_code


async def _give(client: httpx.AsyncClient, player: str) -> int:
    body = {"itemid": realm.ITEM, "quantity": 1}
    return (await client.post(f"/api/v1/players/{player}/items/give", json=body)).status_code


def _coins(client: httpx.Client, player: str) -> int:
    slots = client.get(f"/api/v1/players/{player}/items/inventory").json()
    return sum(slot["Quantity"] for slot in slots if slot["ItemId"] == realm.ITEM)


CASES = (Case("f", "locked row", run, (UNQUEUED, MERGED_LOCK), (POSTGRES,)),)
