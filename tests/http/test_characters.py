"""Operations that rename a player, set its level or class, or delete it; and the one that renames an account."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import people
from expectations import everything, refused
from game_server import LINK, heartbeat, join, leave, online
from gamekeeper.game.lookup import ZERO_GUID
from people import ANN, BOB, USER_IDS, WARRIOR, ZOE
from world import World

P, U = "/api/v1/players", "/api/v1/users"
CALLS = (
    ("POST", f"{P}/Ann/name", {"name": "Anna"}),
    ("POST", f"{P}/Ann/level", {"level": 13}),
    ("POST", f"{P}/Bob/class", {"classid": WARRIOR.id}),
    ("DELETE", f"{P}/Ann", None),
    ("POST", f"{U}/Ann/name", {"name": "Anna"}),
    ("DELETE", f"{U}/Ann", None),
)


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
def test_caller_needs_a_token_and_for_accounts_the_role(world: World, method: str, path: str, body: object) -> None:
    before = everything(world)
    refused(world.call(method, path, body=body, by=None), 401, "denied")
    if path.startswith(U):
        refused(world.call(method, path, body=body, by="Shop"), 403, "role_missing", "users.")
        lacks_erase = (400, "permission_missing", "people.erase")
        of_clerk = lacks_erase if method == "DELETE" else (403, "role_missing", "users.manage")
        refused(world.call(method, path, body=body, by="Clerk"), *of_clerk)
    assert everything(world) == before
    by = "Root" if path.startswith(U) else "Shop"
    assert world.call(method, path, body=body, by=by).status == 200


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
def test_write_supports_dry_run_key_and_reason(world: World, method: str, path: str, body: object) -> None:
    """A dry run changes nothing, a repeated key applies once, the reason is recorded, an unknown name is a 404."""
    before = everything(world)
    tried = world.call(method, f"{path}?dryRun=true", body=body)
    unknown = world.call(method, path.replace("Ann", "Nobody").replace("Bob", "Nobody"), body=body)
    refused(unknown, 404, "no_such_user" if path.startswith(U) else "no_such_player")
    assert everything(world) == before
    headers = {"Idempotency-Key": "once", "X-Reason": "asked for"}
    first, again = (world.call(method, path, body=body, headers=headers) for _ in range(2))
    assert (first.status, first.raw) == (200, tried.raw)
    assert again.headers["idempotent-replay"] == "true"
    assert world.ledger()[-1].reason == "asked for"
    assert world.ledger()[-1].actor_id == USER_IDS["Root"]


def test_rename_changes_player_name_and_list_order(world: World) -> None:
    answer = world.post(f"{P}/ann/name", {"name": "Anthea"}, by="Shop")
    assert (answer.status, answer.json["Name"], answer.json["Id"]) == (200, "Anthea", ANN.id)
    assert answer.raw == world.get(f"{P}/anthea").raw
    refused(world.get(f"{P}/Ann"), 404, "no_such_player")
    entry = world.ledger()[-1]
    assert (entry.kind, entry.player_id) == ("player_changed", ANN.id)
    assert [json.loads(side or "") for side in (entry.before, entry.after)] == [{"Name": "Ann"}, {"Name": "Anthea"}]
    names = [each["Name"] for each in world.get(f"{P}?pageSize=10").json["Values"]]
    assert names == ["Anthea", "Bob", "Zoe"]


def test_rename_changes_account_name_and_not_its_player(world: World) -> None:
    answer = world.post(f"{U}/ann/name", {"name": "Anthea"})
    assert (answer.status, answer.json["Name"], answer.json["Id"]) == (200, "Anthea", USER_IDS["Ann"])
    assert "ApiUserManagement" in answer.json["Power"]
    assert world.get(f"{U}/ANTHEA").json["Email"] == "ann@example.test"
    refused(world.get(f"{U}/Ann"), 404, "no_such_user")
    entry = world.ledger()[-1]
    assert (entry.kind, entry.user_id, entry.player_id) == ("user_renamed", USER_IDS["Ann"], None)
    assert [json.loads(side or "") for side in (entry.before, entry.after)] == [{"Name": "Ann"}, {"Name": "Anthea"}]
    assert "Anthea" in [each["Name"] for each in world.get(f"{U}?pageSize=10").json["Values"]]
    assert world.get(f"{P}/Ann").status == 200  # renaming the account does not rename its player


@pytest.mark.parametrize("place", [P, U])
def test_invalid_reserved_or_taken_name_is_refused(shared_world: World, place: str) -> None:
    before = everything(shared_world)
    refused(shared_world.post(f"{place}/Ann/name", {"name": "RANK"}), 400, "reserved_name")
    for name in ("a", "x" * 21, "a b", "", ANN.id, "b\x00b"):
        refused(shared_world.post(f"{place}/Ann/name", {"name": name}), 400, "bad_field", "'name'")
    refused(shared_world.post(f"{place}/Ann/name", {}), 400, "missing_field", "'name'")
    taken = shared_world.post(f"{place}/Ann/name", {"name": "bOB"})
    refused(taken, 409, "username_taken" if place == U else "name_taken", "'bOB'")
    assert everything(shared_world) == before


@pytest.mark.parametrize("place", [P, U])
def test_own_name_in_another_case_is_accepted_once(world: World, place: str) -> None:
    assert world.post(f"{place}/Ann/name", {"name": "aNN"}).json["Name"] == "aNN"
    rows = len(world.ledger())
    assert world.post(f"{place}/Ann/name", {"name": "aNN"}).status == 200
    assert len(world.ledger()) == rows  # no change is recorded, because the name is the same already
    assert world.get(f"{place}/ann").json["Name"] == "aNN"


def test_player_may_have_the_name_of_an_account(world: World) -> None:
    assert world.post(f"{P}/Zoe/name", {"name": "Mona"}).status == 200


def test_set_level_resets_experience_and_rank(world: World) -> None:
    answer = world.post(f"{P}/Ann/level", {"level": "100"}, by="Shop")
    assert (answer.status, answer.json["Level"], answer.json["Exp"]) == (200, 100, 0)
    assert answer.raw == world.get(f"{P}/Ann").raw
    assert world.get(f"{P}/rank").json["Values"][0]["Name"] == "Ann"
    after = json.loads(world.ledger()[-1].after or "")
    assert after == {"Level": 100, "Exp": 0}
    assert world.call("POST", f"{P}/Ann/level", form={"LEVEL": "1"}).json["Level"] == 1


@pytest.mark.parametrize("level", [0, -1, 101, 2**31, "x", 1.0, True, None])
def test_invalid_level_is_refused(shared_world: World, level: object) -> None:
    before = everything(shared_world)
    refused(shared_world.post(f"{P}/Ann/level", {"level": level}), 400, "bad_field", "'level'")
    assert everything(shared_world) == before


def test_highest_level_is_a_setting(make_world: Callable[..., World]) -> None:
    world = make_world(max_level=200)
    assert world.post(f"{P}/Ann/level", {"level": 200}).status == 200
    refused(world.post(f"{P}/Ann/level", {"level": 201}), 400, "bad_field", "from 1 to 200")


@pytest.mark.parametrize("name", ["classid", "ClassId", "id"])
def test_set_class_accepts_each_field_name(world: World, name: str) -> None:
    answer = world.post(f"{P}/Bob/class", {name: WARRIOR.id.upper()}, by="Shop")
    assert (answer.status, answer.json["ClassId"], answer.json["ClassName"]) == (200, WARRIOR.id, "Warrior")
    assert answer.raw == world.get(f"{P}/Bob").raw


def test_unknown_class_is_refused(shared_world: World) -> None:
    before = everything(shared_world)
    for unknown in (people.NOBODY_ID, ZERO_GUID):
        refused(shared_world.post(f"{P}/Bob/class", {"classid": unknown}), 404, "no_such_class", "Invalid class id.")
    refused(shared_world.post(f"{P}/Bob/class", {"classid": "warrior"}), 400, "bad_field", "'classid'")
    refused(shared_world.post(f"{P}/Bob/class", {}), 400, "missing_field", "'classid'")
    assert everything(shared_world) == before


def test_any_class_is_accepted_while_none_is_published(world: World) -> None:
    world.sql("DELETE FROM classes")
    assert world.post(f"{P}/Bob/class", {"classid": people.NOBODY_ID}).json["ClassId"] == people.NOBODY_ID
    refused(world.post(f"{P}/Bob/class", {"classid": ZERO_GUID}), 404, "no_such_class")


def test_delete_removes_player_and_items_and_keeps_account(world: World) -> None:
    was = world.get(f"{P}/Ann").raw
    answer = world.call("DELETE", f"{P}/{ANN.id}", by="Shop")
    assert (answer.status, answer.raw) == (200, was)
    refused(world.get(f"{P}/Ann"), 404, "no_such_player")
    entry = world.ledger()[-1]
    assert (entry.kind, entry.player_id, entry.user_id) == ("player_deleted", ANN.id, USER_IDS["Ann"])
    assert json.loads(entry.before or "")["Items"]
    assert world.sql("SELECT player_id FROM slots WHERE player_id = $1", ANN.id) == []
    assert world.get(f"{U}/Ann").status == 200


def test_online_player_may_be_changed_but_not_deleted(world: World) -> None:
    """An online player may be changed, and its game server receives the changes; it may not be deleted."""
    heartbeat(world)
    join(world, ZOE.id)
    cursor = world.get(f"{LINK}/changes?after=now", by="Server").json["Next"]
    assert world.post(f"{P}/Zoe/name", {"name": "Aaron"}).json["Online"] is True
    assert world.post(f"{P}/Aaron/level", {"level": 5}).status == 200
    assert world.post(f"{P}/Aaron/class", {"classid": WARRIOR.id}).status == 200
    assert online(world) == ["Aaron"]
    heard: list[Any] = world.get(f"{LINK}/changes?after={cursor}", by="Server").json["Changes"]
    assert [list(each["After"]) for each in heard] == [["Name"], ["Level", "Exp"], ["ClassId"]]
    before = everything(world)
    refused(world.call("DELETE", f"{P}/Aaron"), 409, "player_online")
    assert everything(world) == before
    leave(world, ZOE.id)
    assert world.call("DELETE", f"{P}/Aaron").status == 200
    assert BOB.name in world.get(P).raw.decode()
