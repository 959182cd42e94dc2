"""The console's pages of signals: list, evidence, links, acknowledging, and the number on the home page."""

from keepers import Keeper, open_staff

from economics import catch_up, give
from gamekeeper.console import signals as page_texts
from gamekeeper.game.signal_rules import RULES
from listings import MakeWorld
from people import BOB, COIN
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
    shown.assert_shown("Acknowledged by Root", ": An event.")
    changes = root.page("/console/changes").text
    assert "Signal acknowledged" in changes
    assert "by Gamekeeper" in changes
    assert "Rule — One player got very much Item — Gold Coin" in changes  # words, and no ids


def test_auditor_without_accounts_sees_no_names_of_them(make_world: MakeWorld) -> None:
    world = make_world(signals="gift=1000,supply=off")
    give(world, "Bob", 2_000)
    catch_up(world)
    signal = list_signals(world)[0]["Id"]
    assert world.post(f"/api/keeper/v1/signals/{signal}/acknowledge", {}).status == 200
    auditor = open_staff(world, ["audit.read"])
    shown = auditor.page(f"{PAGE}/{signal}").text
    assert "An account or API key gave 2,000 of Gold Coin." in shown
    assert "Acknowledged by an account" in shown
    for text in (shown, auditor.page(f"{PAGE}?state=all").text):
        assert not {"Shop", "Root"} & set(text.replace(",", " ").split())


def test_every_rule_has_its_texts() -> None:
    assert page_texts.SIGNAL_TITLES().keys() == page_texts.ADVICE().keys() == RULES.keys()
    assert page_texts.SENTENCES().keys() == RULES.keys()
