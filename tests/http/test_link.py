"""The game link: who may, and what it takes."""

import json
from collections.abc import Sequence

import pytest

import people
from expectations import everything, refused
from game_server import LINK, heartbeat, put_catalogue
from people import BOB
from reports import NEW
from world import World

CALLS: Sequence[tuple[str, str, object]] = (
    ("PUT", f"{LINK}/catalogue/spells", [{"Id": NEW, "Name": "Frost"}]),
    ("GET", f"{LINK}/catalogue/spells", None),
    ("PUT", f"{LINK}/players/{BOB.id}", {"Level": 9}),
    ("DELETE", f"{LINK}/players/{BOB.id}", None),
    ("PUT", f"{LINK}/servers/one", {"Lease": 60}),
    ("POST", f"{LINK}/servers/one/joined", {"Players": [BOB.id]}),
    ("POST", f"{LINK}/servers/one/left", {"Players": [BOB.id]}),
    ("DELETE", f"{LINK}/servers/one", None),
)


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
def test_only_an_account_with_the_role_may(world: World, method: str, path: str, body: object) -> None:
    heartbeat(world)
    before = everything(world)
    refused(world.call(method, path, body=body, by=None), 401, "denied")
    for account in ("Shop", "Clerk"):
        refused(world.call(method, path, body=body, by=account), 403, "role_missing", "game.link")
    assert everything(world) == before
    assert world.call(method, path, body=body, by="Server").status == 200


def test_the_link_speaks_json_only(world: World, subtests: pytest.Subtests) -> None:
    before = everything(world)
    for method, path, body in CALLS:
        if body is not None:
            with subtests.test(f"{method} {path}"):
                refused(world.call(method, path, form={"Lease": "60"}), 415, "unsupported_media_type")
                text = {"Content-Type": "text/plain"}
                answer = world.call(method, path, raw=json.dumps(body).encode(), headers=text)
                refused(answer, 415, "unsupported_media_type")
    assert everything(world) == before


def test_a_body_on_the_link_may_be_large(world: World) -> None:
    entries = [{"Id": people.guid(0x10_000 + each), "Name": f"Item {each}", "Stackable": True} for each in range(1000)]
    assert len(json.dumps(entries)) > 65_536
    assert put_catalogue(world, "items", entries).json == {"Count": 1000}
    too_large = world.call("PUT", f"{LINK}/catalogue/items", raw=b" " * (8 * 1024 * 1024 + 1))
    refused(too_large, 413, "body_too_large", "8388608")
