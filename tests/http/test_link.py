"""Bodies on the game link: JSON only, and large ones."""

import asyncio
import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest

import people
from expectations import everything, refused
from game_server import LINK, put_catalogue
from gamekeeper.http import large_bodies
from people import BOB
from reports import record
from world import World

REPORT = f"{LINK}/players/{BOB.id}"
CATALOGUE = f"{LINK}/catalogue/items"


LARGE: Sequence[tuple[str, bytes]] = (
    (CATALOGUE, b"[" + b"[]," * 100_000 + b"7]"),
    (CATALOGUE, json.dumps([{"Id": people.COIN.id, "Name": "Coin", "Stackable": True}] * 4000).encode()),
    (REPORT, b'{"Rank":[' + b"[]," * 100_000 + b'[]],"Level":0}'),
    (REPORT, b'{"pad":' + b"[" * 300_000),
)


def test_large_body_does_not_block_other_requests_and_is_read_like_a_small_one(world: World) -> None:
    """Each large body is invalid, so that the server only reads it and changes nothing."""
    for path, body in LARGE:
        assert len(body) > large_bodies.LARGE_BYTES
        assert world.run(turns_during(world, path, body)) > 0
        assert world.run(turns_during(world, path, b"{")) == 0
    was = record(world, "Bob")
    answer = world.call("PUT", REPORT, raw=b'{"X":7' + b" " * large_bodies.LARGE_BYTES + b"}")
    assert (answer.status, answer.json) == (200, was | {"X": 7})


def test_disconnect_while_a_large_body_is_read_changes_nothing(world: World) -> None:
    async def send_and_cancel() -> None:
        asked = asyncio.create_task(world.send("PUT", REPORT, raw=b'{"X":7,"Rank":[' + b"[]," * 100_000 + b"[]]}"))
        await asyncio.sleep(0)  # the caller's token is cached, so the request now reads its body
        assert (asked.done(), world.asgi.services.admission.in_flight) == (False, 1)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

    record(world, "Bob")
    before = everything(world)
    world.run(send_and_cancel())
    assert everything(world) == before
    assert world.asgi.services.admission.in_flight == 0


async def turns_during(world: World, path: str, body: bytes) -> int:
    """Count how often another task runs between the last byte of the request and the first of the answer."""
    turns, marks, sent = itertools.count(), list[int](), list[Any]()

    async def others() -> None:
        while True:
            next(turns)
            await asyncio.sleep(0)

    async def receive() -> Any:
        marks.append(next(turns))
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        marks.append(next(turns))
        sent.append(message)

    headers = [(b"authorization", f"Bearer {world.tokens['Root']}".encode()), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "PUT", "raw_path": path.encode(), "path": path, "query_string": b"dryRun=true"}
    other = asyncio.create_task(others())
    await world.asgi({**scope, "headers": headers, "client": None}, receive, send)
    other.cancel()
    assert sent[0]["status"] == 400, sent
    return marks[1] - marks[0] - 1


def test_link_accepts_larger_bodies(world: World) -> None:
    entries = [{"Id": people.guid(0x10_000 + each), "Name": f"Item {each}", "Stackable": True} for each in range(1000)]
    assert len(json.dumps(entries)) > 65_536
    assert put_catalogue(world, "items", entries).json == {"Count": 1000}


def test_link_refuses_a_form(shared_world: World) -> None:
    for path in (REPORT, f"{LINK}/servers/one"):
        answer = shared_world.call("PUT", path, form={"Lease": "60"})
        refused(answer, 415, "unsupported_media_type", "Send the body as application/json.")
