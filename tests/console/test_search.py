"""The console's search box and its suggestions."""

from typing import Any
from urllib.parse import unquote_plus

from keepers import Keeper, OpenKeeper

import people
from loops import over
from world import World

JSON = {"accept": "application/json"}


def load_suggestions(keeper: Keeper, text: str) -> dict[str, list[dict[str, str]]]:
    """Return the groups of suggestions, without the links that search the audit log."""
    answer = keeper.post("/console/suggest", {"q": unquote_plus(text, errors="replace")}, headers=JSON)
    assert answer.status == 200, answer.raw
    groups: list[Any] = answer.json["groups"]
    return {group["title"]: group["found"] for group in groups if group["title"] != "Search the audit log"}


def test_matches_are_suggested_listed_and_tolerate_typos(shared_root: Keeper) -> None:
    found = load_suggestions(shared_root, "ann")
    assert found["Players"][0] == {"name": "Ann", "detail": "level 12", "href": f"/console/players/{people.ANN.id}"}
    assert found["Accounts"][0]["href"] == f"/console/accounts/{people.USER_IDS['Ann']}"
    page = shared_root.page("/console/search?q=ann")
    assert page.text.index("Ann Players level 12 exact match") < page.text.index(
        "Ann Accounts ann@example.test exact match"
    )
    assert "Search for “ann”" in page.text
    assert page.form("/console/search").fields["q"] == "ann"
    page = shared_root.page("/console/search?q=swrod")
    assert page.links["Sword"] == f"/console/items/{people.SWORD.id}"
    assert "similar name" in page.text


def test_suggestions_hide_accounts_without_users_query(keeper: OpenKeeper) -> None:
    found = load_suggestions(keeper("Shop"), "ann")
    assert list(found) == ["Players"]
    assert load_suggestions(keeper("Shop"), "clerk@example.test") == {}


@over(
    "text, place",
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


def test_id_of_a_deleted_player_or_account_opens_its_history(world: World, root: Keeper, keeper: OpenKeeper) -> None:
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
