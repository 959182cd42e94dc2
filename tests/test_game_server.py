"""examples/game_server.py with Gamekeeper, both killed repeatedly: in the end both have the same data."""

import asyncio
import json
import os
import random
import runpy
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from findings import faults
from gamekeeper import app, settings
from people import ANN, ARROW, BOB, COIN, SWORD, ZOE
from server import Server
from world import World

EXAMPLES = Path(__file__).parent.parent / "examples"
IDS = [ANN.id, BOB.id, ZOE.id]
HELD = 1250  # number of coins that Ann has at the start
SECONDS = 60


class GameServer:
    def __init__(self, program: Path, url: str, token: str, state: Path, seed: int) -> None:
        options = ["--url", url, "--state", str(state), "--loot", COIN.id, "--seed", str(seed)]
        self._command = [sys.executable, str(program), *options]
        self._environment = {**os.environ, "GAMEKEEPER_TOKEN": token}
        self.state = state
        self.start()

    @property
    def plays(self) -> bool:
        """Return whether the example has saved its state since the start; before that it does not handle SIGTERM."""
        return self._state_time() != self._before

    def start(self) -> None:
        self._before = self._state_time()
        self._process = subprocess.Popen(self._command, env=self._environment, start_new_session=True)

    def kill(self) -> None:
        assert self._process.poll() is None, "it ended by itself"
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(timeout=SECONDS)

    def _state_time(self) -> int:
        return self.state.stat().st_mtime_ns if self.state.exists() else 0


@dataclass
class Shop:
    """Gives and takes items over the API with retries, and sums up the acknowledged quantities."""

    url: str
    token: str
    chance: random.Random
    open: bool = True
    # item id → acknowledged quantity: what was given minus what was taken
    brought: dict[str, int] = field(default_factory=dict[str, int])
    done: int = 0

    async def trade(self) -> None:
        async with httpx.AsyncClient(base_url=self.url, timeout=10) as client:
            while self.open:
                item = self.chance.choice([COIN.id, COIN.id, SWORD.id])
                verb = self.chance.choice(["give", "give", "take"])
                await self.deal(client, verb, self.chance.choice(IDS), item, self.chance.randint(1, 3))

    async def deal(self, client: httpx.AsyncClient, verb: str, player: str, item: str, quantity: int) -> None:
        self.done += 1
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": f"deal-{self.done}"}
        body = {"itemid": item, "quantity": quantity, "bankoverflow": verb == "give"}
        while True:
            try:
                answer = await client.post(f"/api/v1/players/{player}/items/{verb}", json=body, headers=headers)
            except httpx.TransportError:
                await asyncio.sleep(0.05)
                continue
            if answer.is_success:
                self.brought[item] = self.brought.get(item, 0) + (quantity if verb == "give" else -quantity)
            if answer.status_code in {200, 409}:  # status 409: the player does not have enough items to take
                return


async def kill_in_turn(server: Server, game: GameServer, kills: int, chance: random.Random) -> None:
    for number in range(kills):
        await asyncio.sleep(chance.uniform(0.3, 1.0))
        if number % 2:
            server.kill()
            await server.restart()
        else:
            game.kill()
            game.start()


async def play(server: Server, game: GameServer, shop: Shop, kills: int) -> None:
    trading = [asyncio.ensure_future(shop.trade())]
    await until_it_plays(game)
    await kill_in_turn(server, game, kills, shop.chance)
    await asyncio.sleep(0.5)
    shop.open = False
    await asyncio.gather(*trading)
    async with httpx.AsyncClient(base_url=server.url, timeout=SECONDS) as client:
        await shop.deal(client, "give", BOB.id, ARROW.id, 3)
        await until_it_plays(game)
        await until_all_are_online(client, shop.token)


async def until_it_plays(game: GameServer) -> None:
    async with asyncio.timeout(SECONDS):
        while not game.plays:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.05)


async def until_all_are_online(client: httpx.AsyncClient, token: str) -> None:
    async with asyncio.timeout(SECONDS):
        while await online(client, token) != 3:  # noqa: ASYNC110 - other processes decide it
            await asyncio.sleep(0.1)


async def online(client: httpx.AsyncClient, token: str) -> int:
    answer = await client.get("/api/v1/players/online/count", headers={"Authorization": f"Bearer {token}"})
    return answer.json()["onlineCount"]


# (player id, "Items" or "Bank", slot number) → (item id, quantity)
Inventories = dict[tuple[str, str, int], tuple[str, int]]


def of_game(state: Any) -> Inventories:
    return {
        (player_id, place, slot["Slot"]): (slot["ItemId"], slot["Quantity"])
        for player_id, player in state["players"].items()
        for place in ("Items", "Bank")
        for slot in player[place].values()
    }


def of_keeper(url: str, token: str) -> Inventories:
    headers = {"Authorization": f"Bearer {token}"}
    found: Inventories = {}
    for player_id in IDS:
        items = httpx.get(f"{url}/api/v1/players/{player_id}/items", headers=headers, timeout=SECONDS).json()
        for place, listed in (("Items", "inventory"), ("Bank", "bank")):
            for slot in items[listed]:
                if slot["Quantity"]:
                    found[player_id, place, slot["Slot"]] = slot["ItemId"], slot["Quantity"]
    return found


@dataclass(frozen=True)
class MatchOutcome:
    game: Inventories
    keeper: Inventories
    handed_out: int
    brought: int
    complaints: list[str]


def coins(held: Inventories) -> int:
    return sum(quantity for item, quantity in held.values() if item == COIN.id)


def match(
    database: str, tokens: Mapping[str, str], folder: Path, program: Path, *, kills: int, seed: int
) -> MatchOutcome:
    with Server(database) as server:
        game = GameServer(program, server.url, tokens["Root"], folder / "realm.json", seed)
        shop = Shop(server.url, tokens["Shop"], random.Random(seed))
        try:
            asyncio.run(play(server, game, shop, kills))
        finally:
            code = game.stop()
        assert code == 0
        keeper = of_keeper(server.url, tokens["Shop"])
    state = json.loads(game.state.read_text(encoding="utf-8"))
    assert state["report"] is None
    found = asyncio.run(app.run_with_keeper(settings.load({}, database=database), faults))
    return MatchOutcome(of_game(state), keeper, state["handed_out"], shop.brought.get(COIN.id, 0), found)


class Direct:
    """Replaces the HTTP client of the example game server by calls in process."""

    def __init__(self, world: World, key: str | None = None) -> None:
        self._world = world
        self._key = key

    def get(self, path: str, **query: object) -> httpx.Response:
        return self._answer("GET", f"{path}?{urlencode(query)}")

    def write(self, method: str, path: str, body: object = None, key: str | None = None) -> httpx.Response:
        return self._answer(method, path, body=body, headers={"Idempotency-Key": key} if key else None)

    def _answer(self, method: str, path: str, **more: Any) -> httpx.Response:
        answer = self._world.call(method, path, token=self._key, **more)
        return httpx.Response(answer.status, content=answer.raw, request=httpx.Request(method, "http://test"))


def game_in(world: World, state: Path, key: str | None = None) -> Any:
    """Run the example game server in this process with all players online."""
    program = runpy.run_path(str(EXAMPLES / "game_server.py"))
    game = program["Game"](Direct(world, key), "realm-1", state, COIN.id, random.Random(1))
    game.read_the_world()
    game.heartbeat()
    return game


def test_game_sends_receipts_for_the_changes_that_it_applied(world: World, tmp_path: Path) -> None:
    game = game_in(world, tmp_path / "realm.json")
    gift = {"itemid": COIN.id, "quantity": 1}
    assert world.post("/api/v1/players/Zoe/items/give", gift).status == 200
    for followed, state in ((False, "waiting"), (True, "applied")):
        if followed:
            game.follow(0)
        vars(game)["_next_beat"] = 0.0
        game.heartbeat()
        newest = world.get("/api/keeper/v1/changes?limit=1").json["Changes"][0]
        assert [(each["Server"], each["State"]) for each in newest["Deliveries"]] == [("realm-1", state)]
    game.state["cursor"] += 1_000_000  # the database was restored from a backup
    vars(game)["_next_beat"] = 0.0
    game.heartbeat()
    inside = world.sql("SELECT CAST(player_id AS TEXT) FROM presence ORDER BY player_id")
    assert inside == [(each,) for each in sorted(IDS)]


@pytest.mark.long_only
@pytest.mark.both_engines
def test_game_and_gamekeeper_agree_after_kills(database: str, known_tokens: Mapping[str, str], tmp_path: Path) -> None:
    outcome = match(database, known_tokens, tmp_path, EXAMPLES / "game_server.py", kills=8, seed=1)
    assert outcome.game == outcome.keeper
    # the coins add up: no loot is lost or duplicated
    assert coins(outcome.keeper) == HELD + outcome.brought + outcome.handed_out
    assert outcome.complaints == []
