"""Logs of activity and trades: batches of game servers, the engine's pages, permissions, retention and erasure."""

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from api_keys import create
from gamekeeper.copies.exports import export_person
from gamekeeper.game.accounts import erasures
from gamekeeper.game.core.change import Unlogged
from gamekeeper.game.world import logs
from gamekeeper.ground.instants import format_engine_time, format_instant
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.world import logs as rows
from gamekeeper.store.world.logs import ActivityEntry
from people import ANN, ARROW, BOB, COIN, NOBODY_ID, USER_IDS, guid
from proof import refused
from tidying import tidy
from world import Answer, World

ACTIVITY, TRADES = "/api/link/v1/logs/activity", "/api/link/v1/logs/trades"
LOGS = "/api/v1/logs"
USER, OTHER = USER_IDS["Ann"], USER_IDS["Bob"]
DAY = 24 * 60 * 60 * 1000
ZERO = "00000000-0000-0000-0000-000000000000"


def make_entry(number: int, **more: Any) -> dict[str, Any]:
    entry = {
        "Id": guid(0x10000 + number),
        "TimeStamp": format_instant(1_760_000_000_000 + number * 1000),
        "UserId": USER,
        "PlayerId": ANN.id,
        "Action": "SelectPlayer",
        "Peer": "Client",
        "Ip": f"192.0.2.{number % 3}",
        "Meta": "Ann,Ann",
    }
    return entry | more


def make_trade(number: int, **more: Any) -> dict[str, Any]:
    entry = {
        "Id": guid(0x20000 + number),
        "TradeId": guid(0x30000 + number // 2),
        "TimeStamp": format_instant(1_760_000_000_000 + number // 2 * 40_000),
        "UserId": OTHER if number % 2 else USER,
        "PlayerId": BOB.id if number % 2 else ANN.id,
        "TargetId": ANN.id if number % 2 else BOB.id,
        "Ip": "192.0.2.9",
        "Items": [{"ItemId": COIN.id, "Quantity": number}],
        "TargetItems": [{"ItemId": guid(0xBAD), "Quantity": 1}],
    }
    return entry | more


def report(world: World, entries: object, path: str = ACTIVITY, **more: Any) -> Answer:
    return world.post(path, {"Entries": entries}, by="Server", **more)


def took(world: World, entries: object, path: str = ACTIVITY, **more: Any) -> dict[str, int]:
    return report(world, entries, path, **more).accepted().json


def numbers(answer: Answer) -> list[int]:
    assert answer.status == 200, answer.raw
    return [int(each["Id"][-12:], 16) & 0xFFFF for each in answer.json["Values"]]


def check_counts(world: World) -> None:
    """Require that the counts are those of all entries."""
    listed = "SELECT list, user_id, player_id, start, entries FROM log_counts ORDER BY 1, 2, 3, 4"
    kept = world.sql(listed)
    world.run(world.keeper.store.write(rows.recount))
    assert world.sql(listed) == kept


def test_batch_with_a_malformed_entry_is_refused_whole(world: World) -> None:
    bad: list[tuple[str, Any, str, Any]] = [
        (ACTIVITY, make_entry, "Action", "Loggin"),
        (ACTIVITY, make_entry, "Id", ZERO),
        (ACTIVITY, make_entry, "TimeStamp", "9999-01-01T00:00:00Z"),
        (ACTIVITY, make_entry, "TimeStamp", "1969-12-31T00:00:00Z"),
        (ACTIVITY, make_entry, "UserId", ZERO),
        (ACTIVITY, make_entry, "Meta", "\x00"),
        (TRADES, make_trade, "TargetId", ZERO),
        (TRADES, make_trade, "PlayerId", None),
        (TRADES, make_trade, "Items", [{"ItemId": COIN.id, "Quantity": -1}]),
    ]
    for path, make, field, value in bad:
        answer = report(world, [make(0), make(2), make(4, **{field: value}), make(6)], path)
        assert answer.status == 400
        assert f"Entries[2].{field}" in answer.message
    refused(report(world, [make_entry(number) for number in range(1001)]), 400, "bad_field")
    assert world.sql("SELECT (SELECT COUNT(*) FROM activity_log) + (SELECT COUNT(*) FROM trade_log)") == [(0,)]


@pytest.mark.both_engines
def test_batch_is_taken_once(world: World) -> None:
    before = len(world.ledger())
    batch = [make_entry(1), make_entry(2), make_entry(2)]
    assert took(world, batch) == {"Taken": 2, "Known": 1, "Erased": 0}
    assert took(world, [*batch, make_entry(3)]) == {"Taken": 1, "Known": 3, "Erased": 0}
    assert world.get(f"{LOGS}/user/{USER}/activity").json["Total"] == 3
    assert len(world.ledger()) == before  # logs are not in the audit log
    assert took(world, [make_entry(number) for number in range(1000)])["Taken"] == 997
    check_counts(world)
    used = world.sql("SELECT address, last_used FROM log_addresses ORDER BY address")
    assert used == [(f"192.0.2.{last % 3}", 1_760_000_000_000 + last * 1000) for last in (999, 997, 998)]


def test_activity_has_the_exact_body_oldest_first(world: World) -> None:
    took(world, [make_entry(2), make_entry(1), make_entry(3, TimeStamp="2025-10-09T08:53:20.065Z")])
    answer = world.get(f"{LOGS}/user/{USER}/activity?page=0&pageSize=25")
    known = {"UserId": USER, "PlayerId": ANN.id, "Action": "SelectPlayer", "Peer": "Client", "Meta": "Ann,Ann"}
    third = {"Id": guid(0x10003), "TimeStamp": "2025-10-09T08:53:20.065", "Ip": "192.0.2.0"} | known
    page = {"Total": 3, "Page": 0, "PageSize": 25, "Count": 3, "Sort": None, "Extra": None}
    assert answer.json == page | {"Values": [third, *answer.json["Values"][1:]]}
    assert numbers(answer) == [3, 1, 2]
    assert numbers(world.get(f"{LOGS}/player/{ANN.id}/activity/?sortDirection=1")) == [2, 1, 3]
    assert numbers(world.get(f"{LOGS}/player/{ANN.id}/activity?sortdirection=descending&limit=1")) == [2]


def test_every_page_of_a_log_of_many_days(world: World) -> None:
    for first, user in ((0, USER), (100, ZERO)):
        whose = {"UserId": user, "PlayerId": ANN.id if user == USER else None}
        every = range(first, first + 40)
        at = {number: (number - first) // 4 * DAY // 3 + 1_700_000_000_000 for number in every}
        took(world, [make_entry(number, TimeStamp=format_instant(at[number]), **whose) for number in every])
        for direction in ("Ascending", "Descending"):
            path = f"{LOGS}/user/{user}/activity?pageSize=5&sortDirection={direction}"
            pages = [world.get(f"{path}&page={page}") for page in range(9)]
            assert {each.json["Total"] for each in pages} == {40}
            found = [each for page in pages for each in numbers(page)]
            assert found == sorted(every, reverse=direction == "Descending")
    answer = world.get(f"{LOGS}/user/{USER}/activity?page=-3&pageSize=7&limit=-1").json
    assert (answer["PageSize"], answer["Count"]) == (7, 1)  # numbers in the query are clamped


def test_trades_have_the_exact_body_and_are_listed_once_without_a_filter(world: World) -> None:
    given = {"ItemId": ARROW.id, "Quantity": 3, "BagId": guid(7), "StatBuffs": [1, 2, 3, 4, 5]}
    more = {2: {"Items": [given]}}
    assert took(world, [make_trade(number, **more.get(number, {})) for number in range(6)], TRADES)["Taken"] == 6
    answer = world.get(f"{LOGS}/trade/")
    assert answer.json["Sort"] == [{"By": "TimeStamp", "Direction": 0}]
    assert numbers(answer) == [0, 2, 4]
    assert answer.json["Values"][1] == {
        "Id": guid(0x20002),
        "TradeId": guid(0x30001),
        "UserId": USER,
        "PlayerId": ANN.id,
        "Ip": "192.0.2.9",
        "TimeStamp": format_engine_time(1_760_000_040_000),
        "TargetId": BOB.id,
        "Items": [given | {"ItemName": ARROW.name}],
        "TargetItems": [
            {"BagId": None, "ItemId": guid(0xBAD), "Quantity": 1, "StatBuffs": [0] * 5, "ItemName": "ERR_DELETED"}
        ],
        "Username": "Ann",
        "PlayerName": "Ann",
        "TargetName": "Bob",
    }
    assert numbers(world.get(f"{LOGS}/trade?sortDirection=Descending")) == [4, 2, 0]
    assert numbers(world.get(f"{LOGS}/trade?userId={OTHER}")) == [1, 3, 5]
    assert numbers(world.get(f"{LOGS}/trade?playerId={ANN.id}&sortDirection=1")) == [4, 2, 0]
    assert world.get(f"{LOGS}/trade?playerId={ANN.id}&userId={OTHER}").json["Total"] == 0
    assert world.call("DELETE", "/api/v1/players/Bob").status == 200
    assert [each["TargetName"] for each in world.get(f"{LOGS}/trade").json["Values"]] == [None] * 3


def test_addresses_need_a_permission(world: World) -> None:
    took(world, [make_entry(1)])
    took(world, [make_trade(0)], TRADES)
    key = create(world, Name="reader", Owner="Root", Permissions=["logs.read"])["Key"]
    for path in (f"user/{USER}/activity", f"player/{ANN.id}/activity", "trade"):
        assert [each["Ip"] for each in world.get(f"{LOGS}/{path}", token=key).json["Values"]] == [""]
    answer = world.get(f"{LOGS}/user/{USER}/ip", token=key)
    assert (answer.json["Total"], answer.json["Values"]) == (0, [])


def test_addresses_name_others_who_used_them(world: World) -> None:
    took(world, [make_entry(number) for number in range(4)])
    took(world, [make_entry(9, UserId=OTHER, Ip="192.0.2.1"), make_entry(10, UserId=NOBODY_ID, Ip="192.0.2.1")])
    answer = world.get(f"{LOGS}/user/{USER}/ip").json
    assert (answer["Total"], answer["Count"]) == (3, 3)
    assert answer["Values"] == [
        {"Ip": "192.0.2.0", "LastUsed": format_engine_time(1_760_000_003_000), "OtherUsers": {}},
        {"Ip": "192.0.2.2", "LastUsed": format_engine_time(1_760_000_002_000), "OtherUsers": {}},
        {"Ip": "192.0.2.1", "LastUsed": format_engine_time(1_760_000_001_000), "OtherUsers": {OTHER: "Bob"}},
    ]


@pytest.mark.both_engines
def test_old_entries_are_deleted_unless_kept_for_good(world: World) -> None:
    now = world.now()
    young, old = format_instant(now - 89 * DAY), format_instant(now - 91 * DAY)
    took(world, [make_entry(number, TimeStamp=young if number % 2 else old) for number in range(6)])
    took(world, [make_trade(number, TimeStamp=old) for number in range(6)], TRADES)
    object.__setattr__(world.keeper.settings, "log_days", 0)
    try:
        tidy(world)
    finally:
        object.__setattr__(world.keeper.settings, "log_days", 90)
    assert world.get(f"{LOGS}/user/{USER}/activity").json["Total"] == 6
    tidy(world)
    assert numbers(world.get(f"{LOGS}/user/{USER}/activity?pageSize=9")) == [1, 3, 5]
    assert world.get(f"{LOGS}/trade").json["Total"] == 0
    assert world.sql("SELECT SUM(entries) FROM log_counts") == [(3,)]
    check_counts(world)


@pytest.mark.both_engines
@pytest.mark.parametrize("limit", [1, 100])
def test_batches_of_deletions_are_subtracted_from_the_counts(world: World, limit: int) -> None:
    failed = {"UserId": ZERO, "PlayerId": None}
    took(world, [*(make_entry(number) for number in range(4)), make_entry(9, **failed), make_entry(90_000)])
    took(world, [make_trade(0), make_trade(1), make_trade(2_000)], TRADES)
    for delete in (
        partial(rows.delete_old, before_ms=1_760_000_000_000 + DAY // 2, limit=limit),
        partial(rows.delete_of_user, user_id=USER, limit=limit),
    ):
        while world.run(world.keeper.store.write(delete)):
            check_counts(world)
    assert world.sql("SELECT * FROM log_counts") == world.sql("SELECT * FROM log_addresses") == []


def test_erased_person_leaves_no_entry_and_none_comes_back(world: World) -> None:
    secret = "198.51.100.77"
    took(world, [make_entry(1, Ip=secret), make_entry(2, UserId=OTHER, PlayerId=BOB.id)])
    took(world, [make_entry(3, UserId=ZERO, PlayerId=None, Action="FailedLogin", Meta="ANN", Ip=secret)])
    took(world, [make_entry(4, UserId=ZERO, PlayerId=None, Action="FailedLogin", Meta="Ann@Example.test", Ip=secret)])
    took(world, [make_trade(0, Ip=secret), make_trade(1)], TRADES)
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    for path in (f"user/{USER}/activity", f"user/{USER}/ip", f"user/{ZERO}/activity", f"trade?userId={USER}"):
        assert world.get(f"{LOGS}/{path}").json["Values"] == [], path  # masked before the job has run
    world.run(erasures.run_all_jobs(world.keeper.store))
    for table in ("activity_log", "trade_log", "log_addresses"):
        assert secret not in str(world.sql(f"SELECT * FROM {table}"))  # noqa: S608 - names of the test's own
    assert world.get(f"{LOGS}/user/{ZERO}/activity").json["Total"] == 0
    assert world.get(f"{LOGS}/trade?userId={OTHER}").json["Total"] == 1
    back = [make_entry(1, Ip=secret), make_entry(5, Ip=secret), make_entry(6, UserId=OTHER, PlayerId=BOB.id)]
    assert took(world, back) == {"Taken": 1, "Known": 0, "Erased": 2}
    assert took(world, [make_trade(0)], TRADES) == {"Taken": 0, "Known": 0, "Erased": 1}
    assert world.get(f"{LOGS}/user/{USER}/activity").json["Total"] == 0


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)  # on SQLite, one write waits for the other
def test_batch_during_an_erasure_leaves_no_entry(world: World) -> None:
    store = world.keeper.store
    entries = [ActivityEntry(guid(0x10001), 1_760_000_000_000, USER, ANN.id, "Login", "Client", "192.0.2.1", None)]

    async def erase() -> None:
        assert (await world.send("DELETE", "/api/v1/users/Ann")).status == 200
        await erasures.run_all_jobs(store)

    async def report_and_erase() -> None:
        async def report(tx: Writing) -> asyncio.Task[None]:
            decision = await logs.add_activity(tx, entries)
            erasing = asyncio.create_task(erase())
            await asyncio.wait([erasing], timeout=1)  # it must wait until the batch is there
            for each in decision.changes:
                assert isinstance(each, Unlogged)
                await each.effect(tx)
            return erasing

        await (await store.write(report))

    world.run(report_and_erase())
    for table in ("activity_log", "log_addresses", "log_counts"):
        assert world.sql(f"SELECT * FROM {table}") == [], table  # noqa: S608 - names of the test's own


def test_export_of_a_person_has_its_log(world: World, tmp_path: Path) -> None:
    took(world, [make_entry(1), make_entry(2, UserId=OTHER), make_entry(3, UserId=ZERO, PlayerId=None, Meta="ann")])
    took(world, [make_trade(0), make_trade(1)], TRADES)
    file = tmp_path / "ann.json"
    world.run(export_person(world.keeper, "Ann", file, force=False))
    found = json.loads(file.read_bytes())
    assert [each["id"] for each in found["activity"]] == [guid(0x10001), guid(0x10003)]
    assert [(each["id"], each["items"][0]["Quantity"]) for each in found["trades"]] == [(guid(0x20000), 0)]
    assert [each["address"] for each in found["log_addresses"]] == ["192.0.2.1"]
