"""The console's list of online players, on all game servers and on one."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from keepers import Keeper, open_session
from markup import Page

import game_server
import people
from gamekeeper.console import monitor
from gamekeeper.demo import loader
from gamekeeper.demo.names import make_numbered_id
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.store import presence
from world import World

PAGE = "/console/online"
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


def find_ids(world: World, names: list[str]) -> list[str]:
    return [str(each) for name, each in world.sql(f"SELECT p.name, p.id {SOUTH}") if name in names]


def list_names(page: Page) -> list[str]:
    """List the online players of a page in its order."""
    return [name for name, place in page.links.items() if place.startswith("/console/players/")]


def test_empty_list_shows_a_message(root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    page = root.page(PAGE)
    assert "No game server is connected." in page.text
    assert "on the page Tokens" in page.text
    assert "Tokens" not in keeper("Shop").page(PAGE).text
    assert "No players are online." in page.text


def test_list_shows_players_with_their_servers(played: World, root: Keeper) -> None:
    page = root.page(PAGE)
    [(lease,)] = played.sql("SELECT expires_at FROM servers WHERE name = 'north'")
    ends = datetime.fromtimestamp(lease // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    assert page.links["north"] == f"{PAGE}?server=north"
    assert f"north 2 {ends}" in page.text
    assert "south 1 20" in page.text
    assert "Bob 3 south" in page.text
    assert "1 to 3 of 3 online players" in page.text


@pytest.mark.usefixtures("played")
def test_filter_lists_players_of_one_server(root: Keeper) -> None:
    page = root.page(f"{PAGE}?server=north")
    assert "Players on server north" in page.text
    assert "2 players, by name" in page.text
    assert {"Ann", "Zoe"} <= page.links.keys()
    assert "Bob" not in page.links
    assert page.form(PAGE, "Search").fields == {"server": "north", "search": ""}
    # a search among the players of one game server accepts texts shorter than three characters
    found = root.page(f"{PAGE}?server=north&search=Zo")
    assert "Zoe" in found.links
    assert "Ann" not in found.links


def test_search_covers_all_servers(played: World, root: Keeper) -> None:
    page = root.page(f"{PAGE}?search=bob")
    assert "Bob" in page.links
    assert "Ann" not in page.links
    game_server.leave(played, people.BOB.id, server="south")
    assert "No results among the online players." in root.page(f"{PAGE}?search=bob").text


@pytest.mark.parametrize("server", ["gone", "%", "no\ufffdrth", "x" * 300])
@pytest.mark.usefixtures("played")
def test_unknown_server_shows_a_message(root: Keeper, server: str) -> None:
    assert root.page(f"{PAGE}?server={quote(server)}").links["All servers"] == PAGE


def test_server_with_expired_lease_disappears(played: World, root: Keeper) -> None:
    game_server.lapse(played, "north")
    page = root.page(PAGE)
    assert "north" not in page.text
    assert "1 to 1 of 1 online players" in page.text


def test_concurrent_pages_share_one_query(make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch) -> None:
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
        open_session(world, name).page(PAGE)
    assert asked == 1


def test_count_stops_at_its_limit(crowded: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "MAX_SCANNED", 60)
    page = root.page(PAGE)
    assert "south 60 or more" in page.text
    assert f"1 to 50 of {len(list_south(crowded)) + 2} online players" in page.text


def test_pages_of_one_server_lead_both_ways(crowded: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of a game server link to the next and previous page, even with more players than are counted."""
    monkeypatch.setattr(monitor, "MAX_SCANNED", 60)
    everybody = list_south(crowded)
    page, parts = root.page(f"{PAGE}?server=south"), list[list[str]]()
    assert not {"First", "Previous"} & page.links.keys()
    while "Next" in page.links:
        parts.append(list_names(page))
        page = root.page(page.links["Next"])
        assert page.links["First"] == f"{PAGE}?server=south"
    assert [*parts, list_names(page)] == [everybody[:50], everybody[50:100], everybody[100:]]
    for part in reversed(parts):
        page = root.page(page.links["Previous"])
        assert list_names(page) == part
    assert "Previous" not in page.links
    assert "Next" in page.links


def test_previous_page_that_shrank_is_complete(crowded: World, root: Keeper) -> None:
    """The previous page is full even after players of it went offline."""
    everybody = list_south(crowded)
    second = root.page(root.page(f"{PAGE}?server=south").links["Next"])
    game_server.leave(crowded, people.BOB.id, *find_ids(crowded, everybody[:20]), server="south")
    assert list_names(root.page(second.links["Previous"])) == list_south(crowded)[:50]


def test_search_on_one_server_continues_after_its_limit(
    crowded: World, root: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor, "MAX_SCANNED", 60)
    everybody = list_south(crowded)
    last = everybody[-1]
    page = root.page(f"{PAGE}?server=south&search={last[1:].upper()}")
    assert list_names(page) == []
    assert "No results among the first 60 names." in page.text
    page = root.page(page.links["Search further"])
    assert list_names(page) == [last]
    assert "No further results." in root.page(f"{PAGE}?server=south&search=zzz&after={everybody[-9].lower()}").text
    back = root.page(page.links["Previous"])  # the first page has no link to a previous page
    assert "Previous" not in back.links
    assert list_names(root.page(back.links["Search further"])) == [last]


def test_page_whose_players_left_links_to_the_first(crowded: World, root: Keeper) -> None:
    page = root.page(f"{PAGE}?server=south&after={list_south(crowded)[-1].lower()}")
    assert "This page is empty now." in page.text
    assert page.links["First page"] == f"{PAGE}?server=south"


def test_player_with_a_clashing_name_can_end_a_page(crowded: World, root: Keeper) -> None:
    """The folded form of a name that clashes with another has a suffix, which the next page needs in its cursor."""
    last, after = list_south(crowded)[49:51]
    for table in ("players", "presence"):
        crowded.sql(f"UPDATE {table} SET fold = $1 WHERE fold = $2", f"{last.lower()}\x01{ZERO_GUID}", last.lower())  # noqa: S608 - the test chooses the name
    page = root.page(f"{PAGE}?server=south")
    assert list_names(page)[-1] == last
    assert list_names(root.page(page.links["Next"]))[0] == after


def test_invalid_position_is_rejected(shared_root: Keeper) -> None:
    answer = shared_root.get(f"{PAGE}?server=south&after=%00")
    assert answer.status == 400
    assert "must come from a link on this page" in answer.raw.decode()
