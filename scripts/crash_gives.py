"""Give and take items with several clients while the server is killed with SIGKILL, and compare the totals.

    .venv/bin/python scripts/crash_gives.py --database sqlite:///crash.db
    .venv/bin/python scripts/crash_gives.py --database postgresql://… --without-keys --instances 2

Some answers are lost on purpose: the client disconnects after sending, or does not read the answer. With
Idempotency-Keys each change is applied once. Without them, retries after a lost answer or a crash apply some changes
twice, and a mismatch is reported.
Exit code 0: the totals are exact and each key has one answer; 1: otherwise.
"""

import argparse
import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import httpx

from gamekeeper import app
from gamekeeper.game.access import tokens
from gamekeeper.game.access.passwords import NO_PASSWORD
from gamekeeper.game.accounts import accounts
from gamekeeper.game.core import lookup
from gamekeeper.game.core.player import Player
from gamekeeper.game.core.writes import Decision, Intent
from gamekeeper.game.players.changes import PlayerCreated, PlayerState
from gamekeeper.game.world import catalogue
from gamekeeper.ground import settings
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.migrate import migrate
from gamekeeper.store.world.catalogue import CatalogueItem
from server import Server

COIN = CatalogueItem("c0ffee00-0000-4000-8000-000000000001", "Coin", True, None, 0, None)
BAG = CatalogueItem("c0ffee00-0000-4000-8000-000000000002", "Bag", False, None, 4, None)
SWORD = CatalogueItem("c0ffee00-0000-4000-8000-000000000003", "Sword", False, None, 0, None)
PLAYERS = 4
PAUSE = 0.02
REFUSALS = {"not_enough_items", "inventory_full"}
IN_PROGRESS = "idempotency_in_progress"
REPLAYED = "Idempotent-Replay"
BUSY = 503
LOST_ANSWERS = 0.1
PATIENT, HASTY = httpx.Timeout(30), httpx.Timeout(30, read=0.003)
RESOLVED_SECONDS = 60
ASKED_AGAIN = 100


class Victim(Protocol):
    """A server that can be killed and restarted, such as that of scripts/server.py."""

    url: str

    def kill(self) -> None: ...

    async def restart(self) -> None: ...


class WantedChange(NamedTuple):
    """A give or take of items that a client wants to make."""

    number: int
    player: str
    verb: str  # operation of the API: "give" or "take"
    body: dict[str, Any]

    @property
    def path(self) -> str:
        return f"/api/v1/players/{self.player}/items/{self.verb}"

    @property
    def adds(self) -> int:
        return self.body["quantity"] if self.verb == "give" else -self.body["quantity"]


@dataclass
class CrashRun:
    victims: Sequence[Victim]
    token: str
    players: list[str]
    seed: int
    gives: int  # number of gives and takes in the whole run
    clients: int
    kills: int
    with_keys: bool
    # Expected quantity of items by player and item
    wanted: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    acknowledged: dict[int, tuple[WantedChange, bytes]] = field(default_factory=dict[int, tuple[WantedChange, bytes]])
    answered: int = 0  # number of answered requests, including refusals
    retries: int = 0
    unresolved: int = 0
    unkept: int = 0  # number of idempotency keys whose replayed answer differs from the first
    wrong: int = 0  # difference between expected and actual quantities of items

    def headers(self, wish: WantedChange) -> dict[str, str]:
        key = {"Idempotency-Key": f"wish-{self.seed}-{wish.number}"} if self.with_keys else {}
        return {"Authorization": f"Bearer {self.token}", **key}


async def prepare(database: str, seed: int) -> tuple[str, list[str]]:
    """Create an account, players and items; return a token and the players' ids."""
    keeper = app.build_keeper(settings.load({}, database=database))
    await keeper.store.open()
    await migrate(keeper.store)
    name = f"crash{random.Random(seed).randrange(10**9)}{lookup.new_guid()[:4]}"

    async def register(tx: Reading) -> Decision[None]:
        powers = Powers(api=True, users_query=True)
        decision = await accounts.register(tx, name, f"{name}@example.test", NO_PASSWORD, powers)
        items = await catalogue.put(tx, "items", (COIN, BAG, SWORD))
        return Decision([*decision.changes, *items.changes], None)

    await keeper.changes.apply(Intent("crash"), register, lambda _: b"null")
    user = await lookup.find_user(keeper.store, name)
    ids = [lookup.new_guid() for _ in range(PLAYERS)]

    async def create(_: Reading) -> Decision[None]:
        made = [PlayerCreated(Player(each, user.id, f"c{each[:12]}".replace("-", "")), PlayerState()) for each in ids]
        return Decision(made, None)

    await keeper.changes.apply(Intent("crash"), create, lambda _: b"null")
    token = (await tokens.issue_for_service(keeper, user, 1, read_only=False)).access
    await keeper.store.close()
    keeper.passwords.close()
    return token, ids


def wish(run: CrashRun, number: int, chance: random.Random) -> WantedChange:
    """Choose a random change of items: mostly coins, some bags, and swords that fill inventory and bank."""
    player = chance.choice(run.players)
    verb = "give" if chance.random() < 0.65 else "take"  # noqa: PLR2004 - more come than go
    item = chance.choices((COIN, BAG, SWORD), (70, 15, 15))[0]
    body: dict[str, Any] = {"itemid": item.id, "quantity": chance.randint(1, 9) if item is COIN else 1}
    if verb == "give":
        body["bankoverflow"] = item is SWORD
    return WantedChange(number, player, verb, body)


async def apply_until_answered(run: CrashRun, clients: Sequence[httpx.AsyncClient], number: int) -> None:
    """Send one give or take and retry until it is answered."""
    chance = random.Random(f"{run.seed}-{number}")
    wanted = wish(run, number, chance)
    # Only gives of coins, which are never refused, time out early: of other changes the first attempt could still be
    # applied while the retry is refused, and the expected quantity would be wrong.
    hasty = wanted.verb == "give" and wanted.body["itemid"] == COIN.id and chance.random() < LOST_ANSWERS
    deadline = time.monotonic() + RESOLVED_SECONDS
    while time.monotonic() < deadline:
        answer = await _ask(chance.choice(clients), run, wanted, HASTY if hasty else PATIENT)
        lost, hasty = hasty, False
        if not lost and answer is not None and _final(answer):
            run.answered += 1
            if answer.is_success:
                run.acknowledged[number] = wanted, answer.content
                run.wanted[wanted.player, wanted.body["itemid"]] += wanted.adds
            return
        run.retries += 1
        await asyncio.sleep(PAUSE)
    run.unresolved += 1


async def _ask(
    client: httpx.AsyncClient, run: CrashRun, wanted: WantedChange, patience: httpx.Timeout = PATIENT
) -> httpx.Response | None:
    try:
        return await client.post(wanted.path, json=wanted.body, headers=run.headers(wanted), timeout=patience)
    except httpx.TransportError:
        return None


def _final(answer: httpx.Response) -> bool:
    """Return whether the answer is final; otherwise the request must be retried."""
    if answer.is_success:
        return True
    code = answer.json()["Code"]
    if answer.status_code != BUSY and code not in {*REFUSALS, IN_PROGRESS}:
        raise RuntimeError(f"unexpected answer {answer.status_code}: {answer.text}")
    return code in REFUSALS


async def work(run: CrashRun, numbers: list[int]) -> None:
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(httpx.AsyncClient(base_url=victim.url)) for victim in run.victims]
        while numbers:
            await apply_until_answered(run, clients, numbers.pop())


async def kill_now_and_then(run: CrashRun) -> None:
    """Kill the server at even intervals of the work, so that each kill hits active clients."""
    chance = random.Random(run.seed)
    for number in range(1, run.kills + 1):
        while run.answered + run.unresolved < run.gives * number // (run.kills + 1):  # noqa: ASYNC110 - the clients need not know
            await asyncio.sleep(0.001)
        victim = chance.choice(run.victims)
        await asyncio.to_thread(victim.kill)
        await victim.restart()


async def read_held_items(run: CrashRun) -> Counter[tuple[str, str]]:
    headers = {"Authorization": f"Bearer {run.token}"}
    sums: Counter[tuple[str, str]] = Counter()
    async with httpx.AsyncClient(base_url=run.victims[0].url, headers=headers, timeout=PATIENT) as client:
        for player in run.players:
            items = (await client.get(f"/api/v1/players/{player}/items")).json()
            for slot in [*items["inventory"], *items["bank"]]:
                sums[player, slot["ItemId"]] += slot["Quantity"]
    return sums


async def ask_again(run: CrashRun) -> None:
    """Repeat every answered request with its key: it must replay the same answer, also after the crashes."""
    chance = random.Random(run.seed)
    async with httpx.AsyncClient(base_url=run.victims[0].url) as client:
        for number in chance.sample(sorted(run.acknowledged), min(ASKED_AGAIN, len(run.acknowledged))):
            wanted, first = run.acknowledged[number]
            answer = await _ask(client, run, wanted)
            run.unkept += answer is None or (answer.content, answer.headers.get(REPLAYED)) != (first, "true")


async def measure(run: CrashRun) -> int:
    """Run the whole test; return wrong quantities plus keys with no or another answer, in sum; the promise is 0."""
    numbers = list(range(run.gives))
    await asyncio.gather(kill_now_and_then(run), *[work(run, numbers) for _ in range(run.clients)])
    if run.with_keys:
        await ask_again(run)
    sums = await read_held_items(run)
    run.wrong = sum(abs(sums[each] - run.wanted[each]) for each in sums.keys() | run.wanted.keys())
    return run.wrong + run.unresolved + run.unkept


async def crash(
    database: str, *, gives: int, clients: int, kills: int, seed: int, with_keys: bool, instances: int = 1
) -> int:
    token, players = await prepare(database, seed)
    with ExitStack() as stack:
        servers = [stack.enter_context(Server(database)) for _ in range(instances)]
        run = CrashRun(servers, token, players, seed, gives, clients, kills, with_keys)
        wrong = await measure(run)
    keys = "with keys" if with_keys else "without keys"
    print(f"{gives} changes by {clients} clients {keys}, {kills} kills, {run.retries} retries, seed {seed}: ", end="")
    bad = (
        f"MISMATCH: {run.wrong} items lost or doubled, {run.unresolved} keys unresolved, {run.unkept} answers not kept"
    )
    print(bad if wrong else "the sums are exact, and every key has its answer")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", required=True, help="sqlite:///path/to/file.db or postgresql://…")
    parser.add_argument("--gives", type=int, default=1000, help="gives and takes, about two to one")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--instances", type=int, default=1, help="servers on one PostgreSQL")
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
            instances=given.instances,
        )
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
