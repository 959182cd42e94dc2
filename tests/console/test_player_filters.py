"""The filter of the console's list of players: conditions, columns, pages and the way to a bulk job."""

from collections.abc import Callable

import pytest
from keepers import Keeper

import game_server
import people
from gamekeeper.game import player_filters
from people import COIN, MEADOW, WARRIOR, guid
from world import World

PAGE = "/console/characters"


def list_names(root: Keeper, path: str) -> list[str]:
    return [attributes["data-name"] for _, attributes in root.page(path).tags if "data-name" in attributes]


@pytest.fixture
def crowd(world: World) -> World:
    for number in range(30):
        player_id, body = game_server.newcomer(number, Level=number + 20, ClassId=(WARRIOR.id, guid(32))[number % 2])
        assert game_server.put_player(world, player_id, body | {"MapId": MEADOW.id}).status in {200, 201}
        world.sql("UPDATE players SET last_online = $2 WHERE id = $1", player_id, number * 86_400_000)
    world.sql("INSERT INTO holdings VALUES ($1, 'item', $2, 7)", guid(0x1003), COIN.id)
    return world


@pytest.mark.usefixtures("crowd")
def test_form_filters_by_its_fields_and_shows_them_as_chips(root: Keeper) -> None:
    form = root.page(PAGE).form(PAGE, "Search")
    for name in ("classid", "mapid", "levelfrom", "levelto", "seenfrom", "seento", "banned", "itemid", "pagesize"):
        assert name in form.fields
    page = root.page(f"{PAGE}?classid={WARRIOR.id}&mapid=&levelfrom=40&levelto=&banned=false")
    assert "1 to 5 of 5 players" in page.text
    assert page.links["New20"].startswith("/console/players/")
    assert {each for each in page.links if "remove this condition" in each} == {
        "Class: Warrior ✕ : remove this condition",
        "Level 40 or higher ✕ : remove this condition",
        "Not banned ✕ : remove this condition",
    }
    rest = root.page(page.links["Level 40 or higher ✕ : remove this condition"])
    assert "Class: Warrior" in rest.text
    assert "Level 40 or higher" not in rest.text
    assert len(list_names(root, page.links["Show all"])) == 33


@pytest.mark.usefixtures("crowd")
def test_days_and_items_are_understood(root: Keeper) -> None:
    assert list_names(root, f"{PAGE}?seenfrom=1970-01-03&seento=1970-01-04&sortby=level") == ["New2", "New3"]
    for item in (COIN.id, "gold coin"):
        page = root.page(f"{PAGE}?itemid={item.replace(' ', '+')}")
        assert "Has Gold Coin" in page.text
        assert "New3 7 23" in page.text
    assert root.get(f"{PAGE}?itemid=nonsense").status == 400


@pytest.mark.usefixtures("crowd")
def test_columns_are_chosen_in_the_address(root: Keeper) -> None:
    heads = root.page(f"{PAGE}?levelfrom=48").links.keys()
    assert {"Name ▲", "Level", "Last online"} <= heads
    few = root.page(f"{PAGE}?levelfrom=48&col_level=1&col_map=1")
    assert "Last online" not in few.links
    assert "New28 48 Meadow Select New29 New29 49 Meadow" in few.text


@pytest.mark.usefixtures("crowd")
def test_large_lists_go_on_from_page_to_page(root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player_filters, "MAX_SORTED", 3)
    monkeypatch.setattr(player_filters, "MAX_SEARCHED", 20)
    page = root.page(f"{PAGE}?levelfrom=45&sortby=name")
    found: list[str] = []
    for _ in range(5):
        found += [attributes["data-name"] for _, attributes in page.tags if "data-name" in attributes]
        if "Go on" not in page.links:
            break
        assert "There may be more." in page.text
        page = root.page(page.links["Go on"])
    assert found == ["New25", "New26", "New27", "New28", "New29"]
    assert "This is the end of the list." in page.text


@pytest.mark.usefixtures("crowd")
def test_pager_leads_to_any_page(root: Keeper) -> None:
    for path in (f"{PAGE}?pagesize=25", f"{PAGE}?levelfrom=1&pagesize=25"):
        assert "of 2 Go to the page" in root.page(path).text
        answer = root.get(f"{path}&jump=2")
        assert answer.status == 303
        assert "26 to 33 of 33 players" in root.page(answer.headers["location"]).text
    assert root.get(f"{PAGE}?jump=0").status == 400


@pytest.mark.usefixtures("crowd")
def test_last_online_is_an_order(root: Keeper) -> None:
    page = root.page(PAGE)
    assert list_names(root, page.links["Last online"])[:2] == ["New29", "New28"]


def test_bans_are_shown_to_readers_of_accounts_only(
    crowd: World, root: Keeper, keeper: Callable[[str], Keeper]
) -> None:
    assert crowd.post("/api/v1/users/Ann/admin/ban").status == 200
    assert list_names(root, f"{PAGE}?banned=true") == ["Ann", "Zoe"]
    shop = keeper("Shop")
    assert "banned" not in shop.page(PAGE).form(PAGE, "Search").fields
    assert shop.get(f"{PAGE}?banned=true").status == 403
    assert people.ANN.user_id not in shop.page(PAGE).html
