"""The lists of players and of online players, and their filters."""

import game_server
from keepers import Keeper, OpenKeeper
from people import ANN, BOB, MEADOW, WARRIOR, ZOE, guid
from world import World

PAGE, ONLINE_PAGE = "/console/characters", "/console/online"


def list_names(root: Keeper, path: str) -> list[str]:
    """List the names of the players in the order of the page."""
    return [attributes["data-name"] for _, attributes in root.page(path).tags if "data-name" in attributes]


def test_search_and_order_are_part_of_the_address_and_owners_need_permission(
    shared_root: Keeper, keeper: OpenKeeper
) -> None:
    page = shared_root.page(PAGE)
    page.assert_shown("Ann 12 345 Warrior Meadow", "1 to 3 of 3 players")
    assert page.links["Ann owns Zoe"] == f"/console/accounts/{ZOE.user_id}"
    assert list_names(shared_root, page.links["Name ▲"]) == ["Zoe", "Bob", "Ann"]
    page = shared_root.page(f"{PAGE}?search=ann&sortby=level&sortdirection=descending")
    assert "Bob" not in page.links
    expected = {"search": "ann", "online": "", "sortby": "level", "sortdirection": "descending"}
    assert page.form(PAGE, "Search").fields.items() >= expected.items()
    assert page.links["Show all"] == f"{PAGE}?sortby=level&sortdirection=descending"
    page = keeper("Shop").page(PAGE)
    assert "owns" not in page.text
    assert BOB.user_id not in page.html


def test_filters_are_chips_and_bans_need_permission(root: Keeper, world: World, keeper: OpenKeeper) -> None:
    for number in range(30):
        player_id, body = game_server.newcomer(number, Level=number + 20, ClassId=(WARRIOR.id, guid(32))[number % 2])
        assert game_server.put_player(world, player_id, body | {"MapId": MEADOW.id}).status in {200, 201}
    page = root.page(f"{PAGE}?classid={WARRIOR.id}&mapid=&levelfrom=40&levelto=&banned=false")
    assert "1 to 5 of 5 players" in page.text
    assert {each for each in page.links if "remove this condition" in each} == {
        "Class: Warrior ✕ : remove this condition",
        "Level 40 or higher ✕ : remove this condition",
        "Not banned ✕ : remove this condition",
    }
    rest = root.page(page.links["Level 40 or higher ✕ : remove this condition"])
    assert "Class: Warrior" in rest.text
    assert "Level 40 or higher" not in rest.text
    assert len(list_names(root, page.links["Show all"])) == 33
    assert world.post("/api/v1/users/Ann/admin/ban").status == 200
    assert list_names(root, f"{PAGE}?banned=true") == ["Ann", "Zoe"]
    shop = keeper("Shop")
    assert "banned" not in shop.page(PAGE).form(PAGE, "Search").fields
    assert shop.get(f"{PAGE}?banned=true").status == 403


def test_online_players_are_listed_by_server(world: World, root: Keeper) -> None:
    for server, players in (("north", (ANN.id, ZOE.id)), ("south", (BOB.id,))):
        assert game_server.heartbeat(world, server).status == 200
        game_server.join(world, *players, server=server)
    page = root.page(ONLINE_PAGE)
    page.assert_shown("north 2 20", "south 1 20", "Bob 3 south", "1 to 3 of 3 online players")
    page = root.page(page.links["north"])
    assert {"Ann", "Zoe"} <= page.links.keys()
    assert "Bob" not in page.links
    # a search among the players of one game server accepts texts shorter than three characters
    found = root.page(f"{ONLINE_PAGE}?server=north&search=Zo").links
    assert {"Ann", "Zoe"} & found.keys() == {"Zoe"}
    game_server.lapse(world, "north")
    root.page(ONLINE_PAGE).assert_shown("1 to 1 of 1 online players")
