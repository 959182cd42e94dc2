"""kill -9 of the server: with Idempotency-Keys the totals of gifts are exact; an approval is carried out once."""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx
import pytest

import long_forms
from battery import realm
from battery.givers import Givers
from battery.served import AS_IT_IS, Served
from people import COIN
from remote import Remote
from server import Server

pytestmark = pytest.mark.both_engines

ROOT = Path(__file__).parents[2]
APPROVALS = "/api/keeper/v1/approvals"
POINTS = ("after_effect", "before_commit", "after_commit")  # where the server is killed in an approval
GIVEN = 7  # coins of each gift


@pytest.mark.long_form
def test_killed_server_loses_and_duplicates_no_give(empty_database: str) -> None:
    gives, kills = long_forms.choose((50, 1), (65, 5))
    world = realm.prepare(empty_database)
    with Server(empty_database) as server:
        givers = Givers([server.url], world, seed=1, mixed=True)
        with givers.at_work():
            for _ in range(kills):
                givers.wait_for_gives(gives, since=time.monotonic())
                server.kill()
                server.start()
            givers.wait_for_gives(gives, since=time.monotonic())
        assert (givers.wrong(), givers.unresolved, givers.count_other_answers()) == (0, 0, 0)


class Deputies(Remote):
    """A requester and an approver at a server that crashes at named points of the write path."""

    def ask(self, key: str, **headers: str) -> httpx.Response:
        body = {"itemid": COIN.id, "quantity": GIVEN}
        return self.call("POST", "/api/v1/players/Bob/items/give", body, "Shop", idempotency_key=key, **headers)

    def approve(self, approval: str, **headers: str) -> httpx.Response:
        return self.call("POST", f"{APPROVALS}/{approval}/approve", **headers)

    def crash(self, act: Callable[[], httpx.Response]) -> None:
        """Send a request in whose transaction the server crashes, and start the server again."""
        with pytest.raises(httpx.TransportError):
            act()
        self.restart_killed()

    def list_states(self) -> list[str]:
        return sorted(each["State"] for each in self.read(APPROVALS)["Approvals"])

    def count_coins(self) -> int:
        slots = self.call("GET", "/api/v1/players/Bob/items/inventory").json()
        return sum(each["Quantity"] for each in slots if each["ItemId"] == COIN.id)

    def count_approved(self) -> int:
        changes = self.read("/api/keeper/v1/changes?limit=100")["Changes"]
        return sum(each["Kind"] == "change_approved" for each in changes)


@pytest.mark.long_form
def test_killed_server_carries_out_an_approval_once_or_not_at_all(
    database: str, known_tokens: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT, ROOT / "scripts", ROOT / "tests" / "support"))))
    with Served(AS_IT_IS, database, approvals="items.give") as server:
        people = Deputies(server, known_tokens)
        start = people.count_coins()
        # only the points on both sides of the commit: a kill before it also loses what was written before
        for done, point in enumerate(long_forms.choose(POINTS[1:], POINTS)):
            if point == POINTS[-1]:
                people.crash(lambda: people.ask(f"key-{point}", battery_crash=point))  # noqa: B023 - called at once
            held = people.ask(f"key-{point}")
            assert held.status_code == 409, held.text
            assert people.list_states() == ["done"] * done + ["waiting"]  # stored once, or not at all and now
            approval = held.json()["ApprovalId"]
            people.crash(lambda: people.approve(approval, battery_crash=point))  # noqa: B023 - called at once
            carried_out = done + (people.list_states() == ["done"] * (done + 1))
            assert people.count_coins() == start + GIVEN * carried_out
            assert people.count_approved() == carried_out
            again = people.approve(approval)
            assert again.status_code == (409 if carried_out > done else 200), again.text
            assert people.ask(f"key-{point}").status_code == 200
            assert people.count_coins() == start + GIVEN * (done + 1)
            assert people.count_approved() == done + 1
