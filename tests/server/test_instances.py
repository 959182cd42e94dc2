"""Two `serve` processes on one PostgreSQL database act as one service."""

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import httpx
import pytest

import people
from databases import Postgres
from game_server import LINK
from remote import Remote, wait_until
from server import Server

GIFTS = "/api/v1/players/{}/items/give"
CHANGES = "/api/keeper/v1/changes"


@pytest.fixture(scope="module")
def instances(postgres_databases: Postgres) -> Generator[tuple[Remote, Remote]]:
    """Start two server instances for all tests; each test uses its own players or accounts."""
    url = postgres_databases.fresh()
    tokens = dict(postgres_databases.tokens)
    with Server(url) as one, Server(url) as two:
        yield Remote(one, tokens), Remote(two, tokens)
    postgres_databases.drop(url)


def test_key_replays_on_the_other_instance(instances: tuple[Remote, Remote]) -> None:
    one, two = instances
    gift = {"itemid": people.COIN.id, "quantity": 5}
    first, second = (each.call("POST", GIFTS.format("Bob"), gift, idempotency_key="order-1") for each in instances)
    assert first.json() == second.json()
    assert second.headers["Idempotent-Replay"] == "true"
    assert "Idempotent-Replay" not in first.headers
    assert {each.read("/api/v1/players/Bob/items/inventory")[0]["Quantity"] for each in (one, two)} == {5}


def test_parallel_gifts_on_both_instances_never_pass_a_daily_limit(instances: tuple[Remote, Remote]) -> None:
    one, two = instances
    limited = {"Name": "shop", "Role": "shop", "MostPerDay": 40}
    headers = {"authorization": f"Bearer {one.call('POST', '/api/keeper/v1/keys', limited).json()['Key']}"}
    body = {"itemid": people.ARROW.id, "quantity": 1, "bankoverflow": True}

    def give(number: int) -> int:
        player = ("Ann", "Bob", "Zoe")[number % 3]
        return (one, two)[number % 2].call("POST", GIFTS.format(player), body, **headers).status_code

    with ThreadPoolExecutor(20) as pool:
        statuses = list(pool.map(give, range(120)))
    assert (statuses.count(200), statuses.count(409)) == (40, 80)


@pytest.mark.long_only
def test_simultaneous_changes_of_tags_and_notes_are_logged_as_they_happened(instances: tuple[Remote, Remote]) -> None:
    tags, notes = "/api/keeper/v1/tags", "/api/keeper/v1/notes"

    def call(number: int, method: str, path: str, body: object = None) -> httpx.Response:
        return instances[number % 2].call(method, path, body)

    def read_logged(kind: str) -> list[dict[str, Any]]:
        return instances[0].read(f"{CHANGES}?kind={kind}&limit=10")["Changes"]

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


@pytest.mark.long_only
def test_states_of_deliveries_are_the_same_at_both_instances(instances: tuple[Remote, Remote]) -> None:
    staff, game = instances
    here = f"{LINK}/servers/realm"

    def list_states(instance: Remote) -> dict[str, list[str]]:
        """Return the delivery states of the two newest changes, by kind."""
        changes = instance.read(f"{CHANGES}?limit=2")["Changes"]
        return {each["Kind"]: [delivery["State"] for delivery in each["Deliveries"]] for each in changes}

    def require_states(kick: str, gift: str) -> None:
        # the instance that was polled stores the cursors once a second, for the other
        wait_until(lambda: list_states(staff) == {"user_kicked": [kick], "items_given": [gift]})
        assert list_states(game) == list_states(staff)

    game.call("PUT", here, {"Lease": 3600}).raise_for_status()
    game.call("POST", f"{here}/joined", {"Players": [people.ZOE.id]}).raise_for_status()
    cursor = game.read(f"{LINK}/changes?after=now")["Next"]
    staff.call("POST", "/api/v1/players/Zoe/admin/kick").raise_for_status()
    staff.call("POST", GIFTS.format("Zoe"), {"itemid": people.COIN.id, "quantity": 1}).raise_for_status()
    require_states("waiting", "waiting")
    told = list[str]()
    while len(told) < 2:
        page = game.read(f"{LINK}/changes?after={cursor}&server=realm&wait=5")
        told += [each["Kind"] for each in page["Changes"]]
        cursor = page["Next"]
    assert told == ["user_kicked", "items_given"]
    game.read(f"{LINK}/changes?after={cursor}&server=realm")
    require_states("sent", "sent")
    game.call("POST", f"{here}/acks", {"Acks": [{"Seq": cursor - 1, "State": "applied"}]}).raise_for_status()
    require_states("applied", "sent")
    game.call("PUT", here, {"Lease": 3600, "AppliedSeq": cursor}).raise_for_status()
    require_states("applied", "applied")
