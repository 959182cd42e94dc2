"""Players that a game server creates, renames and deletes over the link."""

import json

import people
from expectations import everything, refused
from game_server import LINK, heartbeat, join, leave, newcomer, online, put_player, stack
from gamekeeper.game.lookup import ZERO_GUID
from people import ANN, ANNS_POUCH, ARROW, BOB, COIN, HEAL, KILLS, POUCH, SWORD, TUTORIAL, ZOE
from reports import FIELDS, NEW, STRANGE, bag, inventory, record
from world import World


def test_player_is_created_with_all_or_the_least_fields(world: World) -> None:
    player_id, body = newcomer(1)
    answer = put_player(world, player_id.upper(), body | {"Id": STRANGE, "Online": True, "ClassName": "King"})
    assert (answer.json["Id"], answer.json["Level"], answer.json["Online"]) == (player_id, 1, False)
    assert (answer.json["ClassName"], answer.json["LastOnline"]) == ("", None)
    assert answer.json["CreationDate"].endswith("Z")
    assert world.get("/api/v1/players/New1/items").json == world.get("/api/v1/players/Bob/items").json
    body = FIELDS | {
        "LastOnline": "2021-01-01T00:00:00+01:00",
        "Items": [stack(0, COIN.id, 5), stack(4, POUCH.id, BagId=STRANGE), stack(5, POUCH.id)],
        "Bank": [stack(99, SWORD.id, StatBuffs=[1, 0, 0, 0, -1])],
        "Bags": [bag(STRANGE, stack(2, ARROW.id, 3), size=4)],
        "Spells": [{"Slot": 3, "SpellId": HEAL.id}],
        "Variables": [{"VariableId": KILLS.id, "Value": 0}, {"VariableId": TUTORIAL.id, "Value": True}],
    }
    answer = put_player(world, NEW, body)
    assert answer.status == 200
    tail = {"ClassName": "Warrior", "MapName": "Meadow", "Online": False, "LastOnline": "2020-12-31T23:00:00.000Z"}
    head = {name: FIELDS[name] for name in ("Name", "InBank", "UserId", "MaxVitals")}
    assert list(answer.json.items()) == list(({**head, "Id": NEW} | FIELDS | tail).items())
    assert record(world, "newt") == answer.json
    held = inventory(world, "Newt")
    assert [held[slot]["Quantity"] for slot in (0, 4, 5)] == [5, 1, 1]
    assert held[4]["BagId"] == STRANGE
    assert held[5]["BagId"] not in (None, STRANGE)
    assert inventory(world, "Newt", "bank")[99]["StatBuffs"] == [1, 0, 0, 0, -1]
    inside = world.get(f"/api/v1/players/bag/{STRANGE}").json
    assert (inside["SlotCount"], inside["Slots"][2]["Quantity"]) == (4, 3)
    assert world.get("/api/v1/players/Newt/spells").json == [{"Slot": 3, "SpellId": HEAL.id}]
    assert world.get("/api/v1/players/Newt/variables").json == body["Variables"]
    assert world.ledger()[-1].kind == "player_created"


def test_malformed_report_creates_and_changes_no_player(shared_world: World) -> None:
    before = everything(shared_world)
    owner = people.USER_IDS["Bob"]
    refusals: list[tuple[dict[str, object], int, str, str]] = [
        ({"UserId": owner}, 400, "missing_field", "'Name'"),
        ({"Name": "Newt"}, 400, "missing_field", "'UserId'"),
        ({"Name": "Newt", "UserId": STRANGE}, 404, "no_such_user", STRANGE),
        ({"Name": "aNN", "UserId": owner}, 409, "name_taken", "'aNN'"),
        ({"Name": "Online", "UserId": owner}, 400, "reserved_name", "Online"),
    ]
    for body, status, code, part in refusals:
        refused(put_player(shared_world, NEW, body), status, code, part)
    coins, kills = stack(0, COIN.id), {"VariableId": KILLS.id, "Value": 1}
    malformed: dict[str, object] = {
        "Vitals[1]": [1, 2.0],
        "StatPointAllocations": [],
        "Equipment": [0, 1, 2, 3, 4, 5],
        "LastOnline": "2020-13-01T00:00:00Z",
        "Items": [coins, coins],
        "Items[0].BagId": [stack(0, POUCH.id, BagId="x")],
        "Bank": [coins, coins],
        "Bank[0].StatBuffs": [stack(0, COIN.id, StatBuffs=[1])],
        "Bags": [bag(ANNS_POUCH), bag(ANNS_POUCH)],
        "Bags[0].SlotCount": [bag(NEW, size=0)],
        "Bags[0].Slots[0].Slot": [bag(NEW, {"ItemId": COIN.id})],
        "Spells": [{"Slot": 1, "SpellId": HEAL.id}, {"Slot": 1, "SpellId": ZERO_GUID}],
        "Variables": [kills, kills | {"VariableId": KILLS.id.upper()}],
        "Variables[0].Value": [kills | {"Value": "many"}],
    }
    for field, value in malformed.items():
        answer = put_player(shared_world, ANN.id, {field.partition("[")[0]: value})
        assert answer.status == 400, answer.raw
        assert f"'{field}'" in answer.message
    twice = put_player(shared_world, ANN.id, {"Bags": [bag(ANNS_POUCH, coins, coins)]})
    refused(twice, 400, "bad_field", "'Bags")
    assert everything(shared_world) == before


def test_online_player_is_listed_by_its_new_name(world: World) -> None:
    heartbeat(world)
    join(world, ANN.id, BOB.id, ZOE.id)
    assert put_player(world, ANN.id, {"Name": "Xena"}).json["Online"] is True
    assert online(world) == ["Bob", "Xena", "Zoe"]
    refused(world.get("/api/v1/players/Ann"), 404, "no_such_player")
    assert put_player(world, ANN.id, {"Name": "XENA"}).json["Name"] == "XENA"
    assert put_player(world, BOB.id, {"Name": "Ann"}).status == 200
    assert online(world) == ["Ann", "XENA", "Zoe"]


def test_delete_answers_the_old_record_and_removes_everything_of_an_offline_player(world: World) -> None:
    heartbeat(world)
    join(world, ANN.id)
    before = everything(world)
    refused(world.call("DELETE", f"{LINK}/players/{ANN.id}"), 409, "player_online")
    assert everything(world) == before
    leave(world, ANN.id)
    was = record(world, "Ann")
    answer = world.call("DELETE", f"{LINK}/players/{ANN.id}", by="Server")
    assert (answer.status, answer.json) == (200, was)
    refused(world.get("/api/v1/players/Ann"), 404, "no_such_player")
    refused(world.get(f"/api/v1/players/bag/{ANNS_POUCH}"), 404, "no_such_bag")
    for table in ("slots", "known_spells", "player_variables", "bags"):
        assert world.sql(f"SELECT * FROM {table}") == []  # noqa: S608 - the test's own table names
    row = world.ledger()[-1]
    assert (row.kind, row.player_id, row.after) == ("player_deleted", ANN.id, None)
    assert json.loads(row.before or "")["Items"][0]["Quantity"] == 250
    refused(world.call("DELETE", f"{LINK}/players/{ANN.id}"), 404, "no_such_player")
    assert put_player(world, ANN.id, {"Name": "Ann", "UserId": ANN.user_id}).status == 200
    assert inventory(world) == {}
