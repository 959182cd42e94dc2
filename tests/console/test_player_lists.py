"""The lists of players, of online players, and their filters."""

from datetime import UTC, datetime
from typing import Any

import pytest
from keepers import Keeper, MakeWorld, OpenKeeper, open_session
from markup import Page

import game_server
import people
from gamekeeper.console import monitor
from gamekeeper.demo import loader
from gamekeeper.demo.names import make_numbered_id
from gamekeeper.store import presence
from people import COIN, MEADOW, WARRIOR, guid
from world import World

PAGE = "/console/characters"
MANY = 120


def list_names(root: Keeper, path: str) -> list[str]:
    """List the names of the players in the order of the page."""
    return [attributes["data-name"] for _, attributes in root.page(path).tags if "data-name" in attributes]


def test_search_and_order_are_part_of_the_address(shared_root: Keeper) -> None:
    assert list_names(shared_root, PAGE) == ["Ann", "Bob", "Zoe"]
    page = shared_root.page(PAGE)
    assert "Ann 12 345 Warrior Meadow" in page.text
    assert page.links["Ann"] == f"/console/players/{people.ANN.id}"
    assert "1 to 3 of 3 players" in page.text
    assert "Next" not in page.links
    page = shared_root.page(PAGE)
    assert list_names(shared_root, page.links["Name ▲"]) == ["Zoe", "Bob", "Ann"]
    by_level = page.links["Level"]
    assert list_names(shared_root, by_level)[0] == "Bob"
    assert ("th", "ascending") in [(tag, each.get("aria-sort")) for tag, each in shared_root.page(by_level).tags]
    page = shared_root.page(f"{PAGE}?search=ann&sortby=level&sortdirection=descending")
    assert "Ann" in page.links
    assert "Bob" not in page.links
    form = page.form(PAGE, "Search")
    expected = {"search": "ann", "online": "", "sortby": "level", "sortdirection": "descending"}
    assert form.fields.items() >= expected.items()
    assert "search=ann" in page.links["Name"]
    assert page.links["Show all"] == f"{PAGE}?sortby=level&sortdirection=descending"


def test_owners_need_users_query(root: Keeper, keeper: OpenKeeper) -> None:
    assert root.page(PAGE).links["Ann owns Zoe"] == f"/console/accounts/{people.ZOE.user_id}"
    page = keeper("Shop").page(PAGE)
    assert "Bob" in page.links
    assert "owns" not in page.text
    assert people.BOB.user_id not in page.html


@pytest.fixture
def crowd(world: World) -> World:
    for number in range(30):
        player_id, body = game_server.newcomer(number, Level=number + 20, ClassId=(WARRIOR.id, guid(32))[number % 2])
        assert game_server.put_player(world, player_id, body | {"MapId": MEADOW.id}).status in {200, 201}
        world.sql("UPDATE players SET last_online = $2 WHERE id = $1", player_id, number * 86_400_000)
    world.sql("INSERT INTO holdings VALUES ($1, 'item', $2, 7)", guid(0x1003), COIN.id)
    return world


@pytest.mark.usefixtures("crowd")
def test_filters_are_chips_and_bans_need_permission(root: Keeper, crowd: World, keeper: OpenKeeper) -> None:
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
    assert crowd.post("/api/v1/users/Ann/admin/ban").status == 200
    assert list_names(root, f"{PAGE}?banned=true") == ["Ann", "Zoe"]
    shop = keeper("Shop")
    assert "banned" not in shop.page(PAGE).form(PAGE, "Search").fields
    assert shop.get(f"{PAGE}?banned=true").status == 403
    assert people.ANN.user_id not in shop.page(PAGE).html


ONLINE_PAGE = "/console/online"
MORE = 110
SOUTH = "FROM presence o JOIN players p ON p.id = o.player_id WHERE o.server = 'south'"


@pytest.fixture
def played(world: World) -> World:
    """A test world with Ann and Zoe online on one game server and Bob on another."""
    for server in ("north", "south"):
        assert game_server.heartbeat(world, server).status == 200
    game_server.join(world, people.ANN.id, people.ZOE.id, server="north")
    game_server.join(world, people.BOB.id, server="south")
    return world


@pytest.fixture
def crowded(played: World) -> World:
    """A test world with many more online players on Bob's game server."""
    played.run(loader.load_players(played.keeper, MORE, lambda _: None))
    ids = [make_numbered_id("player", number) for number in range(MORE)]
    played.run(played.keeper.store.write(lambda tx: presence.join(tx, "south", ids)))
    return played


def list_south(world: World) -> list[str]:
    return sorted(name for (name,) in world.sql(f"SELECT p.name {SOUTH}"))


def list_online(page: Page) -> list[str]:
    """List the online players of a page in its order."""
    return [name for name, place in page.links.items() if place.startswith("/console/players/")]


def test_list_shows_players_by_server(played: World, root: Keeper) -> None:
    page = root.page(ONLINE_PAGE)
    [(lease,)] = played.sql("SELECT expires_at FROM servers WHERE name = 'north'")
    ends = datetime.fromtimestamp(lease // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    assert page.links["north"] == f"{ONLINE_PAGE}?server=north"
    page.assert_shown(f"north 2 {ends}", "south 1 20", "Bob 3 south", "1 to 3 of 3 online players")
    page = root.page(f"{ONLINE_PAGE}?server=north")
    page.assert_shown("Players on server north", "2 players, by name")
    assert {"Ann", "Zoe"} <= page.links.keys()
    assert "Bob" not in page.links
    assert page.form(ONLINE_PAGE, "Search").fields == {"server": "north", "search": ""}
    # a search among the players of one game server accepts texts shorter than three characters
    found = root.page(f"{ONLINE_PAGE}?server=north&search=Zo")
    assert "Zoe" in found.links
    assert "Ann" not in found.links
    page = root.page(f"{ONLINE_PAGE}?search=bob")
    assert "Bob" in page.links
    assert "Ann" not in page.links
    game_server.leave(played, people.BOB.id, server="south")
    assert "No results among the online players." in root.page(f"{ONLINE_PAGE}?search=bob").text


def test_server_with_expired_lease_disappears(played: World, root: Keeper) -> None:
    game_server.lapse(played, "north")
    page = root.page(ONLINE_PAGE)
    assert "north" not in page.text
    assert "1 to 1 of 1 online players" in page.text


def test_concurrent_pages_share_one_query(make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting the players of each server is the most expensive query of this page."""
    monkeypatch.setattr(monitor, "SNAPSHOT_SECONDS", 60.0)
    asked, servers = 0, presence.read_servers

    async def counted(*given: Any) -> Any:
        nonlocal asked
        asked += 1
        return await servers(*given)

    monkeypatch.setattr(presence, "read_servers", counted)
    world = make_world()
    for name in ("Root", "Shop", "Root"):
        open_session(world, name).page(ONLINE_PAGE)
    assert asked == 1


def test_server_pages_lead_both_ways_and_counts_stop(
    crowded: World, root: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor, "MAX_SCANNED", 60)
    page = root.page(ONLINE_PAGE)
    page.assert_shown("south 60 or more", f"1 to 50 of {len(list_south(crowded)) + 2} online players")
    monkeypatch.setattr(monitor, "MAX_SCANNED", 60)
    everybody = list_south(crowded)
    page, parts = root.page(f"{ONLINE_PAGE}?server=south"), list[list[str]]()
    assert not {"First", "Previous"} & page.links.keys()
    while "Next" in page.links:
        parts.append(list_online(page))
        page = root.page(page.links["Next"])
        assert page.links["First"] == f"{ONLINE_PAGE}?server=south"
    assert [*parts, list_online(page)] == [everybody[:50], everybody[50:100], everybody[100:]]
    for part in reversed(parts):
        page = root.page(page.links["Previous"])
        assert list_online(page) == part
    assert "Previous" not in page.links
    assert "Next" in page.links
