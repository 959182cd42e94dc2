"""Reports of games about guilds: the whole guild, its members, its end, and reports at the same time."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import guild_rows
import guild_values
from commanding import read_feed
from findings import findings
from gamekeeper.backup.person import export_person
from gamekeeper.doctor import NOTE
from gamekeeper.store import guilds
from guild_rows import GUILD_ID
from guild_values import FAME
from people import ANN, BOB, NOBODY_ID, ZOE, guid
from proof import refused
from world import Answer, World

LINK, GUILDS = "/api/link/v1/guilds", "/api/v1/guilds"
OTHER_ID = guid(72)
FOUNDED, JOINED = "2021-06-01T10:00:00.000Z", "2021-06-02T10:00:00.000Z"


def member(player_id: str, rank: int = 2, **more: Any) -> dict[str, Any]:
    return {"PlayerId": player_id, "Rank": rank} | more


def make_report(*members: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"Name": "Red Hand", "FoundingDate": FOUNDED, "BankSlotsCount": 50, "Members": list(members)} | more


def report(world: World, body: dict[str, Any], guild_id: str = GUILD_ID) -> Answer:
    answer = world.call("PUT", f"{LINK}/{guild_id}", body=body, by="Server")
    assert answer.status == 200, answer.raw
    return answer


def names(world: World, guild_id: str = GUILD_ID) -> list[str]:
    page = world.get(f"{GUILDS}/{guild_id}/members?sortBy=guildrank").json
    return [each["Name"] for each in page["Values"]]


def count(world: World) -> dict[str, int]:
    assert world.run(guilds.find_miscounted(world.keeper.store)) == []
    return {each["Key"]["Id"]: each["Value"] for each in world.get(GUILDS).json["Values"]}


def test_report_sets_variables_and_names_a_bad_one(world: World) -> None:
    guild_values.insert(world)
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
    assert names(world) == ["Zoe"]


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
    assert names(world) == ["Zoe", "Ann"]
    report(world, make_report(member(ZOE.id, 1), member(BOB.id, 0), Name="Blue Hand"))
    assert names(world) == ["Bob", "Zoe"]
    assert count(world) == {GUILD_ID: 2}
    after = json.loads(world.ledger()[-1].after or "")  # without a time in the report, the known one is kept
    assert {each["PlayerId"]: each["JoinedAt"] for each in after["Members"]} == {BOB.id: None, ZOE.id: JOINED}
    report(world, make_report())
    assert (names(world), count(world)) == ([], {GUILD_ID: 0})
    report(world, make_report(member(ANN.id), member(ZOE.id)))
    report(world, make_report(member(ANN.id, 0), Name="Blue Hand"), OTHER_ID)
    assert (names(world), names(world, OTHER_ID)) == (["Zoe"], ["Ann"])
    assert count(world) == {GUILD_ID: 1, OTHER_ID: 1}
    world.call("DELETE", f"{LINK}/{OTHER_ID}", by="Server")
    report(world, make_report(member(ANN.id), member(ZOE.id)))
    answer = world.call("DELETE", f"{LINK}/{GUILD_ID}", by="Server")
    assert (answer.status, answer.json["Value"]) == (200, 2)
    row = world.ledger()[-1]
    assert (row.kind, row.after) == ("guild_deleted", None)
    assert [each["PlayerId"] for each in json.loads(row.before or "")["Members"]] == [ANN.id, ZOE.id]
    assert count(world) == {}
    assert world.get("/api/v1/players/Ann").status == 200
    refused(world.call("DELETE", f"{LINK}/{GUILD_ID}", by="Server"), 400, "no_such_guild")


def test_bad_report_is_refused_and_nothing_is_taken(world: World) -> None:
    body = make_report(*(member(guid(0x9000 + number)) for number in range(1001)))
    answer = world.call("PUT", f"{LINK}/{GUILD_ID}", body=body, by="Server")
    refused(answer, 400, "bad_field")
    assert "Members" in answer.message
    for field, members in [
        ("Members[1].PlayerId", [member(ANN.id), member(NOBODY_ID)]),
        ("Members[2].PlayerId", [member(ANN.id), member(BOB.id), member(ANN.id)]),
        ("Members[1].Rank", [member(ANN.id), member(BOB.id, -1)]),
        ("Members[0].JoinedAt", [member(ANN.id, JoinedAt="yesterday")]),
    ]:
        report(world, make_report(member(ZOE.id)))
        before = len(world.ledger())
        answer = world.call("PUT", f"{LINK}/{GUILD_ID}", body=make_report(*members, Name="Blue Hand"), by="Server")
        refused(answer, 400, "bad_field")
        assert field in answer.message
        assert (names(world), len(world.ledger())) == (["Zoe"], before)
        assert world.get(f"{GUILDS}/{GUILD_ID}").json["Name"] == "Red Hand"


def test_guild_is_neither_in_the_feed_nor_undoable(world: World) -> None:
    report(world, make_report(member(ANN.id)))
    changes = world.get("/api/link/v1/changes?after=0").json["Changes"]
    assert not [each for each in changes if each["Kind"].startswith("guild_")]
    report(world, make_report(member(ANN.id)))
    answer = world.post(f"/api/keeper/v1/changes/{world.ledger()[-1].seq}/undo", {})
    refused(answer, 409, "not_undoable")


@pytest.mark.both_engines
def test_reports_at_the_same_time_count_right(world: World) -> None:
    async def create(player_id: str) -> Answer:
        return await world.send("PUT", f"{LINK}/{GUILD_ID}", body=make_report(member(player_id)), by="Server")

    async def create_thrice() -> list[Answer]:
        return await asyncio.gather(*(create(each) for each in (ANN.id, BOB.id, ZOE.id)))

    assert {each.status for each in world.run(create_thrice())} == {200}
    assert len(names(world)) == 1
    assert count(world) == {GUILD_ID: 1}
    assert world.call("DELETE", f"{LINK}/{GUILD_ID}", by="Server").status == 200
    # Games report the same players for several guilds, in different orders, while one of the players is deleted.
    players = (ANN.id, BOB.id, ZOE.id)

    async def send(number: int) -> Answer:
        given = [member(players[(number + place) % 3], place) for place in range(2 + number % 2)]
        body = make_report(*(reversed(given) if number % 2 else given), Name=f"Guild {number % 3}")
        return await world.send("PUT", f"{LINK}/{guid(0x200 + number % 3)}", body=body, by="Server")

    async def send_all() -> list[Answer]:
        deletions = [world.send("DELETE", f"{LINK}/{guid(0x200)}", by="Server") for _ in range(3)]
        return await asyncio.gather(*(send(number) for number in range(24)), *deletions)

    for _ in range(2):
        answers = world.run(send_all())
        assert {each.status for each in answers[:24]} == {200}, [each.raw for each in answers if each.status != 200]
        assert sum(count(world).values()) == len(world.sql("SELECT * FROM guild_members"))
    assert world.call("DELETE", "/api/v1/players/Bob").status == 200
    assert sum(count(world).values()) == len(world.sql("SELECT * FROM guild_members")) <= 2


@pytest.mark.both_engines
def test_members_are_counted_after_each_kind_of_change(world: World) -> None:
    """The triggers count after an insertion, another rank, a move, a removal, and deletions of players and guilds."""
    guild_rows.insert(world, {ANN.id: 0, ZOE.id: 1})
    guild_rows.insert(world, {BOB.id: 0}, OTHER_ID, "Blue Hand")
    assert count(world) == {GUILD_ID: 2, OTHER_ID: 1}
    guild_rows.insert(world, {ZOE.id: 3})
    assert count(world) == {GUILD_ID: 2, OTHER_ID: 1}
    guild_rows.insert(world, {ZOE.id: 1}, OTHER_ID, "Blue Hand")
    assert count(world) == {GUILD_ID: 1, OTHER_ID: 2}
    world.sql("DELETE FROM guild_members WHERE player_id = $1", BOB.id)
    assert count(world) == {GUILD_ID: 1, OTHER_ID: 1}
    assert world.call("DELETE", "/api/v1/players/Zoe").status == 200
    assert count(world) == {GUILD_ID: 1, OTHER_ID: 0}
    guild_rows.insert(world, {BOB.id: 0}, OTHER_ID, "Blue Hand")
    world.sql("DELETE FROM guilds WHERE id = $1", OTHER_ID)
    assert count(world) == {GUILD_ID: 1}
    assert world.sql("SELECT COUNT(*) FROM guild_members") == [(1,)]


def test_doctor_counts_members_and_an_export_and_an_erasure_take_guilds_along(world: World, tmp_path: Path) -> None:
    guild_rows.insert(world, {ANN.id: 0})
    world.sql("UPDATE guilds SET members = 5")
    assert len(findings(world, "guilds")) == 1
    assert [each.level for each in findings(world, "guilds", fix=True)] == [NOTE]
    assert findings(world, "guilds") == []
    guild_rows.insert(world, {ANN.id: 0, ZOE.id: 2, BOB.id: 1})
    world.run(export_person(world.keeper, "Ann", tmp_path / "ann.json", force=False))
    assert json.loads((tmp_path / "ann.json").read_text())["guilds"] == [
        {"player_id": ANN.id, "guild_id": GUILD_ID, "guild": "Red Hand", "rank": 0, "joined_at": None},
        {"player_id": ZOE.id, "guild_id": GUILD_ID, "guild": "Red Hand", "rank": 2, "joined_at": None},
    ]
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    assert (names(world), count(world)) == (["Bob"], {GUILD_ID: 1})
