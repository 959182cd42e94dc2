"""kill -9 of the server in a bulk job: it goes on by itself, and everybody is changed once."""

import os
import random
import time
from collections.abc import Mapping

import httpx
import pytest

import long_forms
import people
from server import Server

pytestmark = pytest.mark.both_engines

BULK = "/api/keeper/v1/bulk"
SECONDS = 1800  # longest wait, long enough for 10,000 players on a busy machine
PLAYERS = int(os.environ.get("BULK_PLAYERS", long_forms.choose("120", "300")))  # `make bulk` has 10,000
KILLS = 5 if "BULK_PLAYERS" in os.environ else long_forms.choose(2, 5)
MAX_JOBS = 20


class Manager:
    """Creates players and a job, and reads its progress."""

    def __init__(self, server: Server, tokens: Mapping[str, str]) -> None:
        self.server, self._tokens = server, tokens

    def send(self, method: str, path: str, body: object = None, by: str = "Root") -> httpx.Response:
        headers = {"Authorization": f"Bearer {self._tokens[by]}"}
        answer = httpx.request(method, self.server.url + path, headers=headers, json=body, timeout=120)
        assert answer.is_success, answer.text
        return answer

    def add_players(self, count: int) -> list[str]:
        ids = [people.guid(0x10000 + number) for number in range(count)]
        with httpx.Client(
            base_url=self.server.url, headers={"Authorization": f"Bearer {self._tokens['Server']}"}
        ) as link:
            for number, each in enumerate(ids):
                body = {"Name": f"Guest{number}", "UserId": people.USER_IDS["Bob"]}
                link.put(f"/api/link/v1/players/{each}", json=body, timeout=60).raise_for_status()
        return ids

    def wait_for(self, job: str, done: int) -> dict[str, object]:
        """Wait until so many players of a job are done, or it does not run any more."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            found = self.send("GET", f"{BULK}/{job}").json()
            if found["Done"] >= done or found["State"] != "running":
                return found
            time.sleep(0.02)
        raise AssertionError("the job makes no progress")

    def count_changes(self, job: str) -> dict[str, int]:
        """Map each player to the number of its changes by a job."""
        found: dict[str, int] = {}
        path: str | None = f"/api/keeper/v1/changes?request=bulk-{job}&limit=1000"
        while path:
            page = self.send("GET", path).json()
            for each in page["Changes"]:
                found[each["PlayerId"]] = found.get(each["PlayerId"], 0) + 1
            following = page["Next"]
            path = f"/api/keeper/v1/changes?request=bulk-{job}&limit=1000&before={following}" if following else None
        return found


@pytest.mark.long_form
def test_job_of_a_killed_server_changes_everybody_once(database: str, known_tokens: Mapping[str, str]) -> None:
    chance = random.Random(7)
    with Server(database) as server:
        manager = Manager(server, known_tokens)
        ids = manager.add_players(PLAYERS)
        body = {"Act": "give_item", "ItemId": people.COIN.id, "Quantity": 3, "Players": ids}
        jobs, kills, part = list[str](), 0, 0
        while kills < KILLS:
            if not part:
                jobs.append(manager.send("POST", BULK, body).json()["Id"])
                manager.send("POST", f"{BULK}/{jobs[-1]}/start")
            part += 1
            found = manager.wait_for(jobs[-1], PLAYERS * part // (KILLS + 2))
            if found["State"] != "running":  # on a busy machine it may end before the next look: the next job goes on
                assert len(jobs) < MAX_JOBS
                part = 0
                continue
            time.sleep(chance.random() * 0.05)  # not right after a change: at any moment of the next one
            server.kill()
            server.start()
            kills += 1
        for job in jobs:
            last = manager.wait_for(job, PLAYERS + 1)
            assert (last["State"], last["Done"], last["Remaining"]) == ("finished", PLAYERS, 0)
            assert manager.count_changes(job) == dict.fromkeys(ids, 1)
        held = manager.send("GET", f"/api/v1/players/{chance.choice(ids)}/items/inventory").json()
        assert sum(each["Quantity"] for each in held) == 3 * len(jobs)
