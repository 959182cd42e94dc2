"""kill -9 of the server in a bulk job: it goes on by itself, and everybody is changed once."""

import os
import random
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

import bulking
import long_forms
from people import COIN
from remote import Remote, wait_until
from server import Server
from world import open_world

pytestmark = pytest.mark.both_engines

SECONDS = 1800  # longest wait, long enough for 10,000 players on a busy machine
PLAYERS = int(os.environ.get("BULK_PLAYERS", long_forms.choose("120", "300")))  # `make bulk` has 10,000
KILLS = 5 if "BULK_PLAYERS" in os.environ else long_forms.choose(2, 5)
MAX_JOBS = 20


def wait_for(remote: Remote, job: str, done: int) -> dict[str, Any]:
    """Wait until so many players of a job are done, or it does not run any more; return the job."""

    def is_reached() -> bool:
        found.update(remote.read(f"{bulking.ROOT}/{job}"))
        return found["Done"] >= done or found["State"] != "running"

    found: dict[str, Any] = {}
    wait_until(is_reached, SECONDS)
    return found


def count_changes(remote: Remote, job: str) -> Counter[str]:
    """Map each player to the number of its changes by a job."""
    found, before = Counter[str](), ""
    while True:
        page = remote.read(f"/api/keeper/v1/changes?request=bulk-{job}&limit=1000{before}")
        found.update(each["PlayerId"] for each in page["Changes"])
        if not page["Next"]:
            return found
        before = f"&before={page['Next']}"


@pytest.mark.long_form
def test_job_of_a_killed_server_changes_everybody_once(database: str, known_tokens: Mapping[str, str]) -> None:
    chance = random.Random(7)
    with open_world(database, known_tokens) as world:
        ids = bulking.add_players(world, PLAYERS)
    with Server(database) as server:
        remote = Remote(server, known_tokens)
        body = {"Act": "give_item", "ItemId": COIN.id, "Quantity": 3, "Players": ids}
        jobs, kills, part = list[str](), 0, 0
        while kills < KILLS:
            if not part:
                jobs.append(remote.call("POST", bulking.ROOT, body).raise_for_status().json()["Id"])
                remote.call("POST", f"{bulking.ROOT}/{jobs[-1]}/start").raise_for_status()
            part += 1
            found = wait_for(remote, jobs[-1], PLAYERS * part // (KILLS + 2))
            if found["State"] != "running":  # on a busy machine it may end before the next look: the next job goes on
                assert len(jobs) < MAX_JOBS
                part = 0
                continue
            time.sleep(chance.random() * 0.05)  # not right after a change: at any moment of the next one
            remote.restart_killed()
            kills += 1
        for job in jobs:
            last = wait_for(remote, job, PLAYERS + 1)
            assert (last["State"], last["Done"], last["Remaining"]) == ("finished", PLAYERS, 0)
            assert count_changes(remote, job) == dict.fromkeys(ids, 1)
        held = remote.call("GET", f"/api/v1/players/{chance.choice(ids)}/items/inventory").json()
        assert sum(each["Quantity"] for each in held) == 3 * len(jobs)
