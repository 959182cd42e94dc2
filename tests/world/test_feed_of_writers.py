"""The feed delivers every change of 8 writers on two instances, also of those that commit late."""

import asyncio
import random
import time
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import httpx
import pytest

from battery import realm
from battery.realm import COIN, Realm
from server import Server

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)

CHANGES, WRITERS, LATE_WRITERS = 300, 8, 2
LATE_SECONDS = (0.002, 0.015)  # seconds: range of delays between taking a change number and its COMMIT
FORGETS = 0.02  # share of answers that the follower loses, as if it had crashed before saving them
LIMIT = 500
QUIET_SECONDS = 10.0  # seconds without a new change after the last write; then the follower stops
LEDGER_ROW = """
INSERT INTO ledger (at, kind, over_link, player_id, request_id)
VALUES (CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint), 'held_open', FALSE, $1, 'follow')
"""
ALL = "SELECT seq FROM ledger WHERE player_id IS NOT NULL ORDER BY seq"
driver: Any = asyncpg


@dataclass
class FeedRun:
    world: Realm
    urls: list[str]
    left: int = CHANGES
    wanted: list[int] = field(default_factory=list[int])  # all change numbers, known when the writers are done
    told: list[int] = field(default_factory=list[int])
    heard_at: float = 0.0

    @property
    def following(self) -> bool:
        is_quiet = time.monotonic() - self.heard_at > QUIET_SECONDS
        return not self.wanted or (self.told[-1:] < self.wanted[-1:] and not is_quiet)

    async def give(self, number: int) -> None:
        player = self.world.players[number % len(self.world.players)]
        url = self.urls[number % len(self.urls)]
        async with httpx.AsyncClient(base_url=url, headers=self.world.headers, timeout=30) as client:
            while self.left > 0:
                self.left -= 1
                body = {"itemid": COIN.id, "quantity": 1}
                (await client.post(f"/api/v1/players/{player}/items/give", json=body)).raise_for_status()

    async def commit_late(self, number: int) -> None:
        """Write to the audit log, and commit some time after the change number was taken, like a slow disk."""
        chance = random.Random(number)
        db = await driver.connect(self.world.database)
        while self.left > 0:
            self.left -= 1
            async with db.transaction():
                await db.execute(LEDGER_ROW, chance.choice(self.world.players))
                await asyncio.sleep(chance.uniform(*LATE_SECONDS))
        await db.close()

    async def write(self) -> None:
        late = [self.commit_late(number) for number in range(LATE_WRITERS)]
        await asyncio.gather(*[self.give(number) for number in range(WRITERS)], *late)
        db = await driver.connect(self.world.database)
        self.wanted = [row[0] for row in await db.fetch(ALL)]
        await db.close()

    async def follow(self) -> None:
        """Ask both instances in turn, and sometimes discard the last answer."""
        chance, cursor, before, number = random.Random(1), 0, 0, 0
        async with httpx.AsyncClient(headers=self.world.headers, timeout=30) as client:
            while self.following:
                number += 1
                url = f"{self.urls[number % len(self.urls)]}/api/link/v1/changes"
                answer = await client.get(url, params={"after": cursor, "wait": 1, "limit": LIMIT})
                told = answer.raise_for_status().json()
                new = [each["Seq"] for each in told["Changes"] if [each["Seq"]] > self.told[-1:]]
                self.told += new
                self.heard_at = time.monotonic() if new else self.heard_at
                cursor, before = (before, before) if chance.random() < FORGETS else (told["Next"], cursor)

    async def write_and_follow(self) -> None:
        await asyncio.gather(self.write(), self.follow())


def test_feed_misses_no_change(empty_database: str) -> None:
    world = realm.prepare(empty_database)
    with Server(empty_database) as one, Server(empty_database) as two:
        run = FeedRun(world, [one.url, two.url])
        asyncio.run(run.write_and_follow())
    assert len(run.wanted) >= CHANGES
    assert run.told == run.wanted
