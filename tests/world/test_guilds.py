"""Guilds: pages of guilds and their members, their variables, and the reports of games about them."""

import json
from typing import Any

import pytest

import game_server
import guild_rows
from commanding import read_feed, read_last
from expectations import refused
from findings import findings
from gamekeeper.doctor.findings import NOTE
from gamekeeper.store.world import guilds
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
    assert list(answer.json) == ["Total", "Page", "PageSize", "Count", "Values", "Sort", "Extra"]
    assert (answer.json["Total"], answer.json["Values"][1]) == (3, {"Key": RECORD, "Value": 2})
    assert names(answer) == ["Amber", "Red Hand", "zephyr"]
    for query, expected in [
        ("sortDirection=Descending", ["zephyr", "Red Hand", "Amber"]),
        ("sortBy=Members&sortDirection=1", ["Red Hand", "zephyr", "Amber"]),
        ("sortBy=FoundingDate&sortDirection=descending", ["Amber", "Red Hand", "zephyr"]),
        ("search=ED%20HA", ["Red Hand"]),
        ("search=am", ["Amber", "Red Hand", "zephyr"]),
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


def test_members_are_sorted_and_searched_records_of_players(world: World) -> None:
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
        ("sortBy=guildrank", ["Zoe", "Bob", "Ann"]),
        ("search=ANN", ["Ann"]),
        ("search=an", ["Ann", "Bob", "Zoe"]),
        ("limit=1", ["Ann"]),
    ]:
        assert names(world.get(f"{GUILDS}/{GUILD_ID}/members?{query}")) == expected


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


LINK = "/api/link/v1/guilds"
OTHER_ID = guid(72)
FOUNDED, JOINED = "2021-06-01T10:00:00.000Z", "2021-06-02T10:00:00.000Z"


def member(player_id: str, rank: int = 2, **more: Any) -> dict[str, Any]:
    return {"PlayerId": player_id, "Rank": rank} | more


def make_report(*members: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"Name": "Red Hand", "FoundingDate": FOUNDED, "BankSlotsCount": 50, "Members": list(members)} | more


def report(world: World, body: dict[str, Any], guild_id: str = GUILD_ID) -> Answer:
    return world.call("PUT", f"{LINK}/{guild_id}", body=body, by="Server").accepted()


def list_members(world: World, guild_id: str = GUILD_ID) -> list[str]:
    page = world.get(f"{GUILDS}/{guild_id}/members?sortBy=guildrank").json
    return [each["Name"] for each in page["Values"]]


def count_members(world: World) -> dict[str, int]:
    assert world.run(guilds.find_miscounted(world.keeper.store)) == []
    return {each["Key"]["Id"]: each["Value"] for each in world.get(GUILDS).json["Values"]}


def test_report_sets_variables_and_names_a_bad_one(world: World) -> None:
    insert(world)
    fame = {"VariableId": FAME.id, "Value": 12}
    for _ in range(2):
        report(world, make_report(member(ZOE.id, 0), Variables=[fame]))
    kinds = [row.kind for row in world.ledger()]
    assert (kinds.count("guild_saved"), kinds.count("guild_variables_set")) == (1, 1)
    report(world, make_report(member(ZOE.id, 0)))
    assert world.get(f"{GUILDS}/{GUILD_ID}/variables/{FAME.id}/value").json == {"value": 12}
    assert [each["Kind"] for each in read_feed(world, 0, "one") if "guild" in each["Kind"]] == []
    for variables, code in (
        ([fame | {"VariableId": NOBODY_ID}], "bad_field"),
        ([fame | {"Value": "many"}], "wrong_value_type"),
        ([fame | {"Value": 2**63}], "bad_field"),
    ):
        answer = world.call("PUT", f"{LINK}/{GUILD_ID}", body=make_report(Variables=variables), by="Server")
        refused(answer, 400, code)
    assert list_members(world) == ["Zoe"]


@pytest.mark.both_engines
def test_report_creates_changes_and_deletes_a_guild(world: World) -> None:
    body = make_report(member(ZOE.id, 0, JoinedAt=JOINED), member(ANN.id), InstanceId=guid(74))
    first = report(world, body)
    assert (first.json["Key"]["Name"], first.json["Value"]) == ("Red Hand", 2)
    [change] = [each for each in world.ledger() if each.kind == "guild_saved"]
    assert (change.player_id, change.user_id, change.over_link, change.before) == (None, None, True, None)
    assert json.loads(change.after or "") == {
        "GuildId": GUILD_ID,
        "Name": "Red Hand",
        "FoundingDate": FOUNDED,
        "BankSlotsCount": 50,
        "InstanceId": guid(74),
        "Members": [
            {"PlayerId": ANN.id, "Rank": 2, "JoinedAt": None},
            {"PlayerId": ZOE.id, "Rank": 0, "JoinedAt": JOINED},
        ],
    }
    assert report(world, body).raw == first.raw
    assert world.ledger()[-1].seq == change.seq
    assert list_members(world) == ["Zoe", "Ann"]
    report(world, make_report(member(ZOE.id, 1), member(BOB.id, 0), Name="Blue Hand"))
    assert list_members(world) == ["Bob", "Zoe"]
    assert count_members(world) == {GUILD_ID: 2}
    after = json.loads(world.ledger()[-1].after or "")  # without a time in the report, the known one is kept
    assert {each["PlayerId"]: each["JoinedAt"] for each in after["Members"]} == {BOB.id: None, ZOE.id: JOINED}
    report(world, make_report())
    assert (list_members(world), count_members(world)) == ([], {GUILD_ID: 0})
    report(world, make_report(member(ANN.id), member(ZOE.id)))
    report(world, make_report(member(ANN.id, 0), Name="Blue Hand"), OTHER_ID)
    assert (list_members(world), list_members(world, OTHER_ID)) == (["Zoe"], ["Ann"])
    assert count_members(world) == {GUILD_ID: 1, OTHER_ID: 1}
    world.call("DELETE", f"{LINK}/{OTHER_ID}", by="Server")
    report(world, make_report(member(ANN.id), member(ZOE.id)))
    answer = world.call("DELETE", f"{LINK}/{GUILD_ID}", by="Server")
    assert (answer.status, answer.json["Value"]) == (200, 2)
    row = world.ledger()[-1]
    assert (row.kind, row.after) == ("guild_deleted", None)
    assert [each["PlayerId"] for each in json.loads(row.before or "")["Members"]] == [ANN.id, ZOE.id]
    assert count_members(world) == {}
    assert world.get("/api/v1/players/Ann").status == 200
    refused(world.call("DELETE", f"{LINK}/{GUILD_ID}", by="Server"), 400, "no_such_guild")


def test_bad_report_is_refused_and_nothing_is_taken(world: World) -> None:
    for field, members in [
        ("Members[1].PlayerId", [member(ANN.id), member(NOBODY_ID)]),
        ("Members[2].PlayerId", [member(ANN.id), member(BOB.id), member(ANN.id)]),
        ("Members[1].Rank", [member(ANN.id), member(BOB.id, -1)]),
        ("Members", [member(guid(0x9000 + number)) for number in range(1001)]),
    ]:
        report(world, make_report(member(ZOE.id)))
        before = len(world.ledger())
        answer = world.call("PUT", f"{LINK}/{GUILD_ID}", body=make_report(*members, Name="Blue Hand"), by="Server")
        refused(answer, 400, "bad_field", field)
        assert (list_members(world), len(world.ledger())) == (["Zoe"], before)
        assert world.get(f"{GUILDS}/{GUILD_ID}").json["Name"] == "Red Hand"


@pytest.mark.both_engines
def test_reports_at_the_same_time_count_right(world: World) -> None:
    bodies = [make_report(member(each)) for each in (ANN.id, BOB.id, ZOE.id)]
    created = world.at_once(world.send("PUT", f"{LINK}/{GUILD_ID}", body=each, by="Server") for each in bodies)
    assert {each.status for each in created} == {200}
    assert len(list_members(world)) == 1
    assert count_members(world) == {GUILD_ID: 1}
    assert world.call("DELETE", f"{LINK}/{GUILD_ID}", by="Server").status == 200
    # Games report the same players for several guilds, in different orders, while one of the players is deleted.
    players = (ANN.id, BOB.id, ZOE.id)

    async def send(number: int) -> Answer:
        given = [member(players[(number + place) % 3], place) for place in range(2 + number % 2)]
        body = make_report(*(reversed(given) if number % 2 else given), Name=f"Guild {number % 3}")
        return await world.send("PUT", f"{LINK}/{guid(0x200 + number % 3)}", body=body, by="Server")

    for _ in range(2):
        deletions = [world.send("DELETE", f"{LINK}/{guid(0x200)}", by="Server") for _ in range(3)]
        answers = world.at_once([*(send(number) for number in range(24)), *deletions])
        assert {each.status for each in answers[:24]} == {200}, [each.raw for each in answers if each.status != 200]
        assert sum(count_members(world).values()) == len(world.sql("SELECT * FROM guild_members"))
    assert world.call("DELETE", "/api/v1/players/Bob").status == 200
    assert sum(count_members(world).values()) == len(world.sql("SELECT * FROM guild_members")) <= 2


@pytest.mark.both_engines
def test_members_are_counted_after_each_kind_of_change(world: World) -> None:
    """The triggers count after an insertion, another rank, a move, a removal, and ends of players, guilds, accounts."""
    guild_rows.insert(world, {ANN.id: 0, ZOE.id: 1})
    guild_rows.insert(world, {BOB.id: 0}, OTHER_ID, "Blue Hand")
    assert count_members(world) == {GUILD_ID: 2, OTHER_ID: 1}
    guild_rows.insert(world, {ZOE.id: 3})
    assert count_members(world) == {GUILD_ID: 2, OTHER_ID: 1}
    guild_rows.insert(world, {ZOE.id: 1}, OTHER_ID, "Blue Hand")
    assert count_members(world) == {GUILD_ID: 1, OTHER_ID: 2}
    world.sql("DELETE FROM guild_members WHERE player_id = $1", BOB.id)
    assert count_members(world) == {GUILD_ID: 1, OTHER_ID: 1}
    assert world.call("DELETE", "/api/v1/players/Zoe").status == 200
    assert count_members(world) == {GUILD_ID: 1, OTHER_ID: 0}
    guild_rows.insert(world, {BOB.id: 0}, OTHER_ID, "Blue Hand")
    world.sql("DELETE FROM guilds WHERE id = $1", OTHER_ID)
    assert count_members(world) == {GUILD_ID: 1}
    assert world.sql("SELECT COUNT(*) FROM guild_members") == [(1,)]
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    assert (count_members(world), world.sql("SELECT COUNT(*) FROM guild_members")) == ({GUILD_ID: 0}, [(0,)])


def test_doctor_finds_and_fixes_miscounted_members(world: World) -> None:
    guild_rows.insert(world, {ANN.id: 0})
    world.sql("UPDATE guilds SET members = 5")
    assert len(findings(world, "guilds")) == 1
    assert [each.level for each in findings(world, "guilds", fix=True)] == [NOTE]
    assert findings(world, "guilds") == []
