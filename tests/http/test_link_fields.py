"""Fields of bodies on the game link: misspelt ones are rejected, those of our own answers are accepted and ignored."""

import json
from typing import Any

from good_requests import EXAMPLES

import people
from expectations import everything, refused
from game_server import LINK, heartbeat, join, leave, put_catalogue, put_player, stack
from gamekeeper.http.hints import MAX_LENGTH
from people import ANN, ANNS_POUCH, COIN
from reports import FIELDS, NEW, bag, record
from world import World

PLAYERS = "/api/v1/players"
BODIED = [each for each in EXAMPLES if each.route.is_own_api and isinstance(each.body, dict)]


def as_read(world: World, name: str, bag_id: str) -> dict[str, Any]:
    """Return the record of a player and its items, spells and variables, as the API answers them."""
    held = world.get(f"{PLAYERS}/{name}/items").json
    return {
        **record(world, name),
        "Items": held["inventory"],
        "Bank": held["bank"],
        "Bags": [world.get(f"{PLAYERS}/bag/{bag_id}").json],
        "Spells": world.get(f"{PLAYERS}/{name}/spells").json,
        "Variables": world.get(f"{PLAYERS}/{name}/variables").json,
    }


def test_misspelt_or_odd_field_is_400_and_changes_nothing(shared_world: World) -> None:
    before = everything(shared_world)
    misspelt: list[tuple[dict[str, Any], str, str]] = [
        ({"Level": 9, "appliedsequ": 1}, "appliedsequ", "AppliedSeq"),
        ({"Bags": [bag(ANNS_POUCH, stack(1, COIN.id, 1, ItemID2="x"))]}, "Bags[0].Slots[0].ItemID2", "ItemId"),
    ]
    for body, field, nearest in misspelt:
        message = f"Unknown field '{field}'. Did you mean '{nearest}'?"
        refused(put_player(shared_world, ANN.id, body), 400, "unknown_field", message)
    entry = {"Id": people.guid(0xE1), "Name": "Sack", "Stackable": False}
    answer = put_catalogue(shared_world, "items", [entry, entry | {"Id": people.guid(0xE2), "BagSolts": 4}])
    refused(answer, 400, "unknown_field", "Unknown field '[1].BagSolts'. Did you mean 'BagSlots'?")
    assert len(BODIED) >= 5
    for each in BODIED:
        body = {**each.fields, "Zzz": 1}
        refused(shared_world.call(each.route.method, each.path, body=body), 400, "unknown_field", "'Zzz'")
    for name in ["x" * 100_000, "\ud800", "\u0130tems"]:
        answer = put_player(shared_world, ANN.id, {name: 1})
        assert (answer.status, answer.code) == (400, "unknown_field")
        assert len(json.loads(answer.raw)["Message"]) < MAX_LENGTH + 1000
    assert everything(shared_world) == before


def test_records_and_slots_as_read_are_put_back_without_a_change(world: World) -> None:
    heartbeat(world)
    join(world, ANN.id)
    read = as_read(world, "Ann", ANNS_POUCH)
    leave(world, ANN.id)  # leaving the game sets LastOnline, which the older record in `read` must not reset
    before = everything(world)
    answer = put_player(world, ANN.id, read)
    assert answer.status == 200, answer.raw
    assert put_catalogue(world, "items", world.get(f"{LINK}/catalogue/items").json["Values"]).status == 200
    assert everything(world) == before
    ranked = world.get(f"{PLAYERS}/Ann/rank").json["Around"][0]
    assert "Rank" in ranked
    assert put_player(world, ranked["Id"], ranked).status == 200
    assert everything(world) == before
    world.sql("UPDATE slots SET slot = 77 WHERE player_id = $1 AND slot = 0 AND place = 'inventory'", ANN.id)
    read = world.get(f"{PLAYERS}/Ann/items/inventory").json
    assert len(read) == 78
    before = everything(world)
    assert put_player(world, ANN.id, {"Items": read}).status == 200
    assert everything(world) == before
    refused(put_player(world, ANN.id, {"Items": [stack(77, COIN.id, 1)]}), 409, "slot_out_of_range")


def test_last_online_is_stored_for_new_players_only(world: World) -> None:
    at = "2021-01-01T00:00:00.000Z"
    created = put_player(world, NEW, {**FIELDS, "Equipment": [-1] * 5, "LastOnline": at})
    assert created.json["LastOnline"] == at
    assert put_player(world, NEW, {"LastOnline": "2022-01-01T00:00:00.000Z", "Level": 6}).json["LastOnline"] == at
