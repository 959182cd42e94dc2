"""Past states of a player in the console, and the comparison of two moments."""

from urllib.parse import quote

import pytest
from keepers import Keeper, open_staff
from player_pages import ANN, GIVE, OPERATIONS, SLOTS, list_paths

import people
from gamekeeper.console import past_equipment
from gamekeeper.http.instants import format_instant
from world import World


def test_two_moments_are_compared_with_signs(root: Keeper, world: World) -> None:
    before = world.ledger()[-1].seq
    world.post(GIVE, {"itemid": people.ARROW.id, "quantity": 45})
    world.post(f"{SLOTS}/set", {"Container": "bank", "Slot": 0, "ItemId": people.COIN.id, "Quantity": 400})
    move = {"Container": "inventory", "Slot": 2, "ItemId": people.SWORD.id, "ToContainer": "bank", "ToSlot": 9}
    world.post(f"{SLOTS}/move", move)
    world.post(f"{OPERATIONS}/spells/forget", {"spellid": people.FIREBALL.id})
    world.post(f"{OPERATIONS}/variables/{people.KILLS.id}", {"value": 99})
    page = root.page(f"{ANN}?at={before}&against=now")
    for seen in (
        f"State after change {before} compared with the current state",
        "Arrow 67 112 +45",
        "Gold Coin 1,250 650 −600",  # noqa: RUF001 - the text of the page
        "Weapon Sword — changed",
        "Fireball known — changed",
        "Kills 7 99 changed",
        "1 60 Ar Arrow",
        "1 100 Ar +40 Arrow",
        "0 1,000 GC −600 Gold Coin",  # noqa: RUF001 - the text of the page
        "2 weapon Sw −1 Sword",  # noqa: RUF001 - the text of the page
        "9 1 Sw +1 Sword",
    ):
        assert seen in page.text, seen
    assert "Sword 1 1" not in page.text  # a move changes no total
    assert list_paths(page) == set()
    back = root.page(f"{ANN}?at=now&against={before}")
    assert "Arrow 112 67 −45" in back.text  # noqa: RUF001 - the text of the page
    assert "Fireball — known changed" in back.text
    same = root.page(f"{ANN}?at={before}&against={before}")
    assert "The player had the same items, equipment, spells and variables at both moments." in same.text


def test_equipment_of_past_moments_is_marked(root: Keeper, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    sword, arrows = {"Slot": 2, "ItemId": people.SWORD.id}, {"Slot": 1, "ItemId": people.ARROW.id, "Place": "shield"}
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 7})
    first = world.ledger()[-1].seq  # the sword is the weapon
    world.post(f"{SLOTS}/equip", arrows)
    both = world.ledger()[-1].seq
    world.post(f"{SLOTS}/unequip", sword)
    world.post(f"{SLOTS}/unequip", {"Slot": 1, "ItemId": people.ARROW.id})
    world.post(f"{SLOTS}/set", {"Container": "inventory", "Slot": 1, "ItemId": people.ARROW.id, "Quantity": 50})
    for at, seen in (
        (first, ["1 60 Ar Arrow", "2 weapon Sw Sword"]),
        (both, ["1 shield Ar Arrow", "2 weapon Sw Sword"]),
        ("now", ["1 50 Ar Arrow", "2 1 Sw Sword"]),
    ):
        text = root.page(f"{ANN}?at={at}").text
        for each in seen:
            assert each in text, (at, each)
    compared = root.page(f"{ANN}?at={both}&against=now").text
    for each in ("1 shield Ar −10 Arrow", "2 weapon Sw Sword", "1 50 Ar Arrow", "2 1 Sw Sword"):  # noqa: RUF001 - the text of the page
        assert each in compared, each
    assert "What was equipped then is not known" not in compared
    for at, against, line in (
        (both, "now", "Weapon Sword — changed Shield Arrow — changed"),
        ("now", first, "Weapon — Sword changed"),
    ):
        assert line in root.page(f"{ANN}?at={at}&against={against}").text, line
    assert "Weapon Sword" not in root.page(f"{ANN}?at={first}&against={both}").text
    # the second later change tells it, so a search of one change does not
    monkeypatch.setattr(past_equipment, "WINDOW_ROWS", 1)
    monkeypatch.setattr(past_equipment, "MOST_WINDOWS", 1)
    unknown = root.page(f"{ANN}?at={first - 1}").text
    assert "What was equipped then is not known" in unknown
    unsure = root.page(f"{ANN}?at={first - 1}&against={first - 1}").text
    assert "at both moments. It is not known whether the equipment was the same." in unsure
    assert "2 1 Sw Sword" in unknown
    assert "2 weapon Sw Sword" in root.page(f"{ANN}?at={first}").text


def test_past_state_needs_the_audit_log_and_offers_no_actions(world: World, root: Keeper) -> None:
    session = open_staff(world, "moderator", "Mod")
    assert session.get(f"{ANN}?against=now").status == 403
    assert "Time travel" not in session.page(ANN).text
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 7})
    made, *_, given = [each for each in world.ledger() if each.player_id == people.ANN.id]
    world.sql("UPDATE ledger SET at = at + 3600000 WHERE seq = $1 RETURNING seq", given.seq)
    page = root.page(f"{ANN}?at={quote(format_instant(made.at + 1_000))}")
    assert "250 GC Gold Coin" in page.text
    assert list_paths(page) == set()
