"""Signals: what the rules over changes find and what not, and how they are listed and acknowledged."""

import pytest

import api_keys
import bulking
import game_server
import staff
from economics import catch_up, give, load_players
from expectations import refused
from gamekeeper import settings
from gamekeeper.game import signals
from gamekeeper.game.signal_rules import parse_limits
from listings import MakeWorld
from people import ANN, ARROW, BOB, COIN, NOBODY_ID, USER_IDS, ZOE
from signalling import ROOT, age_ledger, list_rules, list_signals, report


def test_player_who_gains_more_than_the_limit_in_an_hour_raises_one_signal(make_world: MakeWorld) -> None:
    world = make_world(signals="gain=1000,supply=off")
    report(world, 600)
    assert list_rules(world) == []
    report(world, 1_200)
    report(world, 1_300)
    catch_up(world)
    (found,) = list_signals(world)
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


def test_evidence_has_the_largest_changes_of_the_hour_and_the_number_of_others(make_world: MakeWorld) -> None:
    """A change of 5 is below a hundredth of the limit and is not added up. A loss is."""
    world = make_world(signals="gain=1000,gift=off")
    catch_up(world)  # Ann has 1,250 coins
    quantity = 0
    for gain in (5, 400, -300, *[40] * 18, 70, 60, 50, 3_000, 20):
        quantity += gain
        report(world, quantity)
    catch_up(world)
    gain, supply = (
        world.get(f"{ROOT}/{each['Id']}").json for each in sorted(list_signals(world), key=lambda each: each["Rule"])
    )
    expected = [400, -300, *[40] * 14, 70, 60, 50, 3_000]
    assert ([each["Amount"] for each in gain["Changes"]], gain["MoreChanges"]) == (expected, 5)
    assert gain["Evidence"]["Amount"] == 4_020
    expected = [400, *[40] * 15, 70, 60, 50, 3_000]
    assert ([each["Amount"] for each in supply["Changes"]], supply["MoreChanges"]) == (expected, 5)
    numbers = [each["Seq"] for each in gain["Changes"]]
    assert numbers == sorted(numbers)


def test_gain_is_what_a_player_has_more_in_the_end_of_an_hour(make_world: MakeWorld) -> None:
    world = make_world(signals="gain=1000,supply=off")
    for quantity in (900, 0, 900, 0, 900):
        report(world, quantity)
    assert list_rules(world) == []
    age_ledger(world)
    report(world, 1_800)
    assert list_rules(world) == []
    report(world, 2_000)
    assert list_rules(world) == ["gain"]


def test_gain_below_a_hundredth_of_all_is_no_signal(make_world: MakeWorld) -> None:
    world = make_world(signals="gain=1000,gift=off,supply=off")
    give(world, "Zoe", 1_000_000)
    catch_up(world)
    report(world, 9_000)
    assert list_rules(world) == []
    report(world, 11_000)
    assert list_rules(world) == ["gain"]


def test_supply_that_grows_by_more_than_the_factor_raises_a_signal(make_world: MakeWorld) -> None:
    world = make_world(signals="gain=off,gift=off")
    catch_up(world)  # Ann has 1,250 coins
    report(world, 2_500)
    assert list_rules(world) == []
    report(world, 2_501)
    assert list_rules(world) == ["supply"]
    (found,) = list_signals(world)
    assert (found["ItemId"], found["PlayerId"]) == (COIN.id, None)
    evidence = found["Evidence"]
    assert (evidence["Before"], evidence["After"], evidence["Limit"]) == (1_250, 3_751, 3)
    age_ledger(world)
    report(world, 9_000)  # the supply that grew hours ago is the usual one
    assert list_rules(world) == ["supply"]


def test_rules_find_the_same_however_many_changes_are_counted_at_once(make_world: MakeWorld) -> None:
    """A gain that is given back in the same batch is found too."""
    world = make_world(signals="gain=1000")
    catch_up(world)
    report(world, 9_000)
    report(world, 0)
    assert sorted(list_rules(world)) == ["gain", "supply"]


def test_gift_above_the_limit_names_its_giver(make_world: MakeWorld) -> None:
    world = make_world(signals="gift=1000,supply=off")
    give(world, "Bob", 1_000)
    assert list_rules(world) == []
    give(world, "Bob", 1_001)
    give(world, "Ann", 5_000)
    catch_up(world)
    (found,) = list_signals(world)
    assert (found["Rule"], found["Giver"], found["GiverId"], found["Times"]) == ("gift", "Shop", USER_IDS["Shop"], 2)
    assert [each["Player"] for each in world.get(f"{ROOT}/{found['Id']}").json["Changes"]] == ["Bob", "Ann"]


def test_bulk_job_counts_as_one_gift_to_all_its_players(make_world: MakeWorld) -> None:
    world = make_world(signals="gift=1000,supply=off")
    bulking.run(world, "Ann", "Bob", "Zoe", Quantity=300)
    assert list_rules(world) == []
    job = bulking.run(world, "Ann", "Bob", "Zoe", Quantity=400)
    catch_up(world)
    (found,) = list_signals(world)
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
    catch_up(world)
    (found,) = list_signals(world)
    answer = world.post(f"{ROOT}/{found['Id']}/acknowledge", {"Note": " An event. "})
    assert answer.status == 200
    assert (answer.json["State"], answer.json["AcknowledgedBy"], answer.json["Note"]) == (
        "acknowledged",
        "Root",
        "An event.",
    )
    assert world.get(f"{ROOT}/{found['Id']}").json["AcknowledgedAt"] == answer.json["AcknowledgedAt"]
    assert world.post(f"{ROOT}/{found['Id']}/acknowledge", {"Note": "Again."}).json["Note"] == "An event."
    raised, done = world.ledger()[-2:]
    assert [(each.kind, each.player_id, each.user_id) for each in (raised, done)] == [
        ("signal_raised", None, USER_IDS["Bob"]),
        ("signal_acknowledged", None, USER_IDS["Bob"]),
    ]
    game_server.heartbeat(world, "one")
    (entry,) = world.get("/api/keeper/v1/changes?kind=signal_raised").json["Changes"]
    assert (entry["After"]["SignalId"], entry["Deliveries"]) == (found["Id"], [])  # no game server does anything
    told = world.get(f"/api/link/v1/changes?after={cursor}", by="Server").json["Changes"]
    assert [(each["Kind"], each["PlayerId"]) for each in told] == [
        ("signal_raised", None),
        ("signal_acknowledged", None),
    ]
    assert told[0]["After"] == {
        "SignalId": found["Id"],
        "Rule": "gain",
        "PlayerId": BOB.id,
        "ItemId": COIN.id,
        "Server": None,
    }
    assert (list_rules(world, "?state=open"), list_rules(world, "?state=acknowledged")) == ([], ["gain"])
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
    assert [each.kind for each in world.ledger()].count("signal_raised") == 2
    assert world.sql("SELECT raised, opened FROM signal_counts") == [(2, 2 if state == "open" else 1)]


def test_signals_are_filtered_and_paged(make_world: MakeWorld) -> None:
    world = make_world(signals="gift=10,gain=10,supply=off")
    for name in ("Bob", "Ann", "Zoe"):
        give(world, name, 50, ARROW.id, by="Root")
        catch_up(world)
    for player in (BOB, ZOE):
        report(world, 500, player.id)
    assert list_rules(world) == ["gain", "gain", "gift"]
    assert list_rules(world, "?rule=gain") == ["gain", "gain"]
    assert list_rules(world, "?rule=gift&state=open") == ["gift"]
    page = world.get(f"{ROOT}?limit=2").json
    assert len(page["Signals"]) == 2
    rest = world.get(f"{ROOT}?limit=2&before={page['Next']}").json
    assert ([each["Rule"] for each in rest["Signals"]], rest["Next"]) == (["gift"], None)
    refused(world.get(f"{ROOT}?rule=nothing"), 400, "bad_field")
    refused(world.get(f"{ROOT}/{NOBODY_ID}"), 404, "no_such_signal")
    refused(world.post(f"{ROOT}/{NOBODY_ID}/acknowledge", {}), 404, "no_such_signal")


def test_rule_that_finds_very_much_fills_one_more_signal(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals, "MOST_OPEN", 2)
    world = make_world(signals="gain=10,supply=off")
    for player in (BOB, ZOE, ANN):
        report(world, 500, player.id)
    report(world, 90, ANN.id, ARROW.id, slot=21)
    catch_up(world)
    assert [(each["Player"], each["Times"]) for each in list_signals(world)].count((None, 2)) == 1
    assert len(list_signals(world)) == 3
    age_ledger(world)
    report(world, 1_000, ANN.id)  # while it is open, it takes in everything
    catch_up(world)
    assert [(each["Player"], each["Times"]) for each in list_signals(world)].count((None, 3)) == 1
    assert len(list_signals(world)) == 3


def test_old_changes_raise_nothing(make_world: MakeWorld) -> None:
    world = make_world(signals="gain=1000")
    report(world, 5_000)
    world.sql("UPDATE ledger SET at = at - $1", signals.MOST_AGE_MS + 1_000)
    assert list_rules(world) == []


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


def test_rules_that_are_off_find_nothing_and_first_pieces_are_no_signal(make_world: MakeWorld) -> None:
    world = make_world()
    catch_up(world)
    report(world, 80, item_id=ARROW.id, slot=21)
    assert list_rules(world) == []
    world = make_world(signals="gain=off,gift=off,supply=off")
    report(world, 500_000)
    give(world, "Ann", 500_000)
    assert list_rules(world) == []


def test_setting_changes_the_named_rules_and_a_wrong_one_is_refused_with_the_reason() -> None:
    limits = parse_limits(" gain = 50000, bag=OFF ,")
    assert (limits.gain, limits.bag, limits.supply, limits.conservation) == (50_000, None, 3, 1)
    for text, problem in (
        ("nothing=3", "the rules are supply"),
        ("gain=many", "must be a number from 1"),
        ("supply=1", "must be a number from 2"),
        ("bag=3", "on or off"),
        ("gift=1,gift=2", "twice"),
        ("gain", "must be a number"),
    ):
        with pytest.raises(settings.BadSetting, match=problem):
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
    assert sorted(str(each["AcknowledgedBy"]) for each in listed) == ["Auditor", "None"]
    assert {each["Giver"] for each in list_signals(world)} == {"Shop", "bot"}
