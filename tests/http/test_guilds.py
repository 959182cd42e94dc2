"""Guilds: pages of guilds and their members, and their variables."""

import json
from typing import Any

import pytest

import game_server
import guild_rows
from commanding import read_feed, read_last
from expectations import refused
from gamekeeper.game import guilds as guild_rules
from guild_rows import GUILD_ID
from guild_values import AT_WAR, FAME, MOTTO, insert
from people import ANN, BOB, NOBODY_ID, ZOE, guid
from undos import conflict, last, row, undone
from world import Answer, World

GUILDS = "/api/v1/guilds"
ZERO = "00000000-0000-0000-0000-000000000000"
DAY = 24 * 60 * 60 * 1000
RECORD = {
    "Id": GUILD_ID,
    "Name": "Red Hand",
    "FoundingDate": "2021-06-01T10:00:00",
    "BankSlotsCount": 50,
    "GuildInstanceId": ZERO,
}


def found(world: World) -> None:
    """Create three guilds: Amber has nobody, Red Hand has Ann and Zoe, Zephyr has Bob."""
    guild_rows.insert(world, {ANN.id: 2, ZOE.id: 0})
    guild_rows.insert(world, {}, guid(72), "Amber", guild_rows.FOUNDED_AT + DAY)
    guild_rows.insert(world, {BOB.id: 0}, guid(73), "zephyr", guild_rows.FOUNDED_AT - DAY, guid(74))


def names(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.raw
    return [each["Key"]["Name"] if "Key" in each else each["Name"] for each in answer.json["Values"]]


def test_list_has_the_exact_body_and_is_sorted_and_searched(world: World) -> None:
    found(world)
    answer = world.get(f"{GUILDS}/?page=0&pageSize=10")
    assert answer.json == {
        "Total": 3,
        "Page": 0,
        "PageSize": 10,
        "Count": 3,
        "Values": [answer.json["Values"][0], {"Key": RECORD, "Value": 2}, answer.json["Values"][2]],
        "Sort": None,
        "Extra": None,
    }
    assert names(answer) == ["Amber", "Red Hand", "zephyr"]
    for query, expected in [
        ("sortDirection=Descending", ["zephyr", "Red Hand", "Amber"]),
        ("sortBy=Members&sortDirection=1", ["Red Hand", "zephyr", "Amber"]),
        ("sortBy=FoundingDate&sortDirection=descending", ["Amber", "Red Hand", "zephyr"]),
        ("sortBy=colour", ["Amber", "Red Hand", "zephyr"]),
        ("search=ED%20HA", ["Red Hand"]),
        ("search=am", ["Amber", "Red Hand", "zephyr"]),
        ("search=%25%25%25", []),
        ("page=0pageSize=25", ["Amber", "Red Hand", "zephyr"]),
        ("limit=2", ["Amber", "Red Hand"]),
    ]:
        answer = world.get(f"{GUILDS}?{query}")
        assert names(answer) == expected
        assert answer.json["Total"] == (len(expected) if "search=" in query and "search=am" not in query else 3)
    answer = world.post(GUILDS, {"page": 0, "count": 2})
    assert list(answer.json) == ["total", "Page", "count", "entries"]
    assert (answer.json["total"], answer.json["Page"], answer.json["count"]) == (3, 0, 2)
    assert answer.json["entries"][1] == {"Key": RECORD, "Value": 2}
    queried = world.post(f"{GUILDS}?page=1&pageSize=2", {})
    assert [each["Key"]["Name"] for each in queried.json["entries"]] == ["zephyr"]


def test_members_are_sorted_and_searched_records_of_players(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    found(world)
    answer = world.get(f"{GUILDS}/{GUILD_ID}/")
    assert (answer.status, json.dumps(answer.json)) == (200, json.dumps(RECORD))
    refused(world.get(f"{GUILDS}/{NOBODY_ID}"), 400, "no_such_guild", f"Guild not found: ${NOBODY_ID}.")
    answer = world.get(f"{GUILDS}/{GUILD_ID}/members?page=0pageSize=25")
    players = {each["Name"]: each for each in world.get("/api/v1/players").json["Values"]}
    assert (answer.json["Total"], answer.json["Values"]) == (2, [players["Ann"], players["Zoe"]])
    assert world.get(f"{GUILDS}/{NOBODY_ID}/members/").json["Values"] == []
    guild_rows.insert(world, {ANN.id: 2, ZOE.id: 0, BOB.id: 1})
    for query, expected in [
        ("sortBy=name&sortDirection=Descending", ["Zoe", "Bob", "Ann"]),
        ("sortBy=level", ["Bob", "Ann", "Zoe"]),
        ("sortBy=creationDate&sortDirection=1", ["Zoe", "Bob", "Ann"]),
        ("sortBy=playtime", ["Bob", "Zoe", "Ann"]),
        ("sortBy=guildrank", ["Zoe", "Bob", "Ann"]),
        ("search=ANN", ["Ann"]),
        ("search=an", ["Ann", "Bob", "Zoe"]),
        ("limit=1", ["Ann"]),
    ]:
        assert names(world.get(f"{GUILDS}/{GUILD_ID}/members?{query}")) == expected
    for limit in ("MAX_GUILDS", "MAX_MATCHES", "MAX_MEMBERS"):
        monkeypatch.setattr(guild_rules, limit, 2)
    asked = {
        GUILDS: ["Amber", "Red Hand"],
        f"{GUILDS}?search=amber": ["Amber"],
        f"{GUILDS}?search=zephyr": list[str](),
        f"{GUILDS}/{GUILD_ID}/members": ["Bob", "Zoe"],
    }
    for path, expected in asked.items():
        answer = world.get(path)
        assert (names(answer), answer.json["Total"]) == (expected, len(expected)), path


GUILD = f"/api/v1/guilds/{GUILD_ID}/variables"


@pytest.fixture
def guild(world: World) -> World:
    """Return a world with a guild, and variables that were never set."""
    guild_rows.insert(world, {ANN.id: 0})
    insert(world)
    return world


def assign(world: World, variable_id: str, value: object, **more: Any) -> Answer:
    return world.post(f"{GUILD}/{variable_id}", {"value": value}, **more)


def test_variables_are_set_listed_and_told_to_all_game_servers(guild: World) -> None:
    assert guild.get(GUILD).json == []
    assert guild.get(f"{GUILD}/{FAME.id}").json == {"VariableId": FAME.id, "VariableName": "Fame", "Value": None}
    assert assign(guild, FAME.id, "12").json == {"VariableId": FAME.id, "VariableName": "Fame", "Value": 12}
    assert assign(guild, MOTTO.id, "Never late").status == 200
    form = guild.call("POST", f"{GUILD}/{AT_WAR.id}/", form={"value": "1"})
    assert (form.status, form.json["Value"]) == (200, True)
    listed = guild.get(f"{GUILD}/")
    assert [(each["VariableName"], each["Value"]) for each in listed.json] == [
        ("Fame", 12),
        ("Motto", "Never late"),
        ("At war", True),
    ]
    assert guild.get(f"{GUILD}/{FAME.id.upper()}/value").json == {"value": 12}
    for server in ("one", "two"):
        game_server.heartbeat(guild, server)
    began = read_last(guild)
    assert assign(guild, FAME.id, 20, headers={"x-reason": "won"}).status == 200
    value = {"GuildId": GUILD_ID, "VariableId": FAME.id}
    for server in ("one", "two"):
        (change,) = read_feed(guild, began, server)
        assert (change["Kind"], change["PlayerId"]) == ("guild_variables_set", None)
        assert change["Before"] == {"GuildVariables": [{**value, "Value": 12}]}
        assert change["After"] == {"GuildVariables": [{**value, "Value": 20}]}
    told = row(guild, last(guild))
    assert (told["Kind"], told["Reason"], told["Undoable"]) == ("guild_variables_set", "won", True)
    assert [(each["Server"], each["State"]) for each in told["Deliveries"]] == [("one", "waiting"), ("two", "waiting")]


def test_unknown_ids_and_wrong_types_are_refused_and_undeclared_values_kept(guild: World) -> None:
    answer = guild.get(f"{GUILD}/{NOBODY_ID}")
    assert (answer.status, answer.message) == (400, f"Invalid variable id ${NOBODY_ID}.")
    answer = guild.get(f"/api/v1/guilds/{NOBODY_ID}/variables")
    assert (answer.status, answer.message) == (400, "Guild does not exist.")
    answer = assign(guild, FAME.id, "many")
    refused(answer, 400, "wrong_value_type", "Invalid value for variable of type Integer. Received: String")
    guild.sql(f"INSERT INTO guild_values VALUES ('{GUILD_ID}', '{NOBODY_ID}', 'Number', '0.5')")  # noqa: S608 - ours
    assert guild.get(GUILD).json == [{"VariableId": NOBODY_ID, "VariableName": "", "Value": 0.5}]
    refused(assign(guild, NOBODY_ID, "half"), 400, "wrong_value_type")
    assert assign(guild, NOBODY_ID, 1).json["Value"] == 1.0


def test_undo_restores_the_value_unless_it_was_changed_since(guild: World) -> None:
    assign(guild, MOTTO.id, "Never late")
    first = last(guild)
    assign(guild, MOTTO.id, "Always late")
    conflict(guild, first, "the variable has another value now")
    assert undone(guild, last(guild)).status == 200
    assert guild.get(f"{GUILD}/{MOTTO.id}/value").json == {"value": "Never late"}
    assert undone(guild, first).status == 200
    assert guild.get(GUILD).json == []
    guild.sql("DELETE FROM guilds")
    conflict(guild, last(guild), "the guild does not exist any more")
