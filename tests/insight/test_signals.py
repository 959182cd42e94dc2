"""Signals: what the rules find and what not, and how signals are listed and acknowledged."""

import asyncio
from typing import Any

import pytest

import api_keys
import bulking
import staff
from economics import catch_up, give, load_players
from expectations import refused
from game_server import LINK, heartbeat, lapse, put_player, stack
from gamekeeper.game.insight import signal_watch
from gamekeeper.game.insight.signal_watch import BAG_MINUTES, DAY_SLOTS, MINUTE_MS, SLOT_MINUTES
from gamekeeper.game.insight.signals import parse_limits
from gamekeeper.ground import settings
from gamekeeper.ground.instants import DAY_MS
from people import ANN, ANNS_POUCH, ARROW, BOB, COIN, POUCH, USER_IDS
from reports import bag
from signalling import ROOT, age_ledger, find_signal, list_rules, list_signals, report
from world import MakeWorld, World


def test_player_who_gains_more_than_the_limit_in_an_hour_raises_one_signal(make_world: MakeWorld) -> None:
    world = make_world(signals="gain=1000,supply=off")
    report(world, 600)
    assert list_rules(world) == []
    report(world, 1_200)
    report(world, 1_300)
    found = find_signal(world)
    assert (found["Rule"], found["State"], found["Times"]) == ("gain", "open", 2)
    assert (found["PlayerId"], found["Player"], found["Item"]) == (BOB.id, "Bob", "Gold Coin")
    assert (found["Evidence"]["Limit"], found["Evidence"]["Amount"]) == (1_000, 1_300)
    details = world.get(f"{ROOT}/{found['Id']}").json
    numbers = [each.seq for each in world.ledger() if each.over_link][-3:]
    assert [(each["Seq"], each["Amount"], each["Player"]) for each in details["Changes"]] == [
        (numbers[0], 600, "Bob"),  # it was below the limit, but part of the gain
        (numbers[1], 600, "Bob"),
        (numbers[2], 100, "Bob"),
    ]
    assert details["MoreChanges"] == 0


AGE = -1  # instead of a quantity: what was reported gets two hours old
STEPS: dict[str, tuple[str, list[tuple[int, list[str]]]]] = {
    "gain within an hour": (
        "gain=1000,supply=off",
        [(900, []), (0, []), (900, []), (0, []), (900, []), (AGE, []), (1_800, []), (2_000, ["gain"])],
    ),
    # Ann has 1,250 coins. The supply that grew hours ago is the usual one
    "supply": ("gain=off", [(0, []), (2_500, []), (2_501, ["supply"]), (AGE, ["supply"]), (9_000, ["supply"])]),
    "off": ("gain=off,gift=off,supply=off", [(500_000, [])]),
}


@pytest.mark.parametrize("case", STEPS)
def test_rule_finds_what_passes_its_limit_within_an_hour(make_world: MakeWorld, case: str) -> None:
    setting, steps = STEPS[case]
    world = make_world(signals=setting)
    for quantity, found in steps:
        if quantity == AGE:
            age_ledger(world)
        else:
            report(world, quantity)
        assert list_rules(world) == found
    assert all((each["ItemId"], each["PlayerId"]) == (COIN.id, None) for each in list_signals(world, "?rule=supply"))


def test_gift_above_the_limit_names_its_giver(make_world: MakeWorld) -> None:
    world = make_world(signals="gift=1000,supply=off")
    give(world, "Bob", 1_000)
    assert list_rules(world) == []
    give(world, "Bob", 1_001)
    give(world, "Ann", 5_000)
    found = find_signal(world)
    assert (found["Rule"], found["Giver"], found["GiverId"], found["Times"]) == ("gift", "Shop", USER_IDS["Shop"], 2)
    assert [each["Player"] for each in world.get(f"{ROOT}/{found['Id']}").json["Changes"]] == ["Bob", "Ann"]


def test_bulk_job_counts_as_one_gift_to_all_its_players(make_world: MakeWorld) -> None:
    world = make_world(signals="gift=1000,supply=off")
    bulking.run(world, "Ann", "Bob", "Zoe", Quantity=300)
    assert list_rules(world) == []
    job = bulking.run(world, "Ann", "Bob", "Zoe", Quantity=400)
    found = find_signal(world)
    assert (found["Giver"], found["Times"], found["Evidence"]["Amount"]) == ("Root", 3, 1_200)
    assert found["Evidence"]["JobId"] == job["Id"]


def test_loads_undos_and_new_players_are_no_gains(make_world: MakeWorld) -> None:
    world = make_world(signals="gain=100,gift=500")
    catch_up(world)
    load_players(world, 60)
    catch_up(world)
    for _ in range(3):
        give(world, "Zoe", 400, by="Root")
    give(world, "Zoe", 1_000, what="take")
    taken = world.ledger()[-1].seq
    assert world.post(f"/api/keeper/v1/changes/{taken}/undo").status == 200
    assert list_rules(world) == []


def test_signal_is_acknowledged_with_a_note_in_the_audit_log_and_the_feed(make_world: MakeWorld) -> None:
    world = make_world(signals="gain=1000,supply=off")
    cursor = world.get("/api/link/v1/changes?after=now", by="Server").json["Next"]
    report(world, 5_000)
    found = find_signal(world)
    for note in ("An event.", "Again."):
        done = world.post(f"{ROOT}/{found['Id']}/acknowledge", {"Note": f" {note} "}).json
        assert (done["State"], done["AcknowledgedBy"], done["Note"]) == ("acknowledged", "Root", "An event.")
    assert world.get(f"{ROOT}/{found['Id']}").json["AcknowledgedAt"] == done["AcknowledgedAt"]
    kinds = ["signal_raised", "signal_acknowledged"]
    assert [(each.kind, each.player_id, each.user_id) for each in world.ledger()[-2:]] == [
        (kind, None, USER_IDS["Bob"]) for kind in kinds
    ]
    heartbeat(world, "one")
    (entry,) = world.get("/api/keeper/v1/changes?kind=signal_raised").json["Changes"]
    assert (entry["After"]["SignalId"], entry["Deliveries"]) == (found["Id"], [])  # no game server does anything
    told = world.get(f"/api/link/v1/changes?after={cursor}", by="Server").json["Changes"]
    assert [(each["Kind"], each["PlayerId"]) for each in told] == [(kind, None) for kind in kinds]
    subject = {"PlayerId": BOB.id, "ItemId": COIN.id, "Server": None}
    assert told[0]["After"] == {"SignalId": found["Id"], "Rule": "gain", **subject}
    assert (list_rules(world, "?state=open"), list_rules(world, "?state=acknowledged&rule=gain")) == ([], ["gain"])
    assert world.sql("SELECT raised, opened FROM signal_counts") == [(1, 0)]


@pytest.mark.parametrize("state", ["open", "acknowledged"])
def test_signal_takes_in_what_goes_on_and_after_a_quiet_hour_there_is_a_new_one(
    make_world: MakeWorld, state: str
) -> None:
    world = make_world(signals="gift=1000,supply=off")
    give(world, "Bob", 2_000)
    catch_up(world)
    first = list_signals(world)[0]["Id"]
    if state == "acknowledged":
        assert world.post(f"{ROOT}/{first}/acknowledge", {}).status == 200
    give(world, "Bob", 3_000)
    catch_up(world)
    assert [(each["State"], each["Times"]) for each in list_signals(world)] == [(state, 2)]
    age_ledger(world)
    give(world, "Bob", 4_000)
    catch_up(world)
    assert [(each["State"], each["Times"]) for each in list_signals(world)] == [("open", 1), (state, 2)]
    page = world.get(f"{ROOT}?limit=1").json
    assert [each["Id"] for each in world.get(f"{ROOT}?limit=1&before={page['Next']}").json["Signals"]] == [first]
    assert [each.kind for each in world.ledger()].count("signal_raised") == 2
    assert world.sql("SELECT raised, opened FROM signal_counts") == [(2, 2 if state == "open" else 1)]


def test_erased_person_is_in_no_signal(make_world: MakeWorld) -> None:
    world = make_world(signals="gain=1000,gift=1000,supply=off")
    report(world, 5_000)
    give(world, "Ann", 2_000)
    catch_up(world)
    for each in list_signals(world):
        assert world.post(f"{ROOT}/{each['Id']}/acknowledge", {"Note": "Bob and Shop know why"}).status == 200
    assert world.get("/api/keeper/v1/users/Bob/export").json["signals"][0]["rule"] == "gain"
    for name in ("Bob", "Shop"):
        assert world.call("DELETE", f"/api/v1/users/{name}").status == 200
    stored = repr(world.sql("SELECT * FROM signals")) + repr(world.sql("SELECT * FROM player_gains"))
    for personal in (BOB.id, USER_IDS["Shop"], "know why"):
        assert personal not in stored
    assert "know why" not in repr(world.sql("SELECT after FROM masked_ledger"))
    assert [(each["Player"], each["Giver"], each["Note"]) for each in list_signals(world)] == [(None, None, None)] * 2


def test_person_who_was_erased_before_the_count_is_in_no_signal(make_world: MakeWorld) -> None:
    world = make_world(signals="gain=1000,gift=1000,supply=off")
    catch_up(world)
    report(world, 5_000)
    key = api_keys.create(world, Name="bot", Role="shop", Owner="Shop")
    give(world, "Bob", 2_000)
    give(world, "Bob", 2_000, token=key["Key"])
    for name in ("Shop", "Bob"):
        assert world.call("DELETE", f"/api/v1/users/{name}").status == 200
    assert set(list_rules(world)) == {"gain", "gift"}
    raised = [each for each in world.ledger() if each.kind == "signal_raised"]
    for erased in (key["Id"], USER_IDS["Shop"], USER_IDS["Bob"], BOB.id):
        assert erased not in repr(world.sql("SELECT * FROM signals"))
        assert erased not in repr([(each.user_id, each.after) for each in raised])
    assert {each.user_id for each in raised} == {None}


def test_setting_changes_the_named_rules_and_a_wrong_one_is_refused() -> None:
    limits = parse_limits(" gain = 50000, bag=OFF ,")
    assert (limits.gain, limits.bag, limits.supply, limits.conservation) == (50_000, None, 3, 1)
    for text in ("nothing=3", "gain=many", "supply=1", "bag=3", "gift=1,gift=2", "gain"):
        with pytest.raises(settings.BadSetting):
            parse_limits(text)


def test_names_of_accounts_need_their_permission(make_world: MakeWorld) -> None:
    world = make_world(signals="gift=1000,supply=off")
    staff.save_role(world, "auditor", ["audit.read", "signals.write"])
    auditor = staff.add_account(world, "Auditor", "auditor")
    give(world, "Bob", 2_000)
    give(world, "Bob", 2_000, ARROW.id, by=None, token=api_keys.create(world, Name="bot")["Key"])
    catch_up(world)
    paths = [f"{ROOT}/{each['Id']}" for each in list_signals(world)]
    assert world.post(f"{paths[0]}/acknowledge", {}).json["AcknowledgedBy"] == "Root"
    assert world.post(f"{paths[1]}/acknowledge", {}, token=auditor).json["Giver"] is None
    listed = world.get(ROOT, token=auditor).json["Signals"]
    for each in (*listed, *(world.get(path, token=auditor).json for path in paths)):
        assert each["GiverId"]
        assert (each["Giver"], each["AcknowledgedBy"] in (None, "Auditor")) == (None, True)
    assert {each["Giver"] for each in list_signals(world)} == {"Shop", "bot"}


# --- what a background job finds: silent servers, bags of others, refused requests, sums of days --------------------


def check(world: World) -> list[dict[str, Any]]:
    """Run the background job, and return the signals."""
    world.run(world.keeper.signal_checks.run())
    return list_signals(world)


def wait(world: World, minutes: int) -> None:
    """Make what waits to be examined older."""
    world.sql("UPDATE signal_checks SET at = at - $1", minutes * MINUTE_MS)


def test_silent_game_server_raises_a_signal_after_some_minutes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal_watch, "BATCH_CHECKS", 1)  # one run examines all that is due, in batches
    heartbeat(world, "goodbye")
    assert world.call("DELETE", f"{LINK}/servers/goodbye", by="Server").status == 200
    for name in ("one", "back"):
        heartbeat(world, name)
        assert lapse(world, name) == 1
    heartbeat(world, "back")
    wait(world, 4)
    assert check(world) == []
    wait(world, 1)
    (found,) = check(world)
    assert (found["Rule"], found["Server"], found["Evidence"]["Limit"]) == ("silent", "one", 5)
    assert world.sql("SELECT COUNT(*) FROM signal_checks") == [(0,)]
    assert check(world) == [found]


def test_bag_of_another_player_raises_a_signal_if_it_stays_there(world: World) -> None:
    slots: dict[str, Any] = {"Items": [stack(5, POUCH.id, BagId=ANNS_POUCH)]}
    for body in (slots, slots | {"Bags": [bag(ANNS_POUCH, size=8)]}):  # named in a slot only, and in the list of bags
        assert put_player(world, BOB.id, body).status in (400, 404)
        assert check(world) == []
        wait(world, BAG_MINUTES)
        (found,) = check(world)
        assert (found["Rule"], found["BagId"], found["Player"]) == ("bag", ANNS_POUCH, "Bob")
        world.sql("DELETE FROM signals")


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
    now = world.now() // MINUTE_MS
    slot = (now - 1) // SLOT_MINUTES - 1
    for number in range(DAY_SLOTS + 1):
        refused_now = last if number == 0 else usual
        minute = (slot - number) * SLOT_MINUTES + 3
        world.sql("INSERT INTO activity_minutes (minute, refused) VALUES ($1, $2)", minute, refused_now)
    world.sql("UPDATE rollups SET position = $1, value = $2 WHERE name = 'refusals'", slot, slot - DAY_SLOTS)
    return slot


def test_more_refusals_than_usual_raise_a_signal_when_a_day_is_recorded(world: World) -> None:
    for usual, last, position, since, found in (
        (30, 151, 0, -DAY_SLOTS, True),
        (30, 150, 0, -DAY_SLOTS, False),
        (0, 99, 0, -DAY_SLOTS, False),
        (0, 100, 0, -DAY_SLOTS, True),
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
    for path in ("/api/public/v1/boards/nothing", "/api/public/v1/nothing", "/api/v1/nothing"):
        assert world.get(path, by=None).status in {401, 404}
    world.run(asyncio.sleep(1.01))  # until the present second is over
    counts = rates.take_unsaved()
    assert (counts.requests, counts.refused) == (3, 1)


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
    yesterday = world.now() // DAY_MS - 1
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
    found = find_signal(world)
    assert (found["Rule"], found["Player"], found["Evidence"]["Amount"]) == ("conservation", "Ann", -4)
    assert [each["Seq"] for each in world.get(f"{ROOT}/{found['Id']}").json["Changes"]]


@pytest.mark.both_engines
def test_instances_that_examine_together_raise_one_signal(world: World) -> None:
    heartbeat(world, "one")
    lapse(world, "one")
    wait(world, 60)
    fill_refusals(world, 1, 1_000)
    store, codec, limits = world.keeper.store, world.keeper.changes.codec, vars(world.keeper.signal_checks)["_limits"]
    world.at_once(signal_watch.SignalChecks(store, codec, limits).run() for _ in range(3))
    assert sorted(each["Rule"] for each in list_signals(world)) == ["refusals", "silent"]
    assert [each["Times"] for each in list_signals(world)] == [1, 1]
