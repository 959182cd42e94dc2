"""The console's list of all players: the page's address holds search, order and page."""

import re
from collections.abc import Callable

import pytest
from keepers import Keeper

import game_server
import people
from gamekeeper.console import queries
from gamekeeper.demo import loader
from gamekeeper.game import search
from world import World

PAGE = "/console/characters"
MANY = 120


def list_names(root: Keeper, path: str) -> list[str]:
    """List the names of the players in the order of the page."""
    return [attributes["data-name"] for _, attributes in root.page(path).tags if "data-name" in attributes]


def test_list_is_ordered_by_name(shared_root: Keeper) -> None:
    assert list_names(shared_root, PAGE) == ["Ann", "Bob", "Zoe"]
    page = shared_root.page(PAGE)
    assert "Ann 12 345 Warrior Meadow" in page.text
    assert page.links["Ann"] == f"/console/players/{people.ANN.id}"
    assert "1 to 3 of 3 players" in page.text
    assert "Next" not in page.links


def test_order_is_part_of_the_address(shared_root: Keeper) -> None:
    page = shared_root.page(PAGE)
    assert list_names(shared_root, page.links["Name ▲"]) == ["Zoe", "Bob", "Ann"]
    by_level = page.links["Level"]
    assert list_names(shared_root, by_level)[0] == "Bob"
    assert ("th", "ascending") in [(tag, each.get("aria-sort")) for tag, each in shared_root.page(by_level).tags]


def test_search_and_order_keep_each_other(shared_root: Keeper) -> None:
    page = shared_root.page(f"{PAGE}?search=ann&sortby=level&sortdirection=descending")
    assert "Ann" in page.links
    assert "Bob" not in page.links
    form = page.form(PAGE, "Search")
    expected = {"search": "ann", "online": "", "sortby": "level", "sortdirection": "descending"}
    assert form.fields.items() >= expected.items()
    assert "search=ann" in page.links["Name"]
    assert page.links["Show all"] == f"{PAGE}?sortby=level&sortdirection=descending"


def test_search_without_results_or_too_short_shows_a_message(shared_root: Keeper) -> None:
    assert "No results. Try fewer letters" in shared_root.page(f"{PAGE}?search=qqqq").text
    short = shared_root.page(f"{PAGE}?search=an")
    assert "Type at least 3 letters to search" in short.text
    assert "Zoe" in short.links


def test_filter_lists_online_players(world: World, root: Keeper) -> None:
    online = f"{PAGE}?online=yes"
    assert "No players are online. Choose Show all to see offline players." in root.page(online).text
    assert game_server.heartbeat(world, "north").status == 200
    game_server.join(world, people.ANN.id, people.ZOE.id, server="north")
    assert list_names(root, online) == ["Ann", "Zoe"]
    assert list_names(root, f"{online}&search=zoe") == ["Zoe"]
    page = root.page(f"{online}&search=bob")
    assert "No results among the online players." in page.text
    assert list_names(root, page.links["Show all"]) == ["Ann", "Bob", "Zoe"]
    assert page.form(PAGE, "Search").fields["online"] == "true"
    first = root.page(root.page(f"{online}&pagesize=1").links["Name ▲"])
    assert "1 to 1 of 2 players" in first.text
    assert list_names(root, first.links["Next"]) == ["Ann"]


@pytest.mark.parametrize("online", [f"{PAGE}?online=yes", "/console/online?"])
def test_search_for_common_text_is_marked_incomplete(
    world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch, online: str
) -> None:
    news = [game_server.newcomer(number) for number in range(3)]
    for player_id, body in news:
        assert game_server.put_player(world, player_id, body).status == 200
    game_server.heartbeat(world)
    text = f"{online}&search=new"
    assert "No results among the online players." in root.page(text).text
    monkeypatch.setattr(search, "MAX_MATCHES", 2)  # search limit: examine 2 of the three matches
    assert "Too many names match to search them all" in root.page(text).text
    game_server.join(world, *[player_id for player_id, _ in news[:2]])
    assert re.search(r"of [12] or more", root.page(text).text)
    assert re.search(r"of 2 (players|online players)", root.page(online).text)


def test_pages_lead_forwards_and_backwards(world: World, root: Keeper) -> None:
    world.run(loader.load_players(world.keeper, MANY, lambda _: None))
    first = root.page(PAGE)
    assert f"1 to {queries.PAGE_SIZE} of {MANY + 3} players" in first.text
    second = root.page(first.links["Next"])
    assert f"{queries.PAGE_SIZE + 1} to {2 * queries.PAGE_SIZE} of {MANY + 3} players" in second.text
    assert second.links["Previous"] == second.links["First"] == PAGE
    last = root.page(second.links["Next"])
    assert "Next" not in last.links
    shown = [*list_names(root, PAGE), *list_names(root, first.links["Next"]), *list_names(root, second.links["Next"])]
    assert len(set(shown)) == len(shown) == MANY + 3


def test_page_beyond_the_end_links_to_the_first(shared_root: Keeper) -> None:
    assert shared_root.page(f"{PAGE}?page=9").links["First page"] == PAGE


def test_invalid_query_is_rejected_with_a_message(shared_root: Keeper) -> None:
    for query in ("page=-1", "sortby=colour", "sortdirection=up", "search=%00", "page=1&page=2", "online=no"):
        answer = shared_root.get(f"{PAGE}?{query}")
        assert answer.status == 400, query
        assert b"<h1>Request rejected</h1>" in answer.raw or b"Message" in answer.raw


def test_owners_need_users_query(root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    assert root.page(PAGE).links["Ann owns Zoe"] == f"/console/accounts/{people.ZOE.user_id}"
    page = keeper("Shop").page(PAGE)
    assert "Bob" in page.links
    assert "owns" not in page.text
    assert people.BOB.user_id not in page.html


def test_list_needs_a_session(world: World) -> None:
    assert Keeper(world).get(PAGE).headers["location"] == "/console/sign-in?next=%2Fconsole%2Fcharacters"
