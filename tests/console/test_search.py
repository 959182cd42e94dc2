"""The console's search box and its suggestions."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote_plus

import pytest
from keepers import Keeper
from markup import Page

import people
from gamekeeper.game.changes import Decision
from gamekeeper.game.effects import PAUSE_LISTS, RESUME_LISTS, PlayersLoaded, PlayerState
from gamekeeper.game.players import Player
from gamekeeper.store.engine import Reading
from world import CLI, World

JSON = {"accept": "application/json"}


def load_suggestions(keeper: Keeper, text: str) -> dict[str, list[dict[str, str]]]:
    """Return the groups of suggestions, without the links that search the audit log."""
    answer = keeper.post("/console/suggest", {"q": unquote_plus(text, errors="replace")}, headers=JSON)
    assert answer.status == 200, answer.raw
    groups: list[Any] = answer.json["groups"]
    return {group["title"]: group["found"] for group in groups if group["title"] != "Search the audit log"}


def test_suggestions_are_grouped_and_lead_to_the_thing(shared_root: Keeper) -> None:
    found = load_suggestions(shared_root, "ann")
    assert found["Players"][0] == {"name": "Ann", "detail": "level 12", "href": f"/console/players/{people.ANN.id}"}
    assert found["Accounts"][0]["href"] == f"/console/accounts/{people.USER_IDS['Ann']}"


def test_the_group_with_the_best_match_is_first(shared_root: Keeper) -> None:
    assert next(iter(load_suggestions(shared_root, "a"))) == "Players"
    assert next(iter(load_suggestions(shared_root, "arrow"))) == "Items"
    assert next(iter(load_suggestions(shared_root, "clerk@"))) == "Accounts"


def test_suggestions_hide_accounts_without_users_query(keeper: Callable[[str], Keeper]) -> None:
    found = load_suggestions(keeper("Shop"), "ann")
    assert list(found) == ["Players"]
    assert load_suggestions(keeper("Shop"), "clerk@example.test") == {}


@pytest.mark.parametrize("text", ["", "%20", "%00", "x" * 300, "nothinglikethis", "%FF"])
def test_empty_text_has_no_suggestions(shared_root: Keeper, text: str) -> None:
    assert load_suggestions(shared_root, text) == {}


def test_suggestions_need_a_session(world: World) -> None:
    assert Keeper(world).post("/console/suggest", {"q": "ann"}, headers=JSON, csrf="").status == 401


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("ZOE", f"players/{people.ZOE.id}"),
        ("clerk@example.test", f"accounts/{people.USER_IDS['Clerk']}"),
        (people.ANN.id.upper(), f"players/{people.ANN.id}"),
        (people.USER_IDS["Bob"], f"accounts/{people.USER_IDS['Bob']}"),
        ("gold+coin", f"items/{people.COIN.id}"),
        ("fireball", f"catalogue?kind=spells&id={people.FIREBALL.id}"),
        ("meadow", f"catalogue?kind=maps&id={people.MEADOW.id}"),
        ("warrior", f"catalogue?kind=classes&id={people.WARRIOR.id}"),
        ("kills", f"catalogue?kind=variables&id={people.KILLS.id}"),
        (people.ANNS_POUCH, f"players/{people.ANN.id}"),
        ("1", "changes/1"),
        ("%231", "changes/1"),
    ],
)
def test_only_exact_match_is_opened(shared_root: Keeper, text: str, place: str) -> None:
    answer = shared_root.get(f"/console/search?q={text}")
    assert (answer.status, answer.headers.get("location")) == (303, f"/console/{place}")


def test_id_of_a_deleted_player_or_account_opens_its_history(
    world: World, root: Keeper, keeper: Callable[[str], Keeper]
) -> None:
    assert world.call("DELETE", "/api/v1/players/Bob").status == 200
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    ann = people.USER_IDS["Ann"]
    for each, place, said in (
        (people.BOB.id, f"players/{people.BOB.id}", "This player is deleted."),
        (people.ANN.id, f"players/{people.ANN.id}", "This player is deleted."),
        (ann, f"changes?user={ann}", "Account erased"),
    ):
        assert root.get(f"/console/search?q={each}").headers["location"] == f"/console/{place}"
        assert said in root.page(f"/console/{place}").text
    [found] = load_suggestions(root, people.BOB.id)["Players"]
    assert (found["name"], found["detail"]) == ("Bob", "deleted")
    assert "No results. Try the first letters" in keeper("Shop").page(f"/console/search?q={ann}").text


@pytest.mark.parametrize("text", ["fireb", "ireball"])
def test_only_match_is_opened(shared_root: Keeper, text: str) -> None:
    answer = shared_root.get(f"/console/search?q={text}")
    place = f"/console/catalogue?kind=spells&id={people.FIREBALL.id}"
    assert (answer.status, answer.headers.get("location")) == (303, place)


def test_matches_are_listed_best_first(shared_root: Keeper) -> None:
    page = shared_root.page("/console/search?q=ann")
    assert page.text.index("Ann Players level 12 exact match") < page.text.index(
        "Ann Accounts ann@example.test exact match"
    )
    assert "Search for “ann”" in page.text
    assert page.form("/console/search").fields["q"] == "ann"


def test_search_tolerates_typos(shared_root: Keeper) -> None:
    page = shared_root.page("/console/search?q=swrod")
    assert page.links["Sword"] == f"/console/items/{people.SWORD.id}"
    assert "similar name" in page.text


@pytest.mark.parametrize(
    ("text", "said"), [("", "Type a name"), ("nothinglikethis", "No results. Try the first letters")]
)
def test_search_without_results_shows_advice(shared_root: Keeper, text: str, said: str) -> None:
    assert said in shared_root.page(f"/console/search?q={text}").text


def test_markup_is_shown_as_text(shared_root: Keeper) -> None:
    page = Page(shared_root.get("/console/search?q=<script>alert(1)</script>").raw.decode())
    assert "<script>alert(1)" in page.text
    assert "<script>alert" not in page.html


def test_cyrillic_name_is_found_in_any_letter_case(world: World, root: Keeper) -> None:
    """An imported name need not match the setting name_pattern."""
    boris = Player(people.guid(0x7001), people.USER_IDS["Bob"], "Борис", level=3, exp=0)
    gleb = Player(people.guid(0x7002), people.USER_IDS["Bob"], "Ёлкин Глеб", level=3, exp=0)

    async def decide(_: Reading) -> Decision[None]:
        return Decision(
            [PAUSE_LISTS, PlayersLoaded([(each, PlayerState()) for each in (boris, gleb)]), RESUME_LISTS], None
        )

    world.run(world.keeper.changes.apply(CLI, decide, lambda _: b""))
    for text, found in {
        **dict.fromkeys(("Борис", "БОРИС", "борис", "Бор", "ОРИС"), boris),
        **dict.fromkeys(("ёлкин", "ЁЛК", "глеб", "ГЛЕБ"), gleb),
    }.items():
        suggested = load_suggestions(root, text)["Players"]
        assert [(each["name"], each["href"]) for each in suggested] == [(found.name, f"/console/players/{found.id}")]
        listed = world.get(f"/api/v1/players?search={quote(text)}").json
        assert [each["Name"] for each in listed["Values"]] == [found.name], text
    assert world.get(f"/api/v1/players/{quote('борис')}").json["Name"] == "Борис"


def test_refused_name_says_which_setting_decides(root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    path = f"/api/v1/players/{people.BOB.id}/name"
    refused = Page(root.preview("POST", path, {"name": "Борис"}).raw.decode()).text
    assert "The field 'Name' must have 2 to 20 characters; letters from A to Z and digits are allowed." in refused
    assert "The setting GAMEKEEPER_NAME_PATTERN of the server decides it." in refused
    others = Page(keeper("Shop").preview("POST", path, {"name": "Борис"}).raw.decode()).text
    assert "letters from A to Z" in others
    assert "GAMEKEEPER_NAME_PATTERN" not in others
    for page in (f"/console/players/{people.BOB.id}", f"/console/accounts/{people.USER_IDS['Bob']}", "/console/staff"):
        assert "A name must have 2 to 20 characters" in root.page(page).text
