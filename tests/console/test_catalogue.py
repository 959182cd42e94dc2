"""The console's pages of the game's catalogue, one per kind of entry."""

import unicodedata
from urllib.parse import quote

import pytest
from keepers import Keeper

import people
from game_server import put_catalogue
from gamekeeper.console import catalogue, queries
from gamekeeper.game import catalogue as rules
from gamekeeper.store.catalogue import NamedEntry
from world import World

PAGE = "/console/catalogue"


def test_items_are_the_default_kind(shared_root: Keeper) -> None:
    page = shared_root.page(PAGE)
    assert f"Arrow up to 100 — {people.ARROW.id}" in page.text
    assert f"Pouch no 8 {people.POUCH.id}" in page.text
    assert page.links["Arrow"] == f"/console/items/{people.ARROW.id}"
    assert page.links["Changes with this item : Arrow"] == f"/console/changes?item={people.ARROW.id}"
    assert page.links["Give to several players : Arrow"] == f"/console/bulk?item={people.ARROW.id}"


@pytest.mark.parametrize("kind", people.CATALOGUE)
def test_every_kind_is_listed(shared_root: Keeper, kind: str) -> None:
    page = shared_root.page(shared_root.page(PAGE).links[kind.capitalize()])
    for entry in people.CATALOGUE[kind]:
        assert entry.name in page.text
        assert entry.id in page.text
    assert "Changes with this item" in page.text or kind != "items"
    assert page.form(PAGE, "Search").fields == {"kind": kind, "search": ""}


def test_description_and_other_details_are_shown_as_text(root: Keeper) -> None:
    details = {"Description": "Cuts <b>bread</b> & more", "Rarity": 3, "StatsGiven": [1, 2], "Note": "x" * 2000}
    entry = {"Id": people.SWORD.id, "Name": "Sword", "Stackable": False, "Icon": "sword.png", **details}
    assert put_catalogue(root.world, "items", [entry]).status == 200
    page = root.page(PAGE)
    assert f"Sword Cuts <b>bread</b> & more no — {people.SWORD.id}" in page.text
    assert "Rarity Rare Effect on stats Attack +1, Ability power +2" in root.page(page.links["Sword"]).text
    alone = root.page(f"{PAGE}?kind=items&id={people.SWORD.id}")
    assert "Published by the game" in alone.text
    assert "Rarity 3 StatsGiven [1,2] Note xxx" in alone.text
    assert "x" * 1001 not in alone.text
    assert "Published by the game" not in root.page(f"{PAGE}?kind=items&id={people.ARROW.id}").text


def test_objects_without_rules_have_pages_too(root: Keeper) -> None:
    assert put_catalogue(root.world, "crafttables", [{"Id": people.SWORD.id, "Name": "Anvil"}]).status == 200
    page = root.page(root.page(PAGE).links["Craft tables"])
    assert f"Anvil {people.SWORD.id}" in page.text
    assert "Anvil" in root.page(f"{PAGE}?kind=crafttables&search=nvi").text
    assert "Anvil" not in root.page(f"{PAGE}?kind=crafts").text


def test_search_finds_part_of_a_name(shared_root: Keeper) -> None:
    page = shared_root.page(f"{PAGE}?kind=items&search=OU")
    assert "Pouch" in page.text
    assert "Arrow" not in page.text
    assert "No results. Try fewer letters, or another kind." in shared_root.page(f"{PAGE}?kind=spells&search=%25").text


NAMES = ("\u00c9p\u00e9e d'or", "\u041c\u0435\u0447 \u043e\u0433\u043d\u044f", "Grande \u00c9p\u00e9e")
EPEE, MECH, GRANDE = NAMES


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (EPEE[:4], [EPEE, GRANDE]),
        (EPEE[:4].lower(), [EPEE, GRANDE]),
        (EPEE.upper(), [EPEE]),
        (unicodedata.normalize("NFD", EPEE.lower()), [EPEE]),
        (MECH, [MECH]),
        (MECH[:2].lower(), [MECH]),
        (MECH.upper(), [MECH]),
        ("D'OR", [EPEE]),
        ("\u00f8", []),
    ],
)
def test_search_ignores_case_in_every_language(world: World, root: Keeper, text: str, names: list[str]) -> None:
    """Search of the catalogue page, form suggestions and search box; names that start with the text come first."""
    put_catalogue(world, "spells", [{"Id": people.guid(0x7100 + at), "Name": each} for at, each in enumerate(NAMES)])
    page = root.page(f"{PAGE}?kind=spells&search={quote(text)}")
    assert [each for each in NAMES if each in page.text] == [each for each in NAMES if each in names]
    json = {"accept": "application/json"}
    assert [each["label"] for each in root.get(f"/console/suggest/spells?q={quote(text)}").json["found"]] == names
    groups = root.post("/console/suggest", {"q": text}, headers=json).json["groups"]
    shown = [group for group in groups if group["title"] != "Search the audit log"]
    assert [each["name"] for group in shown for each in group["found"]] == names


def test_exact_name_is_found_in_a_large_catalogue(world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MOST_FOLDED", 1)
    put_catalogue(world, "spells", [{"Id": people.guid(0x7100), "Name": EPEE}])
    assert EPEE in root.page(f"{PAGE}?kind=spells&search={quote(EPEE)}").text


@pytest.mark.parametrize("kind", people.CATALOGUE)
def test_single_entry_links_to_all(shared_root: Keeper, kind: str) -> None:
    """The catalogue page of a single entry, to which the search box leads, links to all entries."""
    one, *others = people.CATALOGUE[kind]
    page = shared_root.page(f"{PAGE}?kind={kind}&id={one.id.upper()}")
    assert one.id in page.text
    assert not any(each.id in page.text for each in others)
    assert page.links[f"All {kind}"] == f"{PAGE}?kind={kind}"


@pytest.mark.parametrize("nothing", [people.NOBODY_ID, "x", "%00"])
def test_unknown_id_shows_a_message(shared_root: Keeper, nothing: str) -> None:
    page = shared_root.page(f"{PAGE}?kind=spells&id={nothing}")
    assert "The catalogue has no entry of this kind with that id." in page.text
    assert "All spells" in page.links


def test_list_has_pages(world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    maps = [NamedEntry(people.guid(0x7000 + number), f"Field {number:03}") for number in range(120)]
    put_catalogue(world, "maps", [{"Id": each.id, "Name": each.name} for each in maps])
    first = root.page(f"{PAGE}?kind=maps&search=field")
    assert f"1 to {queries.PAGE_SIZE} of 120 maps" in first.text
    assert "Field 050" in root.page(first.links["Next"]).text
    assert "1 to 50 of 121 maps" in root.page(f"{PAGE}?kind=maps").text
    monkeypatch.setattr(catalogue, "MAX_MATCHES", 70)
    assert "1 to 50 of 70 or more maps" in root.page(f"{PAGE}?kind=maps&search=field").text


def test_markup_is_shown_as_text(world: World, root: Keeper) -> None:
    put_catalogue(world, "spells", [{"Id": people.guid(0x7FFF), "Name": "<script>alert(1)</script>"}])
    page = root.page(f"{PAGE}?kind=spells")
    assert "<script>alert(1)</script>" in page.text
    assert "<script>alert" not in page.html


def test_unknown_kind_is_rejected(shared_root: Keeper) -> None:
    assert shared_root.get(f"{PAGE}?kind=weapons").status == 404
