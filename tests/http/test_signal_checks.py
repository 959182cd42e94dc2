"""Signals about game servers, bags, refused requests and sums of days, which a background job raises."""

import asyncio
import json
from typing import Any

import pytest

import game_server
from economics import catch_up, give
from expectations import refused
from game_server import put_player, stack
from gamekeeper.game import activity, signal_checks
from gamekeeper.game.signal_checks import BAG_MINUTES, DAY_SLOTS, MINUTE_MS, SLOT_MINUTES
from gamekeeper.http.request_rates import RequestCounts, RequestRates
from gamekeeper.store import clock, signal_sums
from gamekeeper.store.engine import DatabaseUnavailable
from listings import MakeWorld
from people import ANN, ANNS_POUCH, BOB, COIN, POUCH
from reports import bag
from signalling import ROOT, list_signals
from world import World

DAY_MS = 24 * 60 * MINUTE_MS


def check(world: World) -> list[dict[str, Any]]:
    """Run the background job, and return the signals."""
    world.run(world.keeper.signal_checks.run())
    return list_signals(world)


def wait(world: World, minutes: int) -> None:
    """Make what waits to be examined older."""
    world.sql("UPDATE signal_checks SET at = at - $1", minutes * MINUTE_MS)


def test_silent_game_server_raises_a_signal_after_some_minutes(world: World, make_world: MakeWorld) -> None:
    game_server.heartbeat(world, "one")
    assert game_server.lapse(world, "one") == 1
    wait(world, 4)
    assert check(world) == []
    wait(world, 1)
    (found,) = check(world)
    assert (found["Rule"], found["Server"], found["Evidence"]["Limit"]) == ("silent", "one", 5)
    assert check(world) == [found]
    assert world.sql("SELECT COUNT(*) FROM signal_checks") == [(0,)]
    world = make_world(signals="silent=off")
    game_server.heartbeat(world, "two")
    game_server.lapse(world, "two")
    wait(world, 60)
    assert check(world) == [found]
    assert world.sql("SELECT COUNT(*) FROM signal_checks") == [(0,)]


def test_game_server_that_came_back_or_said_goodbye_is_not_silent(world: World) -> None:
    game_server.heartbeat(world, "one")
    game_server.lapse(world, "one")
    game_server.heartbeat(world, "one")
    game_server.heartbeat(world, "two")
    assert world.call("DELETE", f"{game_server.LINK}/servers/two", by="Server").status == 200
    wait(world, 60)
    assert check(world) == []


def test_signal_for_many_silent_servers_names_none(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gamekeeper.game.signals.MOST_OPEN", 1)
    for name in ("more", "two"):  # `more` is a name like any other
        game_server.heartbeat(world, name)
        assert game_server.lapse(world, name) == 1
    wait(world, 5)
    assert {each["Server"] for each in check(world)} == {"more", None}
    raised = [json.loads(each.after or "")["Server"] for each in world.ledger() if each.kind == "signal_raised"]
    assert raised == ["more", None]


def test_bag_of_another_player_raises_a_signal_if_it_stays_there(world: World) -> None:
    slots: dict[str, Any] = {"Items": [stack(5, POUCH.id, BagId=ANNS_POUCH)]}
    for body in (slots, slots | {"Bags": [bag(ANNS_POUCH, size=8)]}):  # named in a slot only, and in the list of bags
        assert put_player(world, BOB.id, body).status in (400, 404)
        assert check(world) == []
        wait(world, BAG_MINUTES)
        (found,) = check(world)
        assert (found["Rule"], found["BagId"], found["Player"]) == ("bag", ANNS_POUCH, "Bob")
        world.sql("DELETE FROM signals")


def test_bag_is_saved_later_if_the_write_fails(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> None:
        raise DatabaseUnavailable

    body = {"Items": [stack(5, POUCH.id, BagId=ANNS_POUCH)]}
    assert put_player(world, BOB.id, body).status in (400, 404)
    with monkeypatch.context() as patch:
        patch.setattr(signal_sums, "add_check", fail)
        with pytest.raises(DatabaseUnavailable):
            check(world)
    check(world)
    assert world.sql("SELECT subject FROM signal_checks") == [(ANNS_POUCH,)]
    assert vars(world.keeper.signal_checks)["_bags"] == {}


def test_bag_that_was_traded_raises_nothing(world: World) -> None:
    body = {"Items": [stack(5, POUCH.id, BagId=ANNS_POUCH)], "Bags": [bag(ANNS_POUCH, size=8)]}
    refused(put_player(world, BOB.id, body), 400, "bad_field")
    assert check(world) == []
    assert put_player(world, ANN.id, {"Items": [stack(3, "00000000-0000-0000-0000-000000000000", 0)]}).status == 200
    assert put_player(world, BOB.id, body).status == 200
    wait(world, BAG_MINUTES)
    assert check(world) == []


def fill_refusals(world: World, usual: int, last: int) -> int:
    """Store refused requests: so many in each ten minutes of a day, and in the last ten minutes that are over.

    Return the number of those last ten minutes.
    """
    now = world.run(_read_now(world)) // MINUTE_MS
    slot = (now - 1) // SLOT_MINUTES - 1
    for number in range(DAY_SLOTS + 1):
        refused_now = last if number == 0 else usual
        minute = (slot - number) * SLOT_MINUTES + 3
        world.sql("INSERT INTO activity_minutes (minute, refused) VALUES ($1, $2)", minute, refused_now)
    world.sql("UPDATE rollups SET position = $1, value = $2 WHERE name = 'refusals'", slot, slot - DAY_SLOTS)
    return slot


async def _read_now(world: World) -> int:
    return await clock.now(world.keeper.store)


def test_more_refusals_than_usual_raise_a_signal_when_a_day_is_recorded(world: World) -> None:
    for usual, last, position, since, found in (
        (30, 151, 0, -DAY_SLOTS, True),
        (30, 150, 0, -DAY_SLOTS, False),
        (0, 99, 0, -DAY_SLOTS, False),
        (0, 100, 0, -DAY_SLOTS, True),
        (1000, 1500, 0, -DAY_SLOTS, False),
        (0, 1000, 0, -DAY_SLOTS + 1, False),  # less than a day is recorded
        (0, 1000, -5, -DAY_SLOTS, True),  # a pause of an hour
        (0, 1000, -6, -DAY_SLOTS, False),
        (0, 1000, 0, None, False),  # the first ten minutes after the upgrade
    ):
        world.sql("DELETE FROM activity_minutes")
        world.sql("DELETE FROM signals")
        slot = fill_refusals(world, usual, last)
        value = 0 if since is None else slot + since
        world.sql("UPDATE rollups SET position = $1, value = $2 WHERE name = 'refusals'", slot + position, value)
        signals = check(world)
        assert [(each["Rule"], each["Evidence"]["Amount"], each["Evidence"]["Usual"]) for each in signals] == (
            [("refusals", last, usual)] if found else []
        )
        assert check(world) == signals
        expected = slot + 1 if position == -6 else value or slot
        assert world.sql("SELECT position, value FROM rollups WHERE name = 'refusals'") == [(slot + 1, expected)]


def test_refusals_of_the_public_side_are_not_counted(make_world: MakeWorld) -> None:
    world = make_world(public_boards=True)
    rates = world.asgi.services.metrics.request_rates
    world.run(_wait_for_counts(rates))
    for path in ("/api/public/v1/boards/nothing", "/api/public/v1/nothing", "/api/v1/nothing"):
        assert world.get(path, by=None).status in (401, 404)
    counts = world.run(_wait_for_counts(rates))
    assert (counts.requests, counts.refused) == (3, 1)


async def _wait_for_counts(rates: RequestRates) -> RequestCounts:
    """Wait until the present second is over, and take the counts."""
    await asyncio.sleep(1.01)
    return rates.take_unsaved()


def test_refused_requests_are_counted_by_minute(world: World) -> None:
    rates = world.asgi.services.metrics.request_rates
    rates.count(refused=True)
    rates.count()
    counts = rates.sum_last(0)
    assert counts.refused == 0
    world.run(activity.save_requests(world.keeper.store, 5, 1, 3))
    world.run(activity.save_requests(world.keeper.store, 5, 1, 4))
    assert world.sql("SELECT SUM(refused) FROM activity_minutes")[0][0] == 7


def spoil_yesterday(world: World, quantity: int) -> int:
    """Give coins yesterday and today, and change the total of yesterday; return yesterday's number."""
    give(world, "Bob", 5)
    world.sql("UPDATE ledger SET at = at - $1", 2 * DAY_MS)
    catch_up(world)
    give(world, "Bob", 7)
    world.sql("UPDATE ledger SET at = at - $1 WHERE seq = $2", DAY_MS, world.ledger()[-1].seq)
    catch_up(world)
    give(world, "Bob", 9)
    catch_up(world)
    yesterday = world.run(_read_now(world)) // DAY_MS - 1
    world.sql("UPDATE item_days SET quantity = quantity + $1 WHERE day = $2", quantity, yesterday)
    world.sql("UPDATE rollups SET position = $1 WHERE name = 'conservation'", yesterday)
    return yesterday


@pytest.mark.parametrize("missing", [0, 12, -3])
def test_total_that_does_not_follow_from_the_flows_raises_a_signal(world: World, missing: int) -> None:
    yesterday = spoil_yesterday(world, missing)
    signals = check(world)
    if not missing:
        assert signals == []
    else:
        (found,) = signals
        assert (found["Rule"], found["ItemId"], found["Evidence"]["Amount"]) == ("conservation", COIN.id, missing)
    assert check(world) == signals
    assert world.sql("SELECT position FROM rollups WHERE name = 'conservation'") == [(yesterday + 1,)]


def test_change_that_takes_more_than_a_player_had_raises_a_signal(world: World) -> None:
    catch_up(world)
    world.sql("UPDATE holdings SET quantity = 1 WHERE player_id = $1 AND thing_id = $2", ANN.id, COIN.id)
    give(world, "Ann", 5, what="take")
    catch_up(world)
    (found,) = list_signals(world)
    assert (found["Rule"], found["Player"], found["Evidence"]["Amount"]) == ("conservation", "Ann", -4)
    assert [each["Seq"] for each in world.get(f"{ROOT}/{found['Id']}").json["Changes"]]


def test_instances_that_examine_together_raise_one_signal(world: World) -> None:
    game_server.heartbeat(world, "one")
    game_server.lapse(world, "one")
    wait(world, 60)
    fill_refusals(world, 1, 1_000)

    async def run_together() -> None:
        every = [
            signal_checks.SignalChecks(world.keeper.store, world.keeper.changes.codec, limits)
            for limits in [vars(world.keeper.signal_checks)["_limits"]] * 3
        ]
        await asyncio.gather(*(each.run() for each in every))

    world.run(run_together())
    assert sorted(each["Rule"] for each in list_signals(world)) == ["refusals", "silent"]
    assert [each["Times"] for each in list_signals(world)] == [1, 1]


def test_metrics_count_signals_by_rule(make_world: MakeWorld) -> None:
    world = make_world(metrics_token="a" * 32, signals="gift=100,supply=off")
    give(world, "Bob", 500)
    catch_up(world)
    signal = list_signals(world)[0]["Id"]
    headers = {"Authorization": f"Bearer {'a' * 32}"}
    text = world.get("/metrics", by=None, headers=headers).raw.decode()
    assert 'gamekeeper_signals_open{rule="gift"} 1\n' in text
    assert 'gamekeeper_signals_raised_total{rule="silent"} 0\n' in text
    assert world.post(f"{ROOT}/{signal}/acknowledge", {}).status == 200
    text = world.get("/metrics", by=None, headers=headers).raw.decode()
    assert 'gamekeeper_signals_open{rule="gift"} 0\n' in text
    assert 'gamekeeper_signals_raised_total{rule="gift"} 1\n' in text
