"""Deliveries with two Gamekeeper processes on one database: a request to one, polls and receipts to the other."""

import time
from collections.abc import Callable, Generator, Mapping

import httpx
import pytest

import people
from server import Server

pytestmark = pytest.mark.long_only

LINK = "/api/link/v1"
SECONDS = 60  # longest wait for a condition, long enough for a busy machine


@pytest.fixture
def clients(database: str, known_tokens: Mapping[str, str]) -> Generator[tuple[httpx.Client, httpx.Client]]:
    """Clients of two processes."""
    headers = {"Authorization": f"Bearer {known_tokens['Root']}"}
    with (
        Server(database) as one,
        Server(database) as two,
        httpx.Client(base_url=one.url, headers=headers, timeout=SECONDS) as first,
        httpx.Client(base_url=two.url, headers=headers, timeout=SECONDS) as second,
    ):
        yield first, second


def list_states(client: httpx.Client) -> dict[str, list[str]]:
    """Return the delivery states of the two newest changes, by kind."""
    changes = client.get("/api/keeper/v1/changes", params={"limit": 2}).raise_for_status().json()["Changes"]
    return {each["Kind"]: [delivery["State"] for delivery in each["Deliveries"]] for each in changes}


def wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not reached():
        assert time.monotonic() < deadline, "the condition was not reached"
        time.sleep(0.1)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_states_are_the_same_at_both_processes(clients: tuple[httpx.Client, httpx.Client]) -> None:
    staff, game = clients
    here = f"{LINK}/servers/realm"
    game.put(here, json={"Lease": 3600}).raise_for_status()
    game.post(f"{here}/joined", json={"Players": [people.ZOE.id]}).raise_for_status()
    cursor = game.get(f"{LINK}/changes", params={"after": "now"}).raise_for_status().json()["Next"]

    staff.post("/api/v1/players/Zoe/admin/kick").raise_for_status()
    gift = {"itemid": people.COIN.id, "quantity": 1}
    staff.post("/api/v1/players/Zoe/items/give", json=gift).raise_for_status()
    for client in clients:
        assert list_states(client) == {"user_kicked": ["waiting"], "items_given": ["waiting"]}

    told = list[str]()
    while len(told) < 2:
        query = {"after": cursor, "server": "realm", "wait": 5}
        page = game.get(f"{LINK}/changes", params=query).raise_for_status().json()
        told += [each["Kind"] for each in page["Changes"]]
        cursor = page["Next"]
    assert told == ["user_kicked", "items_given"]
    game.get(f"{LINK}/changes", params={"after": cursor, "server": "realm"}).raise_for_status()
    assert list_states(game) == {"user_kicked": ["sent"], "items_given": ["sent"]}
    # the process that was polled stores the cursors once a second, for the other
    wait_until(lambda: list_states(staff) == {"user_kicked": ["sent"], "items_given": ["sent"]})

    kick = cursor - 1
    game.post(f"{here}/acks", json={"Acks": [{"Seq": kick, "State": "applied"}]}).raise_for_status()
    for client in clients:
        assert list_states(client) == {"user_kicked": ["applied"], "items_given": ["sent"]}
    game.put(here, json={"Lease": 3600, "AppliedSeq": cursor}).raise_for_status()
    for client in clients:
        assert list_states(client) == {"user_kicked": ["applied"], "items_given": ["applied"]}
