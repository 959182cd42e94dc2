"""The catalogue that a game server publishes, and bodies on the link: JSON only, also large ones."""

import asyncio
import itertools
import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from expectations import everything, refused, unchanged
from game_server import LINK, put_catalogue
from gamekeeper.http.server import admission
from people import ARROW, BOB, COIN, WARRIOR
from reports import NEW, STRANGE, inventory, record
from world import MakeWorld, World

ENTRIES: Mapping[str, dict[str, object]] = {
    "items": {"Id": NEW, "Name": "Axe", "Stackable": False, "MaxStack": None, "BagSlots": 0, "Icon": None},
    "spells": {"Id": NEW, "Name": "Axe"},
    "variables": {"Id": NEW, "Name": "Axe", "Type": "Boolean"},
    "classes": {"Id": NEW, "Name": "Axe"},
    "maps": {"Id": NEW, "Name": "Axe"},
}


def test_changed_entries_have_effect_and_are_recorded(world: World) -> None:
    put_catalogue(world, "maps", [ENTRIES["maps"]])
    before = everything(world)
    assert put_catalogue(world, "maps", [ENTRIES["maps"]]).json == {"Count": 1}
    assert put_catalogue(world, "maps", []).json == {"Count": 0}
    assert everything(world) == before
    put_catalogue(world, "classes", [{"Id": WARRIOR.id, "Name": "Knight"}])
    assert record(world, "Ann")["ClassName"] == "Knight"
    put_catalogue(world, "items", [{"Id": ARROW.id, "Name": "Arrow", "Stackable": True, "MaxStack": 70}])
    row = world.ledger()[-1]
    assert (row.kind, row.player_id, row.over_link) == ("catalogue_put", None, True)
    assert [json.loads(side or "")["Items"][0]["MaxStack"] for side in (row.before, row.after)] == [100, 70]
    world.post("/api/v1/players/Ann/items/give", {"itemid": ARROW.id, "quantity": 15})
    assert [inventory(world)[slot]["Quantity"] for slot in (1, 4)] == [70, 5]


@pytest.mark.both_engines
def test_one_of_two_concurrent_catalogues_wins(make_world: MakeWorld) -> None:
    """Each catalogue request replaces the whole list, so a mixture of two requests would be wrong."""
    one, other = make_world(), make_world()
    ids = [str(uuid.UUID(int=0x5000 + number)) for number in range(200)]

    def maps(*names: str) -> list[dict[str, str]]:
        return [{"Id": each, "Name": name} for each, name in zip(ids, [*names[:1] * 199, names[-1]], strict=True)]

    async def put(world: World, entries: list[dict[str, str]], after: float) -> int:
        await asyncio.sleep(after)
        return (await world.send("PUT", f"{LINK}/catalogue/maps", body=entries, by="Server")).status

    async def both(after: float) -> list[int]:
        return [*await asyncio.gather(put(one, maps("b"), 0), put(other, maps("a", "c"), after))]

    for number in range(20):
        put_catalogue(one, "maps", maps("a"))
        assert one.run(both(number * 0.001)) == [200, 200]
        found = dict(one.sql("SELECT id, name FROM maps"))
        assert (found[ids[0]], found[ids[-1]]) in {("b", "b"), ("a", "c")}


def test_unknown_kind_or_malformed_entry_is_refused(shared_world: World) -> None:
    for kind in ("weapons", "Items"):
        refused(put_catalogue(shared_world, kind, []), 404, "no_such_kind", f"'{kind}'")
        refused(shared_world.get(f"{LINK}/catalogue/{kind}"), 404, "no_such_kind", f"'{kind}'")
    with unchanged(shared_world):
        axe = ENTRIES["items"]
        malformed: list[tuple[str, str, object]] = [
            ("items", "Id", [axe, axe]),
            ("items", "[1].Stackable", [axe, {"Id": STRANGE, "Name": "Axe"}]),
            ("items", "[0].BagSlots", [axe | {"Stackable": True, "BagSlots": 4}]),
            ("variables", "[0].Type", [{"Id": NEW, "Name": "Axe"}]),
        ]
        for kind, field, entries in malformed:
            answer = put_catalogue(shared_world, kind, entries)
            assert answer.status == 400, answer.raw
            assert f"'{field}'" in answer.message


# --- bodies on the link ----------------------------------------------------------------------------------------------

REPORT = f"{LINK}/players/{BOB.id}"
CATALOGUE = f"{LINK}/catalogue/items"


LARGE: Sequence[tuple[str, bytes]] = (
    (CATALOGUE, b"[" + b"[]," * 100_000 + b"7]"),
    (CATALOGUE, json.dumps([{"Id": COIN.id, "Name": "Coin", "Stackable": True}] * 4000).encode()),
    (REPORT, b'{"Rank":[' + b"[]," * 100_000 + b'[]],"Level":0}'),
    (REPORT, b'{"pad":' + b"[" * 300_000),
)


def test_large_body_does_not_block_other_requests_and_is_read_like_a_small_one(world: World) -> None:
    """Each large body is invalid, so that the server only reads it and changes nothing."""
    for path, body in LARGE:
        assert len(body) > admission.LARGE_BYTES
        assert world.run(turns_during(world, path, body)) > 0
        assert world.run(turns_during(world, path, b"{")) == 0
    was = record(world, "Bob")
    answer = world.call("PUT", REPORT, raw=b'{"X":7' + b" " * admission.LARGE_BYTES + b"}")
    assert (answer.status, answer.json) == (200, was | {"X": 7})


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
