"""The console's search box and its suggestions."""

from typing import Any

import people
from keepers import JSON, Keeper, OpenKeeper
from loops import over
from world import World


def load_suggestions(keeper: Keeper, text: str) -> dict[str, list[dict[str, str]]]:
    """Return the groups of suggestions, without the links that search the audit log."""
    answer = keeper.post("/console/suggest", {"q": text}, headers=JSON).accepted()
    groups: list[Any] = answer.json["groups"]
    return {group["title"]: group["found"] for group in groups if group["title"] != "Search the audit log"}


def test_matches_are_suggested_and_tolerate_typos_accounts_with_permission(
    shared_root: Keeper, keeper: OpenKeeper
) -> None:
    found = load_suggestions(shared_root, "ann")
    assert found["Players"][0] == {"name": "Ann", "detail": "level 12", "href": f"/console/players/{people.ANN.id}"}
    assert found["Accounts"][0]["href"] == f"/console/accounts/{people.USER_IDS['Ann']}"
    assert shared_root.page("/console/search?q=swrod").links["Sword"] == f"/console/items/{people.SWORD.id}"
    assert list(load_suggestions(keeper("Shop"), "ann")) == ["Players"]
    assert load_suggestions(keeper("Shop"), "clerk@example.test") == {}


@over(
    "text, place",
    ("ZOE", f"players/{people.ZOE.id}"),
    ("clerk@example.test", f"accounts/{people.USER_IDS['Clerk']}"),
    (people.ANN.id.upper(), f"players/{people.ANN.id}"),
    (people.ANNS_POUCH, f"players/{people.ANN.id}"),
    ("%231", "changes/1"),
)
def test_only_exact_match_is_opened(shared_root: Keeper, text: str, place: str) -> None:
    answer = shared_root.get(f"/console/search?q={text}")
    assert (answer.status, answer.headers.get("location")) == (303, f"/console/{place}")


def test_id_of_a_deleted_player_or_account_opens_its_history(world: World, root: Keeper, keeper: OpenKeeper) -> None:
    ann = people.USER_IDS["Ann"]
    assert world.call("DELETE", "/api/v1/players/Bob").status == 200
    assert world.call("DELETE", f"/api/v1/users/{ann}").status == 200
    for each, place in ((people.BOB.id, f"players/{people.BOB.id}"), (ann, f"changes?user={ann}")):
        assert root.get(f"/console/search?q={each}").headers["location"] == f"/console/{place}"
        assert root.get(f"/console/{place}").status == 200
    assert keeper("Shop").get(f"/console/search?q={ann}").status == 200  # no results
