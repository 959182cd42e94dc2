"""Test f: more requests than the admission limit, none of which finishes: those above it are rejected at once.

The requests are gives while the database is locked. No password is checked, so only the admission limit applies.
"""

import asyncio
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from battery import held, realm
from battery.cases import SQLITE, Case, Figure, Run, Timed
from battery.overload import LIVE_SECONDS, MANY, REFUSED_SECONDS, watch_liveness
from battery.realm import Realm
from battery.storm import BUSY, StormAnswer
from server import Server

NO_ADMISSION = "no-admission"
PLACES, GIVES = 16, 100
BEYOND = GIVES - PLACES
EVERY_SECONDS = 0.01
HELD_SECONDS = 4  # seconds: longest lock of the database; it ends when all excess requests are answered
OK = 200


def places(run: Run) -> list[Figure]:
    world = realm.prepare(run.database, GIVES)
    most = MANY if run.fault else PLACES
    with Server(run.database, requests_in_flight=most) as server, ThreadPoolExecutor(1) as beside:
        answers: list[StormAnswer] = []
        with watch_liveness(server.url) as looks, held.writes(run.database):
            crowd = beside.submit(lambda: asyncio.run(_crowd(server.url, world, answers)))
            until = time.monotonic() + HELD_SECONDS
            while len(answers) < BEYOND and time.monotonic() < until:
                time.sleep(0.05)
        crowd.result()
        return _figures(answers, max(looks))


async def _crowd(url: str, world: Realm, answers: list[StormAnswer]) -> None:
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, headers=world.headers, timeout=30, limits=limits) as client:

        async def give(number: int) -> None:
            await asyncio.sleep(number * EVERY_SECONDS)
            asked = time.monotonic()
            body = {"itemid": realm.ITEM, "quantity": 1}
            answer = await client.post(f"/api/v1/players/{world.players[number]}/items/give", json=body)
            took, retry_after = time.monotonic() - asked, "Retry-After" in answer.headers
            answers.append(StormAnswer(asked, took, answer.status_code, retry_after))

        await client.get("/health/live")  # this request warms up the client
        await asyncio.gather(*[give(number) for number in range(GIVES)])


def _figures(answers: list[StormAnswer], slowest_live: float) -> list[Figure]:
    away = [each.seconds for each in answers if each.status == BUSY and each.retry_after]
    median = statistics.median(away) if away else 0.0
    served = sum(each.status == OK for each in answers)
    said = f"{GIVES} gives, {PLACES} slots, writes blocked"
    return [
        Figure.equal(f"{said}: rejected", len(away), BEYOND),
        Timed(
            f"{said}: median time of a rejection",
            f"{median * 1000:.0f} ms",
            "≤ 250 ms",
            bool(away) and median <= REFUSED_SECONDS,
        ),
        Figure.equal(f"{said}: served afterwards", served, PLACES),
        Timed.within(f"{said}: /health/live, slowest answer", slowest_live, LIVE_SECONDS),
    ]


CASES = (Case("f", "places", places, faults=(NO_ADMISSION,), fault_engines=(SQLITE,)),)
