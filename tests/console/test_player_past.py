"""Past states of a player in the console, and the comparison of two moments."""

from urllib.parse import quote

import pytest
from keepers import Keeper, open_session
from markup import Page
from player_pages import (
    ANN,
    GIVE,
    HISTORY,
    OPERATIONS,
    SLOTS,
    VARIABLES,
    list_paths,
    read_text,
)

import people
import staff
from gamekeeper.console import past_equipment
from gamekeeper.http.instants import format_instant
from gamekeeper.store import users
from world import World


def test_past_state_is_shown_at_a_change(root: Keeper, world: World) -> None:
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 7})
    given = world.ledger()[-1]
    world.post(f"{OPERATIONS}/spells/forget", {"spellid": people.FIREBALL.id})
    world.post(f"{OPERATIONS}/variables/{people.KILLS.id}", {"value": 99})
    before = root.page(HISTORY).links[f"State before change {given.seq}"]
    assert before == f"{ANN}?at={given.seq - 1}&until={given.seq}"
    reached = root.page(before)  # the page has the title of the link, and so have its tabs
    for shown in (reached, root.page(reached.links["Variables and spells"])):
        assert f"State before change {given.seq} Only items" in shown.text
        assert f"State after change {given.seq - 1}" not in shown.text
    compared = root.page(f"{before}&against=now").text
    assert f"State before change {given.seq} compared with the current state" in compared
    other_number = root.page(f"{ANN}?at={given.seq - 1}&until={given.seq + 1}").text
    assert f"State after change {given.seq - 1} Only items" in other_number
    assert "257 GC Gold Coin" in root.page(ANN).text
    page = root.page(f"{ANN}?at={given.seq - 1}")
    for seen in (f"State after change {given.seq - 1} Only items", "250 GC Gold Coin"):
        assert seen in page.text, seen
    other = root.page(f"{VARIABLES}&at={given.seq - 1}")
    for seen in (f"State after change {given.seq - 1} Only items", "0 Fireball", "Kills 7"):
        assert seen in other.text, seen
    assert page.links["Back to the current state"] == ANN
    assert page.links["Variables and spells"] == f"{VARIABLES}&at={given.seq - 1}"
    assert "257 GC Gold Coin" in root.page(f"{ANN}?at={given.seq}").text
    # the page of an earlier time has no level: only items, spells and variables are known of the past
    assert "Level 12" not in page.text


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


def test_equipment_before_a_deletion_is_marked(root: Keeper, world: World) -> None:
    before = world.ledger()[-1].seq
    assert world.call("DELETE", f"/api/link/v1/players/{people.ANN.id}", by="Server").status == 200
    assert "2 weapon Sw Sword" in root.page(f"{ANN}?at={before}").text
    assert "2 weapon Sw Sword" in root.page(ANN).text


def test_slider_has_a_mark_for_each_change(root: Keeper, world: World) -> None:
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 7})
    made = [each.seq for each in world.ledger() if each.player_id == people.ANN.id]
    page = root.page(ANN)
    options = [int(attributes["value"]) for tag, attributes in page.tags if tag == "option" and "label" in attributes]
    assert options == made[-30:]
    [slider] = [attributes for _, attributes in page.tags if attributes.get("type") == "range"]
    assert (slider["name"], slider["min"], slider["max"]) == ("at", str(made[0]), str(made[-1]))
    then = root.page(f"{ANN}?at={made[-2]}")
    assert [each["value"] for _, each in then.tags if each.get("type") == "range"] == [str(made[-2])]


@pytest.mark.parametrize("query", ["against=yesterday", "at=5&against=-1", "at=1&against=now"])
def test_invalid_moment_to_compare_with_is_rejected(shared_root: Keeper, query: str) -> None:
    assert shared_root.get(f"{ANN}?{query}").status in {400, 404}


def test_comparison_needs_the_audit_log(world: World) -> None:
    staff.add_account(world, "Mod", "moderator")
    user = world.run(users.find_by_fold(world.keeper.store, "mod"))
    assert user
    session = open_session(world, user.name, user.id)
    assert session.get(f"{ANN}?against=now").status == 403
    assert "Time travel" not in session.page(ANN).text


def test_past_state_at_a_time_offers_no_actions(root: Keeper, world: World) -> None:
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 7})
    made, *_, given = [each for each in world.ledger() if each.player_id == people.ANN.id]
    world.sql("UPDATE ledger SET at = at + 3600000 WHERE seq = $1 RETURNING seq", given.seq)
    page = root.page(f"{ANN}?at={quote(format_instant(made.at + 1_000))}")
    assert "250 GC Gold Coin" in page.text
    assert list_paths(page) == set()


@pytest.mark.parametrize(
    ("at", "status"), [("yesterday", 400), ("1", 404), ("-1", 400), ("9" * 30, 400), ("999", 400), ("2999-01-01", 400)]
)
def test_invalid_moment_is_rejected(shared_root: Keeper, at: str, status: int) -> None:
    answer = shared_root.get(f"{ANN}?at={at}")
    assert answer.status == status
    page = Page(answer.raw.decode())
    for seen in ("The page shows the current state.", "250 GC Gold Coin", "Level 12", "Time travel"):
        assert seen in page.text, seen
    assert "'at'" not in page.text


@pytest.mark.parametrize("query", ["at=1", "at=2020-01-01T00:00", "at=now&against=1"])
def test_moment_before_the_player_links_to_the_first_known_one(root: Keeper, world: World, query: str) -> None:
    first = next(each for each in world.ledger() if each.player_id == people.ANN.id)
    page = Page(root.get(f"{ANN}?{query}").raw.decode())
    known = f"{format_instant(first.at)[:19].replace('T', ' ')} UTC"
    assert f"Nothing is known of Ann at that time. Ann is known since {known} ." in page.text
    assert page.links[known] == f"{ANN}?at={first.seq}"
    assert "State after change" in root.page(page.links[known]).text


@pytest.mark.parametrize("path", [ANN, VARIABLES])
def test_links_lead_to_an_hour_a_day_and_a_week_ago(root: Keeper, world: World, path: str) -> None:
    world.sql("UPDATE ledger SET at = at - 864000000 WHERE player_id = CAST($1 AS {guid}) RETURNING seq", people.ANN.id)
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 7})
    page = root.page(path)
    hrefs = [each["href"] for tag, each in page.tags if tag == "a" and "at=20" in each.get("href", "")]
    assert [page.text.count(each) for each in ("an hour ago", "a day ago", "a week ago")] == [2, 2, 2]
    assert len(hrefs) == 6
    assert [each.endswith("against=now") for each in hrefs] == [False] * 3 + [True] * 3
    for href in hrefs:
        then = root.page(href)
        assert "State at" in then.text, href
        assert ("Gold Coin 1,250 1,257 +7" in then.text) == href.endswith("against=now"), href


def test_time_is_chosen_in_a_field_for_times_in_utc(root: Keeper, world: World) -> None:
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 7})
    given = world.ledger()[-1]
    world.sql("UPDATE ledger SET at = at - 7200000 WHERE seq < $1 RETURNING seq", given.seq)
    typed = format_instant(given.at - 3_600_000)[:19]
    page = root.page(f"{ANN}?at={quote(typed)}")
    assert "250 GC Gold Coin" in page.text
    assert "State at a time (UTC)" in page.text
    assert [each["value"] for _, each in page.tags if each.get("type") == "datetime-local"] == [typed]


def test_rejected_moment_explains_the_accepted_formats(shared_root: Keeper) -> None:
    said = read_text(shared_root.get(f"{ANN}?at=yesterday"))
    assert "such as 2026-11-15 12:00 or 2026-11-15T12:00:00Z, or the number of a change such as 1234." in said
    for typed in ("2026-11-15 12:00", "2026-11-15T12:00:00Z", "1234"):
        assert "such as" not in read_text(shared_root.get(f"{ANN}?at={quote(typed)}")), typed
