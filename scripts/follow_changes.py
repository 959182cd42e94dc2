"""Follow the change feed from 0 while clients write through two instances, and report missed changes.

    .venv/bin/python scripts/follow_changes.py --database postgresql://…
    .venv/bin/python scripts/follow_changes.py --database postgresql://… --naive

The writers give items over HTTP. A few others write to the audit log directly and commit some time after they took
their change number, like a busy server or a slow disk. The follower asks both instances in turn, and sometimes discards
its last answer, as if it had crashed before saving it. With --naive it reads `seq > cursor` from the database instead:
then it misses changes that are committed after changes with higher numbers.
Exit code 0: the feed had every change in order; 1: some were missed.
"""

import argparse
import asyncio
import random
import statistics
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import asyncpg
import httpx

from gamekeeper import app
from gamekeeper.game.access import tokens
from gamekeeper.game.access.passwords import NO_PASSWORD
from gamekeeper.game.accounts import accounts
from gamekeeper.game.core import lookup
from gamekeeper.game.core.player import Player
from gamekeeper.game.core.writes import Decision, Intent
from gamekeeper.game.players.changes import PlayerCreated, PlayerState
from gamekeeper.ground import settings
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.migrate import migrate
from server import Server

ITEM = "c0ffee00-0000-4000-8000-000000000001"
PLAYERS = 8
LATE_WRITERS = 2
LATE_SECONDS = (0.002, 0.015)  # seconds: range of delays between taking a change number and its COMMIT
FORGETS = 0.02
LIMIT = 500
NAIVE_SECONDS = 0.01
QUIET_SECONDS = 10.0  # seconds without a new change after the last write; then the follower stops
LEDGER_ROW = """
INSERT INTO ledger (at, kind, over_link, player_id, request_id)
VALUES (CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint), 'held_open', FALSE, $1, 'follow')
"""
NAIVE = "SELECT seq, at FROM ledger WHERE seq > $1 AND player_id IS NOT NULL ORDER BY seq LIMIT $2"
ALL = "SELECT seq FROM ledger WHERE player_id IS NOT NULL ORDER BY seq"


@dataclass
class FeedRun:
    database: str
    servers: list[Server]
    token: str
    players: list[str]
    seed: int
    left: int
    # all change numbers in the audit log, known when the writers are done
    wanted: list[int] = field(default_factory=list[int])
    told: list[int] = field(default_factory=list[int])
    twice: int = 0
    lags: list[float] = field(default_factory=list[float])  # seconds from each change's commit to its delivery
    heard_at: float = 0.0

    @property
    def following(self) -> bool:
        if not self.wanted:
            return True
        return self.told[-1:] < self.wanted[-1:] and time.monotonic() - self.heard_at < QUIET_SECONDS

    def hear(self, seq: int, at: float) -> None:
        """Record a change that the feed delivered, and ignore one that was delivered before."""
        if self.told and seq <= self.told[-1]:
            self.twice += 1
            return
        self.told.append(seq)
        self.lags.append(time.time() - at)
        self.heard_at = time.monotonic()


@dataclass(frozen=True)
class FeedResult:
    changes: int
    missed: int
    twice: int
    lag_p50: float
    lag_p99: float


async def prepare(database: str) -> tuple[str, list[str]]:
    """Create an account that may read the feed and give items, and players; return a token and the players' ids."""
    keeper = app.build_keeper(settings.load({}, database=database))
    await keeper.store.open()
    await migrate(keeper.store)
    name = f"follow{lookup.new_guid()[:8]}"
    ids = [lookup.new_guid() for _ in range(PLAYERS)]

    async def create(tx: Reading) -> Decision[None]:
        powers = Powers(api=True, game_link=True)
        registered = await accounts.register(tx, name, f"{name}@example.test", NO_PASSWORD, powers)
        made = [Player(each, registered.result.id, f"f{each[:8]}") for each in ids]
        return Decision([*registered.changes, *[PlayerCreated(each, PlayerState()) for each in made]], None)

    await keeper.changes.apply(Intent("follow"), create, lambda _: b"null")
    user = await lookup.find_user(keeper.store, name)
    token = (await tokens.issue_for_service(keeper, user, 1, read_only=False)).access
    await keeper.store.close()
    keeper.passwords.close()
    return token, ids


# --- writers of changes --------------------------------------------------------------------------------------------


async def give(run: FeedRun, number: int) -> None:
    server, player = run.servers[number % len(run.servers)], run.players[number % len(run.players)]
    async with httpx.AsyncClient(base_url=server.url, headers=_bearer(run), timeout=30) as client:
        while run.left > 0:
            run.left -= 1
            body = {"itemid": ITEM, "quantity": 1}
            answer = await client.post(f"/api/v1/players/{player}/items/give", json=body)
            answer.raise_for_status()


async def commit_late(run: FeedRun, number: int) -> None:
    chance = random.Random(f"{run.seed}-{number}")
    db = await _connect(run.database)
    while run.left > 0:
        run.left -= 1
        async with db.transaction():
            await db.execute(LEDGER_ROW, chance.choice(run.players))
            await asyncio.sleep(chance.uniform(*LATE_SECONDS))
    await db.close()


# --- followers of the feed -----------------------------------------------------------------------------------------


async def follow_feed(run: FeedRun) -> None:
    chance, cursor, before, number = random.Random(run.seed), 0, 0, 0
    async with httpx.AsyncClient(headers=_bearer(run), timeout=30) as client:
        while run.following:
            number += 1
            url = f"{run.servers[number % len(run.servers)].url}/api/link/v1/changes"
            answer = await client.get(url, params={"after": cursor, "wait": 1, "limit": LIMIT})
            answer.raise_for_status()
            told = answer.json()
            for change in told["Changes"]:
                run.hear(change["Seq"], datetime.fromisoformat(change["At"]).timestamp())
            cursor, before = (before, before) if chance.random() < FORGETS else (told["Next"], cursor)


async def follow_naively(run: FeedRun) -> None:
    db = await _connect(run.database)
    cursor = 0
    while run.following:
        for seq, at in await db.fetch(NAIVE, cursor, LIMIT):
            run.hear(seq, at / 1000)
            cursor = seq
        await asyncio.sleep(NAIVE_SECONDS)
    await db.close()


# --- writers and followers together --------------------------------------------------------------------------------


async def write(run: FeedRun, writers: int) -> None:
    late = [commit_late(run, number) for number in range(LATE_WRITERS)]
    await asyncio.gather(*[give(run, number) for number in range(writers)], *late)
    db = await _connect(run.database)
    run.wanted = [row[0] for row in await db.fetch(ALL)]
    await db.close()


async def follow(database: str, *, changes: int, writers: int, seed: int, naive: bool) -> FeedResult:
    token, players = await prepare(database)
    with Server(database) as one, Server(database) as two:
        run = FeedRun(database, [one, two], token, players, seed, changes)
        await asyncio.gather(write(run, writers), follow_naively(run) if naive else follow_feed(run))
    percentiles = statistics.quantiles(run.lags, n=100)
    missed = len(set(run.wanted) - set(run.told))
    result = FeedResult(len(run.wanted), missed, run.twice, percentiles[49], percentiles[98])
    how = "seq > cursor" if naive else "the feed"
    print(
        f"{result.changes} changes by {writers} writers through 2 instances and {LATE_WRITERS} that commit late, ",
        end="",
    )
    print(f"seed {seed}: {how} told {len(run.told)} in order and {result.twice} of them again, ", end="")
    print(f"lag p50 {result.lag_p50 * 1000:.0f} ms, p99 {result.lag_p99 * 1000:.0f} ms: ", end="")
    print(f"MISSED {result.missed}" if result.missed else "none missed")
    return result


def _bearer(run: FeedRun) -> dict[str, str]:
    return {"Authorization": f"Bearer {run.token}"}


async def _connect(database: str) -> Any:  # noqa: ANN401 - asyncpg has no types
    driver: Any = asyncpg
    return await driver.connect(database)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", required=True, help="postgresql://…, best an empty one")
    parser.add_argument("--changes", type=int, default=10_000)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--naive", action="store_true", help="ask the database for seq > cursor instead")
    given = parser.parse_args()
    result = asyncio.run(
        follow(given.database, changes=given.changes, writers=given.writers, seed=given.seed, naive=given.naive)
    )
    return 1 if result.missed else 0


if __name__ == "__main__":
    sys.exit(main())
