"""A small example game server on Gamekeeper's link, as a start for your own. It needs only httpx.

    GAMEKEEPER_TOKEN=gka_… python examples/game_server.py --state realm1.json --loot ITEM

It reports the online players, hands out loot, and follows the changes that others make to the same players. It and
Gamekeeper may be killed at any time: no change is lost or applied twice. Four rules ensure that:

1. One state file, which is replaced atomically, holds everything that must survive a crash: the inventories, the
   cursor in the change feed, and the report that is being sent.
2. A report is saved with its Idempotency-Key before it is sent. It is sent until it is answered, before anything else
   is done; after a crash it is sent again.
3. A report says in AppliedSeq which change of the player was applied last. If there are newer changes, Gamekeeper
   refuses the report and returns them; we apply them and plan the loot again.
4. A change is applied once: each player stores the number of its last change. Our own reports are not in the feed.
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
# Name of a place in a change: its name in the answer with a player's items
PLACES = {"Items": "inventory", "Bank": "bank"}
LEASE_SECONDS = 6
POLL_SECONDS = 1
PAUSE_SECONDS = 0.2
CONFLICT = 409
Json = dict[str, Any]


class Gamekeeper:
    """HTTP client of Gamekeeper that retries each request, with the same Idempotency-Key, until it is answered."""

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
                pass  # the request may have been applied or not; a retry with the same key is safe
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

    # --- the state file ----------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Write the state file atomically and sync it to disk: a crash leaves the old file or the new one."""
        new = self._file.with_suffix(".new")
        with new.open("w", encoding="utf-8") as written:
            json.dump(self.state, written)
            written.flush()
            os.fsync(written.fileno())
        new.replace(self._file)
        if os.name == "posix":  # other systems cannot sync a directory to disk
            folder = os.open(self._file.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)

    # --- read all players, at the first start or after a restored backup ---------------------------------------------

    def read_the_world(self) -> None:
        """Read the feed's cursor, then all players; changes made in between come again in the feed and do no harm."""
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
        if answer.is_success:  # otherwise the player was deleted, and the feed will contain that change
            player: Json = {"applied": applied, "out": False}
            for place, listed in PLACES.items():
                player[place] = {}
                put(player[place], answer.json()[listed])
            self.state["players"][player_id] = player

    # --- report online players ---------------------------------------------------------------------------------------

    def heartbeat(self) -> None:
        if time.monotonic() < self._next_beat:
            return
        here = f"{LINK}/servers/{self._server}"
        state = self._keeper.write("PUT", here, {"Lease": LEASE_SECONDS}).json()
        inside = self.inside()
        if state["Online"] < len(inside):  # this server has just started, or its lease had expired
            self._keeper.write("POST", f"{here}/joined", {"Players": inside})
            self.turn_away_the_banned(inside)
        self._next_beat = time.monotonic() + LEASE_SECONDS / 3

    def inside(self) -> list[str]:
        return sorted(player_id for player_id, player in self.state["players"].items() if not player["out"])

    def turn_away_the_banned(self, came: list[str]) -> None:
        """Remove banned players, after they have joined: from then on the feed reports each new ban."""
        for player_id in came:
            record = self._keeper.get(f"{PLAYERS}/{player_id}")
            if record.is_success:  # otherwise the player was deleted, and the feed will contain that change
                account = self._keeper.get(f"{USERS}/{record.json()['UserId']}").raise_for_status()
                if account.json()["IsBanned"]:
                    self.leave(player_id)

    def leave(self, player_id: str) -> None:
        """Report that a player left. In this example it never comes back; in your game it may log in again."""
        self.state["players"][player_id]["out"] = True
        self._keeper.write("POST", f"{LINK}/servers/{self._server}/left", {"Players": [player_id]})

    # --- apply the changes of others ---------------------------------------------------------------------------------

    def follow(self, wait: int) -> bool:
        """Read and apply changes from the feed; return whether there were new ones."""
        cursor, epoch = self.state["cursor"], self.state["epoch"]
        answer = self._keeper.get(f"{LINK}/changes", after=cursor, epoch=epoch, wait=wait, limit=500)
        if answer.status_code == CONFLICT:  # the database was restored from a backup, so our cursor is invalid
            self.read_the_world()
            return True
        told = answer.raise_for_status().json()
        for change in told["Changes"]:
            self.apply(change)
        self.state["cursor"] = told["Next"]  # not the last Seq: Next also skips changes that are not for this server
        if told["Next"] > cursor:
            self.save()
        return told["Next"] > cursor

    def apply(self, change: Json) -> None:
        """Apply a change: set its slots to their new content, and remove a banned or kicked player."""
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

    # --- send reports ------------------------------------------------------------------------------------------------

    def find_loot(self) -> None:
        if inside := self.inside():
            lucky = self._chance.choice(inside)
            self.plan(lucky, self._chance.choice([-1, 1, 2, 5]))  # the player spends one item or finds some

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
                    self.plan(player_id, report["quantity"])  # a new report, so it gets a new Idempotency-Key
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
