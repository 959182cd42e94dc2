"""Gives items through several clients while the server is killed with SIGKILL, and compares the sums at the end.

    .venv/bin/python scripts/crash_gives.py --database sqlite:///crash.db
    .venv/bin/python scripts/crash_gives.py --database postgresql://… --without-keys

Some answers are lost on purpose: the client gives up right after sending. With Idempotency-Keys every give counts once.
Without them, retries after a lost answer or a crash apply some gives twice: a mismatch is reported.
Exit code 0: the sums are exact; 1: they are not.
"""

import argparse
import asyncio
import random
import sys
from dataclasses import dataclass, field

import httpx

from gamekeeper import app, settings
from gamekeeper.game import accounts, lookup, tokens
from gamekeeper.game.changes import Decision, Intent
from gamekeeper.game.effects import PlayerCreated, World
from gamekeeper.game.passwords import NO_PASSWORD
from gamekeeper.game.players import Player
from gamekeeper.store.engine import Reading
from gamekeeper.store.migrate import migrate
from gamekeeper.store.users import Powers
from server import Server

ITEM = "c0ffee00-0000-4000-8000-000000000001"
PLAYERS = 4
PAUSE = 0.02
BUSY = 503
LOST_ANSWERS = 0.05
PATIENT, HASTY = httpx.Timeout(30), httpx.Timeout(30, read=0.0005)


@dataclass
class Run:
    server: Server
    token: str
    players: list[str]
    seed: int
    gives: int
    clients: int
    kills: int
    with_keys: bool
    acknowledged: int = 0
    wanted: dict[str, int] = field(default_factory=dict[str, int])
    retries: int = 0


async def prepare(database: str, seed: int) -> tuple[str, list[str]]:
    """An account with a token, and players with room; returns the token and the players' ids."""
    keeper = app.build_keeper(settings.load({}, database=database))
    await keeper.store.open()
    await migrate(keeper.store)
    name = f"crash{random.Random(seed).randrange(10**9)}{lookup.new_guid()[:4]}"
    registered: list[str] = []

    async def register(tx: Reading) -> Decision[None]:
        powers = Powers(api=True, users_query=True)
        decision = await accounts.register(tx, name, f"{name}@example.test", NO_PASSWORD, powers)
        registered.append(decision.result.id)
        return Decision(decision.changes, None)

    await keeper.changes.apply(Intent("crash"), register, lambda _: b"null")
    user = await lookup.user(keeper.store, name)
    ids = [lookup.new_guid() for _ in range(PLAYERS)]

    async def create(_: Reading) -> Decision[None]:
        made = [PlayerCreated(Player(each, user.id, f"c{each[:12]}".replace("-", "")), World()) for each in ids]
        return Decision(made, None)

    await keeper.changes.apply(Intent("crash"), create, lambda _: b"null")
    token = (await tokens.issue_for_service(keeper, user, 1, read_only=False)).access
    await keeper.store.close()
    keeper.passwords.close()
    return token, ids


async def give(run: Run, client: httpx.AsyncClient, number: int) -> None:
    """One give, retried until it is acknowledged."""
    chance = random.Random(f"{run.seed}-{number}")
    player, quantity = chance.choice(run.players), chance.randint(1, 9)
    headers = {"Authorization": f"Bearer {run.token}"}
    if run.with_keys:
        headers["Idempotency-Key"] = f"give-{run.seed}-{number}"
    body = {"itemid": ITEM, "quantity": quantity}
    hasty = chance.random() < LOST_ANSWERS
    while True:
        patience = HASTY if hasty else PATIENT
        hasty = False
        try:
            answer = await client.post(
                f"/api/v1/players/{player}/items/give", json=body, headers=headers, timeout=patience
            )
        except httpx.TransportError:
            answer = None
        if answer is not None and answer.is_success:
            run.acknowledged += 1
            run.wanted[player] = run.wanted.get(player, 0) + quantity
            return
        if answer is not None and answer.status_code != BUSY:
            raise RuntimeError(f"unexpected answer {answer.status_code}: {answer.text}")
        run.retries += 1
        await asyncio.sleep(PAUSE)


async def work(run: Run, numbers: list[int]) -> None:
    async with httpx.AsyncClient(base_url=run.server.url) as client:
        while numbers:
            await give(run, client, numbers.pop())


async def kill_now_and_then(run: Run) -> int:
    """Evenly over the gives, so that every kill meets clients at work."""
    done = 0
    for number in range(1, run.kills + 1):
        while run.acknowledged < run.gives * number // (run.kills + 1):  # noqa: ASYNC110 - the clients need not know
            await asyncio.sleep(0.001)
        run.server.kill()
        done += 1
        await run.server.restart()
    return done


async def held(run: Run) -> dict[str, int]:
    headers = {"Authorization": f"Bearer {run.token}"}
    sums: dict[str, int] = {}
    async with httpx.AsyncClient(base_url=run.server.url, headers=headers) as client:
        for player in run.players:
            items = (await client.get(f"/api/v1/players/{player}/items")).json()
            slots = [*items["inventory"], *items["bank"]]
            sums[player] = sum(slot["Quantity"] for slot in slots if slot["ItemId"] == ITEM)
    return sums


async def measure(run: Run) -> int:
    """How many items there are too many (above zero) or too few; 0 is what was promised."""
    numbers = list(range(run.gives))
    await asyncio.gather(kill_now_and_then(run), *[work(run, numbers) for _ in range(run.clients)])
    sums = await held(run)
    return sum(abs(sums[player] - run.wanted.get(player, 0)) for player in run.players)


async def crash(database: str, *, gives: int, clients: int, kills: int, seed: int, with_keys: bool) -> int:
    token, players = await prepare(database, seed)
    with Server(database) as server:
        run = Run(server, token, players, seed, gives, clients, kills, with_keys)
        wrong = await measure(run)
    keys = "with keys" if with_keys else "without keys"
    print(f"{gives} gives by {clients} clients {keys}, {kills} kills, {run.retries} retries, seed {seed}: ", end="")
    print("the sums are exact" if not wrong else f"MISMATCH: {wrong} items lost or doubled")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", required=True, help="sqlite:///path/to/file.db or postgresql://…")
    parser.add_argument("--gives", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--without-keys", action="store_true", help="send no Idempotency-Key")
    given = parser.parse_args()
    wrong = asyncio.run(
        crash(
            given.database,
            gives=given.gives,
            clients=given.clients,
            kills=given.kills,
            seed=given.seed,
            with_keys=not given.without_keys,
        )
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
