"""Kills, warps and chat messages: from the request over the change feed to the acknowledgement."""

from typing import Any

import pytest

import game_server
import people
from commanding import ack, acknowledge, read_feed, read_last
from expectations import refused
from world import MakeWorld, World

MAP = "6c5a2a3e-0000-4000-8000-000000000001"
COLOR = {"A": 255, "R": 255, "G": 0, "B": 0}
ECHO = {"Message": "Hi", "Color": COLOR, "Target": None}


@pytest.fixture
def began(world: World) -> int:
    """Bring Zoe online on server one and Bob on server two; return the number of the last change."""
    for server, player in (("one", people.ZOE), ("two", people.BOB)):
        game_server.heartbeat(world, server)
        game_server.join(world, player.id, server=server)
    return read_last(world)


def told(world: World, after: int) -> dict[str, list[Any]]:
    return {
        server: [(each["Kind"], each["After"]) for each in read_feed(world, after, server)] for server in ("one", "two")
    }


def test_kill_is_told_to_the_server_of_the_player_and_acknowledged(world: World, began: int) -> None:
    after = began
    for path in ("players/Zoe", "users/Ann"):
        answer = world.post(f"/api/v1/{path}/admin/kill", {"reason": "duel"})
        assert (answer.status, answer.json) == (200, {"Message": "Zoe has been killed!"})
        (change,) = read_feed(world, after)
        assert (change["Kind"], change["PlayerId"]) == ("player_killed", people.ZOE.id)
        assert change["After"] == {"Reason": "duel", "Moderator": "Root"}
        assert (change["Server"], change["Expired"]) == ("one", False)
        assert read_feed(world, began, "two") == []
        assert None not in world.sql("SELECT expires_at FROM deliveries")[-1]  # NULL: the command would never expire
        assert acknowledge(world, ack(change["Seq"])).json["Acks"] == [{"Seq": change["Seq"], "State": "applied"}]
        world.sql("UPDATE deliveries SET expires_at = 1")
        assert read_feed(world, after)[0]["Expired"] is True
        after = change["Seq"]
    world.post("/api/keeper/v1/users/Ann/powers", {"ban": True})
    refused(world.post("/api/v1/players/Zoe/admin/kill", {}, by="Shop"), 400, "outranked")
    answer = world.post("/api/v1/players/Ann/admin/kill", {})
    refused(answer, 404, "user_not_online", "User not online!")


def test_warps_name_the_map_and_keep_the_place(world: World, began: int) -> None:
    record = world.get("/api/v1/players/Zoe").json
    x, y = record["X"], record["Y"]
    warped = world.post("/api/v1/players/Zoe/admin/warpto", {"mapid": MAP, "x": 9, "y": 9})
    assert warped.json == {"Message": f"Warped 'Zoe' to {MAP} ({x}, {y})."}
    assert world.call("POST", "/api/v1/users/Ann/admin/warptoloc", form={"MapId": MAP, "X": "3", "Y": "4"}).json == {
        "Message": f"Warped 'Zoe' to {MAP} (3, 4)."
    }
    warps = [("player_warped", {"MapId": MAP}), ("player_warped", {"MapId": MAP, "X": 3, "Y": 4})]
    assert told(world, began) == {"one": warps, "two": []}


def test_global_chat_reaches_every_game_server(world: World, began: int) -> None:
    said = ("chat_sent", {"Channel": "global", "Message": "Hi", "Color": COLOR, "Target": ""})
    body = {"message": "Hi", "color": {"a": 255, "r": 255, "g": 0, "b": 0}}
    for answer in [world.post(f"/api/v1/{path}", body) for path in ("chat", "chat/global")]:
        assert (answer.status, answer.json) == (200, {"success": True, "chatMessage": ECHO})
    assert told(world, began) == {"one": [said] * 2, "two": [said] * 2}
    assert world.post("/api/v1/chat", {"Message": "Hi"}).json["chatMessage"]["Color"] is None
    (change,) = read_feed(world, read_last(world) - 1)
    assert change["After"]["Color"] == {"A": 255, "R": 255, "G": 255, "B": 0}  # yellow


def test_direct_chat_reaches_the_recipient_and_proximity_chat_names_the_map(world: World, began: int) -> None:
    answer = world.post("/api/v1/chat/direct/bob", {"Message": "Hi", "Color": COLOR})
    assert answer.json == {"success": True, "lookupKey": "bob", "chatMessage": ECHO}
    (change,) = read_feed(world, began, "two")
    assert (change["PlayerId"], change["After"]["Channel"]) == (people.BOB.id, "direct")
    assert read_feed(world, began) == []
    for key in ("Ann", "Nobody"):
        answer = world.post(f"/api/v1/chat/direct/{key}", {"Message": "Hi"})
        refused(answer, 404, "no_recipient", f"No player found for '{key}'.")

    path = f"/api/v1/chat/proximity/{people.MEADOW.id}"
    assert world.post(path, {"Message": "Hi", "Color": COLOR}).json["mapId"] == path.rpartition("/")[2]
    assert told(world, began)["two"][1][1]["Channel"] == "proximity"
    refused(world.post(f"/api/v1/chat/proximity/{MAP}", {}), 404, "no_such_map", f"No map found for '{MAP}'.")


@pytest.mark.usefixtures("began")
def test_chat_is_limited_in_length_and_rate(make_world: MakeWorld) -> None:
    world = make_world(chat_per_minute=3)
    settings = world.keeper.settings
    refused(world.post("/api/v1/chat", {"Message": "x" * (settings.chat_characters + 1)}), 400, "bad_field")
    key = {"Idempotency-Key": "chat-1"}
    for number in range(settings.chat_per_minute):
        headers = {} if number else key
        dry = world.post("/api/v1/chat?dryRun=true", {"Message": "Hi"}, by="Shop")
        assert dry.status == 200, number  # a preview uses up nothing of the limit
        assert world.post("/api/v1/chat", {"Message": "Hi"}, by="Shop", headers=headers).status == 200
    full = world.post("/api/v1/chat", {"Message": "Hi"}, by="Shop")
    refused(full, 429, "too_many_messages")
    refused(world.post("/api/v1/chat?dryRun=true", {"Message": "Hi"}, by="Shop"), 429, "too_many_messages")
    assert 1 <= int(full.headers["retry-after"]) <= 60
    assert world.post("/api/v1/chat", {"Message": "Hi"}, by="Shop", headers=key).status == 200
    assert world.post("/api/v1/chat", {"Message": "Hi"}).status == 200
