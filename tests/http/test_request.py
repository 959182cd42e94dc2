"""Request headers in the encodings that real clients send."""

import json
from collections.abc import MutableMapping
from typing import Any

import people
from loops import over
from world import World

GIVE = json.dumps({"itemid": people.COIN.id, "quantity": 1}).encode()


def give(world: World, reason: bytes) -> int:
    """Give an item with these raw bytes as X-Reason, and return the status."""
    path = b"/api/v1/players/Ann/items/give"
    headers = [(b"authorization", f"Bearer {world.tokens['Root']}".encode()), (b"x-reason", reason)]
    scope = {"type": "http", "method": "POST", "raw_path": path, "query_string": b"", "headers": headers}
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": GIVE, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    world.run(world.asgi(scope, receive, send))
    return sent[0]["status"]


@over("coding", ["utf-8", "latin-1"])
def test_reason_is_stored_from_utf_8_and_latin_1(world: World, coding: str) -> None:
    assert give(world, "für José".encode(coding)) == 200
    assert world.ledger()[-1].reason == "für José"


@over("reason", [b"\x84", "\x84".encode(), b"a\x7fb"])
def test_control_character_in_a_reason_is_refused_in_either_encoding(shared_world: World, reason: bytes) -> None:
    assert give(shared_world, reason) == 400
