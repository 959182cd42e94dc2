"""Every command from request to acknowledgement, with examples/game_server.py, both sides killed in the middle of it.

In the end every command has a state. Kicks, bans and mutes are applied; kills, warps and chat messages were carried out
at most once. Here the game is killed in one sort of command on each engine, and Gamekeeper once; `make long` does all.
"""

import contextlib
import functools
import itertools
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx
import pytest

import long_forms
import people
import staff
from battery.served import AS_IT_IS, Served
from game_server import put_player
from gamekeeper.store.engine.statements import COMMANDS, STATE_COMMANDS
from remote import Remote, wait_until
from server import Server
from world import open_world

pytestmark = pytest.mark.both_engines

ROOT = Path(__file__).parents[2]

MOST_EFFECTS = 20  # a command of the example has about five
ACKNOWLEDGED = {"applied", "failed", "unknown"}
GUESTS = [f"Guest{number}" for number in range(12)]
GIFT = {"itemid": people.COIN.id, "quantity": 1}
WARP = {"mapid": people.MEADOW.id, "x": 1, "y": 2}
CHAT = {"Message": "Hello"}
POINTS = ("after_effect", "before_commit", "after_commit")  # where Gamekeeper is killed in a request
ONCE = [("players/Ann/admin/kill", {"reason": "duel"}), ("players/Zoe/admin/warpto", WARP), ("chat/global", CHAT)]
OTHERS = [("users/Ann/admin/warptoloc", WARP), ("chat/direct/Zoe", CHAT), (f"chat/proximity/{people.MEADOW.id}", CHAT)]


class Game:
    """A process of the example game server that can be told where to crash."""

    def __init__(self, url: str, token: str, folder: Path) -> None:
        self.effect, self.point, self._journal = folder / "effect", folder / "point", folder / "journal"
        options = ["--url", url, "--loot", people.COIN.id, "--state", folder / "realm.json", "--journal", self._journal]
        program = ROOT / "examples" / "game_server.py"
        self._command = [sys.executable, ROOT / "tests" / "support" / "crashing_game.py", folder, program, *options]
        self._environment = {**os.environ, "GAMEKEEPER_TOKEN": token}
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, env=self._environment)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def has_crashed(self) -> bool:
        code = self._process.poll()
        assert code in (None, -signal.SIGKILL), "it ended by itself"
        return code is not None

    def crash_after(self, effects: int) -> None:
        self.effect.write_text(str(effects), encoding="utf-8")

    def crash_gamekeeper(self, point: str) -> None:
        self.point.write_text(point, encoding="utf-8")

    def count_acts(self) -> Counter[int]:
        """Map the number of each command to how often the game carried it out."""
        return Counter(int(line.split()[1]) for line in self._journal.read_text(encoding="utf-8").splitlines())


class Match(Remote):
    """Staff and the game, with one command at a time, which is sent until it is accepted."""

    def __init__(self, server: Server, tokens: Mapping[str, str], game: Game) -> None:
        super().__init__(server, tokens)
        self.game = game
        self.accepted = 0
        self._guests = iter(GUESTS)
        self._once = itertools.cycle(ONCE)
        self._mutes = itertools.cycle(["mute", "unmute"])
        self._removals = itertools.cycle(["kick", "ban"])

    def kill_warp_or_chat(self) -> tuple[str, Mapping[str, object]]:
        return next(self._once)

    def mute_or_unmute(self) -> tuple[str, dict[str, object]]:
        return f"users/Bob/admin/{next(self._mutes)}", {"reason": "noise", "duration": 0}

    def kick_or_ban(self) -> tuple[str, dict[str, object]]:
        return f"users/{next(self._guests)}/admin/{next(self._removals)}", {"reason": "spam", "duration": 0}

    def command(self, path: str, body: object, **crash: str) -> None:
        """Send a command; `battery_crash` is a point of the first request at which Gamekeeper is killed."""
        sent = functools.partial(self.call, "POST", f"/api/v1/{path}", body)
        wait_until(lambda: self.call("POST", f"/api/v1/{path}?dryRun=true", body).status_code != 404)  # not online yet
        key = {"idempotency_key": f"command-{self.accepted}"}
        if crash:
            with contextlib.suppress(httpx.TransportError):
                sent(**key, **crash)
            self.restart_killed()
        sent(**key).raise_for_status()
        self.accepted += 1

    def list_deliveries(self) -> dict[int, tuple[str, list[str]]]:
        """Map the number of each command to its kind and the states of its deliveries."""
        found: dict[int, tuple[str, list[str]]] = {}
        query = "limit=100"
        while changes := self.read(f"/api/keeper/v1/changes?{query}")["Changes"]:
            for each in changes:
                if each["Kind"] in COMMANDS and (each["PlayerId"] or each["Kind"] == "chat_sent"):
                    found[each["Seq"]] = each["Kind"], [delivery["State"] for delivery in each["Deliveries"]]
            query = f"limit=100&before={changes[-1]['Seq']}"
        return found

    def is_newest(self, state: str) -> bool:
        """Tell whether the delivery of the newest change has this state."""
        (newest,) = self.read("/api/keeper/v1/changes?limit=1")["Changes"]
        return [each["State"] for each in newest["Deliveries"]] == [state]

    def is_settled(self) -> bool:
        """Tell whether each command is acknowledged. Until then, the kick of a player who has left is `not_needed`."""
        return all(set(states) <= ACKNOWLEDGED for _, states in self.list_deliveries().values())

    def crash_game_everywhere(self, make_command: Callable[[], tuple[str, Mapping[str, object]]]) -> int:
        """Kill the game before the first effect of such a command, after it, after the second and so on; count that."""
        game = self.game
        for effects in range(MOST_EFFECTS):
            game.crash_after(effects)
            self.command(*make_command())
            wait_until(lambda: game.has_crashed or not game.effect.exists())
            if not game.has_crashed:
                return effects
            game.effect.unlink()
            game.start()
            wait_until(self.is_settled)
        raise AssertionError("the command has no end")

    def crash_gamekeeper_in_acknowledgement(self, path: str, body: Mapping[str, object], point: str) -> None:
        self.game.crash_gamekeeper(point)
        self.command(path, body)
        wait_until(lambda: not self.game.has_crashed and not self.game.point.exists())
        self.restart_killed()
        wait_until(self.is_settled)


def find_faults(match: Match) -> list[str]:
    acts, faults = match.game.count_acts(), list[str]()
    for seq, (kind, states) in match.list_deliveries().items():
        (state,) = states
        if kind in STATE_COMMANDS:
            right = state == "applied" and acts[seq] >= 1
        else:
            right = (state == "applied" and acts[seq] == 1) or (state == "unknown" and acts[seq] <= 1)
        if not right:
            faults.append(f"{kind} {seq}: {state}, carried out {acts[seq]} times")
    return faults


@pytest.mark.long_form
def test_commands_are_carried_out_and_acknowledged_when_both_sides_are_killed(
    database: str, known_tokens: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT, ROOT / "scripts", ROOT / "tests" / "support"))))
    with open_world(database, known_tokens) as world:
        for number, name in enumerate(GUESTS):
            staff.add_account(world, name, "api")
            guest = {"Name": name, "UserId": world.get(f"/api/v1/users/{name}").json["Id"]}
            assert put_player(world, people.guid(0x2000 + number), guest).status == 200
    with Served(AS_IT_IS, database, command_seconds=86400, chat_per_minute=10000) as server:
        game = Game(server.url, known_tokens["Root"], tmp_path)
        match = Match(server, known_tokens, game)
        try:
            # the effects: it saves the number, acts, saves the cursor, acknowledges, removes the acknowledgement
            sorts = {match.kill_warp_or_chat: (3, 6), match.mute_or_unmute: (2, 5), match.kick_or_ban: (2, 6)}
            for make_command, (kinds, effects) in sorts.items():
                if long_forms.LONG or make_command == match.kill_warp_or_chat:  # the commands that must not act twice
                    assert match.crash_game_everywhere(make_command) == effects
                else:
                    for _ in range(kinds):
                        match.command(*make_command())
            for point, command in zip(POINTS, OTHERS, strict=True):
                if long_forms.LONG or point == "after_commit":  # stored, but not answered
                    match.command(*command, battery_crash=point)
                    wait_until(match.is_settled)
                else:
                    match.command(*command)
            match.crash_gamekeeper_in_acknowledgement(*OTHERS[0], "before_commit")
            if long_forms.LONG:
                match.crash_gamekeeper_in_acknowledgement(*match.kick_or_ban(), "after_commit")
            wait_until(match.is_settled)
            assert find_faults(match) == []
            found = match.list_deliveries()
            match.call("POST", "/api/v1/players/Zoe/items/give", GIFT).raise_for_status()
            wait_until(lambda: match.is_newest("sent"))
            game.kill()
            game.start()  # its heartbeats are rare here, and the first one says what it has applied
            wait_until(lambda: match.is_newest("applied"))
        finally:
            game.kill()
    assert len(found) == match.accepted
    assert {kind for kind, _ in found.values()} == {*COMMANDS}
