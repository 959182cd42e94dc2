"""examples/game_server.py with Gamekeeper, both killed repeatedly: in the end both have the same data."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from findings import errors
from people import ANN, ARROW, BOB, COIN, SWORD, ZOE
from remote import SECONDS, Remote, wait_until
from server import Server
from world import open_world

PROGRAM = Path(__file__).parents[2] / "examples" / "game_server.py"
IDS = [ANN.id, BOB.id, ZOE.id]
HELD = 1250  # number of coins that Ann has at the start
KILLS = 8
PLACES = {"Items": "inventory", "Bank": "bank"}


class GameServer:
    def __init__(self, url: str, token: str, state: Path) -> None:
        self._command = [sys.executable, PROGRAM, "--url", url, "--state", state, "--loot", COIN.id, "--seed", "1"]
        self._environment = {**os.environ, "GAMEKEEPER_TOKEN": token}
        self.state = state
        self.start()

    def start(self) -> None:
        self._before = self._read_state_time()
        self._process = subprocess.Popen(self._command, env=self._environment, start_new_session=True)

    def plays(self) -> bool:
        """Return whether the example has saved its state since the start; before that it does not handle SIGTERM."""
        return self._read_state_time() != self._before

    def kill(self) -> None:
        assert self._process.poll() is None, "it ended by itself"
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(timeout=SECONDS)

    def _read_state_time(self) -> int:
        return self.state.stat().st_mtime_ns if self.state.exists() else 0


class Shop(threading.Thread):
    """Gives and takes items over the API with retries, and sums up the acknowledged quantities."""

    def __init__(self, remote: Remote, chance: random.Random) -> None:
        super().__init__()
        self._remote, self._chance = remote, chance
        self.closing = threading.Event()
        self.brought = Counter[str]()  # item id → acknowledged quantity: what was given minus what was taken
        self._done = 0

    def run(self) -> None:
        while not self.closing.is_set():
            item = self._chance.choice([COIN.id, COIN.id, SWORD.id])
            verb = self._chance.choice(["give", "give", "take"])
            self.deal(verb, self._chance.choice(IDS), item, self._chance.randint(1, 3))

    def deal(self, verb: str, player: str, item: str, quantity: int) -> None:
        self._done += 1
        path, key = f"/api/v1/players/{player}/items/{verb}", f"deal-{self._done}"
        body = {"itemid": item, "quantity": quantity, "bankoverflow": verb == "give"}
        while True:
            try:
                answer = self._remote.call("POST", path, body, "Shop", idempotency_key=key)
            except httpx.TransportError:
                time.sleep(0.05)
                continue
            if answer.is_success:
                self.brought[item] += quantity if verb == "give" else -quantity
            if answer.status_code in {200, 409}:  # status 409: the player does not have enough items to take
                return


def kill_in_turn(server: Server, game: GameServer, chance: random.Random) -> None:
    for number in range(KILLS):
        time.sleep(chance.uniform(0.3, 1.0))
        if number % 2:
            server.kill()
            server.start()
        else:
            game.kill()
            game.start()


def play(remote: Remote, game: GameServer, shop: Shop) -> None:
    shop.start()
    try:
        wait_until(game.plays)
        kill_in_turn(remote.server, game, random.Random(2))
        time.sleep(0.5)
    finally:
        shop.closing.set()
        shop.join()
    shop.deal("give", BOB.id, ARROW.id, 3)
    wait_until(game.plays)
    wait_until(lambda: remote.read("/api/v1/players/online/count") == {"onlineCount": 3})


def list_slots_of_game(state: Any) -> set[tuple[str, str, int, str, int]]:
    return {
        (player_id, PLACES[place], slot["Slot"], slot["ItemId"], slot["Quantity"])
        for player_id, player in state["players"].items()
        for place in PLACES
        for slot in player[place].values()
    }


@pytest.mark.long_only
@pytest.mark.both_engines
def test_game_and_gamekeeper_agree_after_kills(database: str, known_tokens: Mapping[str, str], tmp_path: Path) -> None:
    with Server(database) as server:
        remote = Remote(server, known_tokens)
        game = GameServer(server.url, known_tokens["Root"], tmp_path / "realm.json")
        shop = Shop(remote, random.Random(1))
        try:
            play(remote, game, shop)
        finally:
            code = game.stop()
    assert code == 0
    state = json.loads(game.state.read_text(encoding="utf-8"))
    assert state["report"] is None
    with open_world(database, known_tokens) as world:
        columns = "CAST(player_id AS TEXT), place, slot, CAST(item_id AS TEXT), quantity"
        held = {*world.sql(f"SELECT {columns} FROM slots WHERE place IN ('inventory', 'bank')")}  # noqa: S608 - ours
        assert held == list_slots_of_game(state)
        # the coins add up: no loot is lost or duplicated
        coins = sum(quantity for *_, item, quantity in held if item == COIN.id)
        assert coins == HELD + shop.brought[COIN.id] + state["handed_out"]
        assert errors(world) == []
