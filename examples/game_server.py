"""A small example game server on Gamekeeper's link, as a start for your own. It needs only httpx.

    GAMEKEEPER_TOKEN=gka_… python examples/game_server.py --state realm1.json --loot ITEM

It reports the online players, hands out loot, follows the changes that others make to the same players, and carries
out commands. It and Gamekeeper may be killed at any time: no change is lost or applied twice. Six rules ensure that:

1. One state file, which is replaced atomically, holds everything that must survive a crash: the inventories, the
   cursor in the change feed, the report that is being sent, and the acknowledgements of commands.
2. A report is saved with its Idempotency-Key before it is sent. It is sent until it is answered, before anything else
   is done; after a crash it is sent again.
3. A report says in AppliedSeq which change of the player was applied last. If there are newer changes, Gamekeeper
   refuses the report and returns them; we apply them and plan the loot again.
4. A change is applied once: each player stores the number of its last change. Our own reports are not in the feed.
5. Kills, warps and chat messages are carried out at most once. Before we act, we save `unknown` as the acknowledgement;
   after it, `applied`. If we crash in between, we acknowledge `unknown`, and do not act again.
6. An acknowledgement is removed when it is answered, and only after the cursor has passed its command.
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
MUTES = {"user_muted": True, "user_unmuted": False}
REPEATABLE = ("user_kicked", "user_banned", *MUTES)
AT_MOST_ONCE = ("player_killed", "player_warped", "chat_sent")
# Name of a place in a change: its name in the answer with a player's items
PLACES = {"Items": "inventory", "Bank": "bank"}
LEASE_SECONDS = 6
POLL_SECONDS = 1
PAUSE_SECONDS = 0.2
REJOINS = 10  # players of other game servers who are reported after a heartbeat; more could outlast the lease
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
    def __init__(
        self,
        keeper: Gamekeeper,
        server: str,
        file: Path,
        loot: str,
        chance: random.Random,
        journal: Path | None = None,
    ) -> None:
        self._keeper = keeper
        self._here = f"{LINK}/servers/{server}"
        self._server = server
        self._file = file
        self._journal = journal
        self._loot = loot
        self._chance = chance
        self._next_beat = 0.0
        self._tried = ""  # the last player of another game server who was reported
        self.stopping = False
        self.state: Json = {"acks": {}} | json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}

    def run(self) -> None:
        if not self.state:
            self.read_the_world()
        self.send_report()
        self.heartbeat()
        print(f"{self._server} is running with {len(self.inside())} players online. Stop it with Ctrl-C.", flush=True)
        while not self.stopping:
            self.send_report()
            self.heartbeat()
            self.follow(POLL_SECONDS)
            self.find_loot()
        self.send_report()
        while self.follow(0):
            pass
        self._keeper.write("DELETE", self._here)

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
            "acks": {},  # number of a command → its state; the numbers of a restored database are others
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
            player: Json = {"applied": applied, "out": False, "elsewhere": False, "muted": False}
            player["slots"] = len(answer.json()["inventory"])
            for place, listed in PLACES.items():
                player[place] = {}
                put(player[place], answer.json()[listed])
            self.state["players"][player_id] = player

    # --- report online players ---------------------------------------------------------------------------------------

    def heartbeat(self) -> None:
        if time.monotonic() < self._next_beat:
            return
        # the cursor as a receipt: all changes up to it are applied; a restored database may have fewer
        answer = self._keeper.write("PUT", self._here, {"Lease": LEASE_SECONDS, "AppliedSeq": self.state["cursor"]})
        if answer.status_code == CONFLICT:
            answer = self._keeper.write("PUT", self._here, {"Lease": LEASE_SECONDS})
        self._next_beat = time.monotonic() + LEASE_SECONDS / 3
        state = answer.json()
        inside = self.inside()
        if state["Online"] < len(inside):  # this server has just started, or its lease had expired
            self.join(inside)
            self.check_bans_and_mutes(self.inside())
        self.join_again()

    def inside(self) -> list[str]:
        players = self.state["players"].items()
        return sorted(player_id for player_id, player in players if not (player["out"] or player.get("elsewhere")))

    def join(self, players: list[str]) -> None:
        """Report players as online. Those who are online on another game server are refused, and stay there."""
        if not self.report_joined(players):  # one of them was refused, so none has joined
            for player_id in players:
                self.state["players"][player_id]["elsewhere"] = not self.report_joined([player_id])

    def join_again(self) -> None:
        """Report some of those who were online on another game server, in turn: they may have left it since."""
        players = self.state["players"]
        waiting = sorted(each for each, player in players.items() if player.get("elsewhere") and not player["out"])
        tried = ([each for each in waiting if each > self._tried] or waiting)[:REJOINS]
        self._tried = tried[-1] if tried else ""
        came = [player_id for player_id in tried if self.report_joined([player_id])]
        for player_id in came:
            players[player_id]["elsewhere"] = False
        self.check_bans_and_mutes(came)

    def report_joined(self, players: list[str]) -> bool:
        answer = self._keeper.write("POST", f"{self._here}/joined", {"Players": players})
        if not answer.is_success and answer.json()["Code"] != "player_on_other_server":
            print(f"refused: {answer.text}", file=sys.stderr)
        return answer.is_success

    def check_bans_and_mutes(self, came: list[str]) -> None:
        """Remove banned players, after they have joined: from then on the feed reports each new ban and mute."""
        for player_id in came:
            record = self._keeper.get(f"{PLAYERS}/{player_id}")
            if record.is_success:  # otherwise the player was deleted, and the feed will contain that change
                account = self._keeper.get(f"{USERS}/{record.json()['UserId']}").raise_for_status()
                self.state["players"][player_id]["muted"] = account.json()["IsMuted"]
                if account.json()["IsBanned"]:
                    self.leave(player_id)

    def leave(self, player_id: str) -> None:
        """Report that a player left. In this example it never comes back; in your game it may log in again."""
        self.state["players"][player_id]["out"] = True
        self._keeper.write("POST", f"{self._here}/left", {"Players": [player_id]})

    # --- apply the changes of others ---------------------------------------------------------------------------------

    def follow(self, wait: int) -> bool:
        """Read and apply changes from the feed; return whether there were new ones."""
        cursor, epoch = self.state["cursor"], self.state["epoch"]
        query = {"after": cursor, "epoch": epoch, "wait": wait, "limit": 500, "server": self._server}
        answer = self._keeper.get(f"{LINK}/changes", **query)
        if answer.status_code == CONFLICT:  # the database was restored from a backup, so our cursor is invalid
            self.read_the_world()
            return True
        told = answer.raise_for_status().json()
        for change in told["Changes"]:
            if change["Kind"] in AT_MOST_ONCE:
                self.carry_out_once(change)
                continue
            if change["Kind"] in REPEATABLE:
                self.carry_out(change)
            else:
                self.apply(change)
        self.state["cursor"] = told["Next"]  # not the last Seq: Next also skips changes that are not for this server
        if told["Next"] > cursor:
            self.save()
        self.send_acks()
        return told["Next"] > cursor

    def apply(self, change: Json) -> None:
        """Apply a change to a player: set its slots to their new content."""
        players, player_id = self.state["players"], change["PlayerId"]
        if player_id is None:  # a variable of the server or of a guild; this example has none
            return
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

    # --- carry out commands ------------------------------------------------------------------------------------------

    def carry_out(self, change: Json) -> None:
        """Kick, ban, mute or unmute. After a crash it may happen again, which does no harm."""
        player = self.state["players"].get(change["PlayerId"])
        if player is not None:
            self.act(change)
            if change["Kind"] in MUTES:
                player["muted"] = MUTES[change["Kind"]]
            else:
                self.leave(change["PlayerId"])
        if change.get("Server"):  # a change of an older version has none, and needs no acknowledgement
            self.state["acks"][str(change["Seq"])] = "applied"

    def carry_out_once(self, change: Json) -> None:
        """Kill, warp or show a message, unless it expired or a run that crashed may have done it."""
        acks, seq = self.state["acks"], str(change["Seq"])
        if seq in acks or change["Expired"]:  # an expired command needs no acknowledgement
            return
        acks[seq] = "unknown"
        self.save()
        self.act(change)
        acks[seq] = "applied"

    def act(self, change: Json) -> None:
        """Carry out a command. This example only writes a line to its journal; your game does more."""
        if self._journal:
            with self._journal.open("a", encoding="utf-8") as written:
                written.write(f"{change['Kind']} {change['Seq']} {change['PlayerId']}\n")
                written.flush()
                os.fsync(written.fileno())

    def send_acks(self) -> None:
        """Send the acknowledgements until they are answered. The cursor has passed their commands already."""
        acks = [{"Seq": int(seq), "State": state} for seq, state in self.state["acks"].items()]
        if not acks:
            return
        if not self.acknowledge(acks):  # a command was so old that Gamekeeper deleted it: nothing was taken
            for each in acks:
                self.acknowledge([each])
        self.state["acks"] = {}
        self.save()

    def acknowledge(self, acks: list[Json]) -> bool:
        return self._keeper.write("POST", f"{self._here}/acks", {"Acks": acks}).is_success

    # --- send reports ------------------------------------------------------------------------------------------------

    def find_loot(self) -> None:
        if inside := self.inside():
            lucky = self._chance.choice(inside)
            self.plan(lucky, self._chance.choice([-1, 1, 2, 5]))  # the player spends one item or finds some

    def plan(self, player_id: str, quantity: int) -> None:
        player = self.state["players"][player_id]
        held = [slot for slot in player["Items"].values() if slot["ItemId"] == self._loot]
        free = next(number for number in range(len(player["Items"]) + 1) if str(number) not in player["Items"])
        if not held and free >= player.get("slots", free + 1):
            return  # the inventory is full, so the player finds nothing
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
            elif answer.json()["Code"] == "player_on_other_server":
                self.state["players"][player_id]["elsewhere"] = True
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
    parser.add_argument("--journal", type=Path, help="a file that gets a line for each command that is carried out")
    parser.add_argument("--seed", type=int, help="for luck that can be repeated")
    given = parser.parse_args()
    token = os.environ.get("GAMEKEEPER_TOKEN") or parser.error("Set GAMEKEEPER_TOKEN to the API key of this server.")
    keeper = Gamekeeper(given.url, token)
    game = Game(keeper, given.server, given.state, given.loot, random.Random(given.seed), given.journal)

    def stop(*_: object) -> None:
        game.stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    game.run()


if __name__ == "__main__":
    main()
