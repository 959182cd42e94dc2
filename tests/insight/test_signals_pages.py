"""The console's pages of signals: list, evidence, links, and acknowledging."""

from economics import catch_up, give
from gamekeeper.console.audit import change_lines
from gamekeeper.console.insight import signals as page_texts
from gamekeeper.game.insight.signals import RULES
from keepers import open_session, open_staff
from people import BOB, COIN
from signalling import find_signal, report
from world import MakeWorld

PAGE = "/console/signals"


def test_signal_is_listed_shown_with_its_evidence_and_acknowledged(make_world: MakeWorld) -> None:
    world = make_world(signals="gain=1000,supply=off")
    root = open_session(world, "Root")
    catch_up(world)
    report(world, 5_000)
    signal = find_signal(world)["Id"]
    listed = root.page(PAGE)
    assert "Bob got 5,000 of Gold Coin within an hour. The limit is 1,000." in listed.text
    assert listed.links["One player got very much"] == f"{PAGE}/{signal}"
    shown = root.page(f"{PAGE}/{signal}").links
    seq = next(each.seq for each in reversed(world.ledger()) if each.over_link)
    assert shown["Bob"] == f"/console/players/{BOB.id}"
    assert shown["Gold Coin"] == f"/console/items/{COIN.id}"
    assert shown[str(seq)] == f"/console/changes/{seq}"
    assert root.act("POST", f"/api/keeper/v1/signals/{signal}/acknowledge", {"Note": "An event."}).status == 303
    assert "Nothing unusual." in root.page(PAGE).text
    root.page(f"{PAGE}/{signal}").assert_shown("Acknowledged by Root", ": An event.")


def test_auditor_without_accounts_sees_no_names_of_them(make_world: MakeWorld) -> None:
    world = make_world(signals="gift=1000,supply=off")
    give(world, "Bob", 2_000)
    signal = find_signal(world)["Id"]
    assert world.post(f"/api/keeper/v1/signals/{signal}/acknowledge", {}).status == 200
    auditor = open_staff(world, ["audit.read"])
    shown = auditor.page(f"{PAGE}/{signal}")
    shown.assert_shown("An account or API key gave 2,000 of Gold Coin.", "Acknowledged by an account")
    for text in (shown.text, auditor.page(f"{PAGE}?state=all").text):
        assert not {"Shop", "Root"} & set(text.replace(",", " ").split())


def test_every_rule_has_its_texts() -> None:
    for texts in (page_texts.SIGNAL_TITLES(), page_texts.ADVICE(), change_lines.SIGNAL_SENTENCES()):
        assert texts.keys() == RULES.keys()
