"""Two `serve` processes on one PostgreSQL database act as one service."""

import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import httpx
import pytest

import people
from databases import Postgres
from server import Server
from world import SENT

PROMISED_SECONDS = 5.0  # after which a revocation holds everywhere
LOG_IN = {"grant_type": "password", "username": "Root", "password": SENT}


class Instance:
    def __init__(self, url: str) -> None:
        self.client = httpx.Client(base_url=url, timeout=60)

    def log_in(self, name: str = "Root") -> str:
        return self.client.post("/api/oauth/token", json=LOG_IN | {"username": name}).json()["access_token"]

    def call(self, method: str, path: str, token: str, json: object = None, key: str | None = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"} | ({"Idempotency-Key": key} if key else {})
        return self.client.request(method, path, headers=headers, json=json)


@pytest.fixture(scope="module")
def instances(postgres_databases: Postgres) -> Generator[tuple[Instance, Instance]]:
    """Start two server instances for all tests; each test uses its own players or accounts."""
    url = postgres_databases.fresh()
    with Server(url) as one, Server(url) as two:
        both = Instance(one.url), Instance(two.url)
        yield both
        for each in both:
            each.client.close()
    postgres_databases.drop(url)


def until(happens: Callable[[], bool]) -> None:
    """Wait up to half a minute for a condition; http/test_revoking.py tests the exact time with its own clock."""
    deadline = time.monotonic() + 30
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.long_only
def test_token_and_its_revocation_hold_on_both_instances(instances: tuple[Instance, Instance]) -> None:
    one, two = instances
    token, other = one.log_in(), one.log_in()
    assert two.call("GET", "/api/v1/players", token).status_code == 200
    assert one.call("DELETE", "/api/oauth/token/Root", token).status_code == 200
    assert one.call("GET", "/api/v1/players", token).status_code == 401
    until(lambda: two.call("GET", "/api/v1/players", token).status_code == 401)
    assert two.call("GET", "/api/v1/players", other).status_code == 401


def test_key_replays_on_the_other_instance(instances: tuple[Instance, Instance]) -> None:
    one, two = instances
    token = one.log_in()
    give = {"itemid": people.COIN.id, "quantity": 5}
    first = one.call("POST", "/api/v1/players/Bob/items/give", token, give, "order-1")
    second = two.call("POST", "/api/v1/players/Bob/items/give", token, give, "order-1")
    assert first.json() == second.json()
    assert second.headers["Idempotent-Replay"] == "true"
    assert "Idempotent-Replay" not in first.headers
    items = two.call("GET", "/api/v1/players/Bob/items/inventory", token).json()
    assert items[0]["Quantity"] == 5


@pytest.mark.long_only
def test_presence_agrees_and_expires_on_both_instances(instances: tuple[Instance, Instance]) -> None:
    one, two = instances
    token = one.log_in()
    one.call("PUT", "/api/link/v1/servers/realm", token, json={"Lease": 60})
    joined = two.call("POST", "/api/link/v1/servers/realm/joined", token, json={"Players": [people.ANN.id]})
    assert joined.json() == {"Online": 1}
    for each in instances:
        assert each.call("GET", "/api/v1/players/online/count", token).json() == {"onlineCount": 1}
        assert each.call("GET", "/api/v1/players/Ann", token).json()["Online"] is True
    one.call("PUT", "/api/link/v1/servers/realm", token, json={"Lease": 1})
    for each in instances:
        until(lambda each=each: each.call("GET", "/api/v1/players/online/count", token).json() == {"onlineCount": 0})
        assert each.call("GET", "/api/v1/players/Ann", token).json()["Online"] is False


def test_guesses_are_counted_over_both_instances(instances: tuple[Instance, Instance]) -> None:
    wrong = {**LOG_IN, "username": "Clerk", "password": "00" * 32}
    answers = [each.client.post("/api/oauth/token", json=wrong).status_code for _ in range(8) for each in instances]
    assert answers.count(400) == 10
    assert answers.count(429) == 6


@pytest.mark.long_only
def test_revoked_api_key_stops_on_both_instances(instances: tuple[Instance, Instance]) -> None:
    one, two = instances
    token = one.log_in()
    key = one.call("POST", "/api/keeper/v1/keys", token, {"Name": "bot", "Role": "api"}).json()
    assert [each.call("GET", "/api/v1/players/Ann", key["Key"]).status_code for each in instances] == [200, 200]
    assert one.call("DELETE", f"/api/keeper/v1/keys/{key['Id']}", token).status_code == 200
    revoked = time.monotonic()
    assert one.call("GET", "/api/v1/players/Ann", key["Key"]).status_code == 401
    begun = [revoked]  # when each request began: the last is refused, and the one before it was still answered

    def is_refused() -> bool:
        begun.append(time.monotonic())
        return two.call("GET", "/api/v1/players/Ann", key["Key"]).status_code == 401

    until(is_refused)
    assert begun[-2] - revoked < PROMISED_SECONDS


@pytest.mark.long_only
def test_taken_role_stops_on_both_instances(instances: tuple[Instance, Instance]) -> None:
    """http/test_revoking.py tests the exact time on the other instance, with its own clock."""
    one, two = instances
    root, roles = one.log_in(), "/api/keeper/v1/users/Shop/roles"
    assert one.call("POST", roles, root, {"give": ["moderator"]}).status_code == 200
    key = one.call("POST", "/api/keeper/v1/keys", root, {"Name": "bot", "Role": "moderator", "Owner": "Shop"}).json()
    token = one.log_in("Shop")

    def mute(instance: Instance, credential: str) -> int:
        return instance.call("POST", "/api/v1/players/Ann/admin/mute?dryRun=true", credential, {}).status_code

    assert {mute(each, credential) for each in instances for credential in (token, key["Key"])} == {200}
    assert one.call("POST", roles, root, {"take": ["moderator"]}).status_code == 200
    assert {mute(one, credential) for credential in (token, key["Key"])} == {400}
    until(lambda: {mute(two, credential) for credential in (token, key["Key"])} == {400})


def test_200_parallel_gifts_on_both_instances_never_pass_a_daily_limit(
    instances: tuple[Instance, Instance],
) -> None:
    one, two = instances
    token = one.log_in()
    key = one.call("POST", "/api/keeper/v1/keys", token, {"Name": "shop", "Role": "shop", "MostPerDay": 60}).json()
    body = {"itemid": people.ARROW.id, "quantity": 1, "bankoverflow": True}

    def give(number: int) -> int:
        player = ("Ann", "Bob", "Zoe")[number % 3]
        answer = (one, two)[number % 2].call("POST", f"/api/v1/players/{player}/items/give", key["Key"], body)
        return answer.status_code

    with ThreadPoolExecutor(20) as pool:
        statuses = list(pool.map(give, range(200)))
    assert statuses.count(200) == 60
    assert statuses.count(409) == 140


@pytest.mark.long_only
def test_simultaneous_changes_of_tags_and_notes_are_logged_as_they_happened(
    instances: tuple[Instance, Instance],
) -> None:
    one, two = instances
    token, tags, notes = one.log_in(), "/api/keeper/v1/tags", "/api/keeper/v1/notes"

    def call(number: int, method: str, path: str, body: object = None) -> httpx.Response:
        return (one, two)[number % 2].call(method, path, token, body)

    def read_logged(kind: str) -> list[dict[str, Any]]:
        return call(0, "GET", f"/api/keeper/v1/changes?kind={kind}&limit=10").json()["Changes"]

    with ThreadPoolExecutor(6) as pool:
        for turn in range(15):
            bodies = [{"Tags": [f"tag {turn} {number}"], "Player": "Zoe"} for number in range(6)]
            set_tags = [pool.submit(call, number, "POST", tags, body) for number, body in enumerate(bodies)]
            assert {each.result().status_code for each in set_tags} == {200}
            held = call(0, "GET", f"{notes}?player=Zoe").json()["Tags"]
            logged = read_logged("tags_set")[:6]
            assert held == logged[0]["After"]["Tags"]
            assert all(new["Before"]["Tags"] == old["After"]["Tags"] for new, old in pairwise(logged))
            note = call(0, "POST", notes, {"Text": "Polite.", "Player": "Zoe"}).json()["Id"]
            deleted = [pool.submit(call, number, "DELETE", f"{notes}/{note}") for number in range(6)]
            assert sorted(each.result().status_code for each in deleted) == [200, 404, 404, 404, 404, 404]
            assert [each["Before"]["NoteId"] for each in read_logged("note_deleted")].count(note) == 1
