"""Every command from request to acknowledgement, with examples/game_server.py, both sides killed in the middle of it.

In the end every command has a state. Kicks, bans and mutes are applied; kills, warps and chat messages were carried out
at most once. Here the game is killed in one sort of command on each engine, and Gamekeeper once; `make long` does all.
"""

import itertools
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx
import pytest

import long_forms
import people
from battery.served import AS_IT_IS, Served
from gamekeeper.store.kinds import COMMANDS, STATE_COMMANDS
from server import Server

pytestmark = pytest.mark.both_engines

HERE = Path(__file__).parent
SECONDS = 120  # longest wait for a condition, long enough for a busy machine
MOST_EFFECTS = 20  # a command of the example has about five
ACKNOWLEDGED = {"applied", "failed", "unknown"}
HASH = "ab" * 32
WARP = {"mapid": people.MEADOW.id, "x": 1, "y": 2}
CHAT = {"Message": "Hello"}
POINTS = ("after_effect", "before_commit", "after_commit")  # where Gamekeeper is killed in a request
ONCE = [("players/Ann/admin/kill", {"reason": "duel"}), ("players/Zoe/admin/warpto", WARP), ("chat/global", CHAT)]
OTHERS = [("users/Ann/admin/warptoloc", WARP), ("chat/direct/Zoe", CHAT), (f"chat/proximity/{people.MEADOW.id}", CHAT)]


def wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not reached():
        assert time.monotonic() < deadline, "the condition was not reached"
        time.sleep(0.1)


class Game:
    """A process of the example game server that can be told where to crash."""

    def __init__(self, url: str, token: str, folder: Path) -> None:
        self.effect, self.point, self._journal = folder / "effect", folder / "point", folder / "journal"
        options = ["--url", url, "--loot", people.COIN.id, "--state", folder / "realm.json", "--journal", self._journal]
        program = HERE.parent / "examples" / "game_server.py"
        self._command = [sys.executable, HERE / "crashing_game.py", folder, program, *options]
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


class Staff:
    """Sends commands with Idempotency-Keys until they are accepted, and reads their states."""

    def __init__(self, server: Server, client: httpx.Client, tokens: Mapping[str, str]) -> None:
        self._server, self._client, self._tokens = server, client, tokens
        self._numbers = itertools.count()
        self.accepted = 0

    def call(self, method: str, path: str, body: object = None, by: str = "Root", **headers: str) -> httpx.Response:
        sent = {"Authorization": f"Bearer {self._tokens[by]}", **headers}
        return self._client.request(method, path, json=body, headers=sent)

    def command(self, path: str, body: object, crash: str | None = None) -> None:
        """Send a command; with `crash`, kill Gamekeeper at that point of the first request."""
        key = f"command-{next(self._numbers)}"
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            headers = {"Idempotency-Key": key} | ({"Battery-Crash": crash} if crash else {})
            try:
                answer = self.call("POST", f"/api/v1/{path}", body, **headers)
            except httpx.TransportError:
                assert crash, "Gamekeeper ended by itself"
                self.restart()
                crash = None
                continue
            if answer.is_success:
                self.accepted += 1
                return
            assert answer.status_code == 404, answer.text  # the player is not online yet
            key = f"command-{next(self._numbers)}"
            time.sleep(0.05)
        raise AssertionError("the command was not accepted")

    def restart(self) -> None:
        self._server.kill()
        self._server.start()

    def list_deliveries(self) -> dict[int, tuple[str, list[str]]]:
        """Map the number of each command to its kind and the states of its deliveries."""
        found: dict[int, tuple[str, list[str]]] = {}
        query = "limit=100"
        while changes := self.call("GET", f"/api/keeper/v1/changes?{query}").raise_for_status().json()["Changes"]:
            for each in changes:
                if each["Kind"] in COMMANDS and (each["PlayerId"] or each["Kind"] == "chat_sent"):
                    found[each["Seq"]] = each["Kind"], [delivery["State"] for delivery in each["Deliveries"]]
            query = f"limit=100&before={changes[-1]['Seq']}"
        return found

    def is_settled(self) -> bool:
        """Tell whether each command is acknowledged. Until then, the kick of a player who has left is `not_needed`."""
        return all(set(states) <= ACKNOWLEDGED for _, states in self.list_deliveries().values())

    def add_players(self, count: int) -> list[str]:
        """Register accounts with one player each; return their common names."""
        names = [f"Guest{number}" for number in range(count)]
        for number, name in enumerate(names):
            body = {"username": name, "password": HASH, "email": f"{name}@example.test"}
            self.call("POST", "/api/v1/users/register", body).raise_for_status()
            user_id = self.call("GET", f"/api/v1/users/{name}").json()["Id"]
            player = {"Name": name, "UserId": user_id}
            self.call(
                "PUT", f"/api/link/v1/players/{people.guid(0x2000 + number)}", player, "Server"
            ).raise_for_status()
        return names


class Match:
    """Staff and the game, with one command at a time."""

    def __init__(self, staff: Staff, game: Game, guests: list[str]) -> None:
        self._staff, self._game = staff, game
        self._guests = iter(guests)
        self._once = itertools.cycle(ONCE)
        self._mutes = itertools.cycle(["mute", "unmute"])
        self._removals = itertools.cycle(["kick", "ban"])

    def kill_warp_or_chat(self) -> tuple[str, Mapping[str, object]]:
        return next(self._once)

    def mute_or_unmute(self) -> tuple[str, dict[str, object]]:
        return f"users/Bob/admin/{next(self._mutes)}", {"reason": "noise", "duration": 0}

    def kick_or_ban(self) -> tuple[str, dict[str, object]]:
        return f"users/{next(self._guests)}/admin/{next(self._removals)}", {"reason": "spam", "duration": 0}

    def crash_game_everywhere(self, make_command: Callable[[], tuple[str, Mapping[str, object]]]) -> int:
        """Kill the game before the first effect of such a command, after it, after the second and so on; count that."""
        game = self._game
        for effects in range(MOST_EFFECTS):
            game.crash_after(effects)
            self._staff.command(*make_command())
            wait_until(lambda: game.has_crashed or not game.effect.exists())
            if not game.has_crashed:
                return effects
            game.effect.unlink()
            game.start()
            wait_until(self._staff.is_settled)
        raise AssertionError("the command has no end")

    def crash_gamekeeper_in_request(self, path: str, body: Mapping[str, object], point: str) -> None:
        self._staff.command(path, body, point)
        wait_until(self._staff.is_settled)

    def crash_gamekeeper_in_acknowledgement(self, path: str, body: Mapping[str, object], point: str) -> None:
        self._game.crash_gamekeeper(point)
        self._staff.command(path, body)
        wait_until(lambda: not self._game.has_crashed and not self._game.point.exists())
        self._staff.restart()
        wait_until(self._staff.is_settled)


def find_faults(staff: Staff, game: Game) -> list[str]:
    acts, faults = game.count_acts(), list[str]()
    for seq, (kind, states) in staff.list_deliveries().items():
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
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (HERE.parent, HERE.parent / "scripts", HERE))))
    with (
        Served(AS_IT_IS, database, command_seconds=86400, chat_per_minute=10000) as server,
        httpx.Client(base_url=server.url, timeout=SECONDS) as client,
    ):
        staff = Staff(server, client, known_tokens)
        guests = staff.add_players(12)
        game = Game(server.url, known_tokens["Root"], tmp_path)
        try:
            match = Match(staff, game, guests)
            # the effects: it saves the number, acts, saves the cursor, acknowledges, removes the acknowledgement
            sorts = {match.kill_warp_or_chat: (3, 6), match.mute_or_unmute: (2, 5), match.kick_or_ban: (2, 6)}
            for make_command, (kinds, effects) in sorts.items():
                if long_forms.LONG or make_command == match.kill_warp_or_chat:  # the commands that must not act twice
                    assert match.crash_game_everywhere(make_command) == effects
                else:
                    for _ in range(kinds):
                        staff.command(*make_command())
            for point, command in zip(POINTS, OTHERS, strict=True):
                if long_forms.LONG or point == "after_commit":  # stored, but not answered
                    match.crash_gamekeeper_in_request(*command, point)
                else:
                    staff.command(*command)
            match.crash_gamekeeper_in_acknowledgement(*OTHERS[0], "before_commit")
            if long_forms.LONG:
                match.crash_gamekeeper_in_acknowledgement(*match.kick_or_ban(), "after_commit")
            wait_until(staff.is_settled)
            found = staff.list_deliveries()
            assert find_faults(staff, game) == []
        finally:
            game.kill()
    assert len(found) == staff.accepted
    assert {kind for kind, _ in found.values()} == {*COMMANDS}
