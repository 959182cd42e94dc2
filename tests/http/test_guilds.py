"""Guilds: the engine's pages of guilds and of their members."""

import json

import pytest

import guild_rows
from gamekeeper.game import guilds as guild_rules
from guild_rows import GUILD_ID
from people import ANN, BOB, NOBODY_ID, ZOE, guid
from proof import refused
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


def test_search_sorts_as_the_list_does(world: World) -> None:
    for sort in ["name", "members", "foundingdate"]:
        for number in range(12):
            founded = guild_rows.FOUNDED_AT + number % 5 * DAY
            guild_rows.insert(
                world, {ANN.id: 0} if number == 4 else {}, guid(0x200 + number), f"Guild {number % 7}", founded
            )
        for direction in ("Ascending", "Descending"):
            query = f"pageSize=100&sortBy={sort}&sortDirection={direction}"
            listed, searched = (world.get(f"{GUILDS}?{query}{more}").json["Values"] for more in ("", "&search=guild"))
            assert len(listed) == 12
            assert listed == searched
            pages = [
                world.get(f"{GUILDS}?page={page}&sortBy={sort}&sortDirection={direction}").json for page in range(3)
            ]
            assert [each for page in pages for each in page["Values"]] == listed


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
