"""Variables of guilds: lists, reads and changes, and what game servers are told."""

from typing import Any

import pytest

import game_server
import guild_rows
from commanding import read_feed, read_last
from expectations import refused
from guild_rows import GUILD_ID
from guild_values import AT_WAR, FAME, MOTTO, insert
from people import ANN, NOBODY_ID
from undos import conflict, last, row, undone
from world import Answer, World

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
