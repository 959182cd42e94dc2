"""A small game server on Gamekeeper's link: a place to start your own from. It needs nothing but httpx.

    GAMEKEEPER_TOKEN=gka_… python examples/game_server.py --state realm1.json --loot ITEM

It says who is online, hands out loot, and hears of everything that others do to the same characters. Kill it, or
Gamekeeper, at any moment: nothing gets lost and nothing happens twice. Four habits make that so:

1. Everything we must not forget is in one file that is replaced in one step: the inventories, how far we have read the
   feed (the cursor), and the report that is on its way.
2. A report is written down before it is sent, with its Idempotency-Key. It is sent until it is answered, and nothing
   else is done before: after a crash it is simply sent again.
3. A report says with AppliedSeq what we knew of the character. If there is news that we have not heard, Gamekeeper
   refuses it and tells us; we apply the news and plan the loot anew.
4. A change is applied once: each character remembers the number of its last one. Our own reports are not in the feed.
"""

import argparse
import json
import os
import random
import signal
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import httpx

LINK, PLAYERS, USERS = "/api/link/v1", "/api/v1/players", "/api/v1/users"
THROWN_OUT = ("user_kicked", "user_banned")
PLACES = {"Items": "inventory", "Bank": "bank"}  # in a change: in the list of a player's items
LEASE_SECONDS = 6
POLL_SECONDS = 1
PAUSE_SECONDS = 0.2
CONFLICT = 409
Json = dict[str, Any]


class Gamekeeper:
    """Asks until there is an answer: what was lost on the way is sent again, under the same key."""

    def __init__(self, url: str, token: str) -> None:
        self._client = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=30)

    def get(self, path: str, **query: object) -> httpx.Response:
        params = {name: str(value) for name, value in query.items()}
        return self._ask(self._client.build_request("GET", path, params=params))

    def write(self, method: str, path: str, body: object = None, key: str | None = None) -> httpx.Response:
        headers = {"Idempotency-Key": key or str(uuid.uuid4())}
        return self._ask(self._client.build_request(method, path, json=body, headers=headers))

    def _ask(self, request: httpx.Request) -> httpx.Response:
        while True:
            pause = PAUSE_SECONDS
            try:
                answer = self._client.send(request)
                if not answer.is_server_error and "Retry-After" not in answer.headers:
                    return answer
                pause = float(answer.headers.get("Retry-After", pause))
            except httpx.TransportError:
                pass  # it may have happened or not: under the same key, asking again tells
            time.sleep(pause)


class Game:
    def __init__(self, keeper: Gamekeeper, server: str, file: Path, loot: str, chance: random.Random) -> None:
        self._keeper = keeper
        self._server = server
        self._file = file
        self._loot = loot
        self._chance = chance
        self._next_beat = 0.0
        self.stopping = False
        self.state: Json = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}

    def run(self) -> None:
        if not self.state:
            self.read_the_world()
        while not self.stopping:
            self.send_report()
            self.heartbeat()
            self.follow(POLL_SECONDS)
            self.find_loot()
        self.send_report()
        while self.follow(0):
            pass
        self._keeper.write("DELETE", f"{LINK}/servers/{self._server}")

    # --- the file ----------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """All or nothing: a crash leaves the old file or the new one. And on the disk, before anything is sent."""
        new = self._file.with_suffix(".new")
        with new.open("w", encoding="utf-8") as written:
            json.dump(self.state, written)
            written.flush()
            os.fsync(written.fileno())
        new.replace(self._file)
        if os.name == "posix":  # elsewhere a directory cannot be flushed
            folder = os.open(self._file.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)

    # --- the whole world, at the first start or after a restored backup ----------------------------------------------

    def read_the_world(self) -> None:
        """First where the feed is, then the characters: what happens in between is told again, and does no harm."""
        now = self._keeper.get(f"{LINK}/changes", after="now").raise_for_status().json()
        self.state = {
            "epoch": now["Epoch"],
            "cursor": now["Next"],
            "players": {},
            "report": None,
            "handed_out": self.state.get("handed_out", 0),
        }
        page, more = 0, True
        while more:
            listed = self._keeper.get(PLAYERS, page=page, pageSize=100).raise_for_status().json()["Values"]
            for record in listed:
                self.read_player(record["Id"], now["Next"])
            page, more = page + 1, bool(listed)
        self.save()

    def read_player(self, player_id: str, applied: int) -> None:
        answer = self._keeper.get(f"{PLAYERS}/{player_id}/items")
        if answer.is_success:  # else it was deleted, and the feed will say so
            player: Json = {"applied": applied, "out": False}
            for place, listed in PLACES.items():
                player[place] = {}
                put(player[place], answer.json()[listed])
            self.state["players"][player_id] = player

    # --- who is online -----------------------------------------------------------------------------------------------

    def heartbeat(self) -> None:
        if time.monotonic() < self._next_beat:
            return
        here = f"{LINK}/servers/{self._server}"
        state = self._keeper.write("PUT", here, {"Lease": LEASE_SECONDS}).json()
        inside = self.inside()
        if state["Online"] < len(inside):  # we just started, or our lease had run out
            self._keeper.write("POST", f"{here}/joined", {"Players": inside})
            self.turn_away_the_banned(inside)
        self._next_beat = time.monotonic() + LEASE_SECONDS / 3

    def inside(self) -> list[str]:
        return sorted(player_id for player_id, player in self.state["players"].items() if not player["out"])

    def turn_away_the_banned(self, came: list[str]) -> None:
        """Once they have joined, not before: of a ban from then on the feed tells us."""
        for player_id in came:
            record = self._keeper.get(f"{PLAYERS}/{player_id}")
            if record.is_success:  # else it was deleted, and the feed will say so
                account = self._keeper.get(f"{USERS}/{record.json()['UserId']}").raise_for_status()
                if account.json()["IsBanned"]:
                    self.leave(player_id)

    def leave(self, player_id: str) -> None:
        """Here nobody comes back; in your game, those who log in do."""
        self.state["players"][player_id]["out"] = True
        self._keeper.write("POST", f"{LINK}/servers/{self._server}/left", {"Players": [player_id]})

    # --- what others did ---------------------------------------------------------------------------------------------

    def follow(self, wait: int) -> bool:
        """Whether there was anything new."""
        cursor, epoch = self.state["cursor"], self.state["epoch"]
        answer = self._keeper.get(f"{LINK}/changes", after=cursor, epoch=epoch, wait=wait, limit=500)
        if answer.status_code == CONFLICT:  # a restored database: our cursor means nothing there
            self.read_the_world()
            return True
        told = answer.raise_for_status().json()
        for change in told["Changes"]:
            self.apply(change)
        self.state["cursor"] = told["Next"]  # not the last Seq: what is not for us is passed over too
        if told["Next"] > cursor:
            self.save()
        return told["Next"] > cursor

    def apply(self, change: Json) -> None:
        """A change has its slots as they are now: setting them is all there is to do. Some tell us to act."""
        players, player_id = self.state["players"], change["PlayerId"]
        if change["After"] is None:
            players.pop(player_id, None)
            return
        if player_id not in players:
            self.read_player(player_id, 0)
        player = players.get(player_id)
        if player is None or change["Seq"] <= player["applied"]:
            return
        player["applied"] = change["Seq"]
        for place in PLACES:
            put(player[place], change["After"].get(place, []))
        if change["Kind"] in THROWN_OUT:
            self.leave(player_id)

    # --- what we do --------------------------------------------------------------------------------------------------

    def find_loot(self) -> None:
        if inside := self.inside():
            lucky = self._chance.choice(inside)
            self.plan(lucky, self._chance.choice([-1, 1, 2, 5]))  # a coin is spent, or some are found

    def plan(self, player_id: str, quantity: int) -> None:
        player = self.state["players"][player_id]
        held = [slot for slot in player["Items"].values() if slot["ItemId"] == self._loot]
        free = next(number for number in range(len(player["Items"]) + 1) if str(number) not in player["Items"])
        slot: Json = dict(held[0]) if held else {"Slot": free, "ItemId": self._loot, "Quantity": 0}
        quantity = max(quantity, -slot["Quantity"])
        slot["Quantity"] += quantity
        body = {"Items": [slot], "AppliedSeq": player["applied"]}
        key = str(uuid.uuid4())
        self.state["report"] = {"key": key, "player": player_id, "quantity": quantity, "body": body}
        self.save()

    def send_report(self) -> None:
        while report := self.state["report"]:
            player_id, body = report["player"], report["body"]
            answer = self._keeper.write("PUT", f"{LINK}/players/{player_id}", body, report["key"])
            self.state["report"] = None
            if answer.is_success:
                put(self.state["players"][player_id]["Items"], body["Items"])
                self.state["handed_out"] += report["quantity"]
            elif answer.json()["Code"] == "unapplied_changes":
                for change in answer.json()["Changes"]:
                    self.apply(change)
                if player_id in self.state["players"]:
                    self.plan(player_id, report["quantity"])  # another request: another key
            else:
                print(f"refused: {answer.text}", file=sys.stderr)
            self.save()


def put(slots: Json, changed: list[Json]) -> None:
    for slot in changed:
        if slot["Quantity"]:
            slots[str(slot["Slot"])] = slot
        else:
            slots.pop(str(slot["Slot"]), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:5400")
    parser.add_argument(
        "--server", default="realm1", help="our name; each game server has its own, and its own account"
    )
    parser.add_argument("--state", type=Path, default=Path("realm1.json"))
    parser.add_argument("--loot", required=True, metavar="ITEM", help="the id of the item that is found and spent")
    parser.add_argument("--seed", type=int, help="for luck that can be repeated")
    given = parser.parse_args()
    keeper = Gamekeeper(given.url, os.environ["GAMEKEEPER_TOKEN"])
    game = Game(keeper, given.server, given.state, given.loot, random.Random(given.seed))

    def stop(*_: object) -> None:
        game.stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    game.run()


if __name__ == "__main__":
    main()
