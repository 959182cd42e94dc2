"""The console's pages of signals: list, evidence, links, acknowledging, and the number on the home page."""

import pytest
from keepers import Keeper, open_session

import game_server
import staff
from economics import catch_up, give
from gamekeeper.console import signals as page_texts
from gamekeeper.game.signal_rules import RULES
from gamekeeper.store import users
from listings import MakeWorld
from people import ANN, BOB, COIN, NOBODY_ID, USER_IDS, ZOE
from signalling import list_signals, report
from world import World

PAGE = "/console/signals"


def sign_in(world: World, name: str = "Root") -> Keeper:
    found = Keeper(world)
    assert found.sign_in(name).status == 303
    return found


def test_signal_is_listed_shown_with_its_evidence_and_acknowledged(make_world: MakeWorld) -> None:
    world = make_world(signals="gain=1000,supply=off")
    root = sign_in(world)
    assert "Nothing unusual." in root.page(PAGE).text
    catch_up(world)
    report(world, 5_000)
    catch_up(world)
    signal = list_signals(world)[0]["Id"]
    listed = root.page(PAGE)
    assert "Bob got 5,000 of Gold Coin within an hour. The limit is 1,000." in listed.text
    assert listed.links["One player got very much"] == f"{PAGE}/{signal}"
    shown = root.page(f"{PAGE}/{signal}")
    seq = next(each.seq for each in reversed(world.ledger()) if each.over_link)
    assert shown.links["Bob"] == f"/console/players/{BOB.id}"
    assert shown.links["Gold Coin"] == f"/console/items/{COIN.id}"
    assert shown.links[str(seq)] == f"/console/changes/{seq}"
    assert "In circulation after 6,250" in shown.text
    done = root.act(
        "POST", f"/api/keeper/v1/signals/{signal}/acknowledge", {"Note": "An event."}, reason="looked at it"
    )
    assert done.status == 303, done.raw
    assert "Nothing unusual." in root.page(PAGE).text
    assert "Bob got 5,000" in root.page(f"{PAGE}?state=acknowledged&rule=gain").text
    assert "No signals of this state and rule." in root.page(f"{PAGE}?state=all&rule=supply").text
    shown = root.page(f"{PAGE}/{signal}")
    assert "Acknowledged by Root" in shown.text
    assert ": An event." in shown.text
    changes = root.page("/console/changes").text
    assert "Signal acknowledged" in changes
    assert "by Gamekeeper" in changes
    assert "Rule — One player got very much Item — Gold Coin" in changes  # words, and no ids


def test_gift_links_to_its_giver_and_silent_server_is_named(make_world: MakeWorld) -> None:
    world = make_world(signals="gift=1000,supply=off")
    root = sign_in(world)
    give(world, "Bob", 2_000)
    catch_up(world)
    game_server.heartbeat(world, "realm")
    game_server.lapse(world, "realm")
    world.sql("UPDATE signal_checks SET at = at - 600000")
    world.run(world.keeper.signal_checks.run())
    text = root.page(PAGE).text
    assert "Shop gave 2,000 of Gold Coin. The limit is 1,000." in text
    assert "The game server realm has sent nothing since its lease ended." in text
    gift = next(each["Id"] for each in list_signals(world) if each["Rule"] == "gift")
    assert root.page(f"{PAGE}/{gift}").links["Shop"] == f"/console/accounts/{USER_IDS['Shop']}"


def test_auditor_without_accounts_sees_no_names_of_them(make_world: MakeWorld) -> None:
    world = make_world(signals="gift=1000,supply=off")
    give(world, "Bob", 2_000)
    catch_up(world)
    signal = list_signals(world)[0]["Id"]
    assert world.post(f"/api/keeper/v1/signals/{signal}/acknowledge", {}).status == 200
    staff.save_role(world, "auditor", ["audit.read"])
    staff.add_account(world, "Staff", "auditor")
    user = world.run(users.find_by_fold(world.keeper.store, "staff"))
    assert user
    auditor = open_session(world, user.name, user.id)
    shown = auditor.page(f"{PAGE}/{signal}").text
    assert "An account or API key gave 2,000 of Gold Coin." in shown
    assert "Acknowledged by an account" in shown
    for text in (shown, auditor.page(f"{PAGE}?state=all").text):
        assert not {"Shop", "Root"} & set(text.replace(",", " ").split())


def test_home_page_counts_open_signals(make_world: MakeWorld) -> None:
    world = make_world(signals="gift=1000,supply=off")
    root = sign_in(world)
    assert "Open signals 0" in root.page("/console").text
    give(world, "Bob", 2_000)
    catch_up(world)
    assert "Open signals 1" in root.page("/console").text


def test_changes_name_the_signal_and_lead_to_it(make_world: MakeWorld) -> None:
    """Zoe is a player of the account Ann: the lines are about the player. No game server has applied anything."""
    world = make_world(signals="gain=1000,gift=1000,supply=off")
    game_server.heartbeat(world, "realm")
    root = sign_in(world)
    give(world, "Bob", 2_000)
    catch_up(world)
    report(world, 5_000, ZOE.id)
    catch_up(world)
    signal, seq = list_signals(world, "?rule=gain")[0]["Id"], world.ledger()[-1].seq
    game_server.heartbeat(world, "realm", AppliedSeq=seq)
    text, title = "Zoe got 5,000 of Gold Coin within an hour. The limit is 1,000.", "One player got very much"
    home, listed, change = (
        root.page(each) for each in ("/console", "/console/changes?kind=signal_raised", f"/console/changes/{seq}")
    )
    assert f"{seq} Signal raised {title} Zoe {text} by Gamekeeper" in home.text
    assert f"{seq} Signal raised {title} Zoe by Gamekeeper" in listed.text
    assert f"Change {seq}: Signal raised, {title}" in change.text
    assert "Made by Gamekeeper" in change.text
    assert "Other changes of the same request" not in change.text
    for page in (home, listed, change):
        assert text in page.text
        assert page.links[title] == f"{PAGE}/{signal}"
        assert page.links["Zoe"] == f"/console/players/{ZOE.id}"
        assert "realm" not in page.text.partition("Latest changes")[2]
    history = root.page(f"/console/accounts/{USER_IDS['Ann']}")
    assert history.links[title] == f"{PAGE}/{signal}"
    world.sql("DELETE FROM signals")  # as after a year
    for path in ("/console/changes?kind=signal_raised", f"/console/changes/{seq}"):
        page = root.page(path)
        assert title not in page.links
        assert f"Rule — {title}" in page.text


def test_home_page_folds_signals_of_one_rule(make_world: MakeWorld) -> None:
    world = make_world(signals="gain=1000,gift=1000,supply=off")
    root = sign_in(world)
    for player in (ANN, BOB, ZOE):
        report(world, 5_000, player.id)
    give(world, "Bob", 2_000)
    catch_up(world)
    home = root.page("/console").text
    assert "Signal raised One player got very much: 3 signals by Gamekeeper" in home
    assert "Signal raised Large gift Shop gave 2,000 of Gold Coin." in home


def test_evidence_says_how_many_more_changes_there_are(make_world: MakeWorld) -> None:
    world = make_world(signals="gain=1000,supply=off")
    root = sign_in(world)
    for step in range(1, 23):
        report(world, 60 * step)
    catch_up(world)
    shown = root.page(f"{PAGE}/{list_signals(world)[0]['Id']}")
    assert "The largest changes that add up to the finding. There are 2 more." in shown.text


def test_every_rule_has_its_texts() -> None:
    assert page_texts.SIGNAL_TITLES().keys() == page_texts.ADVICE().keys() == RULES.keys()
    assert page_texts.SENTENCES().keys() == RULES.keys()


@pytest.mark.parametrize("path", [NOBODY_ID, "nothing"])
def test_unknown_signal_has_no_page(world: World, root: Keeper, path: str) -> None:
    assert root.get(f"{PAGE}/{path}").status == 404
    assert world.ledger()
