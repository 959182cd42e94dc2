"""Variables of the server: lists, reads and changes at both paths, and what games publish and are told."""

from typing import Any

from commanding import read_feed, read_last
from expectations import refused, unchanged
from game_server import heartbeat, put_catalogue
from loops import over
from people import DOUBLE_XP, HARBOUR, MOTD, SERVER_VARIABLES, TAX, guid
from undos import conflict, last, row, undone
from world import Answer, World

GLOBAL, NEWEST = "/api/v1/variables/global", "/api/v1/variables"
RECORD = {
    "Name": "Double XP",
    "TextId": "dxp",
    "Type": 2,
    "Value": 10,
    "Folder": "Events",
    "Id": DOUBLE_XP.id,
    "TimeCreated": -8586599203473051578,
}
IDS = [each.id for each in SERVER_VARIABLES]
LARGEST, SMALLEST = 2**63 - 1, -(2**63)
PUBLISHED: dict[str, Any] = {"Id": guid(0x85), "Name": "Weather", "Type": "String"}


def assign(world: World, variable_id: str, value: object, **more: Any) -> Answer:
    return world.post(f"{GLOBAL}/{variable_id}", {"value": value}, **more)


def read_value(world: World, variable_id: str) -> object:
    return world.get(f"{GLOBAL}/{variable_id}/value").json["value"]


def test_lists_have_all_variables_on_pages(shared_world: World) -> None:
    """Clients of the engine forget the `&` between the parameters of the legacy list."""
    for answer in (
        shared_world.post(GLOBAL, {"page": 0, "count": 25}),
        shared_world.post(GLOBAL),
        shared_world.get(f"{GLOBAL}?page=0&count=25"),
        shared_world.get(f"{GLOBAL}?page=0count=25"),
    ):
        assert [answer.json[name] for name in ("total", "Page", "count")] == [4, 0, 4]
        entries = answer.json["entries"]
        assert list(entries[0].items()) == list(RECORD.items())
        assert [each["Id"] for each in entries] == IDS
        assert [(each["Type"], each["Value"]) for each in entries] == [(2, 10), (1, True), (4, 0.5), (3, None)]
    page = shared_world.get(f"{GLOBAL}?page=1&count=3").json
    assert (page["total"], page["Page"], page["count"], page["entries"][0]["Id"]) == (4, 1, 1, MOTD.id)
    page = shared_world.get(NEWEST).json
    assert [page[name] for name in ("Total", "Page", "PageSize", "Count")] == [4, 0, 10, 4]
    assert page["Values"][0] == RECORD
    assert shared_world.get(f"{NEWEST}?page=0pageSize=25").json["PageSize"] == 10


@over(
    "variable_id, sent, value",
    (DOUBLE_XP.id, "5", 5),
    (DOUBLE_XP.id, 7.0, 7),
    (DOUBLE_XP.id, LARGEST, LARGEST),
    (DOUBLE_XP.id, str(SMALLEST), SMALLEST),
    (HARBOUR.id, False, False),
    (TAX.id, 2, 2.0),
    (TAX.id, "1.5e3", 1500.0),
    (MOTD.id, "Hello\n\u4f60\u597d", "Hello\n\u4f60\u597d"),
    (MOTD.id, "x" * 10_000, "x" * 10_000),
    (MOTD.id, None, ""),
)
def test_value_of_the_declared_type_is_set(world: World, variable_id: str, sent: object, value: object) -> None:
    for root in (GLOBAL, NEWEST):
        answer = world.post(f"{root}/{variable_id}", {"value": sent}).accepted()
        assert (answer.json["Value"], answer.json["VariableId"], answer.json["Id"]) == (value, variable_id, variable_id)
        assert type(answer.json["Value"]) is type(value)
    record = world.get(f"{GLOBAL}/{variable_id}").json
    assert record == {name: each for name, each in answer.json.items() if name != "VariableId"}


@over(
    "variable_id, sent, message",
    (DOUBLE_XP.id, True, "Invalid value for variable of type Integer. Received: Boolean"),
    (DOUBLE_XP.id, None, "Invalid value for variable of type Integer. Received: null"),
    (TAX.id, "NaN", "Invalid value for variable of type Number. Received: String"),
    (MOTD.id, 5, "Invalid value for variable of type String. Received: Int64"),
)
def test_value_of_another_type_is_refused(shared_world: World, variable_id: str, sent: object, message: str) -> None:
    with unchanged(shared_world):
        answer = assign(shared_world, variable_id, sent)
        refused(answer, 400, "wrong_value_type")
        assert answer.message == message


def test_change_is_told_to_all_game_servers_and_has_delivery_states(world: World) -> None:
    for server in ("one", "two"):
        heartbeat(world, server)
    began = read_last(world)
    assert assign(world, DOUBLE_XP.id, 20, headers={"x-reason": "weekend"}).status == 200
    for server in ("one", "two"):
        (change,) = read_feed(world, began, server)
        assert (change["Kind"], change["PlayerId"]) == ("server_variables_set", None)
        assert change["Before"] == {"ServerVariables": [{"VariableId": DOUBLE_XP.id, "Value": 10}]}
        assert change["After"] == {"ServerVariables": [{"VariableId": DOUBLE_XP.id, "Value": 20}]}
    world.sql("UPDATE servers SET applied_seq = $1 WHERE name = 'two'", last(world))
    told = row(world, last(world))
    assert (told["Kind"], told["Reason"], told["Undoable"]) == ("server_variables_set", "weekend", True)
    assert [(each["Server"], each["State"]) for each in told["Deliveries"]] == [("one", "waiting"), ("two", "applied")]


def test_undo_restores_the_value_unless_it_or_its_type_was_changed_since(world: World) -> None:
    assign(world, MOTD.id, "Hello")
    first = last(world)
    assign(world, MOTD.id, "Goodbye")
    conflict(world, first, "the variable has another value now")
    assert undone(world, last(world)).status == 200
    assert read_value(world, MOTD.id) == "Hello"
    assert undone(world, first).status == 200
    assert read_value(world, MOTD.id) is None
    world.sql("DELETE FROM server_variables WHERE id = $1", MOTD.id)
    conflict(world, last(world), "the variable does not exist any more")
    assign(world, TAX.id, 1)
    world.sql("UPDATE server_variables SET value = '1' WHERE id = $1", TAX.id)
    conflict(world, last(world), "the variable has another value now")


def test_game_publishes_variables_and_keeps_set_values(world: World) -> None:
    assert put_catalogue(world, "servervariables", [{**PUBLISHED, "Value": "rain", "TextId": "w"}]).json == {"Count": 1}
    shown = {"Name": "Weather", "TextId": "w", "Type": 3, "Value": "rain", "Folder": ""}
    assert world.get(f"{GLOBAL}/{PUBLISHED['Id']}").json == {**shown, "Id": PUBLISHED["Id"], "TimeCreated": 0}
    assign(world, PUBLISHED["Id"], "sun")
    renamed = {**PUBLISHED, "Name": "Sky", "Value": "rain", "Folder": "World", "TimeCreated": -7}
    assert put_catalogue(world, "servervariables", [renamed]).status == 200
    found = world.get(f"{GLOBAL}/{PUBLISHED['Id']}").json
    assert [found[name] for name in ("Name", "Value", "Folder", "TimeCreated")] == ["Sky", "sun", "World", -7]
    seq = last(world)
    assert put_catalogue(world, "servervariables", [renamed]).status == 200
    assert last(world) == seq
    entry = {"Id": MOTD.id, "Name": MOTD.name, "Type": "String"}
    assert put_catalogue(world, "servervariables", [entry]).status == 200
    assert read_value(world, MOTD.id) is None
    assert put_catalogue(world, "servervariables", [{**entry, "Value": ""}]).status == 200
    assert read_value(world, MOTD.id) == ""


def test_published_variables_are_game_objects(world: World) -> None:
    guild = {"Id": guid(0x91), "Name": "Fame", "Type": "Number", "TextId": "fame", "Folder": "F", "TimeCreated": 4}
    assert put_catalogue(world, "guildvariables", [guild]).status == 200
    assert put_catalogue(world, "guildvariables", [{**guild, "Value": 1}]).code == "unknown_field"
    assert world.get(f"/api/v1/gameobjects/GuildVariable/{guid(0x91)}").json == {**guild, "Type": 4}
    assert world.get(f"/api/v1/gameobjects/servervariable/{DOUBLE_XP.id}").json == RECORD
    assert world.get("/api/link/v1/catalogue/guildvariables").json["Values"] == [guild]
    entry = world.get("/api/link/v1/catalogue/servervariables").json["Values"][0]
    assert entry == {**RECORD, "Type": "Integer"}
    assert put_catalogue(world, "servervariables", [entry]).status == 200
